// Which trial of a row the page shows, and its frames in a form that a page can hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "rarefy/domains/domain.hpp"
#include "rarefy/runs/frames.hpp"
#include "rarefy/trials/results.hpp"

namespace rarefy {

/// The trial whose coverage is the median of the row's, once none goes on; until then the one that
/// has come furthest. None where no trial has begun.
[[nodiscard]] std::optional<std::size_t> shown_trial(const ResultRow& row);

/// One byte a cell: 0 where it is empty, else 1 to 127 from the least to the greatest value of all
/// frames, by their logarithms where `logarithmic`: more shades could not be told apart, and take a
/// fifth more. Every frame but the first as the difference
/// (modulo 256) to the one before, for most cells stay what they are.
struct PackedFrames {
  bool logarithmic = false;
  double low = 0, high = 0;
  std::string data;  ///< packed (reports/packing.hpp)
};
[[nodiscard]] PackedFrames pack_frames(const Frames& frames, bool logarithmic);

/// What was recorded on the way, and the archive as it is now. Empty (no columns) where the run has
/// written neither yet; throws an Error where what it has written cannot be read.
[[nodiscard]] Frames frames_of(const Trial& trial, const DomainInfo& domain);

/// Frames as the page reads them (web/src/unpack.js), but for `data`; and that.
struct PageFrames {
  nlohmann::ordered_json head;
  std::string data;
};
[[nodiscard]] std::optional<PageFrames> page_frames(const ResultRow& row, const DomainInfo& domain);

}  // namespace rarefy
