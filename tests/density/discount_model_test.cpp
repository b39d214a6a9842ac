// The discount model: its targets against the rule as it is written, what it learns where, and
// what it refuses.
#include "rarefy/density/discount_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "density/network/network.hpp"
#include "density/network/network_regression.hpp"
#include "density/network/network_training.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::DiscountModel;
using rarefy::DiscountModelOptions;
using rarefy::Grid;
using rarefy::Index;
using rarefy::RandomStream;
using rarefy::Workers;
using Values = std::vector<double>;

const rarefy::FeatureSpace kBox = {{-10, 0}, {10, 4}};

std::shared_ptr<const Grid> cells(Index intervals = 10) {
  return std::make_shared<Grid>(kBox, std::vector<Index>{intervals, intervals});
}

DiscountModelOptions small_model() {
  DiscountModelOptions options;
  options.minimum = -3.0;
  options.range = 5.0;
  options.network.layers = {21, 18};
  options.training.empty = 20;
  options.training.initial = 60;
  options.seed = 4;
  return options;
}

Values scores_of(DiscountModel& model, BatchView features, const Values& objectives) {
  Workers workers(1);
  Values scores(objectives.size());
  model.score({.features = features, .objectives = objectives}, scores, workers);
  return scores;
}

Values discounts_of(DiscountModel& model, BatchView features) {
  Workers workers(1);
  Values out(static_cast<std::size_t>(features.rows()));
  model.discounts(features, out, workers);
  return out;
}

struct Rows {
  Batch features;
  Values objectives;
};

/// Features spread over a part of the box: `low` to `high` of its width.
Rows random_rows(Index count, std::uint64_t seed, double low = 0.0, double high = 1.0) {
  Rows rows{Batch(count, 2), Values(static_cast<std::size_t>(count))};
  RandomStream random({.seed = seed});
  for (Index i = 0; i < count; ++i) {
    for (Index d = 0; d < 2; ++d) {
      const double part = low + (high - low) * random.uniform();
      rows.features(i, d) = kBox.lower[static_cast<std::size_t>(d)] + part * kBox.width(d);
    }
    rows.objectives[static_cast<std::size_t>(i)] = -3.0 + 5.0 * random.uniform();
  }
  return rows;
}

// All that a model does, by the words of its header and with nothing of its code but the network:
// samples of candidates and of empty cells, epochs until the error is small enough.
class PlainModel {
 public:
  PlainModel(const DiscountModelOptions& options, const Grid& grid)
      : options_(options),
        grid_(grid),
        network_(2, options.network.layers, 1, options.network.activation),
        training_(network_, "plain", options.training.rate),
        regression_(network_, options.training.batch),
        filled_(static_cast<std::size_t>(grid.cells())) {
    network_.initialise(options.seed);
    fit({}, options.training.initial);
  }

  // Candidates with their discounts as they were before.
  void observe(const Rows& rows, const Values& discounts) {
    std::vector<Values> samples;
    for (Index i = 0; i < rows.features.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double f = rows.objectives[at], d = discounts[at], alpha = options_.learning_rate;
      const double target = f > d ? (1.0 - alpha) * d + alpha * f : d;
      samples.push_back(sample(rows.features.row(i), target));
      Index cell = 0;
      grid_.assign(rows.features.view().rows(i, 1), std::span(&cell, 1));
      filled_[static_cast<std::size_t>(cell)] = true;
    }
    fit(samples, options_.training.empty);
  }

  [[nodiscard]] std::vector<float> parameters() const {
    std::vector<float> values(static_cast<std::size_t>(network_.compact_size()));
    network_.to_compact(network_.parameters(), values);
    return values;
  }

 private:
  [[nodiscard]] Values sample(std::span<const double> features, double discount) const {
    Values row;
    for (std::size_t d = 0; d < 2; ++d) {
      const double part = (features[d] - kBox.lower[d]) / (kBox.upper[d] - kBox.lower[d]);
      row.push_back(2.0 * part - 1.0);
    }
    row.push_back((discount - options_.minimum) / options_.range);
    return row;
  }

  void fit(std::vector<Values> rows, Index empty) {
    // Which of the empty cells is a matter of the random numbers: here all of them, so a test must
    // ask for all.
    for (Index cell = 0; cell < grid_.cells() && empty > 0; ++cell) {
      if (filled_[static_cast<std::size_t>(cell)]) continue;
      const auto along_x = static_cast<double>(cell / grid_.shape()[1]);
      const auto along_y = static_cast<double>(cell % grid_.shape()[1]);
      const Values centre = {
          kBox.lower[0] + kBox.width(0) * (along_x + 0.5) / static_cast<double>(grid_.shape()[0]),
          kBox.lower[1] + kBox.width(1) * (along_y + 0.5) / static_cast<double>(grid_.shape()[1])};
      rows.push_back(sample(centre, options_.minimum));
    }
    Batch samples(static_cast<Index>(rows.size()), 3);
    for (Index i = 0; i < samples.rows(); ++i) {
      std::copy_n(rows[static_cast<std::size_t>(i)].begin(), 3, samples.row(i).begin());
    }
    Workers workers(1);
    std::vector<Index> order(rows.size());
    for (Index epoch = 1; epoch <= options_.training.epochs; ++epoch) {
      RandomStream random({.seed = options_.seed,
                           .purpose = rarefy::Purpose::training,
                           .index = static_cast<std::uint32_t>(epoch),
                           .iteration = fits_});
      rarefy::random_permutation(random, order);
      const double loss = regression_.epoch(samples, order, training_, workers).value();
      if (loss <= options_.training.enough) break;
    }
    ++fits_;
  }

  DiscountModelOptions options_;
  const Grid& grid_;
  rarefy::Network network_;
  rarefy::NetworkTraining training_;
  rarefy::NetworkRegression regression_;
  std::vector<bool> filled_;
  std::uint64_t fits_ = 0;
};

TEST(DiscountModel, DoesWhatItsAuthorsWrite) {
  for (const double alpha : {0.0, 0.1, 1.0}) {
    for (const double enough : {0.0, 0.01}) {
      const auto grid = cells(5);
      auto options = small_model();
      options.learning_rate = alpha;
      options.training.enough = enough;
      options.training.empty = options.training.initial = 25;  // all there are
      DiscountModel model(options, grid);
      PlainModel plain(options, *grid);
      for (std::uint64_t step = 0; step < 6; ++step) {
        const auto rows = random_rows(40, step, 0.2, 0.7);
        const auto discounts = discounts_of(model, rows.features);
        model.observe({.features = rows.features, .objectives = rows.objectives});
        plain.observe(rows, discounts);
        const auto found = model.parameters(), expected = plain.parameters();
        for (std::size_t p = 0; p < found.size(); ++p) {
          ASSERT_NEAR(found[p], expected[p], 1e-4) << "step " << step << ", parameter " << p;
        }
      }
    }
  }
}

TEST(DiscountModel, ScoresAreDiscountsLessObjectives) {
  DiscountModel model(small_model(), cells());
  const auto rows = random_rows(101, 1);
  const auto discounts = discounts_of(model, rows.features);
  const auto scores = scores_of(model, rows.features, rows.objectives);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_EQ(scores[i], discounts[i] - rows.objectives[i]);
  }
  EXPECT_EQ(model.accepts_below(), 0.0);
  EXPECT_TRUE(model.informed());
}

TEST(DiscountModel, ScoresThatAreThereAreNotComputedAgain) {
  DiscountModel with(small_model(), cells()), without(small_model(), cells());
  for (std::uint64_t step = 0; step < 4; ++step) {
    const auto rows = random_rows(50, step);
    const auto scores = scores_of(with, rows.features, rows.objectives);
    with.observe({.features = rows.features, .objectives = rows.objectives, .scores = scores});
    without.observe({.features = rows.features, .objectives = rows.objectives});
    const auto a = with.parameters(), b = without.parameters();
    for (std::size_t p = 0; p < a.size(); ++p) ASSERT_NEAR(a[p], b[p], 1e-5);
  }
}

TEST(DiscountModel, BeginsAtTheMinimum) {
  auto options = small_model();
  options.training.enough = 1e-4;
  options.training.epochs = 200;
  options.training.initial = 100;
  DiscountModel model(options, cells());
  for (const double discount : discounts_of(model, random_rows(200, 2).features)) {
    EXPECT_NEAR(discount, -3.0, 0.05 * 5.0);
  }
  EXPECT_LE(model.loss(), 1e-4);
}

// Candidates keep coming to one half of the box, all with one objective. There the discount rises
// to it; in the other half, which stays empty, it remains near the minimum.
TEST(DiscountModel, RisesToTheObjectiveWhereCandidatesAreAndStaysLowElsewhere) {
  auto options = small_model();
  options.network.layers = {64, 64};
  options.training.rate = 3e-3;
  options.training.enough = 1e-4;
  DiscountModel model(options, cells(20));
  Batch here(200, 2), there(200, 2);
  RandomStream random({.seed = 9});
  for (std::uint64_t step = 0; step < 150; ++step) {
    for (Index i = 0; i < 200; ++i) {
      const double x = random.uniform(), y = 4.0 * random.uniform();
      here(i, 0) = -10.0 + 9.0 * x;
      there(i, 0) = 2.0 + 8.0 * x;
      here(i, 1) = there(i, 1) = y;
    }
    model.observe({.features = here, .objectives = Values(200, 1.0)});
  }
  const auto mean = [&](const Batch& places) {
    double sum = 0.0;
    for (const double discount : discounts_of(model, places)) sum += discount / 200.0;
    return sum;
  };
  EXPECT_NEAR(mean(here), 1.0, 0.4);    // from -3
  EXPECT_NEAR(mean(there), -3.0, 0.4);  // no candidate was there
  EXPECT_LT(model.empty_cells(), 230);
  EXPECT_GT(model.empty_cells(), 190);
}

TEST(DiscountModel, WithoutEmptyCellsItForgetsThatTheyAre) {
  auto options = small_model();
  options.network.layers = {64, 64};
  options.training.enough = 1e-4;
  options.training.empty = 0;
  DiscountModel model(options, cells(20));
  for (std::uint64_t step = 0; step < 150; ++step) {
    const auto rows = random_rows(200, step, 0.0, 0.5);
    model.observe({.features = rows.features, .objectives = Values(200, 1.0)});
  }
  Batch far(1, 2);
  far(0, 0) = 9.0;
  far(0, 1) = 3.8;
  EXPECT_GT(discounts_of(model, far)[0], -1.0);
}

TEST(DiscountModel, NothingRisesAtRateZero) {
  auto options = small_model();
  options.learning_rate = 0.0;
  options.training.enough = 1e-5;
  DiscountModel model(options, cells());
  for (std::uint64_t step = 0; step < 50; ++step) {
    const auto rows = random_rows(100, step, 0.0, 0.5);
    model.observe({.features = rows.features, .objectives = Values(100, 2.0)});
  }
  for (const double discount : discounts_of(model, random_rows(50, 3).features)) {
    EXPECT_LT(discount, -2.0);
  }
}

TEST(DiscountModel, EndsAnIterationWhenTheErrorIsSmallEnough) {
  auto options = small_model();
  options.training.enough = 1e6;
  DiscountModel quick(options, cells());
  const auto rows = random_rows(50, 4);
  quick.observe({.features = rows.features, .objectives = rows.objectives});
  EXPECT_EQ(quick.epochs(), 1);
  options.training.enough = 0.0;
  DiscountModel thorough(options, cells());
  thorough.observe({.features = rows.features, .objectives = rows.objectives});
  EXPECT_EQ(thorough.epochs(), 5);
}

TEST(DiscountModel, KnowsTheCentroidsOfVoronoiCells) {
  Workers workers(1);
  const auto cvt = std::make_shared<rarefy::Cvt>(
      kBox, rarefy::CvtOptions{.cells = 30, .samples = 500, .iterations = 5}, workers);
  Values centre(2);
  for (Index cell = 0; cell < 30; ++cell) {
    cvt->cell_centre(cell, centre);
    Index found = -1;
    cvt->assign(BatchView(centre.data(), 1, 2), std::span(&found, 1));
    EXPECT_EQ(found, cell);
  }
  DiscountModel model(small_model(), cvt);
  const auto rows = random_rows(50, 5, 0.0, 0.4);
  model.observe({.features = rows.features, .objectives = rows.objectives});
  EXPECT_LT(model.empty_cells(), 30);
  EXPECT_GT(model.empty_cells(), 10);
}

TEST(DiscountModel, StrayValuesDoNotSpoilIt) {
  DiscountModel model(small_model(), cells());
  auto rows = random_rows(50, 6);
  rows.features(3, 0) = 1e200;
  rows.features(4, 1) = -1e300;
  rows.objectives[5] = 1e300;
  rows.objectives[6] = -1e300;
  for (int step = 0; step < 20; ++step) {
    const auto scores = scores_of(model, rows.features, rows.objectives);
    for (const double score : scores) EXPECT_TRUE(std::isfinite(score));
    model.observe({.features = rows.features, .objectives = rows.objectives, .scores = scores});
  }
  EXPECT_EQ(model.rollbacks(), 0);
  for (const double discount : discounts_of(model, random_rows(50, 7).features)) {
    EXPECT_LT(std::abs(discount), 100.0);
  }
}

TEST(DiscountModel, TrainingThatTurnsNonFiniteIsTakenBackAndTold) {
  auto options = small_model();
  options.training.rate = 1e30;
  DiscountModel model(options, cells());
  const auto rows = random_rows(50, 8);
  for (int step = 0; step < 3; ++step) {
    model.observe({.features = rows.features, .objectives = rows.objectives});
    for (const double score : scores_of(model, rows.features, rows.objectives)) {
      EXPECT_FALSE(std::isnan(score));
    }
  }
  EXPECT_GT(model.rollbacks(), 0);
  EXPECT_THAT(model.warning(), testing::HasSubstr("non-finite"));
}

TEST(DiscountModel, RefusesOptionsThatMakeNoSense) {
  const auto expect_refused = [](auto change, const std::string& message) {
    auto options = small_model();
    change(options);
    try {
      const DiscountModel model(options, cells());
      ADD_FAILURE() << "taken, expected: " << message;
    } catch (const rarefy::Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double rate : {-0.1, 1.1, nan}) {
    expect_refused([=](auto& o) { o.learning_rate = rate; }, "learning rate of the discounts");
  }
  for (const double value : {infinity, nan}) {
    expect_refused([=](auto& o) { o.minimum = value; }, "minimum of the discounts");
  }
  for (const double value : {0.0, -1.0, infinity, nan}) {
    expect_refused([=](auto& o) { o.range = value; }, "range of the discounts");
    expect_refused([=](auto& o) { o.training.rate = value; },
                   "learning rate of the discount model");
  }
  for (const double value : {-1.0, infinity, nan}) {
    expect_refused([=](auto& o) { o.training.enough = value; }, "error of the discounts");
  }
  expect_refused([](auto& o) { o.training.epochs = 0; }, "0 epochs");
  expect_refused([](auto& o) { o.training.batch = 0; }, "0 samples a step");
  expect_refused([](auto& o) { o.training.empty = -1; }, "-1, and 60");
  expect_refused([](auto& o) { o.training.initial = -1; }, "-1 at first");
  expect_refused([](auto& o) { o.network.layers = {}; }, "hidden layers");
}

}  // namespace
