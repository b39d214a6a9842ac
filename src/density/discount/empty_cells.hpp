// The cells in which nothing was found yet, and a sample of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"

namespace rarefy {

class EmptyCells {
 public:
  /// All are empty.
  explicit EmptyCells(Index cells);

  void fill(Index cell);
  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] bool is_empty(Index cell) const;

  /// `most` different empty cells in ascending order, every such set as likely as any other; all
  /// of them where there are no more.
  void sample(Index most, RandomStream& random, std::vector<Index>& out);

  void save(StateWriter& out, std::string_view name) const;
  void load(StateReader& in, std::string_view name);

 private:
  void draw_ranks(Index count, RandomStream& random);

  Index cells_;
  Index count_;
  std::vector<std::int64_t> empty_;  // a bit for each cell
  std::vector<Index> ranks_;         // scratch: among the empty cells
};

}  // namespace rarefy
