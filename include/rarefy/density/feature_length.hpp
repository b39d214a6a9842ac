// A length in feature space: in the unit of the features, or in parts of the box's width.
#pragma once

#include <string>
#include <string_view>

#include "rarefy/core/feature_space.hpp"

namespace rarefy {

class FeatureLength {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a plain number is a length in features' own unit
  FeatureLength(double value) : value_(value) {}
  /// `part` times the mean width of the box, over its features.
  static FeatureLength of_width(double part);
  /// Reads "21.5" or "0.042 width". Throws where the text is anything else, or negative.
  static FeatureLength parse(std::string_view text);

  [[nodiscard]] double resolve(const FeatureSpace& space) const;
  [[nodiscard]] std::string text() const;
  bool operator==(const FeatureLength&) const = default;

 private:
  double value_;
  bool of_width_ = false;
};

}  // namespace rarefy
