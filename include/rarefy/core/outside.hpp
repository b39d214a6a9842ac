// What becomes of features that lie outside of the feature space.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "rarefy/core/names.hpp"

namespace rarefy {

/// The box of a feature space is where its owner wants solutions; some lie elsewhere. The archive
/// keeps them in the nearest cell, with the features they have. This is about the density, to
/// which the emptiness out there may look more attractive than any cell.
enum class Outside : std::uint8_t {
  as_is,  ///< the density scores and observes all features alike, wherever they are
  clamp,  ///< it sees the nearest features inside instead
  last,   ///< the same, and candidates outside rank behind all those inside, the nearest first
};

template <>
struct EnumNames<Outside> {
  static constexpr std::string_view thing = "outside";
  static constexpr std::pair<Outside, std::string_view> all[] = {
      {Outside::as_is, "as-is"}, {Outside::clamp, "clamp"}, {Outside::last, "last"}};
};

}  // namespace rarefy
