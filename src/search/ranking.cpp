#include "search/ranking.hpp"

#include <algorithm>

namespace rarefy {
namespace {

enum class Group : std::uint8_t { inside, outside, not_its_own, failed };

Group group_of(const Standings& rows, Index row) {
  const auto at = static_cast<std::size_t>(row);
  if (!rows.usable.empty() && rows.usable[at] == 0) return Group::failed;
  if (row < rows.not_its_own) return Group::not_its_own;
  return !rows.distances.empty() && rows.distances[at] > 0 ? Group::outside : Group::inside;
}

// A stable sort that allocates nothing, for the few dozen rows of one emitter.
template <typename Before>
void stable_sort_in_place(std::span<Index> values, Before before) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto value = values[i];
    const auto place =
        std::upper_bound(values.begin(), values.begin() + static_cast<Index>(i), value, before);
    std::move_backward(place, values.begin() + static_cast<Index>(i),
                       values.begin() + static_cast<Index>(i) + 1);
    *place = value;
  }
}

void sort_by(std::span<const double> values, std::span<Index> rows) {
  stable_sort_in_place(rows, [&](Index a, Index b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
}

}  // namespace

Ranking rank_rows(const Standings& rows, RandomStream& random, std::span<Index> order) {
  random_permutation(random, order);
  Ranking ranking = {.ranked = static_cast<Index>(order.size())};
  if (!rows.usable.empty() || !rows.distances.empty() || rows.not_its_own > 0) {
    const auto group = [&](Index row) { return group_of(rows, row); };
    const auto count = [&](Group wanted) {
      return std::count_if(order.begin(), order.end(),
                           [&](Index row) { return group(row) == wanted; });
    };
    stable_sort_in_place(order, [&](Index a, Index b) { return group(a) < group(b); });
    ranking.ranked -= count(Group::failed) + count(Group::not_its_own);
    ranking.outside = count(Group::outside);
  }
  const auto ranked = order.first(static_cast<std::size_t>(ranking.ranked));
  const auto behind = static_cast<std::size_t>(ranking.outside);
  sort_by(rows.scores, ranked.first(ranked.size() - behind));
  sort_by(rows.distances, ranked.last(behind));
  return ranking;
}

}  // namespace rarefy
