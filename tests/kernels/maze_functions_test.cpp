// The elementary functions of the maze: how far they are from the exact value, and that all
// instruction sets give the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "kernels/maze.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using rarefy::kernels::maze_sine_cosine;
using rarefy::kernels::maze_tanh;

// The sanitizers make everything ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kFewer = 20;
#else
constexpr int kFewer = 1;
#endif

std::ptrdiff_t size_of(const std::vector<float>& values) {
  return static_cast<std::ptrdiff_t>(values.size());
}

// In units of the last place that single precision has at the exact value.
double ulps_between(float found, double exact) {
  const double size = std::max(std::abs(exact), static_cast<double>(0x1p-126F));
  const double place = std::ldexp(1.0, std::ilogb(size) - 23);
  return std::abs(static_cast<double>(found) - exact) / place;
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// `count` steps across [-limit, limit], and every place where something changes with its
// neighbours in single precision.
std::vector<float> sweep(float limit, int count, const std::vector<double>& places) {
  std::vector<float> x;
  for (int i = 0; i <= count; ++i) {
    x.push_back(limit * (2.0F * static_cast<float>(i) / static_cast<float>(count) - 1.0F));
  }
  for (const double place : places) {
    float below = static_cast<float>(place), above = below;
    for (int i = 0; i < 300; ++i) {
      x.insert(x.end(), {below, above, -below, -above});
      below = std::nextafter(below, -limit);
      above = std::nextafter(above, limit);
    }
  }
  for (float tiny = 1.0F; tiny > 0.0F; tiny *= 0.37F) x.insert(x.end(), {tiny, -tiny});
  x.insert(x.end(), {0.0F, -0.0F});
  return x;
}

// Multiples of pi/4: sine, cosine, and the quarter turns between which they change places.
std::vector<float> angles(int count) {
  std::vector<double> places;
  for (int i = 0; i <= 7; ++i) places.push_back(i * std::numbers::pi / 4.0);
  return sweep(6.0F, count, places);
}

// The change from one formula to the other, and the cut-off, where tanh has become 1.
std::vector<float> arguments(int count) {
  return sweep(20.0F, count, {0.625, 0.0625, 9.01, 10.0, 20.0});
}

class MazeFunctions : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, MazeFunctions, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

// The worst of all single-precision numbers up to 3.93, as far as a laser of a robot can point, are
// 1.507 (sine, at 3.66144371) and 1.572 (cosine, at 2.36683917). Beyond, near 3/2 pi, the cosine is
// so small that the rounding of the angle's last part shows: three times 7.5e-8 2^-24.
TEST_P(MazeFunctions, SineAndCosineAreAccurate) {
  auto x = angles(300'000 / kFewer);
  for (const float hard : {3.66144371F, 2.36683917F, 0.797066271F, 1.31928349F}) {
    x.insert(x.end(), {hard, -hard});
  }
  std::vector<float> sine(x.size()), cosine(x.size());
  maze_sine_cosine(x.data(), size_of(x), sine.data(), cosine.data());
  double worst_sine = 0, worst_cosine = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto angle = static_cast<double>(x[i]);
    const double of_sine = ulps_between(sine[i], std::sin(angle));
    const double of_cosine = ulps_between(cosine[i], std::cos(angle));
    const double off = std::abs(static_cast<double>(cosine[i]) - std::cos(angle));
    ASSERT_LE(of_sine, 1.6) << "sin " << x[i];
    ASSERT_TRUE(of_cosine <= 1.6 || (std::abs(x[i]) > 3.93F && off < 2e-14)) << "cos " << x[i];
    ASSERT_LE(std::abs(sine[i]), 1.0F) << x[i];
    ASSERT_LE(std::abs(cosine[i]), 1.0F) << x[i];
    worst_sine = std::max(worst_sine, of_sine);
    worst_cosine = std::max(worst_cosine, of_cosine);
  }
  RecordProperty("worst_sine", std::to_string(worst_sine));
  RecordProperty("worst_cosine", std::to_string(worst_cosine));
}

TEST_P(MazeFunctions, SineAndCosineOfZeroAreExact) {
  const std::vector<float> x = {0.0F, -0.0F, 1e-30F, -1e-30F};
  std::vector<float> sine(4), cosine(4);
  maze_sine_cosine(x.data(), 4, sine.data(), cosine.data());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(sine[i], x[i]);
    EXPECT_EQ(cosine[i], 1.0F);
  }
}

// The worst of all single-precision numbers is 1.332, at 0.631044209.
TEST_P(MazeFunctions, TanhIsAccurate) {
  auto x = arguments(300'000 / kFewer);
  x.insert(x.end(), {0.631044209F, -0.631044209F});
  std::vector<float> found(x.size());
  maze_tanh(x.data(), size_of(x), found.data());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = ulps_between(found[i], std::tanh(static_cast<double>(x[i])));
    ASSERT_LE(off, 1.4) << "tanh " << x[i];
    ASSERT_LE(std::abs(found[i]), 1.0F) << x[i];  // or wheels would turn too fast
    worst = std::max(worst, off);
  }
  RecordProperty("worst", std::to_string(worst));
}

TEST_P(MazeFunctions, TanhIsExactWhereItMustBe) {
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  constexpr float kNormal = std::numeric_limits<float>::min();
  const std::vector<float> same = {0.0F, kTiny, kNormal, 1e-30F, 1e-10F, 1e-5F};
  const std::vector<float> saturated = {9.1F,
                                        10.0F,
                                        20.0F,
                                        88.0F,
                                        89.0F,
                                        1e4F,
                                        1e31F,
                                        std::numeric_limits<float>::max(),
                                        std::numeric_limits<float>::infinity()};
  for (const float sign : {1.0F, -1.0F}) {
    for (const float size : same) {
      const float x = sign * size;
      float found = 7.0F;
      maze_tanh(&x, 1, &found);
      EXPECT_EQ(bits_of(found), bits_of(x)) << x;  // of 0 and -0, too
    }
    for (const float size : saturated) {
      const float x = sign * size;
      float found = 7.0F;
      maze_tanh(&x, 1, &found);
      EXPECT_EQ(found, sign) << x;
    }
  }
}

// Symmetric to the last bit, so that a robot and its mirror image are the same.
TEST_P(MazeFunctions, AreOddAndEven) {
  const auto x = angles(20'000 / kFewer);
  auto minus = x;
  for (float& value : minus) value = -value;
  std::vector<float> sine(x.size()), cosine(x.size()), tangent(x.size());
  std::vector<float> minus_sine(x.size()), minus_cosine(x.size()), minus_tangent(x.size());
  maze_sine_cosine(x.data(), size_of(x), sine.data(), cosine.data());
  maze_sine_cosine(minus.data(), size_of(x), minus_sine.data(), minus_cosine.data());
  maze_tanh(x.data(), size_of(x), tangent.data());
  maze_tanh(minus.data(), size_of(x), minus_tangent.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(minus_sine[i], -sine[i]) << x[i];
    ASSERT_EQ(minus_cosine[i], cosine[i]) << x[i];
    ASSERT_EQ(minus_tangent[i], -tangent[i]) << x[i];
  }
}

TEST_P(MazeFunctions, GiveTheSameBitsAsTheBaseline) {
  const auto x = angles(50'000 / kFewer);
  const auto y = arguments(50'000 / kFewer);
  std::vector<float> sine(x.size()), cosine(x.size()), tangent(y.size());
  maze_sine_cosine(x.data(), size_of(x), sine.data(), cosine.data());
  maze_tanh(y.data(), size_of(y), tangent.data());
  const PinnedInstructionSet baseline(rarefy::InstructionSet::baseline);
  std::vector<float> baseline_sine(x.size()), baseline_cosine(x.size()), baseline_tangent(y.size());
  maze_sine_cosine(x.data(), size_of(x), baseline_sine.data(), baseline_cosine.data());
  maze_tanh(y.data(), size_of(y), baseline_tangent.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(bits_of(sine[i]), bits_of(baseline_sine[i])) << "sin " << x[i];
    ASSERT_EQ(bits_of(cosine[i]), bits_of(baseline_cosine[i])) << "cos " << x[i];
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(bits_of(tangent[i]), bits_of(baseline_tangent[i])) << "tanh " << y[i];
  }
}
