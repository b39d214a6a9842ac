// The planar arm: n joints, n links of length 1, where does its end point go?
//
// Cully, Demiris, "Quality and diversity optimization: a unifying modular framework", 2017;
// Vassiliades, Mouret, "Discovering the elite hypervolume by leveraging interspecies
// correlation", GECCO 2018.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rarefy/core/names.hpp"
#include "rarefy/domains/domain.hpp"

namespace rarefy {

enum class ArmObjective {
  constant,  ///< 1: diversity alone
  /// 1 - variance of the joint angles: an arm is better the more evenly it bends.
  even,
};

template <>
struct EnumNames<ArmObjective> {
  static constexpr std::string_view thing = "objective";
  static constexpr std::pair<ArmObjective, std::string_view> all[] = {
      {ArmObjective::constant, "constant"}, {ArmObjective::even, "even"}};
};

/// A place of an arm in the plane.
struct ArmJoint {
  double x = 0.0, y = 0.0;
};

struct ArmOptions {
  Index n = 100;
  ArmObjective objective = ArmObjective::constant;
};

/// Features are the end point (x, y) = sum_k (cos, sin)(theta_1 + ... + theta_k). It lies in a
/// disc of radius n, so that on a grid over [-n, n]^2 not every cell can be reached: 8,024 of
/// 100 x 100.
class Arm : public Domain {
 public:
  explicit Arm(const ArmOptions& options = {});
  void evaluate(BatchView solutions, BatchSpan features,
                std::span<double> objectives) const override;

  /// Where the joints of one arm are: the base first, its end point last.
  [[nodiscard]] std::vector<ArmJoint> joints(std::span<const double> solution) const;

 private:
  ArmOptions options_;
};

}  // namespace rarefy
