#include "rarefy/domains/arm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "kernels/domains.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

DomainInfo describe(const ArmOptions& options) {
  if (options.n < 1) {
    throw Error(ErrorKind::parameter, "arm: n", fmt::format("{}", options.n), "at least 1");
  }
  DomainInfo info;
  info.name = "arm";
  info.title = "Arm repertoire";
  info.solution_dim = options.n;
  const auto reach = static_cast<double>(options.n);
  info.feature_space = {{-reach, -reach}, {reach, reach}};
  info.feature_names = {"x", "y"};
  info.solution_low = -std::numbers::pi;
  info.solution_high = std::numbers::pi;
  info.constant_objective = options.objective == ArmObjective::constant;
  if (!info.constant_objective) {
    // Angles from -pi to pi vary by pi^2 at most: half of them at either end.
    info.least_objective = 1.0 - std::numbers::pi * std::numbers::pi;
    info.greatest_objective = 1.0;
  }
  return info;
}

double variance(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / count;
}

// Whole turns change nothing; far out they are taken off, for the sake of accuracy.
void turn(double& heading, double angle) {
  heading += angle;
  if (std::abs(heading) > 1000.0) heading = std::remainder(heading, 2.0 * std::numbers::pi);
}

}  // namespace

Arm::Arm(const ArmOptions& options) : Domain(describe(options)), options_(options) {}

void Arm::evaluate(BatchView solutions, BatchSpan features, std::span<double> objectives) const {
  constexpr Index kChunk = 256;
  std::array<double, kChunk> angles{};
  for (Index i = 0; i < solutions.rows(); ++i) {
    const auto joints = solutions.row(i);
    double heading = 0.0, x = 0.0, y = 0.0;
    for (Index first = 0; first < options_.n; first += kChunk) {
      const Index count = std::min(kChunk, options_.n - first);
      for (Index k = 0; k < count; ++k) {
        turn(heading, joints[static_cast<std::size_t>(first + k)]);
        angles[static_cast<std::size_t>(k)] = heading;
      }
      kernels::sum_of_directions(angles.data(), count, &x, &y);
    }
    features(i, 0) = x;
    features(i, 1) = y;
    objectives[static_cast<std::size_t>(i)] =
        options_.objective == ArmObjective::even ? 1.0 - variance(joints) : 1.0;
  }
}

std::vector<ArmJoint> Arm::joints(std::span<const double> solution) const {
  std::vector<ArmJoint> places(1);
  double heading = 0.0;
  for (const double angle : solution) {
    turn(heading, angle);
    ArmJoint next = places.back();
    kernels::sum_of_directions(&heading, 1, &next.x, &next.y);
    places.push_back(next);
  }
  return places;
}

}  // namespace rarefy
