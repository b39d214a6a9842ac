#include "rarefy/domains/linear_projection.hpp"

#include <fmt/format.h>

#include "core/maths.hpp"
#include "kernels/domains.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr double kShift = 0.4 * LinearProjection::kRange;

// The least objective on the box. The functions are scaled so that the corner -5.12 has 0, where
// the sphere function is at its worst. Rastrigin's worst is on a ripple a little before it: for
// each value the greatest of f(d) = 10 + d^2 - 10 cos(2 pi d), d = x - shift, beside d = -6.5.
double least_rastrigin() {
  const auto f = [](double d) { return 10.0 + d * d - 10.0 * maths::cos_pi(2.0 * d); };
  double low = -6.75, high = -6.25;  // f has one maximum between: thirds are left out by turns
  for (int i = 0; i < 200; ++i) {
    const double a = low + (high - low) / 3, b = high - (high - low) / 3;
    (f(a) < f(b) ? low : high) = f(a) < f(b) ? a : b;
  }
  return 100.0 * (1.0 - f(low) / f(-LinearProjection::kRange - kShift));
}

DomainInfo describe(const LinearProjectionOptions& options) {
  if (options.m < 1 || options.n < 1 || options.n % options.m != 0) {
    throw Error(ErrorKind::parameter, "linear projection",
                fmt::format("n = {}, m = {}", options.n, options.m),
                "n a multiple of m, both at least 1");
  }
  DomainInfo info;
  info.name = options.m == 2 ? "lp" : "multi-lp";
  info.title = options.m <= 2 ? "Linear projection" : "Multi-feature linear projection";
  info.solution_dim = options.n;
  const Index width = options.n / options.m;
  const double reach = LinearProjection::kRange * static_cast<double>(width);
  const auto m = static_cast<std::size_t>(options.m);
  info.feature_space = {std::vector<double>(m, -reach), std::vector<double>(m, reach)};
  for (Index j = 0; j < options.m; ++j)
    info.feature_names.push_back(fmt::format("feature {}", j + 1));
  info.solution_low = -LinearProjection::kRange;
  info.solution_high = LinearProjection::kRange;
  info.constant_objective = options.objective == LpObjective::constant;
  if (!info.constant_objective) {
    info.least_objective = options.objective == LpObjective::rastrigin ? least_rastrigin() : 0.0;
    info.greatest_objective = 100.0;
  }
  return info;
}

}  // namespace

LinearProjection::LinearProjection(const LinearProjectionOptions& options)
    : Domain(describe(options)), options_(options) {
  // Both functions grow away from the shift, but for Rastrigin's ripples: the worst point of
  // the box is its corner -5.12, which for Rastrigin is worst to within one ripple (20).
  const std::vector<double> corner(static_cast<std::size_t>(options.n), -kRange);
  worst_ = options.objective == LpObjective::rastrigin
               ? kernels::shifted_rastrigin(corner.data(), options.n, kShift)
               : kernels::shifted_sphere(corner.data(), options.n, kShift);
}

void LinearProjection::evaluate(BatchView solutions, BatchSpan features,
                                std::span<double> objectives) const {
  const Index width = options_.n / options_.m;
  for (Index i = 0; i < solutions.rows(); ++i) {
    const double* x = solutions.row(i).data();
    for (Index j = 0; j < options_.m; ++j) {
      features(i, j) = kernels::clipped_sum(x + j * width, width, kRange);
    }
    double value = 1.0;
    if (options_.objective == LpObjective::sphere) {
      value = 100.0 * (1.0 - kernels::shifted_sphere(x, options_.n, kShift) / worst_);
    } else if (options_.objective == LpObjective::rastrigin) {
      value = 100.0 * (1.0 - kernels::shifted_rastrigin(x, options_.n, kShift) / worst_);
    }
    objectives[static_cast<std::size_t>(i)] = value;
  }
}

}  // namespace rarefy
