#include "trials/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"
#include "rarefy/trials/matrix.hpp"

namespace rarefy {
namespace {

struct SeedRange {
  std::int64_t first = 0, last = 0;
};

std::optional<SeedRange> parse_range(std::string_view text) {
  text = trimmed(text);
  const auto dash = text.find('-');
  const auto first = parse_integer(trimmed(text.substr(0, dash)));
  if (!first) return {};
  if (dash == std::string_view::npos) return SeedRange{*first, *first};
  const auto last = parse_integer(trimmed(text.substr(dash + 1)));
  if (!last || *last < *first) return {};
  return SeedRange{*first, *last};
}

}  // namespace

std::vector<std::int64_t> parse_seeds(std::string_view text) {
  std::vector<std::int64_t> seeds;
  for (const auto piece : split(text, ',')) {
    const auto range = parse_range(piece);
    if (!range || range->first < 0) {
      throw Error(ErrorKind::parameter, "seeds", fmt::format("'{}'", text),
                  "numbers and ranges from 0, such as '1-10' or '1-3,7'");
    }
    if (range->last - range->first >= static_cast<std::int64_t>(kMostTrials - seeds.size())) {
      throw Error(ErrorKind::parameter, "seeds", fmt::format("'{}'", text),
                  fmt::format("at most {} of them", kMostTrials));
    }
    for (auto seed = range->first; seed <= range->last; ++seed) seeds.push_back(seed);
  }
  // Only the first of equal ones.
  auto sorted = seeds;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) == sorted.end()) return seeds;
  std::vector<std::int64_t> unique;
  std::vector<bool> taken(sorted.size());
  for (const auto seed : seeds) {
    const auto place =
        static_cast<std::size_t>(std::ranges::lower_bound(sorted, seed) - sorted.begin());
    if (!taken[place]) unique.push_back(seed);
    taken[place] = true;
  }
  return unique;
}

}  // namespace rarefy
