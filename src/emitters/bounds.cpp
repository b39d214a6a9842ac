#include "rarefy/emitters/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy {
namespace {

double bound(const std::vector<double>& bounds, Index d) {
  return bounds.size() == 1 ? bounds[0] : bounds[static_cast<std::size_t>(d)];
}

// Mirrors x at the walls until it is inside, in constant time.
double reflected(double x, double low, double high) {
  if (x < low && std::isinf(high)) return low + (low - x);
  if (x > high && std::isinf(low)) return high - (x - high);
  const double width = high - low;
  double along = std::fmod(x - low, 2 * width);
  if (along < 0) along += 2 * width;
  return std::clamp(low + (along <= width ? along : 2 * width - along), low, high);
}

}  // namespace

SolutionRange SolutionRange::parse(std::string_view text) {
  if (text == "none") return {};
  if (text == "domain") return {.kind = Kind::domain};
  const auto numbers = parse_numbers(text);
  if (!numbers || numbers->size() != 2 || !((*numbers)[0] < (*numbers)[1])) {
    throw Error(ErrorKind::parameter, "bounds", fmt::format("'{}'", text),
                "none, domain, or LOW,HIGH with LOW < HIGH");
  }
  return {.kind = Kind::given, .low = (*numbers)[0], .high = (*numbers)[1]};
}

std::string SolutionRange::text() const {
  if (kind == Kind::none) return "none";
  if (kind == Kind::domain) return "domain";
  return fmt::format("{},{}", low, high);
}

void check_bounds(const Bounds& bounds, Index dimension, Index batch) {
  const auto fits = [&](const std::vector<double>& side) {
    return side.size() == 1 || static_cast<Index>(side.size()) == dimension;
  };
  if (bounds.lower.empty() && bounds.upper.empty()) return;
  if (!fits(bounds.lower) || !fits(bounds.upper)) {
    throw Error(
        ErrorKind::parameter, "bounds",
        fmt::format("{} lower and {} upper values", bounds.lower.size(), bounds.upper.size()),
        fmt::format("1 or {} of each", dimension));
  }
  if (bounds.resamples < 0) {
    throw Error(ErrorKind::parameter, "bounds: resamples", fmt::format("{}", bounds.resamples),
                "at least 0");
  }
  constexpr Index kMostDraws = Index{1} << 24;  // the streams of one iteration, see keep_inside()
  if (bounds.resamples > 0 && batch > kMostDraws / bounds.resamples) {
    throw Error(ErrorKind::parameter, "bounds: batch x resamples",
                fmt::format("{} x {}", batch, bounds.resamples),
                fmt::format("at most {}", kMostDraws));
  }
  for (Index d = 0; d < dimension; ++d) {
    const double low = bound(bounds.lower, d);
    const double high = bound(bounds.upper, d);
    if (!(low < high)) {  // also refuses NaN; infinite sides are fine
      throw Error(ErrorKind::parameter, fmt::format("bounds of solution value {}", d),
                  fmt::format("[{}, {}]", low, high), "low < high");
    }
  }
}

bool lies_inside(std::span<const double> solution, const Bounds& bounds) {
  for (std::size_t d = 0; d < solution.size(); ++d) {
    const auto i = static_cast<Index>(d);
    if (solution[d] < bound(bounds.lower, i) || solution[d] > bound(bounds.upper, i)) return false;
  }
  return true;
}

void force_inside(std::span<double> solution, const Bounds& bounds) {
  for (std::size_t d = 0; d < solution.size(); ++d) {
    const double low = bound(bounds.lower, static_cast<Index>(d));
    const double high = bound(bounds.upper, static_cast<Index>(d));
    double& x = solution[d];
    if (x >= low && x <= high) continue;
    x = bounds.repair == Repair::clip ? std::clamp(x, low, high) : reflected(x, low, high);
  }
}

}  // namespace rarefy
