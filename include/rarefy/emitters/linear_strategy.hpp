// Evolution strategies whose time and memory are linear in the dimension, for solutions of
// thousands of values.
#pragma once

#include <span>
#include <vector>

#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy.hpp"

namespace rarefy {

struct LinearStrategyOptions {
  Index dimension = 0;
  Index batch = 0;  ///< lambda; 0: 4 + floor(3 ln n)
  double sigma0 = 0.5;
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
  /// Turns z into y, in place.
  virtual void shape(std::span<double> row) const = 0;
  /// Adapts the shape; returns the factor by which the step size changes.
  virtual double adapt(const Lesson& lesson) = 0;

  [[nodiscard]] const CmaEsParameters& parameters() const { return parameters_; }

 private:
  void place(std::span<const double> normals, std::span<double> solution) const;

  LinearStrategyOptions options_;
  CmaEsParameters parameters_;
  std::vector<double> mean_;
  double sigma_ = 0;
  std::int64_t generation_ = 0;

  // Scratch. The normals are those of the last ask(): what was asked for is told before a state is
  // saved, or asked for again after it was loaded.
  Batch normals_, steps_;
  std::vector<double> mean_step_, mean_normal_;
};

/// CMA-ES with a diagonal covariance matrix: R. Ros and N. Hansen, "A simple modification in
/// CMA-ES achieving linear time and space complexity", PPSN 2008.
class SeparableCmaEs : public LinearStrategy {
 public:
  explicit SeparableCmaEs(const LinearStrategyOptions& options);
  [[nodiscard]] Stop stop(std::span<const double> scores, const StopTests& tests) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  void identify(StateOptions& options) const override {
    options.text("es.strategy", "sep-cma-es");
    LinearStrategy::identify(options);
  }
  [[nodiscard]] std::span<const double> variances() const { return variances_; }

 protected:
  void reset_shape() override;
  void shape(std::span<double> row) const override;
  double adapt(const Lesson& lesson) override;

 private:
  std::vector<double> variances_;  // the diagonal of C
  std::vector<double> path_c_, path_sigma_;
};

/// Limited-memory matrix adaptation: I. Loshchilov, T. Glasmachers and H.-G. Beyer, "Large scale
/// black-box optimization by limited-memory matrix adaptation", IEEE Trans. Evol. Comput. 23(2),
/// 2019. A product of 4 + floor(3 ln n) rank-one matrices stands for the square root of C.
class LmMaEs : public LinearStrategy {
 public:
  explicit LmMaEs(const LinearStrategyOptions& options);
  [[nodiscard]] Stop stop(std::span<const double> scores, const StopTests& tests) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  void identify(StateOptions& options) const override {
    options.text("es.strategy", "lm-ma-es");
    LinearStrategy::identify(options);
  }
  [[nodiscard]] Index directions() const { return directions_.rows(); }

 protected:
  void reset_shape() override;
  void shape(std::span<double> row) const override;
  double adapt(const Lesson& lesson) override;

 private:
  Batch directions_;  // m_1, m_2, ...: each slower than the one before
  std::vector<double> path_sigma_;
};

}  // namespace rarefy
