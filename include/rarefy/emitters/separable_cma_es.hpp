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
  [[nodiscard]] Stop stop(std::span<const double> scores, const StopTests& tests) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  [[nodiscard]] std::span<const double> variances() const { return variances_; }

 protected:
  void reset_shape() override;
  void shape(std::span<double> row) const override;
  double adapt(const Lesson& lesson) override;

 private:
  std::vector<double> variances_;  // the diagonal of C
  std::vector<double> path_c_, path_sigma_;
};

}  // namespace rarefy
