#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/workers.hpp"
#include "support/random_batches.hpp"

namespace rarefy::compat {
namespace {

Batch features_of(Index rows, std::uint64_t seed) {
  Batch batch(rows, 2);
  fill_normals({.seed = seed, .purpose = Purpose::user}, batch.values());
  return batch;
}

TEST(PublishedNovelty, IsTheThresholdForEverybodyAtFirst) {
  Workers workers(1);
  const NoveltyOptions options = {
      .space = {{-3, -3}, {3, 3}}, .neighbours = 5, .threshold = 0.25, .count_batch = false};
  PublishedNovelty published(options);
  NoveltyDensity plain(options);
  EXPECT_TRUE(published.informed());
  EXPECT_FALSE(plain.informed());
  const auto first = features_of(40, 1);
  const std::vector<double> objectives(40, 1.0);
  std::vector<double> scores(40);
  published.score({first, objectives}, scores, workers);
  EXPECT_EQ(scores, std::vector<double>(40, -0.25)) << "flat: every emitter restarts";
  EXPECT_TRUE(scores[0] < published.accepts_below()) << "and all of it is accepted";
  published.observe({first, objectives}, workers);
  plain.observe({first, objectives}, workers);
  EXPECT_EQ(published.members(), 40);

  // From then on it is novelty.
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    const auto next = features_of(40, seed);
    std::vector<double> expected(40);
    published.score({next, objectives}, scores, workers);
    plain.score({next, objectives}, expected, workers);
    EXPECT_EQ(scores, expected);
    published.observe({next, objectives}, workers);
    plain.observe({next, objectives}, workers);
    EXPECT_EQ(published.members(), plain.members());
  }
}

}  // namespace
}  // namespace rarefy::compat
