// Points chosen by lures, and their weighted sums, against the same in double precision.
#include "kernels/sampled_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using rarefy::Batch;
using rarefy::Index;
using rarefy::kernels::Chosen;
using rarefy::kernels::kStretch;
using rarefy::kernels::Lures;
using rarefy::kernels::PointColumns;

std::vector<float> normals(Index count, std::uint64_t seed) {
  std::vector<double> values(static_cast<std::size_t>(count));
  rarefy::fill_normals({.seed = seed}, values);
  return {values.begin(), values.end()};
}

struct Points {
  Points(Index count, Index dims, std::uint64_t seed)
      : rows(normals(count * dims, seed)), columns(dims) {
    columns.resize(count);
    for (Index i = 0; i < count; ++i) {
      for (Index d = 0; d < dims; ++d) columns.set(i, d, at(i, d));
    }
  }
  [[nodiscard]] float at(Index i, Index d) const {
    return rows[static_cast<std::size_t>(i * columns.dims() + d)];
  }
  [[nodiscard]] double squared(Index i, const float* place) const {
    double sum = 0;
    for (Index d = 0; d < columns.dims(); ++d) {
      const double apart = static_cast<double>(at(i, d)) - static_cast<double>(place[d]);
      sum += apart * apart;
    }
    return sum;
  }
  std::vector<float> rows;
  PointColumns columns;
};

// The fraction of (i + 1) times the golden ratio, by multiplication of 32-bit numbers.
double mark(Index i, std::uint32_t offset) {
  const auto turned = static_cast<std::uint32_t>(i + 1) * 2654435769U + offset;
  return (static_cast<double>(turned >> 8U) + 0.5) * 0x1p-24;
}

class SampledSums : public WithInstructionSet {};

TEST_P(SampledSums, AddUpWhatLuresAre) {
  for (const Index count : {1, 63, 64, 65, 1000}) {
    const Points points(count, 3, 1);
    const auto places = normals(4 * 3, 2);
    for (const Index lures : {1, 2, 3, 4}) {
      const std::vector<float> most = {1.0F, 0.5F, 0.1F, 1.0F};
      std::vector<double> sums(4, -1.0);
      rarefy::kernels::sums_of_lured(points.columns,
                                     {.places = places.data(), .count = lures, .breadth = 0.5F}, 1,
                                     most.data(), sums.data());
      for (Index l = 0; l < lures; ++l) {
        double sum = 0;
        for (Index i = 0; i < count; ++i) {
          sum += std::min(std::exp2(-0.5 * points.squared(i, places.data() + 3 * l)),
                          static_cast<double>(most[static_cast<std::size_t>(l)]));
        }
        EXPECT_NEAR(sums[static_cast<std::size_t>(l)], sum, 1e-6 * sum) << count << ", " << l;
      }
    }
  }
}

TEST_P(SampledSums, EstimateThemFromSomeStretches) {
  const Points points(100'000, 2, 3);
  const std::vector<float> place = {0.3F, -0.2F};
  const float most = 1.0F;
  double all = 0, some = 0;
  const Lures lure = {.places = place.data(), .count = 1, .breadth = 0.5F};
  rarefy::kernels::sums_of_lured(points.columns, lure, 1, &most, &all);
  rarefy::kernels::sums_of_lured(points.columns, lure, 8, &most, &some);
  EXPECT_NE(some, all);
  EXPECT_NEAR(some, all, 0.03 * all);  // 12,500 terms: six standard errors or so
}

// Each point by its own mark; what others choose beside does not matter.
TEST_P(SampledSums, ChoosePointsByTheirMarks) {
  constexpr Index kCount = 5'001, kDims = 2;
  const Points points(kCount, kDims, 4);
  const auto places = normals(4 * kDims, 5);
  for (const Index lures : {1, 4}) {
    std::vector<Chosen> chosen(static_cast<std::size_t>(lures));
    std::vector<std::vector<std::int32_t>> numbers(chosen.size(),
                                                   std::vector<std::int32_t>(kCount + kStretch));
    std::vector<std::vector<float>> chances(chosen.size(), std::vector<float>(kCount + kStretch));
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      chosen[l] = {.rate = l == 1 ? 0.0F : 1.5F,
                   .offset = 12'345U * static_cast<std::uint32_t>(l),
                   .points = numbers[l].data(),
                   .chances = chances[l].data(),
                   .most = kCount};
    }
    rarefy::kernels::choose_lured(
        points.columns, {.places = places.data(), .count = lures, .breadth = 0.5F}, chosen.data());
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      double expected = 0;
      Index next = 0, sure = 0, close = 0;
      for (Index i = 0; i < kCount; ++i) {
        const float* const place = places.data() + kDims * static_cast<Index>(l);
        const double wanted =
            static_cast<double>(chosen[l].rate) * std::exp2(-0.5 * points.squared(i, place));
        const double chance = std::min(1.0, wanted);
        if (chance < 1) expected += chance;
        const bool there =
            next < chosen[l].count && numbers[l][static_cast<std::size_t>(next)] == i;
        if (std::abs(chance - mark(i, chosen[l].offset)) < 1e-6 || std::abs(wanted - 1) < 1e-6) {
          ++close;  // rounding decides
        } else {
          EXPECT_EQ(there, chance > mark(i, chosen[l].offset)) << i;
        }
        if (!there) continue;
        EXPECT_NEAR(static_cast<double>(chances[l][static_cast<std::size_t>(next)]), chance,
                    1e-5 * chance);
        if (chances[l][static_cast<std::size_t>(next)] == 1.0F) ++sure;
        ++next;
      }
      EXPECT_EQ(next, chosen[l].count);
      EXPECT_EQ(sure, chosen[l].sure);
      EXPECT_LT(close, 5);
      EXPECT_NEAR(chosen[l].expected, expected, 1e-5 * expected + 1.0 * static_cast<double>(close));
      EXPECT_EQ(chosen[l].count > 0, l != 1);
    }
  }
}

TEST_P(SampledSums, SayWhereThereIsNoRoomForAll) {
  const Points points(1'000, 2, 6);
  const std::vector<float> place = {0.0F, 0.0F};
  std::vector<std::int32_t> numbers(10 + kStretch);
  std::vector<float> chances(numbers.size());
  Chosen chosen = {.rate = 1e6F, .points = numbers.data(), .chances = chances.data(), .most = 10};
  rarefy::kernels::choose_lured(points.columns,
                                {.places = place.data(), .count = 1, .breadth = 0.5F}, &chosen);
  EXPECT_GT(chosen.count, chosen.most);
}

TEST_P(SampledSums, WeighPoints) {
  for (const Index count : {1, 17, 64, 5'000}) {
    const Points points(count, 4, 7);
    const auto queries = normals(9 * 4, 8);
    std::vector<float> weights(static_cast<std::size_t>(count + kStretch));
    for (Index i = 0; i < count; ++i) {
      weights[static_cast<std::size_t>(i)] = i % 3 == 0 ? 1.0F : 1.0F + static_cast<float>(i % 7);
    }
    std::vector<double> sums(9), variances(9);
    rarefy::kernels::weighted_gaussian_sums(points.columns, weights.data(), queries.data(), 9,
                                            sums.data(), variances.data());
    for (std::size_t q = 0; q < sums.size(); ++q) {
      double sum = 0, variance = 0;
      for (Index i = 0; i < count; ++i) {
        const double kernel = std::exp2(-points.squared(i, queries.data() + 4 * q));
        const auto weight = static_cast<double>(weights[static_cast<std::size_t>(i)]);
        sum += weight * kernel;
        variance += weight * (weight - 1) * kernel * kernel;
      }
      EXPECT_NEAR(sums[q], sum, 1e-5 * sum);
      EXPECT_NEAR(variances[q], variance, 1e-5 * variance + 1e-30);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SampledSums, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

}  // namespace
