#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/workers.hpp"
#include "support/random_batches.hpp"

namespace rarefy::compat {
namespace {

// What candidates score, and the logarithms of their densities.
struct Scored {
  std::vector<double> scores, logarithms;
};
Scored scored(Index features) {
  FlowOptions options;
  const auto dims = static_cast<std::size_t>(features);
  options.space = {std::vector<double>(dims, -3.0), std::vector<double>(dims, 3.0)};
  options.network.layers = {16};
  options.training.steps = 30;
  options.seed = 5;
  PublishedFlow flow(options, std::make_unique<PublishedBuffer>(PublishedBufferOptions{
                                  .feature_dim = features, .capacity = 100, .seed = 5}));
  Workers workers(1);
  flow.observe({uniform_batch(100, features, -2, 2, 1)}, workers);
  const Batch queries = uniform_batch(20, features, -3, 3, 2);
  Scored result{std::vector<double>(20), std::vector<double>(20)};
  flow.score({queries}, result.scores, workers);
  flow.log_density(queries, result.logarithms, workers);
  return result;
}

TEST(PublishedFlow, ScoresAreDensities) {
  for (const Index features : {1, 2}) {
    const auto [scores, logarithms] = scored(features);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_DOUBLE_EQ(scores[i], std::exp(logarithms[i]));
    }
    EXPECT_NE(scores[0], scores[1]);
  }
}

// Features from -3 to 3 become coordinates from -1 to 1: a density 3 times as large for each.
TEST(PublishedFlow, ScoresOfManyFeaturesAreDensitiesOfCoordinates) {
  const auto [scores, logarithms] = scored(4);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_NEAR(scores[i], 81.0 * std::exp(logarithms[i]), 1e-12 * scores[i]);
  }
  EXPECT_NE(scores[0], scores[1]);
}

}  // namespace
}  // namespace rarefy::compat
