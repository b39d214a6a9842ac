// What a flow's scores are: logarithms of a density, in the units of the features.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include "density/flow_cases.hpp"
#include "density/flow_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/flow.hpp"

namespace {

using flow_cases::flow_over;
using flow_cases::grid_over;
using flow_cases::LinearFlow;
using flow_cases::normal_batch;
using flow_cases::scores_of;
using flow_cases::small_flow;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureScaling;
using rarefy::FeatureSpace;
using rarefy::FlowDensity;
using rarefy::FlowOptions;
using rarefy::Index;
using rarefy::Integrator;

constexpr FeatureScaling kScalings[] = {FeatureScaling::bounds, FeatureScaling::buffer,
                                        FeatureScaling::none};

/// How features become coordinates, as flow_options.hpp has it.
struct Units {
  std::vector<double> centre, unit;

  Units(const FlowOptions& options, BatchView buffer) {
    for (Index d = 0; d < options.space.dim(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      double middle = 0.0, half = 1.0;
      if (options.scaling == FeatureScaling::bounds) {
        middle = 0.5 * (options.space.lower[at] + options.space.upper[at]);
        half = 0.5 * (options.space.upper[at] - options.space.lower[at]);
      } else if (options.scaling == FeatureScaling::buffer) {
        const auto count = static_cast<double>(buffer.rows());
        for (Index i = 0; i < buffer.rows(); ++i) middle += buffer(i, d) / count;
        double squares = 0.0;
        for (Index i = 0; i < buffer.rows(); ++i) squares += std::pow(buffer(i, d) - middle, 2);
        half = std::sqrt(squares / count);
      }
      centre.push_back(middle);
      unit.push_back(half);
    }
  }
  [[nodiscard]] std::vector<double> coordinates(std::span<const double> features) const {
    std::vector<double> result;
    for (std::size_t d = 0; d < unit.size(); ++d) {
      result.push_back((features[d] - centre[d]) / unit[d]);
    }
    return result;
  }
  [[nodiscard]] double log_volume() const {
    double sum = 0.0;
    for (const double u : unit) sum += std::log(u);
    return sum;
  }
};

/// Samples and queries that are in range for any scaling, in a box that asks for one.
const FeatureSpace kUnevenBox{{-100.0, 0.0}, {300.0, 1.0}};

FlowOptions uneven_flow(FeatureScaling scaling) {
  FlowOptions options = small_flow();
  options.space = kUnevenBox;
  options.scaling = scaling;
  return options;
}

Batch samples_for(FeatureScaling scaling, Index rows, std::uint64_t seed) {
  Batch batch = normal_batch(rows, 2, seed, 0.5);
  if (scaling == FeatureScaling::none) return batch;
  for (Index i = 0; i < rows; ++i) {
    batch(i, 0) = 100.0 + 200.0 * batch(i, 0);
    batch(i, 1) = 0.5 + 0.5 * batch(i, 1);
  }
  return batch;
}

}  // namespace

// A linear field carries the standard normal to another Gaussian, which is known.
TEST(FlowDensity, OfALinearFieldIsAGaussianInTheUnitsOfTheFeatures) {
  const LinearFlow linear{.alpha = {-0.75, 0.5}, .push = {0.5, -0.25}};
  for (const auto scaling : kScalings) {
    for (const auto integrator : {Integrator::rk4, Integrator::dopri5}) {
      FlowOptions options = uneven_flow(scaling);
      options.network = LinearFlow::network();
      options.integration = {
          .integrator = integrator, .steps = 40, .relative_error = 1e-6, .absolute_error = 1e-6};
      const auto flow = flow_over(options, samples_for(scaling, 300, 111));
      flow->set_parameters(linear.parameters());
      const Units units(options, flow->samples());
      const Batch queries = samples_for(scaling, 200, 112);
      const auto scores = scores_of(*flow, queries);
      for (Index i = 0; i < queries.rows(); ++i) {
        const auto y = units.coordinates(queries.row(i));
        const auto z = linear.back({y[0], y[1]});
        const double exact = flow_reference::log_standard_normal(std::vector{z.real(), z.imag()}) -
                             linear.divergence() - units.log_volume();
        ASSERT_NEAR(scores[static_cast<std::size_t>(i)], exact, 1e-4)
            << rarefy::name_of(scaling) << ", " << rarefy::name_of(integrator);
      }
    }
  }
}

TEST(FlowDensity, IsThatOfDoublePrecision) {
  for (const auto scaling : kScalings) {
    for (const Index dims : {1, 2, 3, 10}) {
      FlowOptions options = small_flow(dims);
      options.scaling = scaling;
      options.integration.steps = 6;
      const auto flow = flow_over(options, normal_batch(200, dims, 113, 0.5));
      for (int more = 0; more < 20; ++more) flow->observe({Batch(0, dims)});
      const auto values = flow->parameters();
      const flow_reference::Network reference(dims, options.network,
                                              std::vector<double>(values.begin(), values.end()));
      const Units units(options, flow->samples());
      const Batch queries = normal_batch(10, dims, 114, 0.7);
      const auto scores = scores_of(*flow, queries);
      for (Index i = 0; i < queries.rows(); ++i) {
        const double exact =
            flow_reference::log_density(reference, units.coordinates(queries.row(i)), 6) -
            units.log_volume();
        ASSERT_NEAR(scores[static_cast<std::size_t>(i)], exact, 5e-5)
            << rarefy::name_of(scaling) << ", " << dims << " features";
      }
    }
  }
}

// Powers of two change no bit of the coordinates: the same network is learned, and densities
// differ by the factor alone.
TEST(FlowDensity, InOtherUnitsDiffersByTheLogarithmOfTheFactor) {
  for (const auto scaling : {FeatureScaling::bounds, FeatureScaling::buffer}) {
    const FlowOptions options = uneven_flow(scaling);
    FlowOptions other = options;
    const auto convert = [](std::span<double> row) {
      row[0] *= 1.0 / 64.0;
      row[1] *= 1024.0;
    };
    convert(other.space.lower);
    convert(other.space.upper);
    Batch rows = samples_for(scaling, 300, 115), queries = samples_for(scaling, 100, 116);
    const auto flow = flow_over(options, rows);
    const auto scores = scores_of(*flow, queries);
    for (Index i = 0; i < rows.rows(); ++i) convert(rows.row(i));
    for (Index i = 0; i < queries.rows(); ++i) convert(queries.row(i));
    const auto converted = flow_over(other, rows);
    const auto converted_scores = scores_of(*converted, queries);
    EXPECT_EQ(converted->parameters(), flow->parameters()) << rarefy::name_of(scaling);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      ASSERT_NEAR(converted_scores[i], scores[i] - std::log(1024.0 / 64.0), 1e-12)
          << rarefy::name_of(scaling);
    }
  }
}

// Whatever the weights: the flow moves mass about, and makes none. The middle-point rule is right
// to far more than this for anything so smooth, and 1e-8 of the mass lies outside.
TEST(FlowDensity, IntegratesToOneOverThePlane) {
  for (std::size_t kind = 0; kind < 3; ++kind) {
    const auto activation = flow_reference::kActivations[kind];
    const auto scaling = kScalings[kind];
    FlowOptions options = uneven_flow(scaling);
    options.network.activation = activation;
    options.integration.steps = 20;
    const auto flow = flow_over(options, samples_for(scaling, 300, 117));
    auto values = flow->parameters();
    for (float& value : values) value *= 1.4F;  // to be far from the standard normal
    flow->set_parameters(values);
    const Units units(options, flow->samples());
    FeatureSpace box;
    for (std::size_t d = 0; d < 2; ++d) {
      box.lower.push_back(units.centre[d] - 7.0 * units.unit[d]);
      box.upper.push_back(units.centre[d] + 7.0 * units.unit[d]);
    }
    constexpr Index kSteps = 50;
    double mass = 0.0;
    for (const double score : scores_of(*flow, grid_over(box, kSteps))) {
      mass += std::exp(score) * box.width(0) * box.width(1) / (kSteps * kSteps);
    }
    EXPECT_NEAR(mass, 1.0, 1e-3) << rarefy::name_of(activation) << ", " << rarefy::name_of(scaling);
  }
}

TEST(FlowDensity, IntegratesToOneOverALine) {
  FlowOptions options = small_flow(1);
  options.space = {{10.0}, {14.0}};
  options.integration.steps = 20;
  Batch rows = normal_batch(300, 1, 118, 0.5);
  for (double& value : rows.values()) value += 12.0;
  const auto flow = flow_over(options, rows);
  constexpr Index kSteps = 400;
  Batch queries(kSteps, 1);
  const double step = 28.0 / kSteps;  // 7 coordinates to either side
  for (Index i = 0; i < kSteps; ++i) queries(i, 0) = -2.0 + (static_cast<double>(i) + 0.5) * step;
  double mass = 0.0;
  for (const double score : scores_of(*flow, queries)) mass += std::exp(score) * step;
  EXPECT_NEAR(mass, 1.0, 1e-3);
}

TEST(FlowDensity, IntegratorsAgree) {
  FlowOptions options = small_flow();
  options.network.activation = rarefy::Activation::silu;
  options.integration.steps = 50;
  const Batch rows = normal_batch(300, 2, 119, 0.5);
  const auto equal = flow_over(options, rows);
  options.integration = {
      .integrator = Integrator::dopri5, .relative_error = 1e-6, .absolute_error = 1e-6};
  const auto own = flow_over(options, rows);
  ASSERT_EQ(own->parameters(), equal->parameters());  // training does not integrate
  const Batch queries = normal_batch(300, 2, 120);
  const auto a = scores_of(*equal, queries), b = scores_of(*own, queries);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4);
}

TEST(FlowDensity, BeyondItsReachIsThatAtItsReach) {
  for (const auto scaling : {FeatureScaling::bounds, FeatureScaling::buffer}) {
    const FlowOptions options = uneven_flow(scaling);
    const auto flow = flow_over(options, samples_for(scaling, 300, 121));
    const Units units(options, flow->samples());
    const auto at = [&](double x, double y) {
      Batch query(1, 2);
      query(0, 0) = units.centre[0] + x * units.unit[0];
      query(0, 1) = units.centre[1] + y * units.unit[1];
      return scores_of(*flow, query)[0];
    };
    const double corner = at(8.5, -0.5);
    EXPECT_TRUE(std::isfinite(corner));
    EXPECT_EQ(at(9.0, -0.5), corner);
    EXPECT_EQ(at(1e300, -0.5), corner);
    EXPECT_NE(at(7.9, -0.5), corner);
    EXPECT_NE(at(-8.5, -0.5), corner);
    EXPECT_NE(at(8.5, -0.4), corner);
  }
}

TEST(FlowDensity, IsUnknownWhereItCannotBeComputed) {
  const FlowOptions options = uneven_flow(FeatureScaling::none);
  const auto flow = flow_over(options, samples_for(FeatureScaling::none, 300, 122));
  Batch queries = normal_batch(30, 2, 123);
  const auto before = scores_of(*flow, queries);
  for (const double value : {1e300, -1e300, 1e39}) {
    queries(17, 0) = value;
    const auto scores = scores_of(*flow, queries);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_EQ(scores[i], i == 17 ? FlowDensity::kUnknown : before[i]) << value;
    }
  }
}

TEST(FlowDensity, ScoresAreItsLogDensities) {
  const auto flow = flow_over(small_flow(), normal_batch(300, 2, 124, 0.5));
  const Batch queries = normal_batch(50, 2, 125);
  std::vector<double> values(50);
  rarefy::Workers workers(1);
  flow->log_density(queries, values, workers);
  EXPECT_EQ(values, scores_of(*flow, queries));
  EXPECT_EQ(flow->name(), "flow");
  EXPECT_EQ(flow->feature_dim(), 2);
  EXPECT_EQ(flow->samples().rows(), 300);
}

TEST(FlowDensity, TakesParametersOfItsOwnSizeOnly) {
  const auto flow = flow_over(small_flow(), normal_batch(300, 2, 126, 0.5));
  auto values = flow->parameters();
  for (float& value : values) value = -value;
  flow->set_parameters(values);
  EXPECT_EQ(flow->parameters(), values);
  for (const int change : {-1, 1}) {
    auto wrong = values;
    wrong.resize(values.size() + static_cast<std::size_t>(change));
    try {
      flow->set_parameters(wrong);
      ADD_FAILURE() << "taken";
    } catch (const rarefy::Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::data);
    }
  }
  EXPECT_EQ(flow->parameters(), values);
}
