// How many rows a rank is given at a time.
#pragma once

#include <algorithm>
#include <cmath>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// A rank can evaluate several rows at a time: it has so many places.
class ChunkSizes {
 public:
  explicit ChunkSizes(Index solution_dim)
      : most_(std::max(Index{1}, kMostValues / std::max(Index{1}, solution_dim))) {}

  /// So many rows have kept places busy for so long, all in all.
  void learn(Index rows, double seconds) {
    if (rows == 0) return;
    // Dear rows among many cheap ones count more: too small a chunk costs little, one that is too
    // large keeps all others waiting.
    constexpr double kWeight = 0.2;
    const double now = std::max(seconds / static_cast<double>(rows), 1e-8);
    per_row_ = now > per_row_ ? now : (1 - kWeight) * per_row_ + kWeight * now;
  }

  /// How many more a rank should be given that has `rows` in `chunks` already; 0: none now.
  /// `waiting`: rows that nobody has, for `all_places`.
  [[nodiscard]] Index next(Index places, Index rows, Index chunks, Index waiting,
                           Index all_places) const {
    Index room = most_;
    if (per_row_ == 0) {
      room = places - rows;  // nothing is known yet
    } else if (per_row_ >= kSlow) {
      // A row that waits behind another could be done elsewhere. Where there are several
      // places, whoever is done first finds one to go on with.
      room = places + (places > 1 ? std::max(Index{1}, places / 4) : 0) - rows;
    } else if (chunks >= 2) {
      room = 0;
    }
    if (room <= 0 || waiting == 0) return 0;
    const double equal = static_cast<double>(waiting) / static_cast<double>(all_places);
    const double least = per_row_ == 0 ? 1 : std::min(kLeastSeconds / per_row_, equal);
    const double most = per_row_ == 0 ? 1 : std::max(kSeconds / per_row_, least);
    const double wanted = std::clamp(equal / 2, least, most) * static_cast<double>(places);
    const auto whole = static_cast<Index>(std::ceil(std::min(wanted, static_cast<double>(most_))));
    return std::min({std::max(Index{1}, whole), room, waiting});
  }

 private:
  static constexpr double kSlow = 0.01;          // seconds a row
  static constexpr double kSeconds = 0.002;      // that a chunk takes
  static constexpr double kLeastSeconds = 1e-4;  // to be worth a letter
  static constexpr Index kMostValues = Index{1} << 17;
  Index most_;  // rows of a chunk
  double per_row_ = 0;
};

}  // namespace rarefy
