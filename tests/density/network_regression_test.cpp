// Values, gradients and steps of a network that is fitted to wanted values, against a slow
// reference.
#include "density/network/network_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "density/network/network_values.hpp"
#include "density/network_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using network_reference::Reference;
using network_reference::reference_of;
using network_reference::Values;
using rarefy::Activation;
using rarefy::Batch;
using rarefy::Index;
using rarefy::Network;
using rarefy::NetworkRegression;
using rarefy::NetworkTraining;
using rarefy::RandomStream;
using rarefy::Workers;

Network network_with(Activation activation, Index inputs = 2, std::vector<Index> layers = {21, 18},
                     std::uint64_t seed = 7) {
  Network network(inputs, layers, 1, activation);
  network.initialise(seed);
  return network;
}

/// Rows of inputs in [-1, 1] and what is wanted, in [0, 1].
Batch random_samples(Index rows, Index inputs, std::uint64_t seed) {
  Batch samples(rows, inputs + 1);
  RandomStream random({.seed = seed});
  for (Index i = 0; i < rows; ++i) {
    for (Index d = 0; d < inputs; ++d) samples(i, d) = 2.0 * random.uniform() - 1.0;
    samples(i, inputs) = random.uniform();
  }
  return samples;
}

std::vector<Values> rows_of(const Batch& samples, Index first, Index count) {
  std::vector<Values> rows;
  for (Index i = first; i < first + count; ++i) {
    const auto row = samples.row(i);
    // The network sees floats.
    Values values;
    for (const double value : row) values.push_back(static_cast<double>(static_cast<float>(value)));
    values.back() = row.back();
    rows.push_back(values);
  }
  return rows;
}

std::vector<Index> in_order(Index rows) {
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

std::vector<float> compact(const Network& network, std::span<const float> values) {
  std::vector<float> out(static_cast<std::size_t>(network.compact_size()));
  network.to_compact(values, out);
  return out;
}

constexpr Activation kAll[] = {Activation::relu, Activation::elu, Activation::silu,
                               Activation::tanh};

class NetworkRegressionOf : public WithInstructionSet {};

TEST_P(NetworkRegressionOf, ValuesAreThoseOfTheReference) {
  for (const auto activation : kAll) {
    for (const Index inputs : {1, 2, 17}) {
      const auto network = network_with(activation, inputs);
      const auto reference = reference_of(network);
      const auto samples = random_samples(23, inputs, 2);
      rarefy::NetworkValues values(network, 23);
      for (Index i = 0; i < 23; ++i) {
        for (Index d = 0; d < inputs; ++d) {
          values.input(i)[d] = static_cast<float>(samples(i, d));
        }
      }
      values.evaluate(23);
      const auto rows = rows_of(samples, 0, 23);
      for (Index i = 0; i < 23; ++i) {
        const auto& row = rows[static_cast<std::size_t>(i)];
        EXPECT_NEAR(values.output(i), reference.outputs({row.data(), row.size() - 1})[0], 1e-5);
      }
    }
  }
}

// What comes out for a sample does not depend on how many there are, nor on its place.
TEST_P(NetworkRegressionOf, ValuesAreTheSameInAnyCompany) {
  const auto network = network_with(Activation::relu);
  const auto samples = random_samples(40, 2, 3);
  rarefy::NetworkValues together(network, 40), alone(network, 40);
  const auto put = [&](rarefy::NetworkValues& values, Index at, Index sample) {
    for (Index d = 0; d < 2; ++d) values.input(at)[d] = static_cast<float>(samples(sample, d));
  };
  for (Index i = 0; i < 40; ++i) put(together, i, i);
  together.evaluate(40);
  for (Index i = 0; i < 40; ++i) {
    put(alone, 0, i);
    alone.evaluate(1);
    EXPECT_EQ(alone.output(0), together.output(i));
  }
}

// By central differences of the reference's loss. Kinks of the ReLU within a step spoil a few of
// them: of those the step is halved until they agree.
TEST_P(NetworkRegressionOf, TheGradientIsThatOfTheMeanSquaredError) {
  for (const auto activation : kAll) {
    auto network = network_with(activation, 3, {9, 7});
    const auto reference = reference_of(network);
    for (const Index rows : {1, 5, 32}) {
      const auto samples = random_samples(rows, 3, 4);
      auto trained = network;
      NetworkTraining training(trained, "test", 1e-3);
      NetworkRegression step(trained, 32);
      Workers workers(1);
      const auto loss = step.epoch(samples, in_order(rows), training, workers);
      const auto plain = rows_of(samples, 0, rows);
      ASSERT_TRUE(loss);
      EXPECT_NEAR(*loss, reference.loss(plain), 1e-6);
      const auto gradient = compact(network, step.gradient());
      for (std::size_t p = 0; p < gradient.size(); ++p) {
        double expected = 0.0;
        for (double h = 1e-4; h > 1e-7; h *= 0.5) {
          expected = reference.slope(plain, p, h);
          if (std::abs(gradient[p] - expected) < 2e-5) break;
        }
        EXPECT_NEAR(gradient[p], expected, 2e-5)
            << rarefy::name_of(activation) << ", parameter " << p << ", " << rows << " rows";
      }
    }
  }
}

// The steps of an epoch are those of the batches one after the other, the last one smaller.
TEST_P(NetworkRegressionOf, AnEpochIsAStepForEveryBatch) {
  const auto samples = random_samples(75, 2, 5);
  std::vector<Index> order = in_order(75);
  RandomStream random({.seed = 6});
  rarefy::random_permutation(random, order);
  Workers workers(1);

  auto whole = network_with(Activation::relu);
  NetworkTraining whole_training(whole, "test", 1e-2);
  NetworkRegression whole_regression(whole, 32);
  const auto loss = whole_regression.epoch(samples, order, whole_training, workers);

  auto parts = network_with(Activation::relu);
  NetworkTraining parts_training(parts, "test", 1e-2);
  NetworkRegression parts_regression(parts, 32);
  double squares = 0.0;
  for (const auto& [first, count] : {std::pair{0, 32}, {32, 32}, {64, 11}}) {
    const std::span some(order.data() + first, static_cast<std::size_t>(count));
    squares += count * parts_regression.epoch(samples, some, parts_training, workers).value();
  }
  EXPECT_EQ(compact(whole, whole.parameters()), compact(parts, parts.parameters()));
  EXPECT_NEAR(loss.value(), squares / 75.0, 1e-12);
}

TEST_P(NetworkRegressionOf, TheSameBitsWithAnyThreads) {
  const auto samples = random_samples(200, 2, 8);
  const auto trained = [&](Index threads) {
    auto network = network_with(Activation::relu, 2, {128, 96});
    NetworkTraining training(network, "test", 1e-3);
    NetworkRegression regression(network, 50);
    Workers workers(threads);
    for (int epoch = 0; epoch < 3; ++epoch) {
      EXPECT_TRUE(regression.epoch(samples, in_order(200), training, workers));
    }
    return compact(network, network.parameters());
  };
  const auto one = trained(1);
  EXPECT_EQ(trained(2), one);
  EXPECT_EQ(trained(5), one);
}

INSTANTIATE_TEST_SUITE_P(On, NetworkRegressionOf, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

TEST(NetworkRegression, LearnsAFunction) {
  auto network = network_with(Activation::relu, 2, {64, 64});
  NetworkTraining training(network, "test", 3e-3);
  NetworkRegression regression(network, 32);
  auto samples = random_samples(400, 2, 9);
  for (Index i = 0; i < 400; ++i) {
    samples(i, 2) = samples(i, 0) * samples(i, 0) - 0.5 * samples(i, 1);
  }
  Workers workers(1);
  double loss = 1.0;
  for (int epoch = 0; epoch < 60; ++epoch) {
    loss = regression.epoch(samples, in_order(400), training, workers).value();
  }
  EXPECT_LT(loss, 1e-3);
}

TEST(NetworkRegression, SaysWhenItIsNoLongerFiniteAndCanGoBack) {
  auto network = network_with(Activation::relu);
  const auto before = compact(network, network.parameters());
  NetworkTraining training(network, "test", 1e-3);
  NetworkRegression regression(network, 32);
  auto samples = random_samples(70, 2, 10);
  samples(69, 2) = std::numeric_limits<double>::infinity();
  Workers workers(1);
  training.begin();
  EXPECT_FALSE(regression.epoch(samples, in_order(70), training, workers));
  EXPECT_NE(compact(network, network.parameters()), before) << "two batches came before";
  training.take_back();
  EXPECT_EQ(compact(network, network.parameters()), before);
  EXPECT_EQ(training.rate(), 0.5e-3);
  EXPECT_EQ(training.rollbacks(), 1);
  EXPECT_NE(training.warning(1), "");
}

TEST(Network, RefusesWhatIsNone) {
  EXPECT_THROW(Network(0, {3}, 1, Activation::relu), rarefy::Error);
  EXPECT_THROW(Network(2, {}, 1, Activation::relu), rarefy::Error);
  EXPECT_THROW(Network(2, {3, 0}, 1, Activation::relu), rarefy::Error);
  EXPECT_THROW(Network(2, {3}, 0, Activation::relu), rarefy::Error);
}

}  // namespace
