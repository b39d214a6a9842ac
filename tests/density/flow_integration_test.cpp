#include "density/flow/flow_integration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "density/flow/velocity_field.hpp"
#include "density/flow_cases.hpp"
#include "density/flow_reference.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using flow_cases::LinearFlow;
using flow_cases::normal_batch;
using flow_cases::random_network;
using flow_reference::kActivations;
using rarefy::Activation;
using rarefy::Batch;
using rarefy::FlowIntegrationOptions;
using rarefy::Index;
using rarefy::Integrator;
using rarefy::VelocityField;
using rarefy::VelocityNetwork;

constexpr Index kPlaces = 27;
constexpr Index kFew = 7;  // for what takes its time

FlowIntegrationOptions rk4(Index steps) { return {.integrator = Integrator::rk4, .steps = steps}; }

FlowIntegrationOptions dopri5(double error) {
  return {.integrator = Integrator::dopri5, .relative_error = error, .absolute_error = error};
}

struct Arrivals {
  Batch places;
  std::vector<double> integrals;
};

Arrivals follow(VelocityField& field, const FlowIntegrationOptions& options, double from, double to,
                const Batch& places) {
  Arrivals arrivals{places, std::vector<double>(static_cast<std::size_t>(places.rows()), -9.0)};
  rarefy::integrate(field, options, from, to, arrivals.places, arrivals.integrals);
  return arrivals;
}

/// The farthest that places or integrals are apart.
double difference(const Arrivals& a, const Arrivals& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.places.values().size(); ++i) {
    most = std::max(most, std::abs(a.places.values()[i] - b.places.values()[i]));
  }
  for (std::size_t i = 0; i < a.integrals.size(); ++i) {
    most = std::max(most, std::abs(a.integrals[i] - b.integrals[i]));
  }
  return most;
}

/// What `method` makes of every place, in double precision.
template <typename Method>
Arrivals reference_of(const VelocityNetwork& network, const Batch& places, Method method) {
  const auto reference = flow_reference::network_of(network);
  Arrivals arrivals{places, {}};
  for (Index i = 0; i < places.rows(); ++i) {
    const auto arrival = method(reference, places.row(i));
    std::copy(arrival.place.begin(), arrival.place.end(), arrivals.places.row(i).begin());
    arrivals.integrals.push_back(arrival.divergence_integral);
  }
  return arrivals;
}

Arrivals reference_rk4(const VelocityNetwork& network, double from, double to, const Batch& places,
                       Index steps) {
  return reference_of(network, places, [=](const auto& reference, auto place) {
    return flow_reference::runge_kutta(reference, place, from, to, steps);
  });
}

Arrivals exact_of(const LinearFlow& linear, bool forward, const Batch& places) {
  Arrivals arrivals{places, {}};
  for (Index i = 0; i < places.rows(); ++i) {
    const std::complex<double> x(places(i, 0), places(i, 1));
    const auto end = forward ? linear.forward(x) : linear.back(x);
    arrivals.places(i, 0) = end.real();
    arrivals.places(i, 1) = end.imag();
    arrivals.integrals.push_back(forward ? linear.divergence() : -linear.divergence());
  }
  return arrivals;
}

VelocityNetwork network_of(const LinearFlow& linear) {
  VelocityNetwork network(2, LinearFlow::network());
  network.from_compact(linear.parameters(), network.parameters());
  return network;
}

/// A network that bends paths well: velocities and divergences of several units.
VelocityNetwork strong_network(Index features, Activation activation, std::uint64_t seed = 81) {
  return random_network(features, {.layers = {33, 20}, .activation = activation}, seed, 2.5);
}

// What two ways of integrating such a network may differ by, when both are fine. The slope of an
// ELU has a kink, and so has the divergence along a path wherever a unit changes sides: there a
// method of any order is of order 2.
double agreement(Activation activation) { return activation == Activation::elu ? 3e-3 : 5e-5; }

class FlowIntegration : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, FlowIntegration, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

TEST_P(FlowIntegration, ByRungeAndKuttaIsThatOfDoublePrecision) {
  struct Way {
    double from, to;
    Index steps;
  };
  for (const auto activation : kActivations) {
    for (const Index features : {1, 2, 3, 10}) {
      const auto network = strong_network(features, activation);
      VelocityField field(network, kFew);
      const Batch places = normal_batch(kFew, features, 91);
      for (const Way way : {Way{1.0, 0.0, 10}, {0.0, 1.0, 3}, {0.7, 0.2, 1}}) {
        EXPECT_LT(difference(follow(field, rk4(way.steps), way.from, way.to, places),
                             reference_rk4(network, way.from, way.to, places, way.steps)),
                  2e-5)
            << rarefy::name_of(activation) << ", " << features << " features, " << way.steps
            << " steps from " << way.from << " to " << way.to;
      }
    }
  }
}

// The flow is a map, and the integral of the divergence the logarithm of its determinant
// (Liouville). Difference quotients of the map know nothing of divergences.
TEST_P(FlowIntegration, OfTheDivergenceIsTheLogarithmOfTheDeterminant) {
  const auto network = strong_network(2, Activation::silu);
  const auto reference = flow_reference::network_of(network);
  VelocityField field(network, kFew);
  const Batch places = normal_batch(kFew, 2, 92);
  const auto equal = follow(field, rk4(40), 1.0, 0.0, places);
  const auto own = follow(field, dopri5(1e-6), 1.0, 0.0, places);
  for (Index i = 0; i < kFew; ++i) {
    constexpr double kStep = 1e-4;
    const auto end = [&](double dx, double dy) {
      const std::vector<double> start = {places(i, 0) + dx, places(i, 1) + dy};
      return flow_reference::runge_kutta(reference, start, 1.0, 0.0, 30).place;
    };
    const auto east = end(kStep, 0), west = end(-kStep, 0);
    const auto north = end(0, kStep), south = end(0, -kStep);
    const double determinant = ((east[0] - west[0]) * (north[1] - south[1]) -
                                (east[1] - west[1]) * (north[0] - south[0])) /
                               (4.0 * kStep * kStep);
    EXPECT_NEAR(equal.integrals[static_cast<std::size_t>(i)], std::log(determinant), 2e-5) << i;
    EXPECT_NEAR(own.integrals[static_cast<std::size_t>(i)], std::log(determinant), 5e-5) << i;
  }
}

TEST_P(FlowIntegration, OfALinearFieldIsItsExponential) {
  for (const LinearFlow linear : {LinearFlow{.alpha = {-0.5, 1.5}, .push = {0.0, 0.0}},
                                  LinearFlow{.alpha = {0.75, -0.25}, .push = {2.0, -1.0}}}) {
    const auto network = network_of(linear);
    VelocityField field(network, kPlaces);
    const Batch places = normal_batch(kPlaces, 2, 93);
    for (const bool forward : {true, false}) {
      const double from = forward ? 0.0 : 1.0;
      const auto exact = exact_of(linear, forward, places);
      EXPECT_LT(difference(follow(field, rk4(40), from, 1.0 - from, places), exact), 1e-5);
      EXPECT_LT(difference(follow(field, dopri5(1e-6), from, 1.0 - from, places), exact), 2e-5);
    }
  }
}

// Twice the steps, a sixteenth of the error; between two and eight steps rounding is far below.
TEST_P(FlowIntegration, ByRungeAndKuttaIsOfOrderFour) {
  const LinearFlow linear{.alpha = {0.5, 2.0}, .push = {1.0, 0.5}};
  const auto network = network_of(linear);
  VelocityField field(network, kPlaces);
  const Batch places = normal_batch(kPlaces, 2, 94);
  const auto error = [&](Index steps) {
    return difference(follow(field, rk4(steps), 1.0, 0.0, places), exact_of(linear, false, places));
  };
  EXPECT_NEAR(std::log2(error(2) / error(4)), 4.0, 0.5);
  EXPECT_NEAR(std::log2(error(4) / error(8)), 4.0, 0.5);
}

// With a loose tolerance errors are large, and they are the same errors: steps are chosen alike.
// (Not to the last digit, since where the estimated error is tiny, rounding is part of it.)
TEST_P(FlowIntegration, ByDormandAndPrinceIsThatOfDoublePrecision) {
  for (const auto activation : {Activation::silu, Activation::tanh}) {
    const auto network = strong_network(2, activation);
    VelocityField field(network, kFew);
    const Batch places = normal_batch(kFew, 2, 95);
    for (const double from : {1.0, 0.0}) {
      constexpr double kTolerance = 1e-2;
      const auto exact = reference_rk4(network, from, 1.0 - from, places, 40);
      const auto same = reference_of(network, places, [=](const auto& reference, auto place) {
        return flow_reference::dormand_prince(reference, place, from, 1.0 - from, kTolerance);
      });
      const auto found = follow(field, dopri5(kTolerance), from, 1.0 - from, places);
      EXPECT_GT(difference(found, exact), 1e-2) << rarefy::name_of(activation) << " from " << from;
      EXPECT_LT(difference(found, same), 2e-3) << rarefy::name_of(activation) << " from " << from;
    }
  }
}

TEST_P(FlowIntegration, InStepsOfTheirOwnAgreesWithManyEqualSteps) {
  for (const auto activation : kActivations) {
    for (const Index features : {1, 2, 3, 10}) {
      const auto network = strong_network(features, activation);
      VelocityField field(network, kFew);
      const Batch places = normal_batch(kFew, features, 95);
      for (const double from : {1.0, 0.0}) {
        EXPECT_LT(difference(follow(field, dopri5(1e-6), from, 1.0 - from, places),
                             follow(field, rk4(100), from, 1.0 - from, places)),
                  agreement(activation))
            << rarefy::name_of(activation) << ", " << features << " features from " << from;
      }
    }
  }
}

TEST_P(FlowIntegration, ATighterToleranceGivesASmallerError) {
  for (const auto activation : {Activation::silu, Activation::tanh}) {
    const auto network = strong_network(2, activation);
    VelocityField field(network, kFew);
    const Batch places = normal_batch(kFew, 2, 96);
    const auto exact = reference_rk4(network, 1.0, 0.0, places, 80);
    const auto error_of = [&](const FlowIntegrationOptions& options) {
      return difference(follow(field, options, 1.0, 0.0, places), exact);
    };
    double last = std::numeric_limits<double>::infinity();
    for (const double tolerance : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
      const double error = error_of(dopri5(tolerance));
      EXPECT_LT(error, last) << tolerance;
      // It is that of a step: the flow spreads what earlier steps did wrong.
      EXPECT_LT(error, 100.0 * tolerance) << tolerance;
      last = error;
    }
    // Relative and absolute errors are two things: neither is forgotten.
    auto options = dopri5(1e-6);
    options.absolute_error = 1e-2;
    EXPECT_GT(error_of(options), 10.0 * last);
    options = dopri5(1e-6);
    options.relative_error = 1e-2;
    EXPECT_GT(error_of(options), 10.0 * last);
  }
}

TEST_P(FlowIntegration, ThereAndBackEndsWhereItBegan) {
  for (const auto activation : kActivations) {
    for (const Index features : {1, 2, 10}) {
      const auto network = strong_network(features, activation);
      VelocityField field(network, kFew);
      const Batch places = normal_batch(kFew, features, 97);
      for (const auto& options : {rk4(40), dopri5(1e-6)}) {
        for (const double from : {0.0, 1.0}) {
          const auto there = follow(field, options, from, 1.0 - from, places);
          auto back = follow(field, options, 1.0 - from, from, there.places);
          EXPECT_GT(difference(there, {places, there.integrals}), 0.1);  // it has been away
          for (std::size_t i = 0; i < back.integrals.size(); ++i) {
            back.integrals[i] += there.integrals[i];
          }
          EXPECT_LT(difference(back, {places, std::vector<double>(kFew, 0.0)}),
                    agreement(activation))
              << rarefy::name_of(activation) << ", " << features << " features, "
              << rarefy::name_of(options.integrator);
        }
      }
    }
  }
}

TEST_P(FlowIntegration, InTwoPartsIsThatOfTheWhole) {
  const auto network = strong_network(3, Activation::tanh);
  VelocityField field(network, kPlaces);
  const Batch places = normal_batch(kPlaces, 3, 98);
  for (const auto& options : {rk4(40), dopri5(1e-6)}) {
    const auto half = follow(field, options, 1.0, 0.35, places);
    auto rest = follow(field, options, 0.35, 0.0, half.places);
    for (std::size_t i = 0; i < rest.integrals.size(); ++i) rest.integrals[i] += half.integrals[i];
    EXPECT_LT(difference(rest, follow(field, options, 1.0, 0.0, places)), 2e-5)
        << rarefy::name_of(options.integrator);
  }
}

TEST_P(FlowIntegration, OverNoTimeGoesNowhere) {
  const auto network = strong_network(2, Activation::elu);
  VelocityField field(network, kPlaces);
  const Batch places = normal_batch(kPlaces, 2, 99);
  for (const auto& options : {rk4(3), dopri5(1e-3)}) {
    const auto found = follow(field, options, 0.4, 0.4, places);
    EXPECT_EQ(difference(found, {places, std::vector<double>(kPlaces, 0.0)}), 0.0);
    (void)follow(field, options, 1.0, 0.0, Batch(0, 2));  // nobody goes
  }
}

// Each takes steps of its own, and those that have arrived leave: still nobody sees the others.
TEST_P(FlowIntegration, OfAPlaceDoesNotDependOnTheOthers) {
  for (const Index features : {1, 2, 10}) {
    const auto network = strong_network(features, Activation::elu);
    VelocityField field(network, kPlaces);
    const Batch places = normal_batch(kPlaces, features, 100, 2.0);
    for (const auto& options : {rk4(5), dopri5(1e-4)}) {
      const auto all = follow(field, options, 1.0, 0.0, places);
      for (const Index count : {1, 2, 3, 5, 12}) {
        for (Index first = 0; first + count <= kPlaces; first += count) {
          Batch some(count, features);
          std::copy_n(places.row(first).data(), count * features, some.data());
          const auto found = follow(field, options, 1.0, 0.0, some);
          ASSERT_TRUE(std::equal(found.places.values().begin(), found.places.values().end(),
                                 all.places.row(first).data()))
              << rarefy::name_of(options.integrator) << ": " << count << " from " << first;
          ASSERT_TRUE(std::equal(found.integrals.begin(), found.integrals.end(),
                                 all.integrals.begin() + first));
        }
      }
    }
  }
}

TEST_P(FlowIntegration, EndsNowhereWhereTheNetworkOverflows) {
  for (const auto activation : {Activation::elu, Activation::silu}) {
    const auto network = strong_network(2, activation);
    VelocityField field(network, kPlaces);
    const Batch places = normal_batch(kPlaces, 2, 101);
    for (const auto& options : {rk4(5), dopri5(1e-3)}) {
      const auto before = follow(field, options, 1.0, 0.0, places);
      for (const double value : {1e39, -1e39, 1e300, std::nan("")}) {
        Batch strayed = places;
        strayed(11, 1) = value;
        const auto found = follow(field, options, 1.0, 0.0, strayed);
        EXPECT_FALSE(std::isfinite(found.places(11, 0)) && std::isfinite(found.places(11, 1)) &&
                     std::isfinite(found.integrals[11]))
            << rarefy::name_of(activation) << ", " << rarefy::name_of(options.integrator) << ", "
            << value << ": " << found.places(11, 0) << ", " << found.places(11, 1);
        for (Index i = 0; i < kPlaces; ++i) {
          if (i == 11) continue;
          ASSERT_EQ(found.places(i, 0), before.places(i, 0));
          ASSERT_EQ(found.places(i, 1), before.places(i, 1));
        }
      }
    }
  }
}

// Numbers everywhere at the start, and on the way there are none any more.
TEST_P(FlowIntegration, EndsNowhereWhereThePathDoes) {
  for (const auto activation : {Activation::elu, Activation::silu}) {
    const auto network =
        random_network(2, {.layers = {33, 20}, .activation = activation}, 82, 1e12);
    VelocityField field(network, kPlaces);
    for (const auto& options : {rk4(10), dopri5(1e-3)}) {
      const auto found = follow(field, options, 1.0, 0.0, normal_batch(kPlaces, 2, 102));
      for (Index i = 0; i < kPlaces; ++i) {
        EXPECT_FALSE(std::isfinite(found.places(i, 0)) && std::isfinite(found.places(i, 1)) &&
                     std::isfinite(found.integrals[static_cast<std::size_t>(i)]))
            << rarefy::name_of(activation) << ", " << rarefy::name_of(options.integrator) << ", "
            << found.places(i, 0);
      }
    }
  }
}
