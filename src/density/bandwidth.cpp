#include "rarefy/density/bandwidth.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy {

Bandwidth Bandwidth::parse(std::string_view text) {
  const auto refuse = [&] {
    return Error(ErrorKind::parameter, "bandwidth", fmt::format("'{}'", text),
                 "'scott', a number > 0, or a number > 0 followed by 'width'");
  };
  if (text == "scott") return scott();
  const auto number = parse_number_with_unit(text);
  if (!number || number->value <= 0) throw refuse();
  if (number->unit.empty()) return absolute(number->value);
  if (number->unit == "width") return normalised(number->value);
  throw refuse();
}

std::vector<double> Bandwidth::resolve(const FeatureSpace& space, Index samples) const {
  space.check();
  if (rule_ != Rule::scott && !(value_ > 0 && std::isfinite(value_))) {
    throw Error(ErrorKind::parameter, "bandwidth", fmt::format("{}", value_), "a number > 0");
  }
  std::vector<double> h(static_cast<std::size_t>(space.dim()), value_);
  if (rule_ == Rule::absolute) return h;
  double h0 = value_;
  if (rule_ == Rule::scott) {
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

std::string Bandwidth::text() const {
  switch (rule_) {
    case Rule::absolute: return fmt::format("{}", value_);
    case Rule::normalised: return fmt::format("{} width", value_);
    case Rule::scott: break;
  }
  return "scott";
}

}  // namespace rarefy
