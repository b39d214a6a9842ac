#include "kernels/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::Activation;
using rarefy::RandomStream;
namespace kernels = rarefy::kernels;

namespace {

using Floats = std::vector<float>;

constexpr Activation kActivations[] = {Activation::elu, Activation::silu, Activation::tanh,
                                       Activation::relu};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
constexpr double kRounding = 0x1p-24;
constexpr double kStatedError = 4e-7;  // of activations and slopes, by 1 + |value|

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

double exact_value(Activation activation, double x) {
  switch (activation) {
    case Activation::elu: return x > 0 ? x : std::expm1(x);
    case Activation::silu: return x / (1.0 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::relu: return x > 0 ? x : 0.0;
  }
  return std::nan("");
}

double exact_slope(Activation activation, double x) {
  switch (activation) {
    case Activation::elu: return x > 0 ? 1.0 : std::exp(x);
    case Activation::silu: {
      // s + x s (1 - s), with 1 - s(x) = s(-x) so that nothing cancels or overflows.
      const double s = 1.0 / (1.0 + std::exp(-x)), rest = 1.0 / (1.0 + std::exp(x));
      return s + x * s * rest;
    }
    case Activation::tanh: {
      const double c = std::cosh(std::min(std::abs(x), 300.0));
      return 1.0 / (c * c);
    }
    case Activation::relu: return x > 0 ? 1.0 : 0.0;
  }
  return std::nan("");
}

Floats random_floats(RandomStream& random, std::ptrdiff_t count, double reach = 1.0) {
  Floats values(at(count));
  for (float& value : values) value = static_cast<float>(reach * (2.0 * random.uniform() - 1.0));
  return values;
}

/// Values and slopes of what is given, with a bias of 0.
struct Bent {
  Floats values, slopes;
};
Bent bent(Activation activation, Floats z) {
  const std::size_t asked = z.size();
  z.resize((asked + 15) / 16 * 16, 0.0F);
  const Floats bias(z.size(), 0.0F);
  Floats slopes(z.size(), -9.0F);
  kernels::activate(activation, z.data(), bias.data(), slopes.data(),
                    static_cast<std::ptrdiff_t>(z.size()), 1);
  z.resize(asked);
  slopes.resize(asked);
  return {z, slopes};
}

void expect_within_the_stated_error(Activation activation, const Floats& places) {
  const auto found = bent(activation, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double value = exact_value(activation, places[i]);
    const double slope = exact_slope(activation, places[i]);
    ASSERT_NEAR(found.values[i], value, kStatedError * (1.0 + std::abs(value)))
        << rarefy::name_of(activation) << " of " << places[i];
    ASSERT_NEAR(found.slopes[i], slope, kStatedError * (1.0 + std::abs(slope)))
        << "slope of " << rarefy::name_of(activation) << " at " << places[i];
  }
}

class NetworkKernels : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, NetworkKernels, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(NetworkKernels, ActivationsAndSlopesAreWithinTheStatedError) {
  Floats places;
  for (int i = -20'000; i <= 20'000; ++i) places.push_back(static_cast<float>(i) / 1000.0F);
  for (int i = -1'200; i <= 1'200; ++i) places.push_back(static_cast<float>(i) / 10.0F);
  // All sizes, of either sign.
  RandomStream random({.seed = 1});
  for (int i = 0; i < 20'000; ++i) {
    const double size = std::exp2(277.9 * random.uniform() - 150.0);
    places.push_back(static_cast<float>(random.uniform() < 0.5 ? -size : size));
  }
  for (const auto activation : kActivations) expect_within_the_stated_error(activation, places);
}

TEST_P(NetworkKernels, ActivationsTakeAwkwardValues) {
  for (const auto activation : kActivations) {
    expect_within_the_stated_error(
        activation, {0.0F,   -0.0F,   kSmallest, -kSmallest, 1e-40F,  -1e-40F, 1e-38F, -1e-38F,
                     1e-20F, -1e-20F, 1e-7F,     -1e-7F,     18.7F,   -18.7F,  18.8F,  -18.8F,
                     87.0F,  -87.0F,  88.8F,     -88.8F,     103.9F,  -103.9F, 104.1F, -104.1F,
                     200.0F, -200.0F, 1e9F,      -1e9F,      3e9F,    -3e9F,   1e19F,  -1e19F,
                     1e30F,  -1e30F,  kLargest,  -kLargest,  0.3465F, -0.3466F});
  }
}

// The padding of a network relies on it.
TEST_P(NetworkKernels, ActivationsAreExactlyZeroAtZero) {
  for (const auto activation : kActivations) {
    const auto found = bent(activation, {0.0F, -0.0F});
    EXPECT_EQ(found.values, (Floats{0.0F, 0.0F})) << rarefy::name_of(activation);
    const float slope = activation == Activation::silu   ? 0.5F
                        : activation == Activation::relu ? 0.0F
                                                         : 1.0F;
    EXPECT_EQ(found.slopes, (Floats{slope, slope})) << rarefy::name_of(activation);
  }
}

// Were it to come out as a number, an overflow inside the network would go unnoticed.
TEST_P(NetworkKernels, WhatIsNoNumberStaysNone) {
  for (const auto activation : kActivations) {
    const auto found = bent(activation, {kNan, -kNan, 1.0F});
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      EXPECT_TRUE(std::isnan(found.values[i]))
          << rarefy::name_of(activation) << " of NaN is " << found.values[i];
      EXPECT_TRUE(std::isnan(found.slopes[i]))
          << "slope of " << rarefy::name_of(activation) << " at NaN is " << found.slopes[i];
    }
    EXPECT_TRUE(std::isfinite(found.values[2]));  // neighbours are not touched
  }
}

TEST_P(NetworkKernels, InfinityGoesToTheLimitOrToNothingAtAll) {
  for (const auto activation : kActivations) {
    const auto found = bent(activation, {kInfinity, -kInfinity});
    const double up = activation == Activation::tanh ? 1.0 : static_cast<double>(kInfinity);
    const bool ends_at_zero = activation == Activation::silu || activation == Activation::relu;
    const double down = ends_at_zero ? 0.0 : -1.0;
    EXPECT_TRUE(std::isnan(found.values[0]) || found.values[0] == up)
        << rarefy::name_of(activation) << " of infinity is " << found.values[0];
    EXPECT_TRUE(std::isnan(found.values[1]) || found.values[1] == down)
        << rarefy::name_of(activation) << " of minus infinity is " << found.values[1];
    const double slope_up = activation == Activation::tanh ? 0.0 : 1.0;
    EXPECT_TRUE(std::isnan(found.slopes[0]) || found.slopes[0] == slope_up) << found.slopes[0];
    EXPECT_TRUE(std::isnan(found.slopes[1]) || found.slopes[1] == 0.0F) << found.slopes[1];
  }
}

TEST_P(NetworkKernels, TheBiasIsThatOfTheUnitInEveryColumn) {
  RandomStream random({.seed = 2});
  for (const std::ptrdiff_t units : {16, 48, 64}) {
    for (const std::ptrdiff_t columns : {1, 4, 7}) {
      const Floats z = random_floats(random, units * columns, 3.0);
      const Floats bias = random_floats(random, units, 3.0);
      for (const auto activation : kActivations) {
        // One more at either end, which must stay as they are; and so nothing is aligned.
        Floats values(z.size() + 2, 77.0F), slopes(z.size() + 2, 77.0F);
        std::copy(z.begin(), z.end(), values.begin() + 1);
        kernels::activate(activation, values.data() + 1, bias.data(), slopes.data() + 1, units,
                          columns);
        for (std::size_t i = 0; i < z.size(); ++i) {
          const double sum = z[i] + bias[i % at(units)];  // of floats: one rounding
          const double value = exact_value(activation, sum);
          ASSERT_NEAR(values[i + 1], value, kStatedError * (1.0 + std::abs(value)));
          const double slope = exact_slope(activation, sum);
          ASSERT_NEAR(slopes[i + 1], slope, kStatedError * (1.0 + std::abs(slope)));
        }
        for (const Floats* matrix : {&values, &slopes}) {
          EXPECT_EQ(matrix->front(), 77.0F);
          EXPECT_EQ(matrix->back(), 77.0F);
        }
      }
    }
  }
}

TEST_P(NetworkKernels, ScaleMultipliesElementByElement) {
  RandomStream random({.seed = 3});
  for (const std::ptrdiff_t count : {16, 48, 1024}) {
    Floats values = random_floats(random, count, 100.0), factors = random_floats(random, count);
    values[0] = kInfinity;
    values[1] = kNan;
    values[2] = 1e-40F;
    factors[2] = 0.5F;
    Floats found = values;
    found.push_back(77.0F);
    kernels::scale(found.data(), factors.data(), count);
    EXPECT_FALSE(std::isfinite(found[0]));
    EXPECT_TRUE(std::isnan(found[1]));
    for (std::ptrdiff_t i = 2; i < count; ++i) {
      ASSERT_EQ(found[at(i)], values[at(i)] * factors[at(i)]);  // rounded once: exactly this
    }
    EXPECT_EQ(found.back(), 77.0F);
  }
}

TEST_P(NetworkKernels, ScaleRowsMultipliesEveryColumnByTheSameWeights) {
  RandomStream random({.seed = 4});
  for (const std::ptrdiff_t units : {16, 48}) {
    for (const std::ptrdiff_t columns : {1, 4, 9}) {
      const Floats slopes = random_floats(random, units * columns);
      const Floats weights = random_floats(random, units, 10.0);
      Floats out(slopes.size() + 1, 77.0F);
      kernels::scale_rows(slopes.data(), weights.data(), out.data(), units, columns);
      for (std::size_t i = 0; i < slopes.size(); ++i) {
        ASSERT_EQ(out[i], slopes[i] * weights[i % at(units)]);
      }
      EXPECT_EQ(out.back(), 77.0F);
    }
  }
}

TEST_P(NetworkKernels, DotProductsAreAddedToWhatIsThere) {
  RandomStream random({.seed = 5});
  for (const std::ptrdiff_t units : {16, 48, 256}) {
    for (const std::ptrdiff_t columns : {1, 4, 9}) {
      const Floats row = random_floats(random, units);
      const Floats values = random_floats(random, units * columns, 5.0);
      const Floats before = random_floats(random, columns, 3.0);
      Floats sums = before;
      sums.push_back(77.0F);
      kernels::add_dot_products(row.data(), values.data(), sums.data(), units, columns);
      for (std::ptrdiff_t c = 0; c < columns; ++c) {
        double exact = before[at(c)], size = std::abs(exact);
        for (std::ptrdiff_t u = 0; u < units; ++u) {
          const double term = static_cast<double>(row[at(u)]) * values[at(c * units + u)];
          exact += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(sums[at(c)], exact, kRounding * static_cast<double>(units + 1) * size);
      }
      EXPECT_EQ(sums.back(), 77.0F);
    }
  }
}

TEST_P(NetworkKernels, RowsAreSummedOverAllColumns) {
  RandomStream random({.seed = 6});
  for (const std::ptrdiff_t units : {16, 48}) {
    for (const std::ptrdiff_t columns : {0, 1, 4, 260}) {
      const Floats values = random_floats(random, units * columns, 5.0);
      Floats out(at(units) + 1, 77.0F);  // must be overwritten, not added to
      kernels::sum_rows(values.data(), out.data(), units, columns);
      for (std::ptrdiff_t u = 0; u < units; ++u) {
        double exact = 0.0, size = 0.0;
        for (std::ptrdiff_t c = 0; c < columns; ++c) {
          exact += values[at(c * units + u)];
          size += std::abs(values[at(c * units + u)]);
        }
        ASSERT_NEAR(out[at(u)], exact, kRounding * static_cast<double>(columns) * size);
      }
      EXPECT_EQ(out.back(), 77.0F);
    }
  }
}

namespace {

// Values that are no multiples of powers of two, and bias corrections as after a few steps.
constexpr kernels::AdamStep kStep{.beta1 = 0.9F, .beta2 = 0.999F, .rate = 3e-3F, .epsilon = 1e-9F};

/// What a step of Adam is made of.
struct AdamState {
  Floats gradient, parameters, first, second;

  explicit AdamState(std::size_t count)
      : gradient(count), parameters(count), first(count), second(count) {}
  [[nodiscard]] bool step(const kernels::AdamStep& step) {
    return kernels::adam_step(step, gradient.data(), parameters.data(), first.data(), second.data(),
                              static_cast<std::ptrdiff_t>(gradient.size()));
  }
};

AdamState random_state(std::size_t count, std::uint64_t seed) {
  AdamState state(count);
  RandomStream random({.seed = seed});
  const auto size = static_cast<std::ptrdiff_t>(count);
  state.parameters = random_floats(random, size);
  state.first = random_floats(random, size, 0.1);
  state.gradient = random_floats(random, size, 0.1);
  for (float& value : state.second) value = static_cast<float>(0.01 * random.uniform());
  return state;
}

}  // namespace

TEST_P(NetworkKernels, AnAdamStepIsThatOfTheAlgorithm) {
  auto state = random_state(1024, 7);
  // Gradients of all sizes whose square is still a float, where moments are young.
  for (std::size_t i = 0; i < 64; ++i) {
    state.first[i] = state.second[i] = 0.0F;
    state.gradient[i] = static_cast<float>(std::pow(10.0, static_cast<double>(i) / 2.0 - 15.0));
  }
  const auto before = state;
  ASSERT_TRUE(state.step(kStep));
  EXPECT_EQ(state.gradient, before.gradient);
  for (std::size_t i = 0; i < 1024; ++i) {
    const double g = before.gradient[i];
    const double beta1 = kStep.beta1, beta2 = kStep.beta2;
    const double m = beta1 * before.first[i] + (1.0 - beta1) * g;
    const double v = beta2 * before.second[i] + (1.0 - beta2) * g * g;
    const double way = kStep.rate * m / (std::sqrt(v) + kStep.epsilon);
    const double m_size = std::abs(beta1 * before.first[i]) + std::abs((1.0 - beta1) * g);
    // A float keeps 2^-24 of each of the few intermediate results.
    ASSERT_NEAR(state.first[i], m, 4 * kRounding * m_size) << i;
    ASSERT_NEAR(state.second[i], v, 4 * kRounding * v) << i;
    const double way_error = 8 * kRounding * std::abs(way) * (m_size / std::abs(m));
    ASSERT_NEAR(state.parameters[i], before.parameters[i] - way,
                way_error + kRounding * std::abs(before.parameters[i] - way))
        << i;
  }
}

TEST_P(NetworkKernels, AnAdamStepLeavesTheParametersOfThePaddingAlone) {
  auto state = random_state(64, 8);
  for (std::size_t i = 16; i < 32; ++i) {
    state.gradient[i] = state.parameters[i] = state.first[i] = state.second[i] = 0.0F;
  }
  for (int step = 0; step < 10; ++step) ASSERT_TRUE(state.step(kStep));
  for (std::size_t i = 16; i < 32; ++i) {
    EXPECT_EQ(state.parameters[i], 0.0F);
    EXPECT_EQ(state.first[i], 0.0F);
    EXPECT_EQ(state.second[i], 0.0F);
  }
}

TEST_P(NetworkKernels, AnAdamStepSaysWhenSomethingIsNoLongerFinite) {
  constexpr std::size_t kCount = 80;
  for (const std::size_t place : {0U, 3U, 15U, 16U, 37U, 79U}) {
    for (const float value : {kNan, kInfinity, -kInfinity, kLargest, 1e25F}) {
      auto state = random_state(kCount, 9);
      state.gradient[place] = value;  // whose square overflows, at the least
      EXPECT_FALSE(state.step(kStep)) << value << " at " << place;
    }
    for (const float value : {kNan, kInfinity, -kInfinity}) {
      for (auto member : {&AdamState::parameters, &AdamState::first, &AdamState::second}) {
        auto state = random_state(kCount, 9);
        (state.*member)[place] = value;
        EXPECT_FALSE(state.step(kStep)) << value << " at " << place;
      }
    }
    auto state = random_state(kCount, 9);
    state.second[place] = -1.0F;  // has no root
    EXPECT_FALSE(state.step(kStep)) << place;
    state = random_state(kCount, 9);
    state.parameters[place] = -kLargest;
    state.first[place] = 1e30F;
    EXPECT_FALSE(state.step({.beta1 = 0.9F, .beta2 = 0.999F, .rate = 1e20F, .epsilon = 1e-9F}));
    state = random_state(kCount, 9);
    EXPECT_TRUE(state.step(kStep));
    state.parameters[place] = kLargest;  // large, and finite all the same
    state.gradient[place] = 1e15F;
    EXPECT_TRUE(state.step(kStep)) << place;
  }
}

// Were the kernels to ignore which set is pinned, the tests above would test one of them only.
TEST(NetworkKernelsDispatch, UsesThePinnedInstructionSet) {
  if (available_instruction_sets().size() < 2) GTEST_SKIP() << "only one instruction set here";
  RandomStream random({.seed = 10});
  const Floats row = random_floats(random, 256), values = random_floats(random, 256 * 20);
  std::vector<Floats> found;
  for (const auto set : available_instruction_sets()) {
    const PinnedInstructionSet pinned(set);
    Floats sums(20, 0.0F);
    kernels::add_dot_products(row.data(), values.data(), sums.data(), 256, 20);
    // Other lengths of vectors round other partial sums: some bit differs.
    for (const auto& before : found) EXPECT_NE(sums, before) << rarefy::name_of(set);
    found.push_back(sums);
  }
}
