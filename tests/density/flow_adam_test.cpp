#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "density/network/adam.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/workers.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using rarefy::Adam;
using rarefy::Index;
using rarefy::Workers;

/// Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1, line by
/// line.
class ReferenceAdam {
 public:
  explicit ReferenceAdam(std::size_t count) : m_(count), v_(count) {}

  void step(double alpha, const std::vector<float>& gradient, std::vector<double>& theta) {
    ++t_;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const double g = gradient[i];
      m_[i] = 0.9 * m_[i] + (1.0 - 0.9) * g;
      v_[i] = 0.999 * v_[i] + (1.0 - 0.999) * g * g;
      const double m_hat = m_[i] / (1.0 - std::pow(0.9, t_));
      const double v_hat = v_[i] / (1.0 - std::pow(0.999, t_));
      theta[i] -= alpha * m_hat / (std::sqrt(v_hat) + 1e-8);
    }
  }

 private:
  int t_ = 0;
  std::vector<double> m_, v_;
};

/// Gradients with a direction of their own and much noise, of sizes from 1e-10, where epsilon is
/// what counts, to 1e10.
std::vector<float> gradient_at(int step, std::size_t count) {
  std::vector<double> noise(count);
  rarefy::fill_normals({.seed = 71, .iteration = static_cast<std::uint64_t>(step)}, noise);
  std::vector<float> gradient(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double size = std::pow(10.0, static_cast<double>(i % 21) - 10.0);
    const double along = i % 2 == 0 ? 0.7 : -0.2;
    gradient[i] = static_cast<float>(size * (along + noise[i]));
  }
  return gradient;
}

std::vector<float> beginning(std::size_t count) {
  std::vector<float> parameters(count);
  for (std::size_t i = 0; i < count; ++i) {
    parameters[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  }
  return parameters;
}

class FlowAdam : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, FlowAdam, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

TEST_P(FlowAdam, GoesTheWayOfTheAlgorithm) {
  constexpr std::size_t kCount = 336;
  constexpr double kRate = 1e-2;
  Workers workers(1);
  Adam adam(kCount);
  ReferenceAdam reference(kCount);
  std::vector<float> parameters = beginning(kCount);
  std::vector<double> exact(parameters.begin(), parameters.end());
  for (int step = 1; step <= 50; ++step) {
    const auto gradient = gradient_at(step, kCount);
    ASSERT_TRUE(adam.step(kRate, gradient, parameters, workers));
    reference.step(kRate, gradient, exact);
    ASSERT_EQ(adam.steps, step);
    // A step goes at most a few rates far, and floats round it to 1e-5 of that; parameters of
    // size 1 are rounded to 2^-25 in every step.
    const double error = static_cast<double>(step) * (2e-5 * kRate + 0x1p-25);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_NEAR(parameters[i], exact[i], error) << "parameter " << i << ", step " << step;
    }
  }
}

TEST_P(FlowAdam, TakesAnotherRateAtAnyStep) {
  Workers workers(1);
  Adam adam(16);
  ReferenceAdam reference(16);
  std::vector<float> parameters = beginning(16);
  std::vector<double> exact(parameters.begin(), parameters.end());
  for (int step = 1; step <= 6; ++step) {
    const double rate = std::pow(0.5, step);
    ASSERT_TRUE(adam.step(rate, gradient_at(step, 16), parameters, workers));
    reference.step(rate, gradient_at(step, 16), exact);
  }
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(parameters[i], exact[i], 2e-5);
}

TEST_P(FlowAdam, IsTheSameWithAnyNumberOfThreads) {
  constexpr std::size_t kCount = 3 * 8192 + 48;
  const auto run = [](Index threads) {
    Workers workers(threads);
    Adam adam(kCount);
    std::vector<float> parameters = beginning(kCount);
    for (int step = 1; step <= 3; ++step) {
      EXPECT_TRUE(adam.step(1e-3, gradient_at(step, kCount), parameters, workers));
    }
    parameters.insert(parameters.end(), adam.first.begin(), adam.first.end());
    parameters.insert(parameters.end(), adam.second.begin(), adam.second.end());
    return parameters;
  };
  const auto alone = run(1);
  EXPECT_NE(alone[kCount - 1], beginning(kCount)[kCount - 1]);  // the last piece counts too
  EXPECT_EQ(run(2), alone);
  EXPECT_EQ(run(3), alone);
}

TEST_P(FlowAdam, SaysWhenAStepIsNoLongerFinite) {
  constexpr std::size_t kCount = 8192 + 48;
  Workers workers(2);
  for (const std::size_t place :
       {std::size_t{0}, std::size_t{8191}, std::size_t{8192}, kCount - 1}) {
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30F}) {
      Adam adam(kCount);
      std::vector<float> parameters = beginning(kCount);
      auto gradient = gradient_at(1, kCount);
      ASSERT_TRUE(adam.step(1e-3, gradient, parameters, workers));
      gradient[place] = value;
      EXPECT_FALSE(adam.step(1e-3, gradient, parameters, workers)) << value << " at " << place;
    }
  }
  Adam adam(kCount);
  std::vector<float> parameters = beginning(kCount);
  EXPECT_FALSE(adam.step(1e300, gradient_at(1, kCount), parameters, workers));
}
