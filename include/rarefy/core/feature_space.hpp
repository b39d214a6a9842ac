// The space in which solutions are told apart.
#pragma once

#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// The box in which features lie; used for scales, never as a hard limit.
struct FeatureSpace {
  std::vector<double> lower;
  std::vector<double> upper;

  [[nodiscard]] Index dim() const { return static_cast<Index>(lower.size()); }
  [[nodiscard]] double width(Index d) const {
    return upper[static_cast<std::size_t>(d)] - lower[static_cast<std::size_t>(d)];
  }
  /// Whether features lie in the box, its surface included.
  [[nodiscard]] bool contains(std::span<const double> features) const;
  /// Moves features to the nearest place in the box.
  void clamp(std::span<double> features) const;
  /// How far features are from the box, every feature in units of its width; at most the largest
  /// double.
  [[nodiscard]] double distance(std::span<const double> features) const;
  /// Throws unless both ends are finite, of one length, and lower < upper.
  void check() const;
  bool operator==(const FeatureSpace&) const = default;
};

}  // namespace rarefy
