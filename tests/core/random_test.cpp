#include "rarefy/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "support/chi_square.hpp"
#include "support/philox_reference.hpp"

using rarefy::Index;
using rarefy::Purpose;
using rarefy::RandomStream;
using rarefy::StreamKey;

namespace {

constexpr std::array kPurposes = {Purpose::sampling, Purpose::resampling, Purpose::ranking,
                                  Purpose::restart,  Purpose::reservoir,  Purpose::centroids,
                                  Purpose::user,     Purpose::parents};

// The counter and key that a name stands for, as random.cpp says: written down here once more,
// because saved runs depend on it.
PhiloxWords counter_of(const StreamKey& key, std::uint32_t block) {
  return {block, static_cast<std::uint32_t>(key.purpose) * 0x1000000U + key.index,
          static_cast<std::uint32_t>(key.iteration % 0x100000000U),
          static_cast<std::uint32_t>(key.iteration / 0x100000000U)};
}

PhiloxKey key_of(const StreamKey& key) {
  return {static_cast<std::uint32_t>(key.seed % 0x100000000U),
          static_cast<std::uint32_t>(key.seed / 0x100000000U)};
}

// Pearson's statistic for cells that should be equally full.
double chi_square_of_equal(const std::vector<double>& counts) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  return chi_square(counts, total / static_cast<double>(counts.size()));
}

std::vector<StreamKey> assorted_keys() {
  return {
      {},
      {.seed = 1},
      {.seed = 0xFEDCBA9876543210U, .purpose = Purpose::sampling, .index = 14, .iteration = 4999},
      {.seed = ~std::uint64_t{0},
       .purpose = Purpose::centroids,
       .index = 0xFFFFFF,
       .iteration = ~std::uint64_t{0}},
      {.seed = 7, .purpose = Purpose::restart, .index = 3, .iteration = std::uint64_t{1} << 32},
  };
}

}  // namespace

// The three vectors that Random123 publishes for philox4x32 with 10 rounds (its file
// tests/kat_vectors): zeros, ones, and digits of pi. The top byte of the second counter word is
// the purpose, so all of them can be named.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(rarefy::philox_block({.seed = 0, .purpose = Purpose::sampling}, 0),
            (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(rarefy::philox_block({.seed = 0xffffffffffffffff,
                                  .purpose = static_cast<Purpose>(0xff),
                                  .index = 0xffffff,
                                  .iteration = 0xffffffffffffffff},
                                 0xffffffff),
            (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(rarefy::philox_block({.seed = 0x299f31d0a4093822,
                                  .purpose = static_cast<Purpose>(0x85),
                                  .index = 0xa308d3,
                                  .iteration = 0x0370734413198a2e},
                                 0x243f6a88),
            (PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsRandom123Itself) {
  for (const auto& key : assorted_keys()) {
    for (const std::uint32_t block : {0U, 1U, 2U, 1000U, 0x80000000U, 0xFFFFFFFFU}) {
      EXPECT_EQ(rarefy::philox_block(key, block),
                philox_reference(counter_of(key, block), key_of(key)));
    }
  }
}

TEST(Philox, IsUndoneByTheInverseThatOtherTestsUse) {
  for (const auto& key : assorted_keys()) {
    const auto counter = counter_of(key, 12345);
    EXPECT_EQ(philox_inverse(philox_reference(counter, key_of(key)), key_of(key)), counter);
  }
}

TEST(RandomStream, HandsOutTheWordsOfItsBlocksInOrder) {
  for (const auto& key : assorted_keys()) {
    RandomStream random(key);
    for (std::uint32_t block = 0; block < 50; ++block) {
      for (const auto word : philox_reference(counter_of(key, block), key_of(key))) {
        ASSERT_EQ(random.bits32(), word);
      }
    }
  }
}

TEST(RandomStream, JoinsTwoWordsLowHalfFirst) {
  const StreamKey key{.seed = 5};
  RandomStream words(key);
  RandomStream pairs(key);
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t low = words.bits32();
    const std::uint64_t high = words.bits32();
    ASSERT_EQ(pairs.bits64(), low + (high << 32));
  }
}

TEST(RandomStream, MayTakeAPairAcrossTwoBlocks) {
  const StreamKey key{.seed = 5};
  RandomStream words(key);
  RandomStream mixed(key);
  std::vector<std::uint64_t> expected;
  for (int i = 0; i < 9; ++i) expected.push_back(words.bits32());
  EXPECT_EQ(mixed.bits32(), expected[0]);
  for (std::size_t i = 1; i + 1 < 9; i += 2) {
    EXPECT_EQ(mixed.bits64(), expected[i] | (expected[i + 1] << 32));
  }
}

TEST(RandomStream, IsAPureFunctionOfItsKey) {
  const StreamKey key{.seed = 9, .purpose = Purpose::ranking, .index = 2, .iteration = 77};
  RandomStream one(key);
  for (int i = 0; i < 17; ++i) (void)one.bits32();
  RandomStream other(key);
  RandomStream copy = one;  // continues where the original stands
  EXPECT_EQ(copy.bits64(), one.bits64());
  for (int i = 0; i < 19; ++i) (void)other.bits32();
  EXPECT_EQ(other.bits64(), one.bits64());
}

// Philox is a bijection of its counter for each seed, so two streams of a seed share a block only
// if they share a counter, and then the blocks below would not all be different. Blocks of
// different seeds are equal by chance with a probability below 1e-27 in all.
TEST(RandomStream, OfAnotherNameSharesNoBlock) {
  std::set<PhiloxWords> seen;
  std::size_t blocks = 0;
  const std::array<std::uint64_t, 5> seeds = {0, 1, 2, std::uint64_t{1} << 32, ~std::uint64_t{0}};
  const std::array<std::uint32_t, 6> indices = {0, 1, 2, 255, 256, 0xFFFFFF};
  const std::array<std::uint64_t, 7> iterations = {
      0, 1, 2, 0xFFFFFFFF, 0x100000000, 0x100000001, ~std::uint64_t{0}};
  for (const auto seed : seeds) {
    for (const auto purpose : kPurposes) {
      for (const auto index : indices) {
        for (const auto iteration : iterations) {
          for (const std::uint32_t block : {0U, 1U, 2U, 3U, 256U, 0x1000000U, 0xFFFFFFFFU}) {
            seen.insert(rarefy::philox_block({seed, purpose, index, iteration}, block));
            ++blocks;
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), blocks);
}

TEST(RandomStream, OfATooLargeIndexStillStaysWithinItsPurpose) {
  std::set<PhiloxWords> others;
  for (const auto purpose : kPurposes) {
    if (purpose == Purpose::sampling) continue;
    for (std::uint32_t block = 0; block < 4; ++block) {
      others.insert(rarefy::philox_block({.seed = 3, .purpose = purpose}, block));
    }
  }
  for (std::uint32_t high = 1; high < 8; ++high) {
    const StreamKey key{.seed = 3, .purpose = Purpose::sampling, .index = high << 24};
    for (std::uint32_t block = 0; block < 4; ++block) {
      EXPECT_FALSE(others.contains(rarefy::philox_block(key, block)));
    }
  }
}

TEST(Uniform, IsTheTopBitsOfAPairExactly) {
  const StreamKey key{.seed = 21};
  RandomStream bits(key);
  RandomStream numbers(key);
  for (int i = 0; i < 10'000; ++i) {
    const double u = numbers.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    // Exact: a multiple of 2^-53, and of every 53-bit value the one with the same bits.
    ASSERT_EQ(std::ldexp(u, 53), static_cast<double>(bits.bits64() / 2048));
  }
}

TEST(Uniform, OpenIsAnOddMultipleOfTwoToTheMinus53) {
  const StreamKey key{.seed = 22};
  RandomStream bits(key);
  RandomStream numbers(key);
  for (int i = 0; i < 10'000; ++i) {
    const double u = numbers.uniform_open();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    const double scaled = std::ldexp(u, 53);
    ASSERT_EQ(scaled, std::floor(scaled));
    ASSERT_EQ(static_cast<std::uint64_t>(scaled), 2 * (bits.bits64() / 4096) + 1);
  }
}

// False-alarm rate 4e-6: four statistics.
TEST(Uniform, FillsTheUnitIntervalEvenly) {
  RandomStream random({.seed = 23});
  constexpr int kCells = 1000;
  for (const bool open : {false, true}) {
    std::vector<double> cells(kCells);
    std::vector<double> last_bits(8);
    for (int i = 0; i < 400'000; ++i) {
      const double u = open ? random.uniform_open() : random.uniform();
      ++cells[static_cast<std::size_t>(u * kCells)];
      // The last bits that vary: 2^-53 is the unit, and an open number is always odd.
      const auto units = static_cast<std::uint64_t>(std::ldexp(u, 53));
      ++last_bits[(open ? units / 2 : units) % 8];
    }
    EXPECT_LT(chi_square_of_equal(cells), chi_square_limit(kCells - 1));
    EXPECT_LT(chi_square_of_equal(last_bits), chi_square_limit(7));
  }
}

// False-alarm rate 1e-5: ten bounds.
TEST(Below, IsEvenForAnyBound) {
  RandomStream random({.seed = 31});
  for (const std::uint64_t bound : {2U, 3U, 5U, 6U, 7U, 10U, 36U, 100U, 127U, 1000U}) {
    std::vector<double> counts(bound);
    for (int i = 0; i < 200'000; ++i) {
      const auto drawn = random.below(bound);
      ASSERT_LT(drawn, bound);
      ++counts[drawn];
    }
    EXPECT_LT(chi_square_of_equal(counts), chi_square_limit(static_cast<double>(bound - 1)))
        << "bound " << bound;
  }
}

// With a bound of 3/4 of 2^64 a generator that draws no number again is off by a factor of two:
// a remainder prefers the lower third, the high half of a product prefers one residue modulo 3.
// False-alarm rate 2e-6.
TEST(Below, IsEvenWhereCarelessnessWouldShowMost) {
  RandomStream random({.seed = 32});
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
  std::vector<double> thirds(3);
  std::vector<double> residues(3);
  for (int i = 0; i < 100'000; ++i) {
    const auto drawn = random.below(3 * kThird);
    ASSERT_LT(drawn, 3 * kThird);
    ++thirds[drawn / kThird];
    ++residues[drawn % 3];
  }
  EXPECT_LT(chi_square_of_equal(thirds), chi_square_limit(2));
  EXPECT_LT(chi_square_of_equal(residues), chi_square_limit(2));
}

TEST(Below, StaysBelowTheExtremeBounds) {
  RandomStream random({.seed = 33});
  std::uint64_t largest = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(random.below(1), 0U);
    const auto drawn = random.below(~std::uint64_t{0});
    EXPECT_LT(drawn, ~std::uint64_t{0});
    largest = std::max(largest, drawn);
    EXPECT_LT(random.below(std::uint64_t{1} << 63), std::uint64_t{1} << 63);
  }
  EXPECT_GT(largest, ~std::uint64_t{0} / 100 * 98);  // false-alarm rate 0.98^1000 = 2e-9
}

TEST(RandomPermutation, HoldsEveryNumberOnce) {
  RandomStream random({.seed = 41});
  for (const std::size_t size : {0U, 1U, 2U, 3U, 17U, 540U, 10'000U}) {
    std::vector<Index> order(size, -1);
    rarefy::random_permutation(random, order);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(order[i], static_cast<Index>(i));
  }
}

// False-alarm rate 1e-6.
TEST(RandomPermutation, OfFourIsAnyOfTwentyFour) {
  RandomStream random({.seed = 42});
  std::map<std::vector<Index>, double> seen;
  std::vector<Index> order(4);
  for (int i = 0; i < 100'000; ++i) {
    rarefy::random_permutation(random, order);
    ++seen[order];
  }
  std::vector<double> counts;
  for (const auto& [permutation, count] : seen) counts.push_back(count);
  ASSERT_EQ(counts.size(), 24U);
  EXPECT_LT(chi_square_of_equal(counts), chi_square_limit(23));
}

// How often number a lands in place b. Rows and columns of that table have fixed sums, so
// (n - 1) / n of Pearson's statistic has (n - 1)^2 degrees of freedom. False-alarm rate 1e-6.
TEST(RandomPermutation, PutsEveryNumberEverywhere) {
  constexpr std::size_t kSize = 15;
  RandomStream random({.seed = 43});
  std::vector<double> landed(kSize * kSize);
  std::vector<Index> order(kSize);
  for (int i = 0; i < 30'000; ++i) {
    rarefy::random_permutation(random, order);
    for (std::size_t place = 0; place < kSize; ++place) {
      ++landed[static_cast<std::size_t>(order[place]) * kSize + place];
    }
  }
  EXPECT_LT(chi_square_of_equal(landed) * (kSize - 1) / kSize,
            chi_square_limit((kSize - 1) * (kSize - 1)));
}

// A saved run is continued, and a published one repeated, only if these never change.
TEST(RandomStream, IsDefinedForEver) {
  const StreamKey key{
      .seed = 20'240'613, .purpose = Purpose::sampling, .index = 7, .iteration = 1234};
  RandomStream random(key);
  EXPECT_EQ(random.bits32(), 0xccfc7ddfU);
  EXPECT_EQ(random.bits64(), 0xf27fd5150be0f9e4U);
  EXPECT_EQ(random.uniform(), 0x1.47145fd0e5598p-4);
  EXPECT_EQ(random.uniform(), 0x1.7cb5f8200ab42p-1);
  EXPECT_EQ(random.uniform(), 0x1.78e9407262c72p-2);
  EXPECT_EQ(random.uniform_open(), 0x1.e6b7e36a3544p-7);
  EXPECT_EQ(random.uniform_open(), 0x1.f543d8bfc7403p-1);
  EXPECT_EQ(random.uniform_open(), 0x1.e089b7a6365cbp-1);
  EXPECT_EQ(random.below(10), 9U);
  EXPECT_EQ(random.below(540), 396U);
  EXPECT_EQ(random.below(1000000007), 928110668U);
  std::vector<Index> order(8);
  rarefy::random_permutation(random, order);
  EXPECT_EQ(order, (std::vector<Index>{3, 7, 1, 0, 4, 2, 5, 6}));
}
