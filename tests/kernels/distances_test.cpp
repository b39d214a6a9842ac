#include "kernels/distances.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::RandomStream;
using rarefy::kernels::kBoxesPerRow;
using rarefy::kernels::kPointsPerBlock;
using rarefy::kernels::Seeker;
using rarefy::kernels::vector_padding;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::ptrdiff_t kDims[] = {1, 2, 3, 4, 5, 10, 17};

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

double just_above(double x) { return std::nextafter(x, kInfinity); }

// Numbers of many magnitudes, so that every operation rounds.
double awkward(RandomStream& random) {
  return (random.uniform() - 0.5) * std::exp2(static_cast<double>(random.below(12)) - 6.0);
}

std::vector<double> awkward_values(RandomStream& random, std::ptrdiff_t count) {
  std::vector<double> values(at(count));
  for (double& value : values) value = awkward(random);
  return values;
}

double squared_distance(const std::vector<double>& a, const double* b, std::ptrdiff_t stride) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const double difference = a[d] - b[static_cast<std::ptrdiff_t>(d) * stride];
    sum += difference * difference;
  }
  return sum;
}

double box_distance(const std::vector<double>& query, const double* low, const double* high,
                    std::ptrdiff_t stride) {
  double sum = 0.0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    const auto place = static_cast<std::ptrdiff_t>(d) * stride;
    double outside = 0.0;
    if (query[d] < low[place]) outside = low[place] - query[d];
    if (query[d] > high[place]) outside = query[d] - high[place];
    sum += outside * outside;
  }
  return sum;
}

/// A block of `count` points; the rest of it is empty.
struct Block {
  Block(RandomStream& random, std::ptrdiff_t count, std::ptrdiff_t dims)
      : values(at(kPointsPerBlock * dims), kInfinity) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      for (std::ptrdiff_t d = 0; d < dims; ++d)
        values[at(d * kPointsPerBlock + i)] = awkward(random);
    }
  }
  [[nodiscard]] std::vector<double> distances(const std::vector<double>& query,
                                              std::ptrdiff_t count) const {
    std::vector<double> all;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      all.push_back(squared_distance(query, values.data() + i, kPointsPerBlock));
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  std::vector<double> values;
};

std::vector<double> collected(const Block& block, const std::vector<double>& query, double limit) {
  std::vector<double> out(at(kPointsPerBlock + vector_padding()), -7.0);
  Seeker seeker = {query.data(), limit, out.data()};
  const std::ptrdiff_t first = 0;
  rarefy::kernels::collect_nearer(block.values.data(), static_cast<std::ptrdiff_t>(query.size()),
                                  &seeker, &first, 1);
  out.resize(at(seeker.out - out.data()));
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<double> those_below(const std::vector<double>& sorted, double limit) {
  return {sorted.begin(), std::lower_bound(sorted.begin(), sorted.end(), limit)};
}

class Distances : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, Distances, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

// To the bit, with every instruction set, and whatever the limit: also one that a distance just
// meets, and one that it just misses.
TEST_P(Distances, CollectedAreThoseOfAPlainLoopBelowTheLimit) {
  for (const auto dims : kDims) {
    RandomStream random({.seed = 1, .index = static_cast<std::uint32_t>(dims)});
    for (const std::ptrdiff_t count : {1, 7, 8, 9, 31, 32}) {
      const Block block(random, count, dims);
      for (int round = 0; round < 5; ++round) {
        const auto query = awkward_values(random, dims);
        const auto all = block.distances(query, count);
        EXPECT_EQ(collected(block, query, kInfinity), all) << dims << " dimensions";
        EXPECT_TRUE(collected(block, query, 0.0).empty());
        for (const double distance : all) {
          EXPECT_EQ(collected(block, query, distance), those_below(all, distance));
          EXPECT_EQ(collected(block, query, just_above(distance)),
                    those_below(all, just_above(distance)));
        }
      }
    }
  }
}

TEST_P(Distances, APointIsAtDistanceZeroFromItself) {
  for (const auto dims : kDims) {
    RandomStream random({.seed = 2});
    const Block block(random, 20, dims);
    std::vector<double> query;
    for (std::ptrdiff_t d = 0; d < dims; ++d) {
      query.push_back(block.values[at(d * kPointsPerBlock + 13)]);
    }
    EXPECT_EQ(collected(block, query, std::numeric_limits<double>::denorm_min()),
              std::vector<double>{0.0});
  }
}

TEST_P(Distances, WhatOverflowsIsBelowNoLimit) {
  for (const auto dims : kDims) {
    RandomStream random({.seed = 3});
    Block block(random, 32, dims);
    block.values[5] = 1e200;
    const std::vector<double> query(at(dims), 0.5);
    EXPECT_EQ(collected(block, query, kInfinity).size(), 31U);
    EXPECT_TRUE(collected(block, std::vector<double>(at(dims), -1e180), kInfinity).empty());
  }
}

TEST_P(Distances, OnlyTheSeekersThatWereNamedAreServed) {
  constexpr std::ptrdiff_t kRoom = kPointsPerBlock + vector_padding();
  for (const std::ptrdiff_t dims : {2, 10}) {
    RandomStream random({.seed = 4});
    const Block block(random, 32, dims);
    std::vector<double> out(at(5 * kRoom), -7.0);
    std::vector<Seeker> seekers;
    std::vector<std::vector<double>> queries(5);
    for (auto& query : queries) query = awkward_values(random, dims);
    for (std::ptrdiff_t s = 0; s < 5; ++s) {
      const double limit = block.distances(queries[at(s)], 32)[at(3 + s)];
      seekers.push_back({queries[at(s)].data(), limit, out.data() + s * kRoom});
    }
    const std::vector<std::ptrdiff_t> which = {4, 1, 2};
    rarefy::kernels::collect_nearer(block.values.data(), dims, seekers.data(), which.data(), 3);
    for (std::ptrdiff_t s = 0; s < 5; ++s) {
      double* const begin = out.data() + s * kRoom;
      const bool named = std::find(which.begin(), which.end(), s) != which.end();
      ASSERT_EQ(seekers[at(s)].out - begin, named ? 3 + s : 0);
      if (!named) continue;
      std::vector<double> found(begin, seekers[at(s)].out);
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, those_below(block.distances(queries[at(s)], 32), seekers[at(s)].limit));
    }
  }
}

TEST_P(Distances, BoxesInReachAreThoseOfAPlainLoop) {
  for (const auto dims : kDims) {
    RandomStream random({.seed = 5, .index = static_cast<std::uint32_t>(dims)});
    for (int round = 0; round < 50; ++round) {
      const auto boxes = static_cast<std::ptrdiff_t>(random.below(kBoxesPerRow + 1));
      std::vector<double> low(at(kBoxesPerRow * dims), kInfinity), high = low;
      for (std::ptrdiff_t d = 0; d < dims; ++d) {
        for (std::ptrdiff_t b = 0; b < boxes; ++b) {
          const double x = awkward(random), y = awkward(random);
          low[at(d * kBoxesPerRow + b)] = std::min(x, y);
          high[at(d * kBoxesPerRow + b)] = std::max(x, y);
        }
      }
      const auto query = awkward_values(random, dims);
      std::vector<double> limits = {0.0, 1e-9, 1.0, kInfinity};
      for (std::ptrdiff_t b = 0; b < boxes; ++b) {
        limits.push_back(box_distance(query, low.data() + b, high.data() + b, kBoxesPerRow));
        limits.push_back(just_above(limits.back()));
      }
      for (const double limit : limits) {
        std::uint32_t expected = 0;
        std::vector<double> expected_distances(at(kBoxesPerRow), kInfinity);
        for (std::ptrdiff_t b = 0; b < boxes; ++b) {
          const double distance =
              box_distance(query, low.data() + b, high.data() + b, kBoxesPerRow);
          if (distance < limit) expected |= 1U << b;
          expected_distances[at(b)] = distance;
        }
        std::vector<double> distances(at(kBoxesPerRow), -7.0);
        EXPECT_EQ(rarefy::kernels::boxes_in_reach(low.data(), high.data(), query.data(), dims,
                                                  limit, distances.data()),
                  expected);
        EXPECT_EQ(distances, expected_distances);
      }
    }
  }
}

// What makes it safe to pass over a box: it is never computed to be farther than a point inside
// it is, however the two are rounded. Points at the very corners, and boxes of no width.
TEST_P(Distances, ABoxIsNeverFartherThanAPointInIt) {
  int on_the_edge = 0;
  for (const auto dims : kDims) {
    RandomStream random({.seed = 6, .index = static_cast<std::uint32_t>(dims)});
    for (int round = 0; round < 2000; ++round) {
      std::vector<double> low(at(kBoxesPerRow * dims), kInfinity), high = low;
      const auto query = awkward_values(random, dims);
      std::vector<double> point(at(dims));
      for (std::ptrdiff_t d = 0; d < dims; ++d) {
        const double x = awkward(random), y = awkward(random);
        auto& from = low[at(d * kBoxesPerRow)];
        auto& to = high[at(d * kBoxesPerRow)];
        from = std::min(x, y);
        to = random.below(4) == 0 ? from : std::max(x, y);
        const auto where = random.below(4);
        point[at(d)] = where == 0   ? from
                       : where == 1 ? to
                                    : std::clamp(query[at(d)] + 1e-3 * awkward(random), from, to);
      }
      const double distance = squared_distance(query, point.data(), 1);
      std::vector<double> ignored(at(kBoxesPerRow));
      EXPECT_EQ(rarefy::kernels::boxes_in_reach(low.data(), high.data(), query.data(), dims,
                                                just_above(distance), ignored.data()),
                1U);
      on_the_edge += box_distance(query, low.data(), high.data(), kBoxesPerRow) == distance ? 1 : 0;
    }
  }
  EXPECT_GT(on_the_edge, 500) << "too few points at the edge to tell";
}

TEST_P(Distances, QueriesInReachAreThoseOfAPlainLoop) {
  for (const auto dims : kDims) {
    RandomStream random({.seed = 7, .index = static_cast<std::uint32_t>(dims)});
    for (const std::ptrdiff_t count : {1, 7, 8, 9, 40}) {
      const auto stride = (count + vector_padding() - 1) / vector_padding() * vector_padding();
      std::vector<double> low = awkward_values(random, dims), high = low;
      for (double& end : high) end += random.uniform();
      std::vector<double> columns(at(stride * dims), 0.0), limits(at(stride), 0.0);
      std::vector<std::ptrdiff_t> expected;
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        const auto query = awkward_values(random, dims);
        for (std::ptrdiff_t d = 0; d < dims; ++d) columns[at(d * stride + i)] = query[at(d)];
        const double distance = box_distance(query, low.data(), high.data(), 1);
        const double choice[] = {distance, just_above(distance), 0.0, kInfinity};
        limits[at(i)] = choice[random.below(4)];
        if (distance < limits[at(i)]) expected.push_back(i);
      }
      std::vector<std::ptrdiff_t> found(at(stride), -1);
      found.resize(at(rarefy::kernels::queries_in_reach(
          low.data(), high.data(), columns.data(), stride, dims, limits.data(), found.data())));
      EXPECT_EQ(found, expected);
    }
  }
}

namespace {

void expect_smallest_kept(const std::vector<double>& values, std::ptrdiff_t k,
                          std::ptrdiff_t most) {
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  auto buffer = values;
  buffer.resize(values.size() + at(vector_padding()), -7.0);
  std::ptrdiff_t kept = -1;
  const double bound = rarefy::kernels::keep_smallest(
      buffer.data(), static_cast<std::ptrdiff_t>(values.size()), k, most, &kept);
  ASSERT_GE(kept, k);
  ASSERT_LE(kept, most);
  buffer.resize(at(kept));
  std::sort(buffer.begin(), buffer.end());
  EXPECT_TRUE(std::equal(buffer.begin(), buffer.end(), sorted.begin()));
  EXPECT_GE(bound, buffer.back());
  if (at(kept) < sorted.size()) {
    EXPECT_LE(bound, sorted[at(kept)]);
  }
}

}  // namespace

TEST_P(Distances, TheSmallestAreKept) {
  RandomStream random({.seed = 8});
  for (const std::ptrdiff_t count : {1, 2, 7, 8, 9, 100, 333}) {
    for (int shape = 0; shape < 5; ++shape) {
      std::vector<double> values(at(count));
      for (double& value : values) {
        const double u = random.uniform();
        switch (shape) {
          case 0: value = u; break;
          case 1: value = std::pow(u, 0.2); break;                             // crowded at the top
          case 2: value = static_cast<double>(random.below(4)); break;         // many equal
          case 3: value = std::exp2(1500.0 * u - 1000.0); break;               // all magnitudes
          case 4: value = random.below(3) == 0 ? 0.0 : 5e-324 * u * 9; break;  // none to speak of
        }
      }
      for (const std::ptrdiff_t k : {std::ptrdiff_t{1}, count / 3, count / 2, count - 1, count}) {
        if (k < 1) continue;
        for (const std::ptrdiff_t most : {k, std::min(count, k + 1), std::min(count, k + k / 8)}) {
          expect_smallest_kept(values, k, most);
        }
      }
    }
  }
}

TEST_P(Distances, TheSmallestAreKeptWhereMostAreEqual) {
  for (const std::ptrdiff_t k : {1, 10, 50, 89, 90, 95, 100}) {
    std::vector<double> values(100, 2.0);
    for (std::size_t i = 0; i < 10; ++i) values[i * 9] = 1.0 + 0.1 * static_cast<double>(i % 3);
    expect_smallest_kept(values, k, k);
    expect_smallest_kept(std::vector<double>(100, 0.0), k, k);
    expect_smallest_kept(std::vector<double>(100, std::numeric_limits<double>::max()), k, k);
  }
}

TEST_P(Distances, SquareRootsAreCorrectlyRounded) {
  RandomStream random({.seed = 9});
  for (const std::ptrdiff_t count : {0, 1, 2, 5, 8, 9, 100}) {
    std::vector<double> values(at(count));
    for (double& value : values) value = std::exp2(2000.0 * random.uniform() - 1000.0);
    if (count > 2) values[1] = 0.0;
    auto roots = values;
    roots.resize(values.size() + at(vector_padding()));
    rarefy::kernels::square_roots(roots.data(), count);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(roots[i], std::sqrt(values[i]));
  }
}
