// Covariance matrix adaptation evolution strategy: a small object with ask, tell and stop.
//
// Equations and default parameters are those of N. Hansen, "The CMA evolution strategy: a
// tutorial" (arXiv:1604.00772), cited below by number; positive weights only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/emitters/bounds.hpp"
#include "rarefy/emitters/evolution_strategy.hpp"

namespace rarefy {

/// How samples are drawn from N(mean, sigma^2 C), and what the step-size path is measured in.
enum class Factor {
  /// C = F'F with F triangular; x = mean + sigma F'z. Thirty times cheaper than `eigen` at
  /// n = 100. The step-size path accumulates F'^-1 y, which differs from C^-1/2 y by a
  /// rotation and is standard normal under neutral selection just as well (Krause, Arbones,
  /// Igel, "CMA-ES with optimal covariance update and storage complexity", NIPS 2016).
  /// Stop tests see the diagonal of F instead of the lengths of the axes, which bound it from both
  /// sides: for the same matrix, the test of the condition stops no earlier than with `eigen`, and
  /// that of steps too small no later.
  cholesky,
  /// C = B D^2 B'; x = mean + sigma B D z: the tutorial's own.
  eigen,
};

template <>
struct EnumNames<Factor> {
  static constexpr std::string_view thing = "factor";
  static constexpr std::pair<Factor, std::string_view> all[] = {{Factor::cholesky, "cholesky"},
                                                                {Factor::eigen, "eigen"}};
};

struct CmaEsOptions {
  Index dimension = 0;
  Index batch = 0;  ///< lambda; 0: 4 + floor(3 ln n), the tutorial's (48)
  double sigma0 = 1.5;
  /// Rows 2i and 2i+1 are mean + s and mean - s. Where both of a pair are selected they cancel in
  /// part, so with weighted recombination the update is biased: under random ranking the step size
  /// shrinks. (Auger, Brockhoff, Hansen, "Mirrored sampling in evolution strategies with weighted
  /// recombination", GECCO 2011, select at most one of a pair against that; here it may be both.)
  bool mirrored = false;
  Factor factor = Factor::cholesky;
  Index decompose_every = 0;  ///< generations; 0: max(1, floor(1 / (10 n (c1 + cmu)))), B.2
  Bounds bounds{};

  bool operator==(const CmaEsOptions&) const = default;
};

/// The strategy parameters that follow from n, lambda and mu.
struct CmaEsParameters {
  CmaEsParameters() = default;
  /// The better half of a batch are the parents: the tutorial's choice.
  CmaEsParameters(Index dimension, Index batch);
  /// Any number of parents from 1 to the whole batch.
  CmaEsParameters(Index dimension, Index batch, Index parents);

  /// The parameters for another number of parents, at least 1: more than lambda where more were
  /// sampled. Allocates nothing up to lambda.
  void select(Index parents);

  Index n = 0, lambda = 0, mu = 0;
  /// Weights of the half of an odd batch reach down to 0 just behind the last parent, as those of
  /// any other number of parents do. (The tutorial's reach half a rank farther.)
  bool by_parents = false;
  std::vector<double> weights;  ///< mu of them, positive, sum 1
  double mueff = 0, cc = 0, csigma = 0, c1 = 0, cmu = 0, dsigma = 0, chi_n = 0;
};

class CmaEs : public EvolutionStrategy {
 public:
  explicit CmaEs(CmaEsOptions options);

  [[nodiscard]] Index dimension() const override { return options_.dimension; }
  [[nodiscard]] Index batch() const override { return options_.batch; }

  /// The options with their defaults filled in. Throws an Error where one is impossible.
  [[nodiscard]] static CmaEsOptions checked(CmaEsOptions options);

  /// Starts anew at `mean`, with sigma0 and C = I, or the C that it was to begin with.
  void reset(std::span<const double> mean) override;
  void set_initial_step(double step) override { initial_step_ = step; }
  [[nodiscard]] Index shape_size() const override {
    return options_.dimension * options_.dimension;
  }
  [[nodiscard]] StepShape learned_shape() const override;
  void begin_with(std::span<const double> shape) override;

  void ask(const StreamKey& key, BatchSpan out) override;

  /// With the better half of the rows as parents.
  void tell(BatchView solutions, std::span<const Index> order);
  void tell(BatchView solutions, std::span<const Index> order, Index parents) override;

  [[nodiscard]] Stop stop(std::span<const double> scores, const StopTests& tests) const override;
  [[nodiscard]] Stop stop(std::span<const double> scores) const { return stop(scores, {}); }

  [[nodiscard]] const CmaEsOptions& options() const { return options_; }
  /// Those in use: for the number of parents of the last generation that had any.
  [[nodiscard]] const CmaEsParameters& parameters() const { return parameters_; }
  [[nodiscard]] std::int64_t generation() const override { return generation_; }
  [[nodiscard]] double sigma() const override { return sigma_; }
  [[nodiscard]] std::span<const double> mean() const override { return mean_; }
  [[nodiscard]] Batch covariance() const;

  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

 protected:
  /// Everything an adaptation of the covariance matrix may use. `steps` are the mu best
  /// steps (x - mean) / sigma, best first, scratch to the callee.
  struct Adaptation {
    std::span<const double> mean_step;  ///< (new mean - old mean) / sigma, eq. (42)'s <y>_w
    BatchSpan steps;
    bool hsig;
    double sigma;  ///< before this generation's change
  };
  // The published profile (compat/) replaces these three.
  /// Equations (45) and (47).
  virtual void adapt_covariance(const Adaptation& now);
  /// h_sigma of table 1: whether the step-size path, of this length, is not too long.
  [[nodiscard]] virtual bool path_is_short(double length) const;
  /// The exponent of equation (44), given the length of the step-size path.
  [[nodiscard]] virtual double step_change(double length) const;

  /// Sets CmaEsParameters::by_parents.
  void weigh_by_parents();

  // For adapt_covariance().
  std::vector<double>& path_c() { return path_c_; }
  void update_covariance(double keep, double rank_one, BatchSpan steps);

 private:
  void make_room(Index rows);
  void begin_round();
  void decompose();
  void repair_rows(const StreamKey& key, BatchSpan out);
  void whiten(std::span<double> step);

  CmaEsOptions options_;
  CmaEsParameters parameters_;
  double initial_step_;
  Index decompose_every_ = 1;

  std::vector<double> mean_;
  double sigma_ = 0;
  Batch covariance_;  // on and above the diagonal
  std::vector<double> path_c_, path_sigma_;
  std::int64_t generation_ = 0;

  // The factor in use, refreshed lazily: rows of F, or of (B D)'.
  Batch factor_;
  Batch axes_;                   // eigen only: eigenvectors as rows
  std::vector<double> lengths_;  // eigen only: square roots of eigenvalues
  double condition_ = 1, longest_ = 1;
  std::int64_t factor_generation_ = 0;
  bool positive_ = true;
  bool shape_given_ = false;  // covariance_ is for the next reset()

  Index asked_ = 0;  // rows of the last ask()

  // Scratch.
  Batch normals_, steps_, next_;
  std::vector<double> mean_step_, whitened_, update_weights_;
};

}  // namespace rarefy
