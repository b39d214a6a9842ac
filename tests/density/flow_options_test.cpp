#include "rarefy/density/flow_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "density/flow_cases.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/density/flow.hpp"

namespace {

using flow_cases::small_flow;
using rarefy::ErrorKind;
using rarefy::FlowDensity;
using rarefy::FlowOptions;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// An error that names the thing and the value.
void expect_refused(const FlowOptions& options, const std::string& thing,
                    const std::string& value = "") {
  try {
    const FlowDensity flow(options, flow_cases::reservoir(2));
    ADD_FAILURE() << thing << " of " << value << " was taken";
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    EXPECT_THAT(error.what(), HasSubstr(thing));
    EXPECT_THAT(error.what(), HasSubstr(value));
    EXPECT_THAT(error.what(), HasSubstr("expected"));
  }
}

template <typename Change>
FlowOptions with(Change change) {
  FlowOptions options = small_flow();
  change(options);
  return options;
}

}  // namespace

TEST(FlowOptions, ABufferOfOtherFeaturesIsRefused) {
  const FlowOptions options = small_flow();
  EXPECT_THROW(FlowDensity(options, flow_cases::reservoir(options.space.dim() + 1)), rarefy::Error);
}

TEST(FlowOptions, ThatCannotBeAreRefused) {
  for (const rarefy::Index value : {0, -1}) {
    const auto text = std::to_string(value);
    expect_refused(with([=](auto& o) { o.training.steps = value; }), "training", text);
    expect_refused(with([=](auto& o) { o.training.batch = value; }), "training", text);
    expect_refused(with([=](auto& o) { o.integration.steps = value; }), "integration steps", text);
    expect_refused(with([=](auto& o) { o.network.frequencies = value; }), "frequencies", text);
    expect_refused(with([=](auto& o) { o.network.layers = {16, value}; }), "layers");
  }
  expect_refused(with([](auto& o) { o.network.layers.clear(); }), "layers");
  for (const double value : {0.0, -1e-3, kNan, kInfinity}) {
    expect_refused(with([=](auto& o) { o.training.rate = value; }), "learning rate");
  }
  for (const double value : {1.0, -0.1, 1.5, kNan, kInfinity}) {
    expect_refused(with([=](auto& o) { o.training.smoothing = value; }), "smoothing");
  }
  for (const double value : {0.0, -1e-3, kNan}) {
    expect_refused(with([=](auto& o) { o.integration.relative_error = value; }), "errors");
    expect_refused(with([=](auto& o) { o.integration.absolute_error = value; }), "errors");
  }
  expect_refused(with([](auto& o) { o.space.lower[0] = 1.0; }), "feature 0");
  expect_refused(with([](auto& o) { o.space.upper[1] = kNan; }), "feature 1");
  expect_refused(with([](auto& o) { o.space.upper[1] = kInfinity; }), "feature 1");
  expect_refused(with([](auto& o) { o.space = {}; }), "feature space");
}

TEST(FlowOptions, AtTheEdgeOfWhatCanBeAreTaken) {
  const FlowOptions options = with([](auto& o) {
    o.training = {.steps = 1, .batch = 1, .rate = 1e-12, .smoothing = 0.0};
    o.network = {.layers = {1}, .frequencies = 1};
    o.integration.steps = 1;
  });
  const auto flow = flow_cases::flow_over(options, flow_cases::normal_batch(5, 2, 151));
  EXPECT_TRUE(flow->informed());
  for (const double score : flow_cases::scores_of(*flow, flow_cases::normal_batch(9, 2, 152))) {
    EXPECT_TRUE(std::isfinite(score));
  }
}

TEST(FlowOptions, HaveNames) {
  using rarefy::Activation, rarefy::FeatureScaling, rarefy::Integrator;
  for (const auto value : {Activation::elu, Activation::silu, Activation::tanh, Activation::relu}) {
    EXPECT_EQ(rarefy::named<rarefy::Activation>(rarefy::name_of(value)), value);
  }
  for (const auto value : {FeatureScaling::bounds, FeatureScaling::buffer, FeatureScaling::none}) {
    EXPECT_EQ(rarefy::named<rarefy::FeatureScaling>(rarefy::name_of(value)), value);
  }
  for (const auto value : {Integrator::rk4, Integrator::dopri5}) {
    EXPECT_EQ(rarefy::named<rarefy::Integrator>(rarefy::name_of(value)), value);
  }
  EXPECT_EQ(rarefy::name_of(Activation::silu), "silu");
  EXPECT_EQ(rarefy::name_of(FeatureScaling::bounds), "bounds");
  EXPECT_EQ(rarefy::name_of(Integrator::dopri5), "dopri5");
}

TEST(FlowOptions, WithUnknownNamesAreRefused) {
  const auto expect_unknown = [](auto find, const std::string& given) {
    try {
      (void)find(given);
      ADD_FAILURE() << given << " was taken";
    } catch (const rarefy::Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::parameter);
      EXPECT_THAT(error.what(), HasSubstr("'" + given + "'"));
    }
  };
  for (const std::string given : {"gelu", "", "ELU", "elu "}) {
    expect_unknown(rarefy::named<rarefy::Activation>, given);
    expect_unknown(rarefy::named<rarefy::FeatureScaling>, given);
    expect_unknown(rarefy::named<rarefy::Integrator>, given);
  }
}
