// Velocities and divergences, against double precision and difference quotients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "density/flow/velocity_field.hpp"
#include "density/flow_cases.hpp"
#include "density/flow_reference.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using flow_cases::normal_batch;
using flow_cases::random_network;
using flow_cases::random_times;
using flow_reference::kActivations;
using rarefy::Activation;
using rarefy::Batch;
using rarefy::Index;
using rarefy::VelocityField;
using rarefy::VelocityNetwork;

struct Field {
  std::vector<double> velocities, divergences;
};

Field evaluate(VelocityField& field, const Batch& places, const std::vector<double>& times,
               Index first, Index count) {
  Field found{std::vector<double>(static_cast<std::size_t>(count * field.features()), -9.0),
              std::vector<double>(static_cast<std::size_t>(count), -9.0)};
  field.evaluate(places.data() + first * field.features(), times.data() + first, count,
                 found.velocities.data(), found.divergences.data());
  return found;
}

Field evaluate(VelocityField& field, const Batch& places, const std::vector<double>& times) {
  return evaluate(field, places, times, 0, places.rows());
}

constexpr Index kFeatures[] = {1, 2, 3, 10};
constexpr Index kPlaces = 27;

template <typename Task>
void for_each_network(Task&& task) {
  for (const Index features : kFeatures) {
    for (const auto activation : kActivations) {
      for (const auto& layers : {std::vector<Index>{13}, {20, 7}, {33, 16, 40}}) {
        SCOPED_TRACE(std::string(rarefy::name_of(activation)) + ", " + std::to_string(features) +
                     " features, " + std::to_string(layers.size()) + " hidden layers");
        task(random_network(features, {.layers = layers, .activation = activation}, 41, 1.5));
      }
    }
  }
}

class FlowField : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, FlowField, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

TEST_P(FlowField, IsThatOfDoublePrecision) {
  for_each_network([](const VelocityNetwork& network) {
    VelocityField field(network, kPlaces);
    const Batch places = normal_batch(kPlaces, network.features(), 51);
    const auto times = random_times(kPlaces, 52);
    const auto found = evaluate(field, places, times);
    const auto reference = flow_reference::network_of(network);
    for (Index i = 0; i < kPlaces; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto velocity = reference.velocity(places.row(i), times[at]);
      for (std::size_t d = 0; d < velocity.size(); ++d) {
        ASSERT_NEAR(found.velocities[at * velocity.size() + d], velocity[d], 2e-6) << i;
      }
      ASSERT_NEAR(found.divergences[at], reference.divergence(places.row(i), times[at]), 4e-6);
    }
  });
}

// The velocity in double precision knows nothing of tangents.
TEST_P(FlowField, HasTheDivergenceOfItsDifferenceQuotients) {
  for_each_network([](const VelocityNetwork& network) {
    VelocityField field(network, kPlaces);
    const Batch places = normal_batch(kPlaces, network.features(), 53);
    const auto times = random_times(kPlaces, 54);
    const auto found = evaluate(field, places, times);
    const auto reference = flow_reference::network_of(network);
    constexpr double kStep = 1e-5;
    for (Index i = 0; i < kPlaces; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double divergence = 0.0;
      for (std::size_t d = 0; d < static_cast<std::size_t>(network.features()); ++d) {
        std::vector<double> ahead(places.row(i).begin(), places.row(i).end()), behind = ahead;
        ahead[d] += kStep;
        behind[d] -= kStep;
        divergence +=
            (reference.velocity(ahead, times[at])[d] - reference.velocity(behind, times[at])[d]) /
            (2.0 * kStep);
      }
      ASSERT_NEAR(found.divergences[at], divergence, 1e-5) << i;
    }
  });
}

TEST_P(FlowField, AtAPlaceDoesNotDependOnTheOthers) {
  for (const Index features : kFeatures) {
    const auto network = random_network(features, {.layers = {33, 70}}, 42, 1.5);
    VelocityField field(network, kPlaces);
    const Batch places = normal_batch(kPlaces, features, 55);
    const auto times = random_times(kPlaces, 56);
    const auto all = evaluate(field, places, times);
    for (Index first = 0; first < kPlaces; ++first) {
      for (Index count = 1; first + count <= kPlaces; count += count < 6 ? 1 : 5) {
        const auto some = evaluate(field, places, times, first, count);
        ASSERT_TRUE(std::equal(some.velocities.begin(), some.velocities.end(),
                               all.velocities.begin() + first * features))
            << features << " features: " << count << " from " << first;
        ASSERT_TRUE(std::equal(some.divergences.begin(), some.divergences.end(),
                               all.divergences.begin() + first))
            << features << " features: " << count << " from " << first;
      }
    }
  }
}

TEST_P(FlowField, DoesNotDependOnHowManyPlacesThereIsMemoryFor) {
  const auto network = random_network(2, {.layers = {33, 18, 20}}, 43, 1.5);
  const Batch places = normal_batch(9, 2, 57);
  const auto times = random_times(9, 58);
  VelocityField exact(network, 9), roomy(network, 100);
  const auto a = evaluate(exact, places, times), b = evaluate(roomy, places, times);
  EXPECT_EQ(a.velocities, b.velocities);
  EXPECT_EQ(a.divergences, b.divergences);
}

TEST_P(FlowField, FollowsTheNetworkWhenRefreshed) {
  auto network = random_network(3, {.layers = {33, 18}}, 44);
  VelocityField field(network, kPlaces);
  const Batch places = normal_batch(kPlaces, 3, 59);
  const auto times = random_times(kPlaces, 60);
  const auto before = evaluate(field, places, times);
  for (float& value : network.parameters()) value *= -1.5F;
  field.refresh();
  const auto after = evaluate(field, places, times);
  VelocityField fresh(network, kPlaces);
  const auto expected = evaluate(fresh, places, times);
  EXPECT_NE(after.divergences, before.divergences);
  EXPECT_EQ(after.velocities, expected.velocities);
  EXPECT_EQ(after.divergences, expected.divergences);
}

// Where arithmetic is exact, so is the field.
TEST_P(FlowField, OfALinearNetworkIsLinear) {
  const flow_cases::LinearFlow linear{.alpha = {0.5, -0.75}, .push = {0.25, 2.0}};
  VelocityNetwork network(2, flow_cases::LinearFlow::network());
  network.from_compact(linear.parameters(), network.parameters());
  VelocityField field(network, 100);
  Batch places(81, 2);
  std::vector<double> times;
  for (Index i = 0; i < 81; ++i) {
    places(i, 0) = static_cast<double>(i % 9) - 4.0;
    places(i, 1) = 0.25 * std::floor(static_cast<double>(i) / 9.0) - 1.0;
    times.push_back(i % 2 == 0 ? 0.0 : 1.0);  // whose cosines are 1 and -1
  }
  const auto found = evaluate(field, places, times);
  for (Index i = 0; i < 81; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::complex<double> x(places(i, 0), places(i, 1));
    const auto v = linear.alpha * x + linear.push * (i % 2 == 0 ? 1.0 : -1.0);
    EXPECT_EQ(found.velocities[2 * at], v.real());
    EXPECT_EQ(found.velocities[2 * at + 1], v.imag());
    EXPECT_EQ(found.divergences[at], linear.divergence());
  }
}

// An overflow must not come out as a number, however deep inside it happens. Its neighbours are
// not its victims.
TEST_P(FlowField, IsNoNumberWhereTheNetworkOverflows) {
  for (const auto activation : {Activation::elu, Activation::silu}) {
    for (const auto& layers : {std::vector<Index>{20}, {20, 18}, {20, 18, 17}}) {
      const auto network = random_network(2, {.layers = layers, .activation = activation}, 45);
      VelocityField field(network, 8);
      Batch places = normal_batch(8, 2, 61);
      const auto times = random_times(8, 62);
      const auto before = evaluate(field, places, times);
      for (const double value : {1e39, -1e39, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}) {
        places(3, 0) = value;
        const auto found = evaluate(field, places, times);
        EXPECT_FALSE(std::isfinite(found.velocities[6]) && std::isfinite(found.velocities[7]) &&
                     std::isfinite(found.divergences[3]))
            << rarefy::name_of(activation) << ", " << layers.size()
            << " hidden layers, x = " << value << ": v = " << found.velocities[6] << ", "
            << found.velocities[7] << ", divergence " << found.divergences[3];
        for (std::size_t i = 0; i < 8; ++i) {
          if (i == 3) continue;
          EXPECT_EQ(found.velocities[2 * i], before.velocities[2 * i]);
          EXPECT_EQ(found.divergences[i], before.divergences[i]);
        }
      }
    }
  }
}
