// Training that turns non-finite is reported, taken back and survived.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "density/flow_cases.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/density/flow.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using flow_cases::normal_batch;
using flow_cases::reservoir;
using flow_cases::scores_of;
using flow_cases::small_flow;
using rarefy::Activation;
using rarefy::Batch;
using rarefy::FeatureScaling;
using rarefy::FlowDensity;
using rarefy::FlowOptions;
using testing::HasSubstr;

std::vector<std::byte> saved(const FlowDensity& flow) {
  rarefy::StateWriter out;
  flow.save(out);
  return out.bytes();
}

/// What optimizer and network are made of, as saved: everything from the number of Adam's steps
/// to the second moments.
std::vector<std::byte> training_state(const FlowDensity& flow) {
  const auto bytes = saved(flow);
  rarefy::StateWriter head, fields;
  head.integer("flow.fits", 0);
  head.integer("flow.rollbacks", 0);
  head.real("flow.rate", 0);
  head.real("flow.loss", 0);
  fields = head;
  fields.integer("flow.adam_steps", 0);
  for (const auto* name : {"flow.network", "flow.first_moments", "flow.second_moments"}) {
    fields.floats(name, flow.parameters());
  }
  return {bytes.begin() + static_cast<std::ptrdiff_t>(head.bytes().size()),
          bytes.begin() + static_cast<std::ptrdiff_t>(fields.bytes().size())};
}

void expect_usable_scores(FlowDensity& flow) {
  for (const double score : scores_of(flow, normal_batch(30, 2, 191))) {
    EXPECT_TRUE(std::isfinite(score)) << score;
  }
}

class FlowTrouble : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, FlowTrouble, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

TEST_P(FlowTrouble, WithALearningRateFarTooLargeIsTakenBack) {
  for (const auto activation : {Activation::elu, Activation::silu}) {
    FlowOptions options = small_flow();
    options.network.activation = activation;
    options.training.rate = 1e30;
    FlowDensity flow(options, reservoir(2));
    const auto parameters = flow.parameters();
    const auto state = training_state(flow);
    for (int fit = 1; fit <= 5; ++fit) {
      flow.observe({normal_batch(50, 2, 192, 0.5)});
      EXPECT_EQ(flow.parameters(), parameters) << fit;
      EXPECT_EQ(training_state(flow), state) << fit;  // the moments too
      EXPECT_EQ(flow.rollbacks(), fit);
      EXPECT_EQ(flow.rate(), 1e30 * std::pow(0.5, fit));
      EXPECT_THAT(flow.warning(), HasSubstr(std::to_string(fit) + " of " + std::to_string(fit)));
      expect_usable_scores(flow);
    }
  }
}

// The loss of one iteration, gone wrong, is no reason to forget that of the last.
TEST_P(FlowTrouble, OfFeaturesThatOverflowIsTakenBack) {
  FlowOptions options = small_flow();
  options.scaling = FeatureScaling::none;
  FlowDensity flow(options, reservoir(2, 0));
  flow.observe({normal_batch(50, 2, 193, 0.5)});
  ASSERT_EQ(flow.warning(), "");
  const auto state = training_state(flow);
  const double loss = flow.loss();
  Batch bad = normal_batch(50, 2, 194);
  for (double& value : bad.values()) value *= 1e300;
  flow.observe({bad});
  EXPECT_EQ(flow.rollbacks(), 1);
  EXPECT_EQ(training_state(flow), state);
  EXPECT_EQ(flow.loss(), loss);
  EXPECT_EQ(flow.rate(), 0.5 * options.training.rate);
  EXPECT_THAT(flow.warning(), HasSubstr("1 of 2"));
  EXPECT_THAT(flow.warning(), HasSubstr("0.0005"));
  EXPECT_EQ(flow.samples().rows(), 100);  // what was seen stays seen
  expect_usable_scores(flow);
  for (const double score : scores_of(flow, bad)) {
    EXPECT_EQ(score, FlowDensity::kUnknown);
  }
}

// The first step is fine, and a later one is not: none of them counts.
TEST_P(FlowTrouble, InTheLastOfManyStepsTakesBackAllOfThem) {
  FlowOptions options = small_flow();
  options.scaling = FeatureScaling::none;
  options.training.steps = 40;
  options.training.batch = 2;
  FlowDensity flow(options, reservoir(2, 0));
  Batch rows = normal_batch(40, 2, 195, 0.5);
  rows(17, 1) = 1e300;  // one of forty, so that some steps go by before it is drawn
  FlowOptions short_options = options;
  short_options.training.steps = 1;
  FlowDensity one_step(short_options, reservoir(2, 0));
  one_step.observe({rows});
  ASSERT_EQ(one_step.rollbacks(), 0);
  const auto before = training_state(flow);
  flow.observe({rows});
  EXPECT_EQ(flow.rollbacks(), 1);
  EXPECT_EQ(training_state(flow), before);
}

TEST_P(FlowTrouble, EndsWhenTheRateIsSmallEnough) {
  FlowOptions options = small_flow();
  options.training.rate = 1e30;
  FlowDensity flow(options, reservoir(2));
  flow.observe({normal_batch(50, 2, 196, 0.5)});
  ASSERT_EQ(flow.rollbacks(), 1);
  // A hundred iterations of trouble later, as the state has it.
  const auto bytes = saved(flow);
  rarefy::StateReader in(bytes);
  rarefy::StateWriter head;
  head.integer("flow.fits", in.integer("flow.fits") + 100);
  head.integer("flow.rollbacks", in.integer("flow.rollbacks") + 100);
  head.real("flow.rate", 1e-3);
  (void)in.real("flow.rate");
  head.real("flow.loss", in.real("flow.loss"));
  auto later = head.bytes();
  later.insert(later.end(), bytes.begin() + static_cast<std::ptrdiff_t>(later.size()), bytes.end());
  rarefy::StateReader later_in(later);
  flow.load(later_in);
  const auto parameters = flow.parameters();
  flow.observe({Batch(0, 2)});
  EXPECT_NE(flow.parameters(), parameters);
  const double first = flow.loss();
  for (int fit = 0; fit < 40; ++fit) flow.observe({Batch(0, 2)});
  EXPECT_LT(flow.loss(), first);
  EXPECT_EQ(flow.rollbacks(), 101);
  EXPECT_EQ(flow.rate(), 1e-3);
  EXPECT_THAT(flow.warning(), HasSubstr("101 of 142"));  // is not forgotten
  expect_usable_scores(flow);
}

TEST_P(FlowTrouble, DoesNotComeOfStrayFeaturesInABox) {
  for (const auto scaling : {FeatureScaling::bounds, FeatureScaling::buffer}) {
    FlowOptions options = small_flow();
    options.scaling = scaling;
    FlowDensity flow(options, reservoir(2, 0));
    Batch rows = normal_batch(50, 2, 197, 0.5);
    rows(3, 0) = 1e300;
    rows(4, 1) = -1.7e308;
    for (int fit = 0; fit < 5; ++fit) flow.observe({rows});
    EXPECT_EQ(flow.warning(), "") << rarefy::name_of(scaling);
    EXPECT_EQ(flow.rollbacks(), 0);
    expect_usable_scores(flow);
    for (const double score : scores_of(flow, rows)) {
      EXPECT_TRUE(std::isfinite(score));
      EXPECT_LT(score, FlowDensity::kUnknown);
    }
  }
}

// Nothing has been learned when the first training was taken back.
TEST_P(FlowTrouble, InTheVeryFirstIterationLeavesTheFlowUninformed) {
  FlowOptions options = small_flow();
  options.training.rate = 1e30;
  FlowDensity flow(options, reservoir(2));
  flow.observe({normal_batch(50, 2, 198, 0.5)});
  ASSERT_EQ(flow.rollbacks(), 1);
  EXPECT_FALSE(flow.informed());
}
