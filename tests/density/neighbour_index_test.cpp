// The index against a plain loop over all points: the same distances, to the bit.
#include "density/neighbours/neighbour_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "density/neighbours/neighbour_search.hpp"
#include "density/neighbours/smallest_distances.hpp"
#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Index;
using rarefy::NeighbourIndex;
using rarefy::NeighbourSearch;
using rarefy::SmallestDistances;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

using Squares = std::vector<double>;  // ascending

Squares brute_force(BatchView points, std::span<const double> query, Index k) {
  Squares all;
  for (Index i = 0; i < points.rows(); ++i) {
    double sum = 0.0;
    for (Index d = 0; d < points.cols(); ++d) {
      const double difference = query[at(d)] - points(i, d);
      sum += difference * difference;
    }
    all.push_back(sum);
  }
  const auto kept = std::min(at(k), all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<Index>(kept), all.end());
  all.resize(kept);
  return all;
}

/// The k smallest for the rows first, first + step, ...
std::vector<Squares> nearest(const NeighbourIndex& index, BatchView queries, Index k,
                             Index first = 0, Index step = 1) {
  const Index count = (queries.rows() - first + step - 1) / step;
  std::vector<SmallestDistances> best(at(count));
  for (auto& one : best) one.begin(std::min(k, index.size()));
  NeighbourSearch search;
  search.run(index, queries, first, step, best);
  std::vector<Squares> result;
  for (auto& one : best) {
    const auto kept = one.finish();
    result.emplace_back(kept.begin(), kept.end());
    std::sort(result.back().begin(), result.back().end());
  }
  return result;
}

void expect_brute_force(const NeighbourIndex& index, BatchView points, BatchView queries, Index k) {
  const auto found = nearest(index, queries, k);
  for (Index i = 0; i < queries.rows(); ++i) {
    ASSERT_EQ(found[at(i)], brute_force(points, queries.row(i), k))
        << "query " << i << ", " << points.rows() << " points in " << points.cols()
        << " dimensions, k " << k;
  }
}

NeighbourIndex index_of(BatchView points) {
  NeighbourIndex index(points.cols());
  for (Index i = 0; i < points.rows(); ++i) index.add(points.row(i));
  return index;
}

Batch joined(BatchView a, BatchView b) {
  Batch all(0, a.cols());
  for (Index i = 0; i < a.rows(); ++i) all.append(a.row(i));
  for (Index i = 0; i < b.rows(); ++i) all.append(b.row(i));
  return all;
}

Batch shifted(Batch batch, double by) {
  for (double& value : batch.values()) value += by;
  return batch;
}

/// Clouds of very different width, far apart from one another.
Batch clusters(Index rows, Index dims, std::uint64_t seed) {
  rarefy::RandomStream random({.seed = seed});
  Batch batch(rows, dims);
  for (Index i = 0; i < rows; ++i) {
    const auto cluster = static_cast<double>(random.below(5));
    const double width = std::pow(10.0, 2.0 - 3.0 * cluster);
    for (double& value : batch.row(i)) {
      value = 1e5 * (cluster - 2.0) + width * (random.uniform() - 0.5);
    }
  }
  return batch;
}

/// What a tree of so many leaves may have: some twice as much as it needs.
Index most_depth(const NeighbourIndex& index) {
  return 2 * static_cast<Index>(std::bit_width(at(index.leaves()))) + 16;
}

class Neighbours : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, Neighbours, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

// While it grows through many splits. Queries all over the box, outside, far outside, and at
// points themselves. In ten dimensions and more the nearest leaves alone never suffice.
TEST_P(Neighbours, AreThoseOfAPlainLoopInAnyDimension) {
  for (const Index dims : {1, 2, 3, 10, 17}) {
    const Batch points = uniform_batch(8000, dims, -5.0, 5.0, 1);
    const Batch inside = uniform_batch(6, dims, -5.0, 5.0, 2);
    const Batch around = uniform_batch(4, dims, -9.0, 9.0, 3);
    const Batch far = shifted(uniform_batch(4, dims, -5.0, 5.0, 4), 1e6);
    const Batch queries = joined(joined(inside, around), joined(far, points.view().rows(0, 1)));
    NeighbourIndex index(dims);
    Index size = 0;
    for (const Index checked : {1, 31, 32, 33, 511, 512, 513, 800, 3000, 8000}) {
      for (; size < checked; ++size) index.add(points.row(size));
      ASSERT_EQ(index.size(), checked);
      for (const Index k : {Index{1}, Index{100}, checked + 1}) {
        if (k > 100 && checked > 800) continue;
        expect_brute_force(index, points.view().rows(0, checked), queries, k);
      }
    }
    EXPECT_GT(index.leaves(), 16) << "too few for the search to have a choice";
  }
}

TEST_P(Neighbours, AreFoundInClustersOfVeryDifferentWidth) {
  for (const Index dims : {2, 10}) {
    const Batch points = clusters(6000, dims, 11);
    const auto index = index_of(points);
    expect_brute_force(index, points, joined(clusters(20, dims, 12), points.view().rows(7, 5)), 50);
  }
}

TEST(NeighbourIndex, CountsEveryCopyOfAPoint) {
  // Small integers, so that there are some 20 copies of each, and equal distances everywhere.
  rarefy::RandomStream random({.seed = 21});
  Batch points(5000, 3);
  for (double& value : points.values()) value = static_cast<double>(random.below(6));
  Batch queries(20, 3);
  for (double& value : queries.values()) value = static_cast<double>(random.below(13)) * 0.5;
  const auto index = index_of(points);
  for (const Index k : {1, 10, 100, 1000}) expect_brute_force(index, points, queries, k);
}

TEST(NeighbourIndex, HoldsManyPointsThatAreAllTheSame) {
  Batch points(20'000, 2);
  for (double& value : points.values()) value = 0.7;
  const auto index = index_of(points);
  EXPECT_LE(index.depth(), most_depth(index)) << "copies in a row make the tree deep";
  const Batch queries = uniform_batch(5, 2, 0.0, 1.0, 31);
  expect_brute_force(index, points, joined(queries, points.view().rows(0, 1)), 100);
}

TEST(NeighbourIndex, HoldsCopiesAmongOthers) {
  // Nine of ten points are the same: medians cannot tell them apart.
  for (const double copies : {-2.0, 0.5, 3.0}) {
    Batch points = uniform_batch(10'000, 2, 0.0, 1.0, 41);
    for (Index i = 0; i < points.rows(); ++i) {
      if (i % 10 != 0) points(i, 0) = points(i, 1) = copies;
    }
    const auto index = index_of(points);
    EXPECT_LE(index.depth(), most_depth(index));
    const Batch queries = uniform_batch(10, 2, -2.5, 3.5, 42);
    expect_brute_force(index, points, joined(queries, points.view().rows(1, 1)), 100);
  }
}

// A search that moves outwards brings its points in order.
TEST(NeighbourIndex, StaysShallowWhenPointsComeInOrder) {
  for (const double direction : {1.0, -1.0}) {
    Batch points = uniform_batch(60'000, 2, 0.0, 1.0, 51);
    for (Index i = 0; i < points.rows(); ++i) points(i, 0) = direction * static_cast<double>(i);
    const auto index = index_of(points);
    ASSERT_GT(index.leaves(), 117);
    EXPECT_LE(index.depth(), most_depth(index));
    Batch queries = uniform_batch(10, 2, -100.0, 60'100.0, 52);
    for (Index i = 0; i < queries.rows(); ++i) queries(i, 0) *= direction;
    expect_brute_force(index, points, queries, 100);
  }
}

TEST(NeighbourIndex, ASplitLeavesNoSideEmptyWhenTheMedianIsTheSmallest) {
  // A full leaf in which all but one are equal, then more of both kinds.
  Batch points(0, 1);
  for (int i = 0; i < 3000; ++i) {
    const double value = i < 511 ? 1.0 : (i % 3 == 0 ? 1.0 : 2.0);
    points.append(std::vector<double>{value});
  }
  const auto index = index_of(points);
  for (Index leaf = 0; leaf < index.leaves(); ++leaf) EXPECT_GT(index.leaf(leaf).count(), 0);
  expect_brute_force(index, points, uniform_batch(5, 1, 0.0, 3.0, 53), 700);
}

TEST(NeighbourIndex, ResultsDoNotDependOnTheOrderOfArrival) {
  const Batch points = uniform_batch(8000, 10, 0.0, 1.0, 61);
  const Batch queries = uniform_batch(20, 10, -0.2, 1.2, 62);
  std::vector<Index> order(8000);
  rarefy::RandomStream random({.seed = 63});
  rarefy::random_permutation(random, order);
  NeighbourIndex other(10);
  for (const Index i : order) other.add(points.row(i));
  EXPECT_EQ(nearest(index_of(points), queries, 100), nearest(other, queries, 100));
}

TEST(NeighbourIndex, ResultsDoNotDependOnTheOtherQueries) {
  const Batch points = uniform_batch(8000, 10, 0.0, 1.0, 71);
  const Batch queries = uniform_batch(23, 10, -0.2, 1.2, 72);
  const auto index = index_of(points);
  const auto together = nearest(index, queries, 60);
  for (const Index step : {2, 5, 23}) {
    for (Index first = 0; first < step; ++first) {
      const auto some = nearest(index, queries, 60, first, step);
      for (std::size_t i = 0; i < some.size(); ++i) {
        EXPECT_EQ(some[i], together[at(first) + i * at(step)]);
      }
    }
  }
}

// A second search into the same buffers adds the points of a second index.
TEST(NeighbourIndex, TwoCanBeSearchedTogether) {
  for (const Index dims : {2, 10}) {
    const Batch a = uniform_batch(6000, dims, 0.0, 1.0, 81);
    const Batch b = uniform_batch(700, dims, 0.3, 0.6, 82);
    const Batch queries = uniform_batch(30, dims, 0.0, 1.0, 83);
    std::vector<SmallestDistances> best(30);
    for (auto& one : best) one.begin(90);
    NeighbourSearch search;
    search.run(index_of(b), queries, 0, 1, best);
    search.run(index_of(a), queries, 0, 1, best);
    const Batch all = joined(a, b);
    for (Index i = 0; i < queries.rows(); ++i) {
      const auto kept = best[at(i)].finish();
      Squares found(kept.begin(), kept.end());
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, brute_force(all, queries.row(i), 90));
    }
  }
}

TEST(NeighbourIndex, DistancesWhoseSquareOverflowsAreNotShown) {
  Batch points = uniform_batch(1000, 2, 0.0, 1.0, 91);
  for (Index i = 0; i < 100; ++i) points(i * 7, 1) = 1e200;
  const auto index = index_of(points);
  Batch queries = uniform_batch(2, 2, 0.0, 1.0, 92);
  queries(1, 0) = -1e180;
  const auto found = nearest(index, queries, 1000);
  EXPECT_EQ(found[0].size(), 900U);
  EXPECT_EQ(found[1].size(), 0U);
  // The largest numbers of all: the width of their box overflows too.
  Batch extreme = uniform_batch(2000, 1, -1.0, 1.0, 93);
  for (double& value : extreme.values()) value *= std::numeric_limits<double>::max();
  EXPECT_EQ(nearest(index_of(extreme), extreme.view().rows(5, 1), 2000)[0].size(), 1U);
}

TEST(NeighbourIndex, GivesThePointsBackInTheOrderOfArrival) {
  for (const Index rows : {0, 1, 33, 5000}) {
    const Batch points = uniform_batch(rows, 3, 0.0, 1.0, 101);
    const auto index = index_of(points);
    Batch copy(rows, 3);
    index.copy_to(copy);
    EXPECT_TRUE(std::equal(copy.values().begin(), copy.values().end(), points.values().begin()));
  }
}

TEST(NeighbourIndex, CanBeClearedAndFilledAgain) {
  auto index = index_of(uniform_batch(3000, 2, 0.0, 1.0, 111));
  index.clear();
  EXPECT_EQ(index.size(), 0);
  const Batch queries = uniform_batch(5, 2, 0.0, 1.0, 112);
  std::vector<SmallestDistances> best(5);
  for (auto& one : best) one.begin(3);
  NeighbourSearch search;
  search.run(index, queries, 0, 1, best);
  for (auto& one : best) EXPECT_TRUE(one.finish().empty());
  const Batch points = uniform_batch(4000, 2, 5.0, 6.0, 113);
  for (Index i = 0; i < points.rows(); ++i) index.add(points.row(i));
  expect_brute_force(index, points, queries, 100);
}
