// The loss of flow matching and its gradient, against the papers' formulas in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "density/flow/flow_matching.hpp"
#include "density/flow_cases.hpp"
#include "density/flow_reference.hpp"
#include "rarefy/core/workers.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using flow_cases::normal_batch;
using flow_cases::random_network;
using flow_cases::random_times;
using flow_reference::kActivations;
using rarefy::Activation;
using rarefy::Batch;
using rarefy::FlowMatching;
using rarefy::FlowNetworkOptions;
using rarefy::Index;
using rarefy::VelocityNetwork;
using rarefy::Workers;

/// Samples, noise and times of a step.
struct TrainingBatch {
  Batch samples, noise;
  std::vector<double> times;

  TrainingBatch(Index rows, Index features, std::uint64_t seed)
      : samples(normal_batch(rows, features, seed, 0.5)),
        noise(normal_batch(rows, features, seed + 1)),
        times(random_times(rows, seed + 2)) {}
};

struct Found {
  double loss = 0.0;
  std::vector<float> padded;
  std::vector<double> gradient;  // without the padding
};

Found evaluate(FlowMatching& matching, const VelocityNetwork& network, const TrainingBatch& batch,
               Index threads = 1) {
  Workers workers(threads);
  Found found;
  found.loss = matching.evaluate(batch.samples, batch.noise, batch.times, workers);
  found.padded.assign(matching.gradient().begin(), matching.gradient().end());
  std::vector<float> compact(static_cast<std::size_t>(network.compact_size()));
  network.to_compact(found.padded, compact);
  found.gradient.assign(compact.begin(), compact.end());
  return found;
}

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

std::string name(const FlowNetworkOptions& options, double sigma_min) {
  std::string text(rarefy::name_of(options.activation));
  for (const Index width : options.layers) text += " " + std::to_string(width);
  return text + ", sigma_min " + std::to_string(sigma_min);
}

// Two pieces of samples, the second of which is no multiple of 4; and widths that are no
// multiples of 16, but for one.
constexpr Index kBatch = 101;
const std::vector<std::vector<Index>> kLayers = {{5}, {20, 7}, {17, 33, 16}};

template <typename Task>
void for_each_case(Task&& task) {
  Index features = 1;
  for (const auto activation : kActivations) {
    for (const auto& layers : kLayers) {
      for (const double sigma_min : {0.0, 0.3}) {
        const FlowNetworkOptions options{.layers = layers, .activation = activation};
        SCOPED_TRACE(name(options, sigma_min));
        task(random_network(features, options, 11, 1.5), sigma_min);
      }
      features = features % 3 + 1;
    }
  }
}

class FlowGradient : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, FlowGradient, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

TEST_P(FlowGradient, AndLossAreThoseOfDoublePrecision) {
  for_each_case([](const VelocityNetwork& network, double sigma_min) {
    const TrainingBatch batch(kBatch, network.features(), 21);
    FlowMatching matching(network, kBatch, sigma_min);
    const auto found = evaluate(matching, network, batch);
    const auto exact = flow_reference::flow_matching_loss(
        flow_reference::network_of(network), batch.samples, batch.noise, batch.times, sigma_min);
    EXPECT_NEAR(found.loss, exact.value, 1e-6 * exact.value);
    ASSERT_EQ(found.gradient.size(), exact.gradient.size());
    for (std::size_t i = 0; i < exact.gradient.size(); ++i) {
      ASSERT_NEAR(found.gradient[i], exact.gradient[i], 2e-6 * largest(exact.gradient)) << i;
    }
  });
}

TEST_P(FlowGradient, OfThePaddingIsExactlyZero) {
  for_each_case([](const VelocityNetwork& network, double sigma_min) {
    FlowMatching matching(network, kBatch, sigma_min);
    const auto found = evaluate(matching, network, TrainingBatch(kBatch, network.features(), 23));
    std::vector<float> ones(static_cast<std::size_t>(network.compact_size()), 1.0F);
    std::vector<float> real(found.padded.size(), 0.0F);
    network.from_compact(ones, real);
    Index padding = 0;
    for (std::size_t i = 0; i < real.size(); ++i) {
      if (real[i] != 0.0F) continue;
      ++padding;
      ASSERT_EQ(found.padded[i], 0.0F) << i;
    }
    EXPECT_GT(padding, 0);
  });
}

// Any number of samples: what fills up the last columns is worth nothing.
TEST_P(FlowGradient, CountsEverySampleOnceAndNothingElse) {
  const auto network = random_network(2, {.layers = {20, 18}, .activation = Activation::silu}, 12);
  for (const Index rows : {1, 2, 3, 4, 5, 63, 64, 65, 127, 130}) {
    const TrainingBatch batch(rows, 2, 24);
    FlowMatching matching(network, rows, 0.1);
    const auto found = evaluate(matching, network, batch);
    const auto exact = flow_reference::flow_matching_loss(
        flow_reference::network_of(network), batch.samples, batch.noise, batch.times, 0.1);
    EXPECT_NEAR(found.loss, exact.value, 1e-6 * exact.value) << rows;
    for (std::size_t i = 0; i < exact.gradient.size(); ++i) {
      ASSERT_NEAR(found.gradient[i], exact.gradient[i], 2e-6 * largest(exact.gradient)) << rows;
    }
  }
}

TEST_P(FlowGradient, ForgetsTheBatchBefore) {
  const auto network = random_network(2, {.layers = {20, 18}, .activation = Activation::silu}, 13);
  FlowMatching used(network, kBatch, 0.1), fresh(network, kBatch, 0.1);
  (void)evaluate(used, network, TrainingBatch(kBatch, 2, 25));
  // Even one that left no number behind.
  TrainingBatch bad(kBatch, 2, 26);
  for (double& value : bad.samples.values()) value = 1e300;
  EXPECT_FALSE(std::isfinite(evaluate(used, network, bad).loss));
  const TrainingBatch batch(kBatch, 2, 27);
  const auto again = evaluate(used, network, batch), first = evaluate(fresh, network, batch);
  EXPECT_EQ(again.loss, first.loss);
  EXPECT_EQ(again.padded, first.padded);
}

TEST_P(FlowGradient, FollowsTheNetworkAsItChanges) {
  auto network = random_network(2, {.layers = {20, 18}}, 14);
  FlowMatching matching(network, kBatch, 0.1);
  const TrainingBatch batch(kBatch, 2, 28);
  const auto before = evaluate(matching, network, batch);
  for (float& value : network.parameters()) value *= 1.25F;
  const auto after = evaluate(matching, network, batch);
  FlowMatching fresh(network, kBatch, 0.1);
  EXPECT_NE(after.padded, before.padded);
  EXPECT_EQ(after.padded, evaluate(fresh, network, batch).padded);
}

TEST_P(FlowGradient, IsTheSameWithAnyNumberOfThreads) {
  const auto network = random_network(2, {.layers = {150, 70}}, 15);
  constexpr Index kRows = 301;
  const TrainingBatch batch(kRows, 2, 29);
  FlowMatching matching(network, kRows, 1e-4);
  const auto alone = evaluate(matching, network, batch, 1);
  for (const Index threads : {2, 3, 5}) {
    const auto together = evaluate(matching, network, batch, threads);
    EXPECT_EQ(together.loss, alone.loss) << threads;
    EXPECT_EQ(together.padded, alone.padded) << threads;
  }
}

// A network of zeros is wrong by the whole velocity, which equation 23 of the paper gives in one
// line: x1 - (1 - sigma_min) x0.
TEST(FlowLoss, OfNoVelocityIsTheMeanSquareOfTheOneWanted) {
  const VelocityNetwork network(2, {.layers = {16}});
  const TrainingBatch batch(kBatch, 2, 30);
  for (const double sigma_min : {0.0, 1e-4, 0.3}) {
    double squares = 0.0;
    for (Index i = 0; i < kBatch; ++i) {
      for (Index d = 0; d < 2; ++d) {
        const double wanted = batch.samples(i, d) - (1.0 - sigma_min) * batch.noise(i, d);
        squares += wanted * wanted;
      }
    }
    FlowMatching matching(network, kBatch, sigma_min);
    EXPECT_NEAR(evaluate(matching, network, batch).loss, squares / (2.0 * kBatch), 1e-12);
  }
}

TEST(FlowLoss, SaysWhenThereIsNone) {
  const auto network = random_network(2, {.layers = {16, 16}}, 16);
  FlowMatching matching(network, kBatch, 1e-4);
  for (const double value :
       {1e300, -1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    TrainingBatch batch(kBatch, 2, 31);
    batch.samples(77, 1) = value;
    EXPECT_FALSE(std::isfinite(evaluate(matching, network, batch).loss)) << value;
  }
}

// Of the loss in double precision, which knows nothing of backpropagation.
TEST(FlowLoss, HasTheSlopeOfItsGradient) {
  for_each_case([](const VelocityNetwork& network, double sigma_min) {
    const TrainingBatch batch(kBatch, network.features(), 22);
    FlowMatching matching(network, kBatch, sigma_min);
    const auto found = evaluate(matching, network, batch);
    std::vector<float> compact(found.gradient.size());
    network.to_compact(network.parameters(), compact);
    const auto loss_with = [&](std::size_t parameter, double change) {
      std::vector<double> values(compact.begin(), compact.end());
      values[parameter] += change;
      const flow_reference::Network moved(network.features(), network.options(), values);
      double sum = 0.0;
      for (Index i = 0; i < kBatch; ++i) {
        const double time = batch.times[static_cast<std::size_t>(i)];
        const auto point =
            flow_reference::path(batch.samples.row(i), batch.noise.row(i), time, sigma_min);
        const auto velocity = moved.velocity(point.place, time);
        for (std::size_t d = 0; d < velocity.size(); ++d) {
          sum += (velocity[d] - point.velocity[d]) * (velocity[d] - point.velocity[d]);
        }
      }
      return sum / static_cast<double>(kBatch * network.features());
    };
    // Ten of them, the last bias among them. The difference quotient is right to 1e-8 or so.
    constexpr double kStep = 1e-5;
    const std::size_t stride = compact.size() / 10 + 1;
    for (std::size_t back = 1; back <= compact.size(); back += stride) {
      const std::size_t i = compact.size() - back;
      const double slope = (loss_with(i, kStep) - loss_with(i, -kStep)) / (2.0 * kStep);
      ASSERT_NEAR(found.gradient[i], slope, 3e-6 * largest(found.gradient)) << i;
    }
  });
}
