// What a flow learns, held against densities that are known.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "density/flow_cases.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/flow.hpp"

namespace {

using flow_cases::grid_over;
using flow_cases::reservoir;
using flow_cases::scores_of;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureScaling;
using rarefy::FeatureSpace;
using rarefy::FlowDensity;
using rarefy::FlowOptions;
using rarefy::Index;
using rarefy::Workers;

/// A mixture, in equal parts, of round Gaussians in the plane; and the same in other units:
/// features are middle + unit * coordinates.
struct Known {
  struct Part {
    double x, y, width;
  };
  std::vector<Part> parts;
  std::array<double, 2> middle = {0.0, 0.0}, unit = {1.0, 1.0};

  [[nodiscard]] double log_density(std::span<const double> features) const {
    const double x = (features[0] - middle[0]) / unit[0];
    const double y = (features[1] - middle[1]) / unit[1];
    double sum = 0.0;
    for (const auto& part : parts) {
      const double u = (x - part.x) / part.width, v = (y - part.y) / part.width;
      sum += std::exp(-0.5 * (u * u + v * v)) / (part.width * part.width);
    }
    const auto count = static_cast<double>(parts.size());
    return std::log(sum / (2.0 * std::numbers::pi * count * unit[0] * unit[1]));
  }

  [[nodiscard]] Batch samples(Index rows, std::uint64_t seed) const {
    Batch batch = flow_cases::normal_batch(rows, 2, seed);
    rarefy::RandomStream random({.seed = seed, .index = 1});
    for (Index i = 0; i < rows; ++i) {
      const auto& part = parts[random.below(parts.size())];
      batch(i, 0) = middle[0] + unit[0] * (part.x + part.width * batch(i, 0));
      batch(i, 1) = middle[1] + unit[1] * (part.y + part.width * batch(i, 1));
    }
    return batch;
  }

  /// `reach` coordinates to all sides of the middle.
  [[nodiscard]] FeatureSpace box(double reach) const {
    return {{middle[0] - reach * unit[0], middle[1] - reach * unit[1]},
            {middle[0] + reach * unit[0], middle[1] + reach * unit[1]}};
  }
};

Known mixture() { return {{{-1.0, -0.8, 0.4}, {1.0, -0.6, 0.3}, {0.0, 1.0, 0.5}}}; }

// Curves of many narrow Gaussians: as wide as they are far apart, or wider, they are seamless.
Known two_moons() {
  Known known{.parts = {}, .middle = {5.0, -7.0}, .unit = {0.02, 3.0}};
  constexpr int kParts = 40;
  for (int k = 0; k < kParts; ++k) {
    const double angle = std::numbers::pi * (k + 0.5) / kParts;
    const double x = 1.2 * std::cos(angle), y = 1.2 * std::sin(angle);
    known.parts.push_back({x - 0.6, y - 0.3, 0.24});
    known.parts.push_back({0.6 - x, 0.3 - y, 0.24});
  }
  return known;
}

Known ring() {
  Known known{.parts = {}, .middle = {100.0, 0.5}, .unit = {150.0, 0.4}};
  constexpr int kParts = 60;
  for (int k = 0; k < kParts; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / kParts;
    known.parts.push_back({1.4 * std::cos(angle), 1.4 * std::sin(angle), 0.2});
  }
  return known;
}

FlowOptions learner(const FeatureSpace& space, FeatureScaling scaling, std::uint64_t seed) {
  FlowOptions options;
  options.space = space;
  options.scaling = scaling;
  options.network.layers = {64, 64};
  options.training.steps = 50;
  options.seed = seed;
  return options;
}

/// Trained long on `rows`, with a rate that falls: what remains is what the network can do.
std::unique_ptr<FlowDensity> trained(FlowOptions options, BatchView rows, Workers& workers,
                                     Index fits = 60) {
  std::unique_ptr<FlowDensity> flow;
  std::vector<float> parameters;
  for (const double rate : {1e-2, 3e-3, 1e-3}) {
    options.training.rate = rate;
    flow = std::make_unique<FlowDensity>(options, reservoir(2, rows.rows()));
    if (!parameters.empty()) flow->set_parameters(parameters);
    flow->observe({rows}, workers);
    for (Index fit = 1; fit < fits; ++fit) flow->observe({Batch(0, 2)}, workers);
    parameters = flow->parameters();
    fits = (fits + 1) / 2;
    ++options.seed;  // for other random numbers; the network comes from the last phase
  }
  return flow;
}

struct Comparison {
  double mass = 0.0;        // of the learned density
  double divergence = 0.0;  // Kullback and Leibler's, from the known density to the learned one
};

/// By the middle-point rule over a box that holds both but for 1e-6.
Comparison compare(const Known& known, FlowDensity& flow, const FeatureSpace& box, Index steps,
                   Workers& workers) {
  const Batch places = grid_over(box, steps);
  const auto scores = scores_of(flow, places, workers);
  const double piece = box.width(0) * box.width(1) / static_cast<double>(steps * steps);
  Comparison result;
  for (Index i = 0; i < places.rows(); ++i) {
    const double learned = scores[static_cast<std::size_t>(i)];
    const double exact = known.log_density(places.row(i));
    result.mass += std::exp(learned) * piece;
    if (exact > -500.0) result.divergence += std::exp(exact) * (exact - learned) * piece;
  }
  return result;
}

Comparison learn(const Known& known, FeatureScaling scaling, std::uint64_t seed) {
  Workers workers(2);
  const auto flow =
      trained(learner(known.box(1.0), scaling, seed), known.samples(20'000, seed), workers);
  return compare(known, *flow, known.box(4.0), 90, workers);
}

}  // namespace

// Bounds are the worst of six seeds with a margin of 40 % or more: that was 0.041 for the mixture,
// 0.098 for the moons and 0.050 for the ring. For scale: the Gaussian of the right mean and
// covariance is 0.62, 0.32 and 0.88 away.
TEST(SlowFlowLearning, FindsAMixture) {
  const auto found = learn(mixture(), FeatureScaling::none, 1);
  EXPECT_NEAR(found.mass, 1.0, 1e-3);
  EXPECT_LT(found.divergence, 0.06);
}

TEST(SlowFlowLearning, FindsTwoMoons) {
  const auto found = learn(two_moons(), FeatureScaling::buffer, 1);
  EXPECT_NEAR(found.mass, 1.0, 1e-3);
  EXPECT_LT(found.divergence, 0.14);
}

TEST(SlowFlowLearning, FindsARing) {
  const auto found = learn(ring(), FeatureScaling::bounds, 1);
  EXPECT_NEAR(found.mass, 1.0, 1e-3);
  EXPECT_LT(found.divergence, 0.08);
}

// Two points, again and again: what is learned from them is the Gaussian of the smoothing.
TEST(SlowFlowLearning, SmoothingConvolvesWithAGaussian) {
  const Known convolved{
      .parts = {{-1.0, 0.5, 0.3}, {1.0, -0.5, 0.3}}, .middle = {100.0, 0.5}, .unit = {150.0, 0.4}};
  Known points = convolved;
  for (auto& part : points.parts) part.width = 0.0;
  Workers workers(2);
  const auto divergence_with = [&](double smoothing) {
    FlowOptions options = learner(convolved.box(1.0), FeatureScaling::bounds, 1);
    options.training.smoothing = smoothing;
    const auto flow = trained(options, points.samples(500, 1), workers, 40);
    return compare(convolved, *flow, convolved.box(3.5), 70, workers).divergence;
  };
  // Five seeds gave 0.018 at the most; a width of 0.25 gave 0.070 at the least.
  EXPECT_LT(divergence_with(0.3), 0.03);
  EXPECT_GT(divergence_with(0.25), 0.05);
  EXPECT_GT(divergence_with(1e-4), 10.0);
}

// One feature in a thousand that has flown away. Five seeds gave 0.064 at the most.
TEST(SlowFlowLearning, StrayFeaturesDoNotSpoilIt) {
  const Known known = mixture();
  Batch rows = known.samples(20'000, 1);
  for (Index i = 0; i < rows.rows(); i += 1000)
    rows(i, i / 1000 % 2) = i % 3000 == 0 ? 1e300 : -1e300;
  Workers workers(2);
  for (const auto scaling : {FeatureScaling::bounds, FeatureScaling::buffer}) {
    const auto flow = trained(learner(known.box(1.0), scaling, 1), rows, workers);
    EXPECT_EQ(flow->rollbacks(), 0);
    EXPECT_LT(compare(known, *flow, known.box(4.0), 90, workers).divergence, 0.1)
        << name_of(scaling);
  }
}
