#include "rarefy/density/feature_length.hpp"

#include <fmt/format.h>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy {

FeatureLength FeatureLength::of_width(double part) {
  FeatureLength length(part);
  length.of_width_ = true;
  return length;
}

FeatureLength FeatureLength::parse(std::string_view text) {
  const auto number = parse_number_with_unit(text);
  if (!number || number->value < 0 || (!number->unit.empty() && number->unit != "width")) {
    throw Error(ErrorKind::parameter, "length", fmt::format("'{}'", text),
                "a number >= 0, or one followed by 'width'");
  }
  return number->unit.empty() ? FeatureLength(number->value) : of_width(number->value);
}

double FeatureLength::resolve(const FeatureSpace& space) const {
  if (!of_width_) return value_;
  double width = 0;
  for (Index d = 0; d < space.dim(); ++d) width += space.width(d);
  return value_ * width / static_cast<double>(space.dim());
}

std::string FeatureLength::text() const { return text_of(value_) + (of_width_ ? " width" : ""); }

}  // namespace rarefy
