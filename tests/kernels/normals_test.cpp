#include "kernels/normals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "support/every_instruction_set.hpp"
#include "support/philox_reference.hpp"

using rarefy::kernels::fill_normals;
using rarefy::kernels::PhiloxName;

namespace {

// The transform of Box and Muller in extended precision, from the bits of one block.
std::pair<long double, long double> exact_normals(const PhiloxWords& words) {
  const auto bits = [](std::uint32_t low, std::uint32_t high) {
    return static_cast<long double>((low + (std::uint64_t{high} << 32)) >> 12);
  };
  const long double u1 = (bits(words[0], words[1]) + 0.5L) / 0x1p52L;
  const long double u2 = bits(words[2], words[3]) / 0x1p52L;
  const long double radius = std::sqrt(-2.0L * std::log(u1));
  // To the nearest quarter turn first, which is exact, so that zeros come out as zeros.
  const auto quarter = std::nearbyint(4.0L * u2);
  const long double angle = (4.0L * u2 - quarter) * (std::numbers::pi_v<long double> / 2.0L);
  const long double c = std::cos(angle);
  const long double s = std::sin(angle);
  switch (static_cast<int>(quarter) % 4) {
    case 0: return {radius * c, radius * s};
    case 1: return {-radius * s, radius * c};
    case 2: return {-radius * c, -radius * s};
    default: return {radius * s, -radius * c};
  }
}

// The accuracy that the header states.
bool within_bound(double z, long double exact) {
  return std::abs(static_cast<long double>(z) - exact) <= 1e-15L * (1.0L + std::abs(exact));
}

class Normals : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, Normals, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(Normals, AreTheTransformOfThePhiloxBlocks) {
  const PhiloxName name{.counter = {0, 1, 2, 3}, .key = {4, 5}};
  std::vector<double> numbers(200'001);
  fill_normals(name, numbers.data(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto block = static_cast<std::uint32_t>(i / 2);
    const auto [first, second] = exact_normals(philox_reference({block, 1, 2, 3}, {4, 5}));
    ASSERT_TRUE(within_bound(numbers[i], i % 2 == 0 ? first : second))
        << "number " << i << ": " << numbers[i];
  }
}

TEST_P(Normals, CountBlocksFromAnywhereAndWrapAround) {
  const PhiloxName name{.counter = {0xFFFFFFF0U, 6, 7, 8}, .key = {0xFFFFFFFFU, 0x80000000U}};
  std::vector<double> numbers(100);
  fill_normals(name, numbers.data(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto block = 0xFFFFFFF0U + static_cast<std::uint32_t>(i / 2);
    const auto [first, second] = exact_normals(philox_reference({block, 6, 7, 8}, name.key));
    EXPECT_TRUE(within_bound(numbers[i], i % 2 == 0 ? first : second)) << i;
  }
}

// Philox can be inverted, so the uniforms at which the transform is hardest can be had: next to 0
// and 1, around a half and its square root where the logarithm changes its reduction, and around
// every eighth of a turn.
TEST_P(Normals, AreAccurateAtTheEdges) {
  constexpr std::uint64_t kAll = (std::uint64_t{1} << 52) - 1;
  std::vector<std::uint64_t> radii = {0, 1, 2, 3, 1000, kAll, kAll - 1, kAll - 2, kAll - 1000};
  std::vector<std::uint64_t> angles = {0, 1, 2, 1000, kAll, kAll - 1, kAll - 1000};
  const auto around = [](std::vector<std::uint64_t>& list, std::uint64_t centre) {
    for (std::uint64_t i = 0; i < 5; ++i) list.push_back(centre - 2 + i);
  };
  const auto root = static_cast<std::uint64_t>(std::sqrt(0.5L) * 0x1p52L);
  for (int halvings = 0; halvings < 50; ++halvings) around(radii, root >> halvings);
  for (int halvings = 1; halvings < 50; ++halvings) around(radii, (kAll + 1) >> halvings);
  for (std::uint64_t eighth = 1; eighth < 8; ++eighth) around(angles, eighth << 49);

  double largest = 0;
  for (const auto radius : radii) {
    for (const auto angle : angles) {
      const std::uint64_t first_pair = radius << 12;
      const std::uint64_t second_pair = angle << 12;
      const PhiloxWords words = {
          static_cast<std::uint32_t>(first_pair), static_cast<std::uint32_t>(first_pair >> 32),
          static_cast<std::uint32_t>(second_pair), static_cast<std::uint32_t>(second_pair >> 32)};
      const PhiloxKey key = {11, 12};
      std::array<double, 2> numbers{};
      fill_normals({.counter = philox_inverse(words, key), .key = key}, numbers.data(), 2);
      const auto [first, second] = exact_normals(words);
      ASSERT_TRUE(within_bound(numbers[0], first) && within_bound(numbers[1], second))
          << radius << " " << angle << ": " << numbers[0] << " " << numbers[1];
      largest = std::max({largest, std::abs(numbers[0]), std::abs(numbers[1])});
    }
  }
  EXPECT_LE(largest, 8.58);
  EXPECT_GT(largest, 8.57);  // sqrt(2 * 53 * ln 2)
}

TEST_P(Normals, AreTheSameBitsAsOnTheBaseline) {
  for (std::size_t count = 0; count < 70; ++count) {
    const PhiloxName name{.counter = {static_cast<std::uint32_t>(count * 1000), 1, 1, 1},
                          .key = {0, 1}};
    std::vector<double> here(count);
    fill_normals(name, here.data(), count);
    const PinnedInstructionSet pinned(rarefy::InstructionSet::baseline);
    std::vector<double> baseline(count);
    fill_normals(name, baseline.data(), count);
    ASSERT_EQ(here, baseline);
  }
}
