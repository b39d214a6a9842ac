// What evolution strategies have in common whose time and memory are linear in the dimension, for
// solutions of thousands of values.
#pragma once

#include <span>
#include <vector>

#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy.hpp"

namespace rarefy {

struct LinearStrategyOptions {
  Index dimension = 0;
  Index batch = 0;  ///< lambda; 0: 4 + floor(3 ln n)
  double sigma0 = CmaEsOptions{}.sigma0;
  bool mirrored = false;  ///< as in CmaEsOptions
  Bounds bounds{};
};

/// Samples x = mean + sigma y, where y is made of z ~ N(0, I) by the strategy, and remembers z.
class LinearStrategy : public EvolutionStrategy {
 public:
  explicit LinearStrategy(const LinearStrategyOptions& options);

  [[nodiscard]] Index dimension() const override { return options_.dimension; }
  [[nodiscard]] Index batch() const override { return options_.batch; }
  void reset(std::span<const double> mean) override;
  void set_initial_step(double step) override { initial_step_ = step; }
  void ask(const StreamKey& key, BatchSpan out) override;
  void tell(BatchView solutions, std::span<const Index> order, Index parents) override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  [[nodiscard]] double sigma() const override { return sigma_; }
  [[nodiscard]] std::span<const double> mean() const override { return mean_; }
  [[nodiscard]] std::int64_t generation() const override { return generation_; }

 protected:
  /// What a strategy learns from a generation. Weighted sums over the parents, best first.
  struct Lesson {
    std::span<const double> mean_step;    ///< of y = (x - mean) / sigma
    std::span<const double> mean_normal;  ///< of z
    BatchView steps;                      ///< y of each parent
  };

  virtual void reset_shape() = 0;
  /// Turns rows of z into y, in place. A row comes out the same whatever others there are.
  virtual void shape(BatchSpan rows) const = 0;
  /// Adapts the shape; returns the factor by which the step size changes.
  virtual double adapt(const Lesson& lesson) = 0;

  [[nodiscard]] const CmaEsParameters& parameters() const { return parameters_; }
  /// Sets CmaEsParameters::by_parents.
  void weigh_by_parents();

  /// path = (1 - rate) path + sqrt(rate (2 - rate) mueff) step, which keeps its variance under
  /// neutral selection.
  static void follow(std::span<double> path, std::span<const double> step, double rate,
                     double mueff);

 private:
  void make_room(Index rows);
  void place(BatchView normals, BatchSpan solutions) const;

  LinearStrategyOptions options_;
  CmaEsParameters parameters_;
  std::vector<double> mean_;
  double initial_step_;
  double sigma_ = 0;
  std::int64_t generation_ = 0;
  Index asked_ = 0;  // rows of the last ask()

  // Scratch. The normals are those of the last ask(): what was asked for is told before a state is
  // saved, or asked for again after it was loaded.
  Batch normals_, steps_;
  std::vector<double> mean_step_, mean_normal_;
};

}  // namespace rarefy
