// What fill_normals promises to the library; its accuracy is tested in kernels/normals_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/critical_values.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::fill_normals;
using rarefy::Purpose;
using rarefy::StreamKey;

namespace {

std::vector<double> normals(const StreamKey& key, std::size_t count) {
  std::vector<double> numbers(count);
  fill_normals(key, numbers);
  return numbers;
}

// Correlation of two samples of standard normal numbers, in units of its standard error.
double correlation(const double* a, const double* b, std::size_t count, std::size_t stride = 1) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i * stride] * b[i * stride];
  return sum / std::sqrt(static_cast<double>(count));
}

double normal_distribution(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// Twice the upper tail of the standard normal distribution.
double outside(double z) { return std::erfc(z / std::sqrt(2.0)); }

}  // namespace

TEST(NormalNumbers, DependOnTheirPositionAndNotOnHowManyAreDrawn) {
  const StreamKey key{.seed = 1, .purpose = Purpose::sampling, .index = 3, .iteration = 8};
  const auto all = normals(key, 3000);
  for (std::size_t count = 0; count < 200; ++count) {
    const auto some = normals(key, count);
    ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << count;
  }
  for (const std::size_t count : {1023U, 1024U, 1025U, 2999U}) {
    const auto some = normals(key, count);
    ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << count;
  }
}

TEST(NormalNumbers, FillNothingButTheirSpan) {
  for (std::size_t count = 0; count < 70; ++count) {
    for (std::size_t offset = 1; offset < 4; ++offset) {  // also where memory is not aligned
      std::vector<double> numbers(count + 8, 99.0);
      fill_normals({.seed = 2}, std::span(numbers).subspan(offset, count));
      const auto expected = normals({.seed = 2}, count);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const bool within = i >= offset && i < offset + count;
        ASSERT_EQ(numbers[i], within ? expected[i - offset] : 99.0) << count << " " << offset;
      }
    }
  }
}

TEST(NormalNumbers, AreTheSameBitsForEveryInstructionSet) {
  const StreamKey key{.seed = 3, .purpose = Purpose::user, .index = 1, .iteration = 1};
  std::vector<double> reference;
  for (const auto set : available_instruction_sets()) {
    const PinnedInstructionSet pinned(set);
    const auto numbers = normals(key, 100'003);
    if (reference.empty()) reference = numbers;
    EXPECT_EQ(numbers, reference) << rarefy::name_of(set);
  }
}

TEST(NormalNumbers, OfEveryNameAreOthers) {
  std::vector<double> seen;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
    for (const auto purpose : {Purpose::sampling, Purpose::resampling, Purpose::restart}) {
      for (const std::uint32_t index : {0U, 1U, 14U}) {
        for (const std::uint64_t iteration : {0U, 1U, 5000U}) {
          const auto some = normals({seed, purpose, index, iteration}, 32);
          seen.insert(seen.end(), some.begin(), some.end());
        }
      }
    }
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

// False-alarm rate 1e-6.
TEST(NormalNumbers, HaveTheNormalDistribution) {
  auto numbers = normals({.seed = 101}, 1'000'000);
  std::sort(numbers.begin(), numbers.end());
  const auto count = static_cast<double>(numbers.size());
  double distance = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double below = normal_distribution(numbers[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, below - rank / count, (rank + 1) / count - below});
  }
  EXPECT_LT(distance * std::sqrt(count), kKolmogorovLimit);
}

// Both numbers of a block, each by itself: the one from the cosine, the other from the sine.
// False-alarm rate 8e-6.
TEST(NormalNumbers, HaveTheNormalMoments) {
  constexpr std::size_t kCount = 1'000'000;
  const auto numbers = normals({.seed = 102}, 2 * kCount);
  for (const std::size_t which : {0U, 1U}) {
    double one = 0, two = 0, three = 0, four = 0;
    for (std::size_t i = which; i < numbers.size(); i += 2) {
      const double z = numbers[i];
      one += z;
      two += z * z;
      three += z * z * z;
      four += z * z * z * z;
    }
    // Variances of z, z^2, z^3 and z^4: 1, 2, 15 and 96.
    const double root = std::sqrt(static_cast<double>(kCount));
    EXPECT_LT(std::abs(one / root), kNormalLimit);
    EXPECT_LT(std::abs((two - kCount) / root / std::sqrt(2.0)), kNormalLimit);
    EXPECT_LT(std::abs(three / root / std::sqrt(15.0)), kNormalLimit);
    EXPECT_LT(std::abs((four - 3.0 * kCount) / root / std::sqrt(96.0)), kNormalLimit);
  }
}

// How many lie beyond 3, 4, 4.5 and 5 standard deviations, on either side: 10,800, 253, 27 and
// 2.3 of 4 million are expected. False-alarm rate 6e-6 in the first three; the last by Poisson's
// distribution, P(more than 15) = 1e-8.
TEST(NormalNumbers, HaveTheirTails) {
  constexpr std::size_t kCount = 4'000'000;
  std::vector<double> numbers(kCount / 8);
  for (const double sign : {-1.0, 1.0}) {
    std::vector<double> beyond(4);
    const std::vector<double> limits = {3.0, 4.0, 4.5, 5.0};
    for (std::uint64_t part = 0; part < 8; ++part) {
      fill_normals({.seed = 103, .iteration = part}, numbers);
      for (const double z : numbers) {
        for (std::size_t i = 0; i < limits.size(); ++i) {
          if (sign * z > limits[i]) ++beyond[i];
        }
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const double expected = 0.5 * outside(limits[i]) * kCount;
      EXPECT_LT(std::abs(beyond[i] - expected), kNormalLimit * std::sqrt(expected) + 1.0)
          << sign * limits[i];
    }
    EXPECT_LE(beyond[3], 15.0);
  }
}

// The two numbers of a block share their radius: neither they nor their squares may be correlated,
// nor the numbers of neighbouring blocks. False-alarm rate 1.6e-5.
TEST(NormalNumbers, AreNotCorrelatedWithTheirNeighbours) {
  constexpr std::size_t kCount = 500'000;
  const auto numbers = normals({.seed = 104}, 2 * kCount + 64);
  std::vector<double> squares(numbers.size());
  std::transform(numbers.begin(), numbers.end(), squares.begin(),
                 [](double z) { return (z * z - 1.0) / std::sqrt(2.0); });
  for (const std::size_t lag : {1U, 2U, 3U, 4U, 8U, 16U}) {
    EXPECT_LT(std::abs(correlation(numbers.data(), numbers.data() + lag, 2 * kCount)), kNormalLimit)
        << "lag " << lag;
    EXPECT_LT(std::abs(correlation(squares.data(), squares.data() + lag, 2 * kCount)), kNormalLimit)
        << "lag " << lag;
  }
  EXPECT_LT(std::abs(correlation(numbers.data(), numbers.data() + 1, kCount, 2)), kNormalLimit);
  EXPECT_LT(std::abs(correlation(squares.data(), squares.data() + 1, kCount, 2)), kNormalLimit);
  EXPECT_LT(std::abs(correlation(numbers.data() + 1, numbers.data() + 2, kCount, 2)), kNormalLimit);
  EXPECT_LT(std::abs(correlation(squares.data() + 1, squares.data() + 2, kCount, 2)), kNormalLimit);
}

// False-alarm rate 7e-6.
TEST(NormalNumbers, AreNotCorrelatedBetweenStreams) {
  constexpr std::size_t kCount = 200'000;
  const StreamKey key{.seed = 105, .purpose = Purpose::sampling, .index = 4, .iteration = 10};
  std::vector<StreamKey> others(7, key);
  others[0].seed = 106;
  others[1].seed = 105 + (std::uint64_t{1} << 32);
  others[2].purpose = Purpose::resampling;
  others[3].index = 5;
  others[4].iteration = 11;
  others[5].iteration = 10 + (std::uint64_t{1} << 32);
  others[6].index = 10, others[6].iteration = 4;
  const auto numbers = normals(key, kCount);
  for (const auto& other : others) {
    const auto more = normals(other, kCount);
    EXPECT_LT(std::abs(correlation(numbers.data(), more.data(), kCount)), kNormalLimit);
  }
}

// A saved run is continued, and a published one repeated, only if these never change.
TEST(NormalNumbers, AreDefinedForEver) {
  const StreamKey key{
      .seed = 20'240'613, .purpose = Purpose::sampling, .index = 7, .iteration = 1234};
  const std::vector<double> expected = {
      0x1.29c3a0e2626b1p+1,  0x1.b53a864f55688p-1,  -0x1.24972ee1da1bap+1, -0x1.959a4c362a582p+0,
      0x1.dfefedf3bffebp-2,  -0x1.91505c97d6d33p-2, -0x1.4c488642ba30ap+0, 0x1.ac69c79569415p+0,
      -0x1.197945154c78cp-1, -0x1.0a0689498d22bp-2, 0x1.19c20a078a705p-1,  0x1.2dbe74f3fb69ep-1};
  for (const auto set : available_instruction_sets()) {
    const PinnedInstructionSet pinned(set);
    EXPECT_EQ(normals(key, expected.size()), expected) << rarefy::name_of(set);
  }
}
