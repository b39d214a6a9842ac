#include "rarefy/density/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy {
namespace {

constexpr double kFarFromTheBox = 1e6;  // widths

}  // namespace

Bandwidth Bandwidth::parse(std::string_view text) {
  const auto refuse = [&] {
    return Error(ErrorKind::parameter, "bandwidth", fmt::format("'{}'", text),
                 "'scott', 'spread', a number > 0, or a number > 0 followed by 'width'");
  };
  if (text == "scott") return scott();
  if (text == "spread") return spread();
  const auto number = parse_number_with_unit(text);
  if (!number || number->value <= 0) throw refuse();
  if (number->unit.empty()) return absolute(number->value);
  if (number->unit == "width") return normalised(number->value);
  throw refuse();
}

std::vector<double> Bandwidth::resolve(const FeatureSpace& space, Index samples) const {
  space.check();
  const bool by_box = rule_ == Rule::scott || rule_ == Rule::spread;
  if (!by_box && !(value_ > 0 && std::isfinite(value_))) {
    throw Error(ErrorKind::parameter, "bandwidth", fmt::format("{}", value_), "a number > 0");
  }
  std::vector<double> h(static_cast<std::size_t>(space.dim()), value_);
  if (rule_ == Rule::absolute) return h;
  double h0 = value_;
  if (by_box) {
    if (samples < 1) {
      throw Error(ErrorKind::parameter, "bandwidth", "'scott' with an unlimited buffer",
                  "a limited buffer, or a bandwidth given as a number");
    }
    h0 = std::sqrt(1.0 / 12.0) *
         maths::power(static_cast<double>(samples), -1.0 / static_cast<double>(space.dim() + 4));
  }
  for (Index d = 0; d < space.dim(); ++d) h[static_cast<std::size_t>(d)] = h0 * space.width(d);
  return h;
}

std::vector<double> Bandwidth::fit(const FeatureSpace& space, BatchView features) const {
  auto h = resolve(space, std::max<Index>(features.rows(), 1));
  if (!follows_data() || features.rows() < 2) return h;
  const auto n = static_cast<double>(features.rows());
  const double factor = maths::power(n, -1.0 / static_cast<double>(space.dim() + 4));
  std::vector<double> values(static_cast<std::size_t>(features.rows()));
  for (Index d = 0; d < space.dim(); ++d) {
    // Relative to the box, so that squares do not overflow.
    const auto at = static_cast<std::size_t>(d);
    double mean = 0.0;
    for (Index i = 0; i < features.rows(); ++i) {
      values[static_cast<std::size_t>(i)] = std::clamp(
          (features(i, d) - space.lower[at]) / space.width(d), -kFarFromTheBox, kFarFromTheBox);
      mean += values[static_cast<std::size_t>(i)] / n;
    }
    double variance = 0.0;
    for (const double value : values) variance += (value - mean) * (value - mean) / (n - 1.0);
    const auto quantile = [&](Index number) {
      std::nth_element(values.begin(), values.begin() + number, values.end());
      return values[static_cast<std::size_t>(number)];
    };
    const double range =
        quantile(3 * (features.rows() - 1) / 4) - quantile((features.rows() - 1) / 4);
    double spread = std::sqrt(variance);
    // Where half of the features or more are the same, their range says nothing.
    if (range > 0.0) spread = std::min(spread, range / 1.349);
    h[at] = std::max(spread * factor * space.width(d), h[at] / kNarrowest);
  }
  return h;
}

std::string Bandwidth::text() const {
  switch (rule_) {
    case Rule::absolute: return fmt::format("{}", value_);
    case Rule::normalised: return fmt::format("{} width", value_);
    case Rule::spread: return "spread";
    case Rule::scott: break;
  }
  return "scott";
}

}  // namespace rarefy
