// What scores and training depend on, and what they must not depend on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "density/flow_cases.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/flow.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using flow_cases::flow_over;
using flow_cases::normal_batch;
using flow_cases::reservoir;
using flow_cases::scores_of;
using flow_cases::small_flow;
using rarefy::Activation;
using rarefy::Batch;
using rarefy::FlowDensity;
using rarefy::FlowOptions;
using rarefy::Index;
using rarefy::Integrator;
using rarefy::Workers;

class FlowScores : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, FlowScores, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

TEST_P(FlowScores, AreAllEqualUntilSomethingWasSeen) {
  FlowDensity flow(small_flow(), reservoir(2));
  const Batch queries = normal_batch(50, 2, 131);
  const auto expect_uninformed = [&] {
    EXPECT_FALSE(flow.informed());
    EXPECT_EQ(scores_of(flow, queries), std::vector<double>(50, 0.0));
    EXPECT_EQ(flow.warning(), "");
  };
  expect_uninformed();
  const auto before = flow.parameters();
  flow.observe({Batch(0, 2)});  // nobody was there
  expect_uninformed();
  EXPECT_EQ(flow.parameters(), before);
  flow.observe({normal_batch(1, 2, 132)});
  EXPECT_TRUE(flow.informed());
  EXPECT_NE(flow.parameters(), before);
  auto scores = scores_of(flow, queries);
  std::sort(scores.begin(), scores.end());
  EXPECT_EQ(std::adjacent_find(scores.begin(), scores.end()), scores.end());  // all differ
  EXPECT_EQ(flow.warning(), "");
  EXPECT_EQ(flow.rollbacks(), 0);
}

TEST_P(FlowScores, AndTrainingAreTheSameWithAnyNumberOfThreads) {
  for (const auto integrator : {Integrator::rk4, Integrator::dopri5}) {
    FlowOptions options = small_flow(3);
    options.network.layers = {90, 70};  // several blocks of weights
    options.training.batch = 150;       // and of samples
    options.integration.integrator = integrator;
    options.integration.steps = 2;
    const Batch queries = normal_batch(110, 3, 133);
    std::vector<std::vector<float>> parameters;
    std::vector<std::vector<double>> scores;
    std::vector<double> losses;
    for (const Index threads : {1, 2, 3}) {
      Workers workers(threads);
      FlowDensity flow(options, reservoir(3, 100));
      for (std::uint64_t step = 0; step < 4; ++step) {
        flow.observe({normal_batch(60, 3, 134 + step, 0.5)}, workers);
      }
      parameters.push_back(flow.parameters());
      losses.push_back(flow.loss());
      scores.push_back(scores_of(flow, queries, workers));
      EXPECT_EQ(scores_of(flow, queries), scores.back()) << threads;  // nor those of the scorer
    }
    for (std::size_t i = 1; i < 3; ++i) {
      EXPECT_EQ(parameters[i], parameters[0]) << i + 1 << " threads";
      EXPECT_EQ(losses[i], losses[0]) << i + 1 << " threads";
      EXPECT_EQ(scores[i], scores[0]) << i + 1 << " threads";
    }
  }
}

TEST_P(FlowScores, DoNotDependOnTheOthersOfTheBatch) {
  for (const auto integrator : {Integrator::rk4, Integrator::dopri5}) {
    for (const Index dims : {1, 2, 10, 25}) {
      FlowOptions options = small_flow(dims);
      options.integration.integrator = integrator;
      options.integration.steps = 3;
      const auto flow = flow_over(options, normal_batch(100, dims, 138, 0.5));
      const Batch queries = normal_batch(61, dims, 139);
      const auto scores = scores_of(*flow, queries);
      EXPECT_EQ(scores_of(*flow, queries), scores) << "scoring must change nothing";
      for (const Index piece : {1, 3, 7, 32}) {
        std::vector<double> pieces;
        for (Index first = 0; first < queries.rows(); first += piece) {
          const Index count = std::min(piece, queries.rows() - first);
          const auto part = scores_of(*flow, queries.view().rows(first, count));
          pieces.insert(pieces.end(), part.begin(), part.end());
        }
        EXPECT_EQ(pieces, scores) << rarefy::name_of(integrator) << ", " << dims
                                  << " features, in pieces of " << piece;
      }
      Batch reversed(61, dims);
      for (Index i = 0; i < 61; ++i) {
        std::copy(queries.row(i).begin(), queries.row(i).end(), reversed.row(60 - i).begin());
      }
      auto backwards = scores_of(*flow, reversed);
      std::reverse(backwards.begin(), backwards.end());
      EXPECT_EQ(backwards, scores) << rarefy::name_of(integrator) << ", " << dims << " features";
    }
  }
}

// What scoring keeps from call to call must not outlive the network it was made for.
TEST_P(FlowScores, FollowTheNetworkAsItLearns) {
  FlowDensity often(small_flow(), reservoir(2)), once(small_flow(), reservoir(2));
  const Batch queries = normal_batch(61, 2, 145);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const Batch rows = normal_batch(60, 2, 146 + step, 0.5);
    often.observe({rows});
    once.observe({rows});
    (void)scores_of(often, queries);
  }
  EXPECT_EQ(scores_of(often, queries), scores_of(once, queries));
  auto values = often.parameters();
  for (float& value : values) value *= 0.5F;
  often.set_parameters(values);
  FlowDensity fresh(small_flow(), reservoir(2));
  fresh.observe({normal_batch(60, 2, 146, 0.5)});
  fresh.set_parameters(values);
  EXPECT_EQ(scores_of(often, queries), scores_of(fresh, queries));
}

TEST_P(FlowScores, OfNobodyAreNone) {
  const auto flow = flow_over(small_flow(), normal_batch(100, 2, 140));
  EXPECT_TRUE(scores_of(*flow, Batch(0, 2)).empty());
}

TEST(FlowTraining, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const Batch rows = normal_batch(100, 2, 141, 0.5);
  FlowOptions options = small_flow();
  const auto parameters = flow_over(options, rows)->parameters();
  EXPECT_EQ(flow_over(options, rows)->parameters(), parameters);
  // From the same weights, for another seed means other samples, times and noise too.
  options.seed = 6;
  FlowDensity other(options, reservoir(2));
  FlowDensity same(small_flow(), reservoir(2));
  other.set_parameters(same.parameters());
  other.observe({rows});
  EXPECT_NE(other.parameters(), parameters);
}

// Iterations must not draw the same random numbers again, nor must the steps of one.
TEST(FlowTraining, DrawsAnewInEveryIteration) {
  FlowOptions options = small_flow();
  options.training.steps = 1;
  options.training.rate = 1e-30;  // the network stays as it is, and the loss shows the batch
  FlowDensity flow(options, reservoir(2));
  flow.observe({normal_batch(100, 2, 142, 0.5)});
  const double first = flow.loss();
  flow.observe({Batch(0, 2)});
  const double second = flow.loss();
  EXPECT_NE(first, second);
  options.training.steps = 2;
  FlowDensity two(options, reservoir(2));
  two.observe({normal_batch(100, 2, 142, 0.5)});
  EXPECT_NE(two.loss(), first);
}

TEST(FlowTraining, TakesAsManyStepsAsAskedFor) {
  const Batch rows = normal_batch(100, 2, 143, 0.5);
  FlowOptions options = small_flow();
  // Adam's first step moves every weight by the rate, whatever its gradient.
  options.training.steps = 1;
  options.training.rate = 0.25;
  FlowDensity before(options, reservoir(2));
  const auto untrained = before.parameters();
  const auto one = flow_over(options, rows)->parameters();
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(std::abs(one[i] - untrained[i]), 0.25, 1e-3) << i;
  }
  options.training.steps = 2;
  EXPECT_NE(flow_over(options, rows)->parameters(), one);
}

// The loss of a flow that knows nothing is the mean square of x1 - (1 - s) x0, and it gets better.
TEST(FlowTraining, MakesTheLossSmaller) {
  const Batch rows = normal_batch(500, 2, 144, 0.2);
  for (const auto activation : {Activation::elu, Activation::silu, Activation::tanh}) {
    FlowOptions options = small_flow();
    options.network.activation = activation;
    options.training = {.steps = 20, .batch = 130, .rate = 3e-3};
    FlowDensity flow(options, reservoir(2));
    flow.observe({rows});
    EXPECT_NEAR(flow.loss(), 1.04, 0.4) << rarefy::name_of(activation);
    for (int fit = 1; fit < 30; ++fit) flow.observe({Batch(0, 2)});
    // Of a Gaussian of width w the best is the mean of w^2 / (w^2 t^2 + (1 - t)^2), here 0.29.
    EXPECT_LT(flow.loss(), 0.6) << rarefy::name_of(activation);
    EXPECT_GT(flow.loss(), 0.2) << rarefy::name_of(activation);
  }
}
