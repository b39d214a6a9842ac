#include "density/flow/flow_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "density/flow_cases.hpp"
#include "rarefy/core/error.hpp"

namespace {

using rarefy::FlowNetworkOptions;
using rarefy::Index;
using rarefy::VelocityNetwork;

std::vector<float> compact(const VelocityNetwork& network) {
  std::vector<float> values(static_cast<std::size_t>(network.compact_size()), -9.0F);
  network.to_compact(network.parameters(), values);
  return values;
}

/// Numbers 1, 2, 3, ... in the places of the parameters.
VelocityNetwork counted(Index features, const FlowNetworkOptions& options) {
  VelocityNetwork network(features, options);
  std::vector<float> values(static_cast<std::size_t>(network.compact_size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  network.from_compact(values, network.parameters());
  return network;
}

}  // namespace

TEST(FlowNetwork, HasALayerForEachAskedForAndALastOneOfTheFeatures) {
  const VelocityNetwork network(3, {.layers = {20, 16, 33}, .frequencies = 5});
  const auto layers = network.layers();
  ASSERT_EQ(layers.size(), 4U);
  const std::vector<Index> widths = {3 + 2 * 5, 20, 16, 33, 3};
  Index parameters = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    EXPECT_EQ(layers[l].inputs, widths[l]);
    EXPECT_EQ(layers[l].outputs, widths[l + 1]);
    EXPECT_GE(layers[l].padded_inputs, layers[l].inputs);
    EXPECT_GE(layers[l].padded_outputs, layers[l].outputs);
    // What vectors and products need.
    EXPECT_EQ(layers[l].padded_inputs % 16, 0);
    EXPECT_EQ(layers[l].padded_outputs % 16, 0);
    if (l > 0) {
      EXPECT_EQ(layers[l].padded_inputs, layers[l - 1].padded_outputs);
    }
    EXPECT_GE(network.widest(), layers[l].padded_inputs);
    EXPECT_GE(network.widest(), layers[l].padded_outputs);
    parameters += (widths[l] + 1) * widths[l + 1];
  }
  EXPECT_EQ(network.compact_size(), parameters);
}

TEST(FlowNetwork, NoTwoParametersShareAPlace) {
  const auto network = counted(2, {.layers = {5, 17}, .frequencies = 3});
  std::vector<float> present;
  for (const float value : network.parameters()) {
    if (value != 0.0F) present.push_back(value);
  }
  std::sort(present.begin(), present.end());
  ASSERT_EQ(static_cast<Index>(present.size()), network.compact_size());
  for (std::size_t i = 0; i < present.size(); ++i) {
    EXPECT_EQ(present[i], static_cast<float>(i + 1));
  }
}

TEST(FlowNetwork, TheOrderWithoutPaddingIsWeightsRowByRowThenBiases) {
  const auto network = counted(2, {.layers = {5, 17}, .frequencies = 3});
  float next = 1.0F;
  for (const auto& layer : network.layers()) {
    for (Index row = 0; row < layer.outputs; ++row) {
      for (Index column = 0; column < layer.inputs; ++column) {
        // In memory a matrix lies column by column.
        EXPECT_EQ(network.weights(layer)[column * layer.padded_outputs + row], next);
        next += 1.0F;
      }
    }
    for (Index row = 0; row < layer.outputs; ++row) {
      EXPECT_EQ(network.bias(layer)[row], next);
      next += 1.0F;
    }
  }
}

TEST(FlowNetwork, ComesBackFromTheOrderWithoutPadding) {
  VelocityNetwork network(2, {.layers = {5, 17}});
  network.initialise(3);
  const auto values = compact(network);
  VelocityNetwork copy(2, {.layers = {5, 17}});
  copy.from_compact(values, copy.parameters());
  EXPECT_TRUE(std::equal(copy.parameters().begin(), copy.parameters().end(),
                         network.parameters().begin(), network.parameters().end()));
}

TEST(FlowNetwork, BeginsWithZerosInThePaddingAlone) {
  VelocityNetwork network(2, {.layers = {5, 17}});
  network.initialise(4);
  Index zeros = 0;
  for (const float value : network.parameters()) zeros += value == 0.0F ? 1 : 0;
  EXPECT_EQ(zeros, static_cast<Index>(network.parameters().size()) - network.compact_size());
}

// Uniform within +-r has mean 0 and mean square r^2 / 3. A layer's sums are held against four and
// a half standard errors, in six comparisons: a false alarm once in 25,000 seeds.
TEST(FlowNetwork, BeginsUniformWithinOneOverTheRootOfTheInputs) {
  VelocityNetwork network(2, {.layers = {64, 48}, .frequencies = 3});
  network.initialise(5);
  const auto values = compact(network);
  std::size_t first = 0;
  for (const auto& layer : network.layers()) {
    const double reach = 1.0 / std::sqrt(static_cast<double>(layer.inputs));
    const auto count = static_cast<std::size_t>((layer.inputs + 1) * layer.outputs);
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = first; i < first + count; ++i) {
      const double part = values[i] / reach;
      EXPECT_LE(std::abs(part), 1.0 + 1e-6);
      sum += part;
      squares += part * part;
    }
    const auto n = static_cast<double>(count);
    EXPECT_LE(std::abs(sum / n), 4.5 * std::sqrt(1.0 / 3.0 / n));
    // The variance of u^2 is 1/5 - 1/9.
    EXPECT_NEAR(squares / n, 1.0 / 3.0, 4.5 * std::sqrt((1.0 / 5.0 - 1.0 / 9.0) / n));
    first += count;
  }
  EXPECT_EQ(first, values.size());
  // No two alike: every parameter has a number of its own.
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), values.size() * 999 / 1000);
}

TEST(FlowNetwork, BeginsTheSameForTheSameSeedAndOtherwiseForAnother) {
  VelocityNetwork a(2, {.layers = {5, 17}}), b(2, {.layers = {5, 17}});
  a.initialise(6);
  b.initialise(6);
  EXPECT_EQ(compact(a), compact(b));
  b.initialise(7);
  EXPECT_NE(compact(a), compact(b));
}

TEST(FlowNetwork, SeesThePlaceAndWavesOfTheTime) {
  const VelocityNetwork network(2, {.layers = {5}, .frequencies = 3});
  const std::vector<double> place = {0.25, -7.0};
  for (const double time : {0.0, 0.2, 0.5, 1.0}) {
    std::vector<float> column(16, 77.0F);
    network.write_input(place.data(), time, column.data());
    EXPECT_EQ(column[0], 0.25F);
    EXPECT_EQ(column[1], -7.0F);
    for (std::size_t k = 1; k <= 3; ++k) {
      const double angle = static_cast<double>(k) * std::numbers::pi * time;
      EXPECT_NEAR(column[1 + k], std::cos(angle), 1e-7);
      EXPECT_NEAR(column[4 + k], std::sin(angle), 1e-7);
    }
    for (std::size_t i = 8; i < 16; ++i) EXPECT_EQ(column[i], 77.0F);  // padding is not touched
  }
}

TEST(FlowNetwork, RefusesLayersThatCannotBe) {
  for (const auto& layers : {std::vector<Index>{}, {0}, {16, 0}, {-3}, {16, -1, 16}}) {
    try {
      const VelocityNetwork network(2, {.layers = layers});
      ADD_FAILURE() << "taken";
    } catch (const rarefy::Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
    }
  }
  EXPECT_THROW(VelocityNetwork(0, {}), rarefy::Error);
  EXPECT_THROW(VelocityNetwork(2, {.frequencies = 0}), rarefy::Error);
  EXPECT_NO_THROW(VelocityNetwork(1, {.layers = {1}, .frequencies = 1}));
  EXPECT_THROW(VelocityNetwork(2, {.activation = rarefy::Activation::relu}), rarefy::Error)
      << "a flow must be smooth";
}
