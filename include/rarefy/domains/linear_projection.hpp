// Linear projection, with any number of features.
//
// Fontaine, Togelius, Nikolaidis, Hoover, "Covariance matrix adaptation for the rapid
// illumination of behavior space", GECCO 2020; generalised to m features in section 6 of
// the density descent paper (Lee et al., GECCO 2024).
#pragma once

#include <string_view>

#include "rarefy/core/names.hpp"
#include "rarefy/domains/domain.hpp"

namespace rarefy {

/// What is maximised besides being different.
enum class LpObjective {
  constant,  ///< 1: diversity alone
  /// Sphere and Rastrigin function around 0.4 * 5.12, turned over and scaled so that the
  /// optimum is 100 and the worst point of [-5.12, 5.12]^n is 0.
  sphere,
  rastrigin,
};

template <>
struct EnumNames<LpObjective> {
  static constexpr std::string_view thing = "objective";
  static constexpr std::pair<LpObjective, std::string_view> all[] = {
      {LpObjective::constant, "constant"},
      {LpObjective::sphere, "sphere"},
      {LpObjective::rastrigin, "rastrigin"}};
};

struct LinearProjectionOptions {
  Index n = 100;
  Index m = 2;  ///< must divide n
  LpObjective objective = LpObjective::constant;
};

/// Feature j is the sum over the j-th of m equal parts of the solution of
///   clip(x) = x where |x| <= 5.12, and 5.12 / x beyond,
/// so that features lie in [-5.12 n/m, 5.12 n/m] and solutions that overshoot fall back to 0.
class LinearProjection : public Domain {
 public:
  explicit LinearProjection(const LinearProjectionOptions& options = {});
  void evaluate(BatchView solutions, BatchSpan features,
                std::span<double> objectives) const override;

  static constexpr double kRange = 5.12;

 private:
  LinearProjectionOptions options_;
  double worst_;  // of the function to minimise, on the box
};

}  // namespace rarefy
