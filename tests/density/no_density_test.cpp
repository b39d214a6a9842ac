#include "rarefy/density/no_density.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/random_batches.hpp"

namespace rarefy {
namespace {

TEST(NoDensity, NeverKnowsAnything) {
  NoDensity density(2);
  Workers workers(1);
  const Batch features = uniform_batch(5, 2, -1, 1, 1);
  const std::vector<double> objectives = {5, 4, 3, 2, 1};
  std::vector<double> scores(5, 7.0);
  EXPECT_EQ(density.feature_dim(), 2);
  EXPECT_FALSE(density.informed());
  density.observe({features, objectives}, workers);
  EXPECT_FALSE(density.informed());
  density.score({features, objectives}, scores, workers);
  EXPECT_EQ(scores, std::vector<double>(5, 0.0));
  EXPECT_EQ(density.accepts_below(), std::numeric_limits<double>::infinity());
  StateWriter out;
  density.save(out);
  EXPECT_TRUE(out.bytes().empty());
}

}  // namespace
}  // namespace rarefy
