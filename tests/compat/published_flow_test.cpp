#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/workers.hpp"
#include "support/random_batches.hpp"

namespace rarefy::compat {
namespace {

TEST(PublishedFlow, ScoresAreDensities) {
  FlowOptions options;
  options.space = {{-3, -3}, {3, 3}};
  options.network.layers = {16};
  options.training.steps = 30;
  options.seed = 5;
  PublishedFlow flow(options, std::make_unique<PublishedBuffer>(PublishedBufferOptions{
                                  .feature_dim = 2, .capacity = 100, .seed = 5}));
  Workers workers(1);
  const Batch seen = uniform_batch(100, 2, -2, 2, 1);
  flow.observe(seen, {}, workers);
  const Batch queries = uniform_batch(20, 2, -3, 3, 2);
  std::vector<double> scores(20), logarithms(20);
  flow.score(queries, {}, scores, workers);
  flow.log_density(queries, logarithms, workers);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_DOUBLE_EQ(scores[i], std::exp(logarithms[i]));
  }
  EXPECT_NE(scores[0], scores[1]);
}

}  // namespace
}  // namespace rarefy::compat
