// Which cells are empty, against a set of them; and that samples are even.
#include "density/discount/empty_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"

namespace {

using rarefy::EmptyCells;
using rarefy::Index;
using rarefy::RandomStream;

std::vector<Index> sample_of(EmptyCells& cells, Index most, std::uint64_t iteration = 0) {
  RandomStream random({.seed = 3, .iteration = iteration});
  std::vector<Index> out;
  cells.sample(most, random, out);
  return out;
}

TEST(EmptyCells, AreThoseThatWereNotFilled) {
  for (const Index count : {1, 2, 63, 64, 65, 200}) {
    EmptyCells cells(count);
    std::set<Index> expected;
    for (Index i = 0; i < count; ++i) expected.insert(i);
    RandomStream random({.seed = 1});
    while (!expected.empty()) {
      EXPECT_EQ(cells.count(), static_cast<Index>(expected.size()));
      const auto all = sample_of(cells, count);
      EXPECT_EQ(std::set<Index>(all.begin(), all.end()), expected);
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
      const auto cell = static_cast<Index>(random.below(static_cast<std::uint64_t>(count)));
      EXPECT_EQ(cells.is_empty(cell), expected.count(cell) == 1);
      cells.fill(cell);
      EXPECT_FALSE(cells.is_empty(cell));
      expected.erase(cell);
    }
    EXPECT_EQ(cells.count(), 0);
    EXPECT_TRUE(sample_of(cells, 5).empty());
  }
}

TEST(EmptyCells, ASampleHasDifferentEmptyCellsAsManyAsAskedFor) {
  EmptyCells cells(300);
  for (Index i = 0; i < 300; i += 3) cells.fill(i);
  for (const Index most : {0, 1, 50, 99, 100, 101, 150, 199, 200, 201, 1000}) {
    const auto sample = sample_of(cells, most);
    EXPECT_EQ(static_cast<Index>(sample.size()), std::min<Index>(most, 200)) << most;
    EXPECT_EQ(std::set<Index>(sample.begin(), sample.end()).size(), sample.size()) << most;
    for (const Index cell : sample) EXPECT_NE(cell % 3, 0);
  }
}

// Of 20 empty cells, 7 and 13 are drawn 20,000 times. How often a cell is among them is binomial:
// with p = 0.35 or 0.65 its deviation is 67.5. 40 counts beyond 5.6 deviations: once in a million.
TEST(EmptyCells, EveryOneIsEquallyLikely) {
  constexpr int kDraws = 20'000;
  for (const Index most : {7, 13}) {
    EmptyCells cells(40);
    for (Index i = 0; i < 40; i += 2) cells.fill(i);
    std::vector<int> counts(40);
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      for (const Index cell : sample_of(cells, most, i)) ++counts[static_cast<std::size_t>(cell)];
    }
    for (std::size_t cell = 1; cell < 40; cell += 2) {
      EXPECT_NEAR(counts[cell], kDraws * static_cast<double>(most) / 20.0, 5.6 * 67.5) << cell;
    }
  }
}

// Pairs of 6: 15 sets, each expected 2,000 times of 30,000, deviation 43.2.
TEST(EmptyCells, EverySetIsEquallyLikely) {
  for (const Index most : {2, 4}) {
    EmptyCells cells(6);
    std::map<std::vector<Index>, int> counts;
    for (std::uint64_t i = 0; i < 30'000; ++i) ++counts[sample_of(cells, most, i)];
    EXPECT_EQ(counts.size(), 15U);
    for (const auto& [set, count] : counts) EXPECT_NEAR(count, 2'000, 5.6 * 43.2);
  }
}

TEST(EmptyCells, AreSavedAndLoaded) {
  EmptyCells cells(130);
  for (Index i = 0; i < 130; i += 7) cells.fill(i);
  rarefy::StateWriter out;
  cells.save(out, "empty");
  EmptyCells copy(130);
  copy.fill(5);
  rarefy::StateReader in(out.bytes());
  copy.load(in, "empty");
  EXPECT_EQ(copy.count(), cells.count());
  EXPECT_EQ(sample_of(copy, 40), sample_of(cells, 40));
}

TEST(EmptyCells, BeyondTheLastAreRefused) {
  EmptyCells more(131), cells(130);
  rarefy::StateWriter out;
  more.save(out, "empty");
  rarefy::StateReader in(out.bytes());
  EXPECT_THROW(cells.load(in, "empty"), rarefy::Error);
}

}  // namespace
