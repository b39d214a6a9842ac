// CMA-ES with variances of the coordinates instead of a full matrix: linear time and memory.
#pragma once

#include <span>
#include <vector>

#include "rarefy/emitters/linear_strategy.hpp"

namespace rarefy {

/// CMA-ES with a diagonal covariance matrix: R. Ros and N. Hansen, "A simple modification in
/// CMA-ES achieving linear time and space complexity", PPSN 2008.
class SeparableCmaEs : public LinearStrategy {
 public:
  explicit SeparableCmaEs(const LinearStrategyOptions& options);
  [[nodiscard]] Index shape_size() const override { return dimension(); }
  [[nodiscard]] StepShape learned_shape() const override;
  void begin_with(std::span<const double> shape) override;
  [[nodiscard]] Stop stop(std::span<const double> scores, const StopTests& tests) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  void identify(StateOptions& options) const override {
    options.text("es.strategy", name_of(Strategy::sep_cma_es));
    LinearStrategy::identify(options);
  }
  [[nodiscard]] std::span<const double> variances() const { return variances_; }

 protected:
  void reset_shape() override;
  void shape(BatchSpan rows) const override;
  double adapt(const Lesson& lesson) override;

  struct Rates {
    double cc;        ///< of the covariance path
    double c1, cmu;   ///< by which the variances forget
    double rank_one;  ///< weight of the square of the path
  };
  // The published profile (compat/) replaces these.
  [[nodiscard]] virtual Rates rates() const;
  /// In which unit the covariance path goes on: 1 for steps that are divided by sigma.
  [[nodiscard]] virtual double path_unit() const { return 1.0; }
  /// h_sigma, and the exponent by which the step size changes: as those of CmaEs.
  [[nodiscard]] virtual bool path_is_short(double length) const;
  [[nodiscard]] virtual double step_change(double length) const;

 private:
  std::vector<double> variances_;  // the diagonal of C
  bool shape_given_ = false;       // they are for the next reset()
  std::vector<double> path_c_, path_sigma_;
};

}  // namespace rarefy
