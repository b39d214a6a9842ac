// The discount model: saved, loaded, in parts and on many threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/density/discount_model.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace {

using rarefy::Batch;
using rarefy::DiscountModel;
using rarefy::Index;
using rarefy::StateReader;
using rarefy::StateWriter;
using rarefy::Workers;
using Bytes = std::vector<std::byte>;
using Values = std::vector<double>;

std::unique_ptr<DiscountModel> fresh(Index hidden = 20) {
  rarefy::DiscountModelOptions options;
  options.network.layers = {hidden, hidden};
  options.training = {.enough = 1e-3, .empty = 30, .initial = 80};
  options.seed = 12;
  return std::make_unique<DiscountModel>(
      options, std::make_shared<rarefy::Grid>(rarefy::FeatureSpace{{-1, -1}, {1, 1}},
                                              std::vector<Index>{12, 12}));
}

struct Told {
  Batch features;
  Values objectives;
};

Told told(std::uint64_t seed, Index rows = 45) {
  Told batch{Batch(rows, 2), Values(static_cast<std::size_t>(rows))};
  rarefy::RandomStream random({.seed = seed});
  for (double& value : batch.features.values()) value = random.uniform() - 0.5;
  for (double& value : batch.objectives) value = random.uniform();
  return batch;
}

void observe(DiscountModel& model, std::uint64_t seed, Workers& workers, Index of_iteration = 0) {
  const auto batch = told(seed);
  Values scores(batch.objectives.size());
  rarefy::Evaluated given{.features = batch.features, .objectives = batch.objectives};
  model.score(given, scores, workers);
  given.scores = scores;
  given.rows_of_an_iteration = of_iteration;
  model.observe(given, workers);
}

void observe(DiscountModel& model, std::uint64_t seed, Index of_iteration = 0) {
  Workers alone(1);
  observe(model, seed, alone, of_iteration);
}

Bytes saved(const DiscountModel& model) {
  StateWriter out;
  model.save(out);
  return out.bytes();
}

void load(DiscountModel& model, const Bytes& bytes) {
  StateReader in(bytes);
  model.load(in);
  EXPECT_TRUE(in.at_end());
}

TEST(DiscountState, ALoadedOneGoesOnLikeTheOneThatWasSaved) {
  const auto model = fresh();
  for (std::uint64_t step = 0; step < 4; ++step) observe(*model, step);
  const auto copy = fresh();
  observe(*copy, 77);  // must be forgotten
  load(*copy, saved(*model));
  EXPECT_EQ(saved(*copy), saved(*model));
  for (std::uint64_t step = 10; step < 14; ++step) {
    observe(*model, step);
    observe(*copy, step);
    EXPECT_EQ(saved(*copy), saved(*model));
  }
}

TEST(DiscountState, OneThatHasNotBegunIsLoadedAsSuch) {
  const auto model = fresh(), copy = fresh();
  observe(*copy, 77);
  load(*copy, saved(*model));
  observe(*model, 1);
  observe(*copy, 1);
  EXPECT_EQ(saved(*copy), saved(*model));
}

// Looked at or not, before it is told anything: the same.
TEST(DiscountState, ItDoesNotMatterWhoAsksFirst) {
  const auto asked = fresh(), told_at_once = fresh();
  Workers alone(1);
  const auto batch = told(5);
  Values out(batch.objectives.size());
  asked->discounts(batch.features, out, alone);
  asked->observe({.features = batch.features, .objectives = batch.objectives});
  told_at_once->observe({.features = batch.features, .objectives = batch.objectives});
  EXPECT_EQ(saved(*asked), saved(*told_at_once));
}

TEST(DiscountState, TheSameBitsWithAnyThreads) {
  const auto after = [](Index threads) {
    const auto model = fresh(100);
    Workers workers(threads);
    for (std::uint64_t step = 0; step < 5; ++step) observe(*model, step, workers);
    return saved(*model);
  };
  const auto one = after(1);
  EXPECT_TRUE(after(2) == one);
  EXPECT_TRUE(after(7) == one);
}

// It learns once an iteration, however that is cut into parts, and from all of them.
TEST(DiscountState, AnIterationInPartsIsLearnedAsOne) {
  const auto model = fresh();
  observe(*model, 1, 135);
  const auto first = model->parameters();
  observe(*model, 2, 135);
  EXPECT_EQ(model->parameters(), first) << "90 rows of 135";
  const auto copy = fresh();
  load(*copy, saved(*model));
  observe(*model, 3, 135);
  EXPECT_NE(model->parameters(), first);
  observe(*copy, 3, 135);
  EXPECT_EQ(saved(*copy), saved(*model));

  const auto whole = fresh();
  Told all{Batch(135, 2), {}};
  for (Index part = 0; part < 3; ++part) {
    const auto some = told(static_cast<std::uint64_t>(part + 1));
    for (Index i = 0; i < 45; ++i) {
      for (Index d = 0; d < 2; ++d) all.features(45 * part + i, d) = some.features(i, d);
    }
    all.objectives.insert(all.objectives.end(), some.objectives.begin(), some.objectives.end());
  }
  Workers alone(1);
  Values scores(135);
  rarefy::Evaluated given{.features = all.features, .objectives = all.objectives};
  whole->score(given, scores, alone);
  given.scores = scores;
  whole->observe(given, alone);
  EXPECT_EQ(saved(*whole), saved(*model));
}

TEST(DiscountState, RefusesWhatCannotBe) {
  const auto model = fresh();
  observe(*model, 1);
  observe(*model, 2, 90);  // leaves samples for later
  struct Fields {
    std::int64_t fits = 0, epochs = 0, rollbacks = 0, steps = 0;
    double loss = 0, rate = 0;
    std::vector<float> network, first, second;
    std::vector<std::int64_t> empty;
    Values samples;
  } good;
  {
    const auto bytes = saved(*model);
    StateReader in(bytes);
    good.fits = in.integer("discount.fits");
    good.epochs = in.integer("discount.last_epochs");
    good.loss = in.real("discount.loss");
    good.rollbacks = in.integer("discount.rollbacks");
    good.rate = in.real("discount.rate");
    good.steps = in.integer("discount.adam_steps");
    good.network = good.first = good.second = std::vector<float>(model->parameters().size());
    in.finite_floats("discount.network", good.network);
    in.finite_floats("discount.first_moments", good.first);
    in.finite_floats("discount.second_moments", good.second);
    good.empty.resize(3);
    in.integers("discount.empty_cells", good.empty);
    good.samples = in.reals_up_to("discount.samples", 1'000'000);
    EXPECT_EQ(good.samples.size(), 45U * 3U);
    EXPECT_TRUE(in.at_end());
  }
  const auto expect_corrupt = [&](auto tamper, const std::string& message) {
    Fields fields = good;
    tamper(fields);
    StateWriter out;
    out.integer("discount.fits", fields.fits);
    out.integer("discount.last_epochs", fields.epochs);
    out.real("discount.loss", fields.loss);
    out.integer("discount.rollbacks", fields.rollbacks);
    out.real("discount.rate", fields.rate);
    out.integer("discount.adam_steps", fields.steps);
    out.floats("discount.network", fields.network);
    out.floats("discount.first_moments", fields.first);
    out.floats("discount.second_moments", fields.second);
    out.integers("discount.empty_cells", fields.empty);
    out.reals("discount.samples", fields.samples);
    StateReader in(out.bytes());
    try {
      fresh()->load(in);
      ADD_FAILURE() << "taken, expected: " << message;
    } catch (const rarefy::Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::corrupt);
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_corrupt([](Fields& f) { f.fits = -1; }, "discount.fits");
  expect_corrupt([](Fields& f) { f.epochs = 6; }, "discount.last_epochs");
  expect_corrupt([&](Fields& f) { f.loss = nan; }, "discount.loss");
  expect_corrupt([](Fields& f) { f.rollbacks = f.fits + 1; }, "discount.rollbacks");
  expect_corrupt([](Fields& f) { f.rate *= 1.01; }, "learning rate of the discount");
  expect_corrupt([](Fields& f) { f.steps = -1; }, "discount.adam_steps");
  expect_corrupt([](Fields& f) { f.network[3] = std::numeric_limits<float>::infinity(); },
                 "discount.network");
  expect_corrupt([](Fields& f) { f.second[3] = -1.0F; }, "second moment of the discount");
  expect_corrupt([](Fields& f) { f.empty.back() = -1; }, "beyond the last");
  expect_corrupt([](Fields& f) { f.samples.pop_back(); }, "a multiple of 3");
  expect_corrupt([&](Fields& f) { f.samples[4] = nan; }, "discount.samples");
}

}  // namespace
