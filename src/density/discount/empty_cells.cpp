#include "density/discount/empty_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr Index kBits = 64;

std::uint64_t bits_of(std::int64_t word) { return static_cast<std::uint64_t>(word); }

}  // namespace

EmptyCells::EmptyCells(Index cells)
    : cells_(cells), count_(cells), empty_(static_cast<std::size_t>((cells + kBits - 1) / kBits)) {
  std::fill(empty_.begin(), empty_.end(), std::int64_t{-1});
  if (const Index rest = cells % kBits; rest != 0) {
    empty_.back() = static_cast<std::int64_t>((std::uint64_t{1} << rest) - 1);
  }
}

bool EmptyCells::is_empty(Index cell) const {
  return (bits_of(empty_[static_cast<std::size_t>(cell / kBits)]) >> (cell % kBits) & 1U) != 0;
}

void EmptyCells::fill(Index cell) {
  if (!is_empty(cell)) return;
  auto& word = empty_[static_cast<std::size_t>(cell / kBits)];
  word = static_cast<std::int64_t>(bits_of(word) & ~(std::uint64_t{1} << (cell % kBits)));
  --count_;
}

// So many different numbers below count_, ascending. They are drawn until there are enough:
// whatever was drawn before, those that are still missing are equally likely to come next.
void EmptyCells::draw_ranks(Index count, RandomStream& random) {
  ranks_.clear();
  while (static_cast<Index>(ranks_.size()) < count) {
    const auto missing = count - static_cast<Index>(ranks_.size());
    for (Index i = 0; i < missing; ++i) {
      ranks_.push_back(static_cast<Index>(random.below(static_cast<std::uint64_t>(count_))));
    }
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  }
}

void EmptyCells::sample(Index most, RandomStream& random, std::vector<Index>& out) {
  out.clear();
  const Index wanted = std::min(most, count_);
  // Where that is fewer, those that are left out are drawn, so that few are drawn twice.
  const bool drawn_stay = wanted <= count_ / 2;
  draw_ranks(drawn_stay ? wanted : count_ - wanted, random);
  auto next = ranks_.begin();
  Index rank = 0;
  for (std::size_t w = 0; w < empty_.size() && static_cast<Index>(out.size()) < wanted; ++w) {
    std::uint64_t word = bits_of(empty_[w]);
    const auto ones = static_cast<Index>(std::popcount(word));
    if (drawn_stay && (next == ranks_.end() || *next >= rank + ones)) {
      rank += ones;  // none of these
      continue;
    }
    for (; word != 0; word &= word - 1, ++rank) {
      const bool drawn = next != ranks_.end() && *next == rank;
      if (drawn) ++next;
      if (drawn != drawn_stay) continue;
      out.push_back(static_cast<Index>(w) * kBits + std::countr_zero(word));
    }
  }
}

void EmptyCells::save(StateWriter& out, std::string_view name) const { out.integers(name, empty_); }

void EmptyCells::load(StateReader& in, std::string_view name) {
  const auto all = EmptyCells(cells_).empty_;
  in.integers(name, empty_);
  if (bits_of(empty_.back()) & ~bits_of(all.back())) {
    throw Error(ErrorKind::corrupt, fmt::format("saved state: field '{}'", name),
                "an empty cell beyond the last", fmt::format("{} cells", cells_));
  }
  count_ = 0;
  for (const auto word : empty_) count_ += std::popcount(bits_of(word));
}

}  // namespace rarefy
