#include "rarefy/density/reservoir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "support/chi_square.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::Reservoir;

std::vector<double> values_of(BatchView batch) {
  return {batch.values().begin(), batch.values().end()};
}

/// Items 0 .. count-1, handed over in batches of `batch`.
Reservoir filled(Index capacity, Index count, Index batch, std::uint64_t seed) {
  Reservoir reservoir({.feature_dim = 1, .capacity = capacity, .seed = seed});
  const Batch items = counting_batch(count);
  std::vector<Index> changed;
  for (Index first = 0; first < count; first += batch) {
    reservoir.add(items.view().rows(first, std::min(batch, count - first)), changed);
  }
  return reservoir;
}

std::vector<std::byte> saved(const Reservoir& reservoir) {
  rarefy::StateWriter out;
  reservoir.save(out);
  return out.bytes();
}

TEST(Reservoir, TakesTheFirstItemsAsTheyCome) {
  for (const Index count : {0, 1, 9, 10}) {
    const auto reservoir = filled(10, count, 4, 3);
    EXPECT_EQ(values_of(reservoir.contents()), values_of(counting_batch(count)));
    EXPECT_EQ(reservoir.seen(), count);
    EXPECT_EQ(reservoir.capacity(), 10);
  }
}

// Li's listing, word for word, on a list that lies there as a whole.
std::vector<double> algorithm_l(const Batch& items, Index k, std::uint64_t seed) {
  std::uint64_t draws = 0;
  double w = 1.0;
  double skip = 0.0;
  std::uint64_t slot = 0;
  const auto draw = [&] {
    rarefy::RandomStream random(
        {.seed = seed, .purpose = rarefy::Purpose::reservoir, .iteration = draws++});
    w *= std::exp(std::log(random.uniform_open()) / static_cast<double>(k));
    skip = std::floor(std::log(random.uniform_open()) / std::log1p(-w));
    slot = random.below(static_cast<std::uint64_t>(k));
  };
  std::vector<double> kept;
  for (Index i = 0; i < k; ++i) kept.push_back(items(i, 0));
  draw();
  double i = static_cast<double>(k - 1);
  while (true) {
    i += skip + 1.0;
    if (i >= static_cast<double>(items.rows())) return kept;
    kept[slot] = items(static_cast<Index>(i), 0);
    draw();
  }
}

TEST(Reservoir, IsAlgorithmLItemForItem) {
  const Batch items = counting_batch(20'000);
  for (const Index capacity : {1, 2, 10, 300}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      EXPECT_EQ(values_of(filled(capacity, items.rows(), 540, seed).contents()),
                algorithm_l(items, capacity, seed))
          << "capacity " << capacity << ", seed " << seed;
    }
  }
}

TEST(Reservoir, BatchBordersChangeNothing) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto whole = filled(50, 5003, 5003, seed);
    for (const Index batch : {1, 7, 49, 50, 51, 540}) {
      const auto pieces = filled(50, 5003, batch, seed);
      EXPECT_EQ(values_of(pieces.contents()), values_of(whole.contents()))
          << "batches of " << batch;
      EXPECT_EQ(saved(pieces), saved(whole)) << "batches of " << batch;
    }
  }
}

TEST(Reservoir, AnEmptyBatchChangesNothing) {
  auto reservoir = filled(5, 100, 10, 1);
  const auto before = saved(reservoir);
  std::vector<Index> changed;
  reservoir.add(BatchView(nullptr, 0, 1), changed);
  EXPECT_EQ(saved(reservoir), before);
  EXPECT_TRUE(changed.empty());
}

TEST(Reservoir, TheSeedDecides) {
  EXPECT_EQ(saved(filled(20, 1000, 33, 5)), saved(filled(20, 1000, 33, 5)));
  EXPECT_NE(values_of(filled(20, 1000, 33, 5).contents()),
            values_of(filled(20, 1000, 33, 6).contents()));
}

// Whole rows travel together, whatever the number of features.
TEST(Reservoir, KeepsRowsWhole) {
  Batch rows(3000, 4);
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index d = 0; d < 4; ++d) rows(i, d) = static_cast<double>(4 * i + d);
  }
  Reservoir reservoir({.feature_dim = 4, .capacity = 25, .seed = 2});
  std::vector<Index> changed;
  reservoir.add(rows, changed);
  for (Index i = 0; i < 25; ++i) {
    const auto row = reservoir.contents().row(i);
    EXPECT_EQ(std::fmod(row[0], 4.0), 0.0);
    for (std::size_t d = 1; d < 4; ++d) EXPECT_EQ(row[d], row[0] + static_cast<double>(d));
  }
}

// How often each of `count` items is found in `trials` reservoirs of their own.
std::vector<double> inclusions(Index capacity, Index count, Index batch, int trials,
                               std::uint64_t first_seed) {
  std::vector<double> found(static_cast<std::size_t>(count));
  for (int trial = 0; trial < trials; ++trial) {
    const auto reservoir =
        filled(capacity, count, batch, first_seed + static_cast<std::uint64_t>(trial));
    for (const double item : reservoir.contents().values()) ++found[static_cast<std::size_t>(item)];
  }
  return found;
}

// Indicators of a sample of k out of n without replacement have covariance
// p (1 - p) n/(n-1) (I - 1/n), p = k/n, so this sum is chi-square with n - 1 degrees.
double inclusion_statistic(std::span<const double> found, Index capacity, int trials) {
  const auto n = static_cast<double>(found.size());
  const double p = static_cast<double>(capacity) / n;
  const double expected = p * trials;
  return chi_square(found, expected) / (1.0 - p) * (n - 1.0) / n;
}

// False alarms: 1e-6 for each of the four ways to cut the stream.
TEST(ReservoirStatistics, EveryItemIsKeptEquallyOften) {
  constexpr Index kCapacity = 20, kCount = 400;
  constexpr int kTrials = 4000;
  std::uint64_t seed = 1;
  for (const Index batch : {1, 7, 36, 400}) {
    const auto found = inclusions(kCapacity, kCount, batch, kTrials, seed);
    EXPECT_LT(inclusion_statistic(found, kCapacity, kTrials), chi_square_limit(kCount - 1))
        << "batches of " << batch;
    seed += kTrials;
  }
}

// A bias of whole batches would hide among 400 single items; here it would not. Sums over a
// block of g items have variance g p (1-p) (n-g)/(n-1) a trial. False alarms: 2e-6 a block.
TEST(ReservoirStatistics, EarlyAndLateBatchesAndTheirFirstRowsAreKeptAsOftenAsAny) {
  constexpr Index kCapacity = 20, kCount = 400, kBatch = 25;
  constexpr int kTrials = 6000;
  const auto found = inclusions(kCapacity, kCount, kBatch, kTrials, 100'000);
  const auto check = [&](const std::string& which, auto&& chosen) {
    double kept = 0.0, size = 0.0;
    for (Index i = 0; i < kCount; ++i) {
      if (!chosen(i)) continue;
      kept += found[static_cast<std::size_t>(i)];
      ++size;
    }
    const double n = kCount, p = kCapacity / n;
    const double deviation = std::sqrt(kTrials * size * p * (1.0 - p) * (n - size) / (n - 1.0));
    EXPECT_LT(std::abs(kept - kTrials * size * p), 4.7534 * deviation) << which;
  };
  check("the items that filled it", [](Index i) { return i < kCapacity; });
  check("the first batch", [](Index i) { return i < kBatch; });
  check("the rest of the batch that filled it",
        [](Index i) { return i >= kCapacity && i < kBatch; });
  check("the second batch", [](Index i) { return i / kBatch == 1; });
  check("the last batch", [](Index i) { return i >= kCount - kBatch; });
  check("the last item", [](Index i) { return i == kCount - 1; });
  check("first rows of batches", [](Index i) { return i % kBatch == 0; });
  check("last rows of batches", [](Index i) { return i % kBatch == kBatch - 1; });
}

// All 495 subsets of 4 out of 12, so pairs, triples and fours are all jointly uniform.
// False alarms: 1e-6.
TEST(ReservoirStatistics, EverySubsetIsEquallyLikely) {
  constexpr int kTrials = 49'500;
  std::map<int, double> seen;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto reservoir = filled(4, 12, 5, 500'000 + static_cast<std::uint64_t>(trial));
    int subset = 0;
    for (const double item : reservoir.contents().values()) subset |= 1 << static_cast<int>(item);
    ++seen[subset];
  }
  ASSERT_EQ(seen.size(), 495U);
  std::vector<double> counts;
  for (const auto& [subset, count] : seen) counts.push_back(count);
  EXPECT_LT(chi_square(counts, kTrials / 495.0), chi_square_limit(494));
}

// Far beyond the capacity pairs are still what they should be: P(i and j) = k(k-1)/(n(n-1)).
// Pair counts are nearly uncorrelated; the statistic's mean is 1 - p a pair, and its limit is
// that of independent counts, which is on the safe side. False alarms: below 1e-6.
TEST(ReservoirStatistics, PairsFarApartAndCloseTogetherAreKeptTogetherEquallyOften) {
  constexpr Index kCapacity = 12, kCount = 60, kBatch = 7;
  constexpr int kTrials = 12'000;
  std::vector<double> together(kCount * kCount);
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto reservoir =
        filled(kCapacity, kCount, kBatch, 900'000 + static_cast<std::uint64_t>(trial));
    const auto items = reservoir.contents().values();
    for (const double i : items) {
      for (const double j : items) ++together[static_cast<std::size_t>(i * kCount + j)];
    }
  }
  std::vector<double> pairs;
  for (Index i = 0; i < kCount; ++i) {
    for (Index j = 0; j < i; ++j)
      pairs.push_back(together[static_cast<std::size_t>(i * kCount + j)]);
  }
  const double expected = kTrials * 12.0 * 11.0 / (60.0 * 59.0);
  EXPECT_LT(chi_square(pairs, expected), chi_square_limit(static_cast<double>(pairs.size()) - 1));
  EXPECT_GT(chi_square(pairs, expected), 0.75 * static_cast<double>(pairs.size()))
      << "suspiciously even";
}

// Where a late item lies must say nothing about it. False alarms: 1e-6.
TEST(ReservoirStatistics, ReplacementsHitAllSlotsEquallyOften) {
  constexpr Index kCapacity = 16;
  std::vector<double> hits(kCapacity);
  double total = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Reservoir reservoir({.feature_dim = 1, .capacity = kCapacity, .seed = 70'000 + seed});
    std::vector<Index> changed;
    reservoir.add(counting_batch(1000), changed);
    for (std::size_t i = kCapacity; i < changed.size(); ++i) {
      ++hits[static_cast<std::size_t>(changed[i])];
      ++total;
    }
  }
  EXPECT_LT(chi_square(hits, total / kCapacity), chi_square_limit(kCapacity - 1));
}

// False alarms: 1e-6.
TEST(ReservoirStatistics, ACapacityOfOneKeepsAnyItemWithTheSameChance) {
  constexpr Index kCount = 50;
  constexpr int kTrials = 20'000;
  const auto found = inclusions(1, kCount, 7, kTrials, 2'000'000);
  EXPECT_LT(chi_square(found, static_cast<double>(kTrials) / kCount), chi_square_limit(kCount - 1));
}

// In a stream of millions W is tiny and ln(1 - W) must not lose it. Ten blocks of 100,000:
// the share of each is chi-square to within the finite-population factor. False alarms: 1e-6.
TEST(ReservoirStatistics, StaysUniformOverAMillionItems) {
  constexpr Index kCapacity = 10, kBlock = 100'000, kBlocks = 10;
  constexpr int kTrials = 1000;
  const Batch items = counting_batch(kBlock);
  std::vector<double> found(kBlocks);
  for (int trial = 0; trial < kTrials; ++trial) {
    Reservoir reservoir({.feature_dim = 1,
                         .capacity = kCapacity,
                         .seed = 3'000'000 + static_cast<std::uint64_t>(trial)});
    std::array<Index, kCapacity> block_of{};
    std::vector<Index> changed;
    for (Index block = 0; block < kBlocks; ++block) {
      changed.clear();
      reservoir.add(items, changed);
      for (const Index slot : changed) block_of[static_cast<std::size_t>(slot)] = block;
    }
    for (const Index block : block_of) ++found[static_cast<std::size_t>(block)];
    EXPECT_EQ(reservoir.seen(), kBlock * kBlocks);
  }
  EXPECT_LT(chi_square(found, kTrials * kCapacity / static_cast<double>(kBlocks)),
            chi_square_limit(kBlocks - 1));
}

// Algorithm R (Vitter's, one coin an item), the simplest reservoir there is.
struct AlgorithmR {
  std::vector<int> kept;
  int replacements = 0;

  AlgorithmR(int capacity, int count, std::mt19937_64& random) {
    for (int i = 0; i < count; ++i) {
      if (i < capacity) {
        kept.push_back(i);
        continue;
      }
      const int at = std::uniform_int_distribution<int>(0, i)(random);
      if (at >= capacity) continue;
      kept[static_cast<std::size_t>(at)] = i;
      ++replacements;
    }
  }
};

// Two-sample chi-square of (a) survivors by block of arrival and (b) the number of
// replacements. False alarms: 1e-6 each; for (a), where counts of one reservoir are
// negatively correlated, less.
TEST(ReservoirStatistics, CannotBeToldFromAlgorithmR) {
  constexpr int kCapacity = 15, kCount = 300, kTrials = 8000, kBlocks = 20;
  std::mt19937_64 random(20'240'601);
  std::vector<double> ours(kBlocks), theirs(kBlocks);
  std::map<int, std::array<double, 2>> replacements;
  for (int trial = 0; trial < kTrials; ++trial) {
    Reservoir reservoir({.feature_dim = 1,
                         .capacity = kCapacity,
                         .seed = 4'000'000 + static_cast<std::uint64_t>(trial)});
    std::vector<Index> changed;
    const Batch items = counting_batch(kCount);
    for (Index first = 0; first < kCount; first += 20) {
      reservoir.add(items.view().rows(first, 20), changed);
    }
    for (const double item : reservoir.contents().values()) {
      ++ours[static_cast<std::size_t>(item) * kBlocks / kCount];
    }
    ++replacements[static_cast<int>(changed.size()) - kCapacity][0];
    const AlgorithmR reference(kCapacity, kCount, random);
    for (const int item : reference.kept)
      ++theirs[static_cast<std::size_t>(item) * kBlocks / kCount];
    ++replacements[reference.replacements][1];
  }
  double statistic = 0.0;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    statistic += (ours[i] - theirs[i]) * (ours[i] - theirs[i]) / (ours[i] + theirs[i]);
  }
  EXPECT_LT(statistic, chi_square_limit(kBlocks - 1));

  statistic = 0.0;
  int bins = 0;
  double mine = 0.0, others = 0.0;  // neighbouring numbers are put together until there are 50
  for (const auto& [number, counts] : replacements) {
    mine += counts[0];
    others += counts[1];
    if (mine + others < 50.0) continue;
    statistic += (mine - others) * (mine - others) / (mine + others);
    ++bins;
    mine = others = 0.0;
  }
  ASSERT_GE(bins, 15);
  EXPECT_LT(statistic, chi_square_limit(bins - 1));
}

// Item i (from 1) enters with probability k/i, independently of the others. False alarms: 2e-6.
TEST(ReservoirStatistics, TakesAsManyItemsAsTheoryHasIt) {
  constexpr Index kCapacity = 30, kCount = 3000;
  constexpr int kTrials = 500;
  double taken = 0.0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Reservoir reservoir({.feature_dim = 1,
                         .capacity = kCapacity,
                         .seed = 5'000'000 + static_cast<std::uint64_t>(trial)});
    std::vector<Index> changed;
    reservoir.add(counting_batch(kCount), changed);
    taken += static_cast<double>(changed.size()) - kCapacity;
  }
  double mean = 0.0, variance = 0.0;
  for (Index i = kCapacity + 1; i <= kCount; ++i) {
    const double p = static_cast<double>(kCapacity) / static_cast<double>(i);
    mean += p;
    variance += p * (1.0 - p);
  }
  EXPECT_LT(std::abs(taken - kTrials * mean), 4.7534 * std::sqrt(kTrials * variance));
}

TEST(Reservoir, WithoutALimitKeepsEverythingInOrder) {
  Reservoir reservoir({.feature_dim = 1, .capacity = 0, .seed = 1});
  const Batch items = counting_batch(2000);
  std::vector<Index> changed;
  reservoir.add(items.view().rows(0, 1), changed);
  reservoir.add(items.view().rows(1, 700), changed);
  reservoir.add(items.view().rows(701, 1299), changed);
  EXPECT_EQ(values_of(reservoir.contents()), values_of(items));
  std::vector<Index> all(2000);
  std::iota(all.begin(), all.end(), Index{0});
  EXPECT_EQ(changed, all);
  EXPECT_EQ(reservoir.capacity(), 0);
}

TEST(Reservoir, AMirrorKeptFromTheChangedSlotsIsAlwaysRight) {
  Reservoir reservoir({.feature_dim = 2, .capacity = 64, .seed = 9});
  std::vector<double> mirror;
  for (int step = 0; step < 400; ++step) {
    const Batch batch = uniform_batch(1 + step % 37, 2, -1, 1, static_cast<std::uint64_t>(step));
    std::vector<Index> changed{-7};  // appended to, not cleared
    reservoir.add(batch, changed);
    ASSERT_EQ(changed.front(), -7);
    mirror.resize(static_cast<std::size_t>(reservoir.contents().size()));
    for (std::size_t i = 1; i < changed.size(); ++i) {
      ASSERT_GE(changed[i], 0);
      ASSERT_LT(changed[i], reservoir.contents().rows());
      const auto row = reservoir.contents().row(changed[i]);
      std::copy(row.begin(), row.end(), mirror.begin() + 2 * changed[i]);
    }
    ASSERT_EQ(mirror, values_of(reservoir.contents())) << "after batch " << step;
  }
}

TEST(Reservoir, ALoadedOneGoesOnLikeTheOneThatWasSaved) {
  const Batch items = counting_batch(4000);
  for (const Index capacity : {0, 1, 50}) {
    for (const Index cut : {0, 1, 49, 50, 51, 777}) {
      auto original = filled(capacity, cut, 10, 42);
      const auto bytes = saved(original);
      Reservoir copy({.feature_dim = 1, .capacity = capacity, .seed = 42});
      std::vector<Index> changed, changed_copy;
      copy.add(items.view().rows(0, 600), changed_copy);  // what it held before must not matter
      changed_copy.clear();
      rarefy::StateReader in(bytes);
      copy.load(in);
      EXPECT_TRUE(in.at_end());
      EXPECT_EQ(copy.seen(), cut);
      EXPECT_EQ(saved(copy), bytes);
      original.add(items.view().rows(cut, 3000), changed);
      copy.add(items.view().rows(cut, 3000), changed_copy);
      EXPECT_EQ(changed_copy, changed);
      EXPECT_EQ(saved(copy), saved(original)) << "capacity " << capacity << ", cut at " << cut;
    }
  }
}

TEST(Reservoir, ImpossibleOptionsAreRefused) {
  const auto kind = [](const rarefy::ReservoirOptions& options) {
    try {
      const Reservoir reservoir(options);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::state;
  };
  EXPECT_EQ(kind({.feature_dim = 0}), ErrorKind::parameter);
  EXPECT_EQ(kind({.feature_dim = -2}), ErrorKind::parameter);
  EXPECT_EQ(kind({.feature_dim = 2, .capacity = -1}), ErrorKind::parameter);
}

// A state as it might stand in a forged file.
struct Forged {
  std::int64_t seen = 100, next = 105, draws = 7;
  double w = 0.1;
  std::int64_t slot = 3;
  std::vector<double> rows = std::vector<double>(10, 1.0);

  [[nodiscard]] std::vector<std::byte> bytes() const {
    rarefy::StateWriter out;
    out.integer("reservoir.seen", seen);
    out.integer("reservoir.next", next);
    out.integer("reservoir.draws", draws);
    out.real("reservoir.w", w);
    out.integer("reservoir.slot", slot);
    out.reals("reservoir.rows", rows);
    return out.bytes();
  }
};

// True when loading ends in Error(corrupt); false when the state is taken.
bool refused(const Forged& state, Index capacity = 10, Index dims = 1) {
  const auto bytes = state.bytes();
  Reservoir reservoir({.feature_dim = dims, .capacity = capacity, .seed = 1});
  rarefy::StateReader in(bytes);
  try {
    reservoir.load(in);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt) << error.what();
    return true;
  }
  return false;
}

TEST(ReservoirState, AGoodOneIsTaken) { EXPECT_FALSE(refused({})); }

TEST(ReservoirState, CountersThatContradictEachOtherAreRefused) {
  EXPECT_TRUE(refused({.seen = -1}));
  EXPECT_TRUE(refused({.next = 99})) << "the next item lies in the past";
  EXPECT_TRUE(refused({.draws = -1}));
  EXPECT_TRUE(refused({.slot = -1}));
  EXPECT_TRUE(refused({.slot = 10}));
  EXPECT_TRUE(refused({.w = -0.1}));
  EXPECT_TRUE(refused({.w = 1.1}));
  EXPECT_TRUE(refused({.w = std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_TRUE(refused({.rows = std::vector<double>(9, 1.0)}));
  EXPECT_TRUE(refused({.rows = std::vector<double>(11, 1.0)}));
  EXPECT_TRUE(refused({.seen = 8, .rows = std::vector<double>(10, 1.0)}));
}

// While it fills, nothing is replaced: a `next` below the capacity would write to a slot that
// does not exist yet.
TEST(ReservoirState, AReplacementBeforeItIsFullIsRefused) {
  EXPECT_TRUE(refused({.seen = 2, .next = 2, .slot = 9, .rows = std::vector<double>(2, 1.0)}));
  EXPECT_TRUE(refused({.seen = 2, .next = 9, .slot = 9, .rows = std::vector<double>(2, 1.0)}));
}

TEST(ReservoirState, RowsThatAreNotFiniteAreRefused) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Forged state;
    state.rows[4] = bad;
    EXPECT_TRUE(refused(state)) << bad;
  }
}

// Without a limit the rows follow from what was seen, times the features: that product must
// not wrap around to a number that fits.
TEST(ReservoirState, MoreItemsThanCanBeCountedAreRefused) {
  for (const Index dims : {1, 2, 4, 8}) {
    EXPECT_TRUE(refused({.seen = std::int64_t{1} << 62, .slot = 0, .rows = {}}, 0, dims)) << dims;
    EXPECT_TRUE(refused({.seen = std::int64_t{1} << 61, .slot = 0, .rows = {}}, 0, dims)) << dims;
  }
}

TEST(ReservoirState, ATruncatedOneIsRefusedWhereverItEnds) {
  const auto bytes = saved(filled(10, 100, 9, 1));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Reservoir reservoir({.feature_dim = 1, .capacity = 10, .seed = 1});
    rarefy::StateReader in(std::span<const std::byte>(bytes).first(length));
    EXPECT_THROW(reservoir.load(in), Error) << "cut after " << length << " bytes";
  }
}

}  // namespace
