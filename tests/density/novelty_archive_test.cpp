// What enters the archive of a novelty search, and what is seen of it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "density/novelty_cases.hpp"
#include "rarefy/density/novelty.hpp"
#include "support/random_batches.hpp"

namespace {

using novelty_cases::archive_of;
using novelty_cases::at;
using novelty_cases::box;
using novelty_cases::column;
using novelty_cases::reference;
using novelty_cases::scores_of;
using novelty_cases::Settings;
using novelty_cases::Values;
using novelty_cases::with_archive;
using rarefy::Batch;
using rarefy::Index;
using rarefy::NoveltyDensity;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST(NoveltyArchive, IsNotInformedWhileEmptyAndThenTakesAWholeBatch) {
  NoveltyDensity density({.space = box(2), .threshold = 1e6});
  EXPECT_EQ(density.name(), "novelty");
  EXPECT_EQ(density.feature_dim(), 2);
  EXPECT_FALSE(density.informed());
  const Batch first = uniform_batch(30, 2, -5.0, 5.0, 51);
  for (const double score : scores_of(density, first)) EXPECT_EQ(score, 0.0);
  EXPECT_EQ(density.members(), 0) << "scoring changes nothing";
  density.observe({first});
  EXPECT_TRUE(density.informed());
  EXPECT_EQ(archive_of(density), Values(first.values().begin(), first.values().end()));
  density.observe({uniform_batch(30, 2, -5.0, 5.0, 52)});
  EXPECT_EQ(density.members(), 30) << "nothing is that novel";
}

// By hand: one feature, two neighbours.
TEST(NoveltyArchive, TakesWhatIsAtLeastAsNovelAsTheThreshold) {
  auto density = with_archive(column({0, 1, 10}), {.neighbours = 2, .threshold = 2.5});
  //            novelty: 2.5 (3, 2)  2.4   6.5   0.5  2.5 (2, 3)
  const Batch batch = column({3, 2.9, 17, 0.5, -2});
  const auto scores = scores_of(*density, batch);
  EXPECT_EQ(scores[0], -2.5);
  EXPECT_LT(std::abs(scores[1] + 2.4), 1e-15);
  EXPECT_EQ(scores[3], -0.5);
  EXPECT_EQ(scores[4], -2.5);
  std::vector<bool> accepted;
  for (const double score : scores) accepted.push_back(score < density->accepts_below());
  EXPECT_EQ(accepted, (std::vector<bool>{true, false, true, false, true}));
  density->observe({batch});
  EXPECT_EQ(archive_of(*density), (Values{0, 1, 10, 3, 17, -2}));
}

TEST(NoveltyArchive, TheLineIsDrawnAtTheThresholdItself) {
  for (const double threshold : {0.0, 1e-300, 0.042, 21.504, 1e300}) {
    NoveltyDensity density({.space = box(1), .threshold = threshold});
    const double line = density.accepts_below();
    EXPECT_LT(-threshold, line);
    EXPECT_LT(-std::nextafter(threshold, kInfinity), line);
    if (threshold > 0.0) {
      EXPECT_GE(-std::nextafter(threshold, 0.0), line);
    }
  }
}

// As it was before the batch: rows of one batch do not keep each other out.
TEST(NoveltyArchive, RowsOfOneBatchDoNotKeepEachOtherOut) {
  auto density = with_archive(column({0}), {.neighbours = 1, .threshold = 1.0});
  density->observe({column({5, 5, 5.5, 0.5, 5})});
  EXPECT_EQ(archive_of(*density), (Values{0, 5, 5, 5.5, 5}));
}

TEST(NoveltyArchive, WithThresholdZeroTakesEverything) {
  auto density = with_archive(column({1}), {.neighbours = 1, .threshold = 0.0});
  const Batch copies = column({1, 1, 1});
  for (const double score : scores_of(*density, copies)) {
    EXPECT_EQ(score, 0.0);
    EXPECT_FALSE(std::signbit(score));
    EXPECT_LT(score, density->accepts_below());
  }
  density->observe({copies});
  EXPECT_EQ(density->members(), 4);
}

// The archive against the rule, over many batches, with the definition as its judge.
TEST(NoveltyArchive, GrowsByTheRule) {
  constexpr double kThreshold = 0.9;
  Batch expected = uniform_batch(20, 2, -5.0, 5.0, 61);
  auto density = with_archive(expected, {.neighbours = 5, .threshold = kThreshold});
  for (std::uint64_t step = 0; step < 40; ++step) {
    const Batch batch = uniform_batch(25, 2, -5.0, 5.0, 100 + step);
    if (step % 2 == 0) scores_of(*density, batch);
    const Batch before = expected;
    for (Index i = 0; i < batch.rows(); ++i) {
      const double novelty = reference(before, batch.row(i), 5).novelty;
      ASSERT_GT(std::abs(novelty - kThreshold), 1e-9) << "too close to call";
      if (novelty >= kThreshold) expected.append(batch.row(i));
    }
    density->observe({batch});
    ASSERT_EQ(archive_of(*density), Values(expected.values().begin(), expected.values().end()));
  }
  EXPECT_GT(expected.rows(), 60);
  EXPECT_LT(expected.rows(), 700);
}

// Restarts score elites between one batch and the next, and so may anybody at any time.
TEST(NoveltyArchive, ScoringOtherFeaturesInBetweenDisturbsNothing) {
  for (const bool count_batch : {false, true}) {
    for (const bool observe_first : {false, true}) {
      const Settings options{.neighbours = 10, .threshold = 1.5, .count_batch = count_batch};
      const Batch start = uniform_batch(50, 2, -5.0, 5.0, 71);
      auto plain = with_archive(start, options);
      auto disturbed = with_archive(start, options);
      auto disturb = [&, n = std::uint64_t{0}]() mutable {
        scores_of(*disturbed, uniform_batch(40, 2, -5.0, 5.0, 1000 + n++));
      };
      for (std::uint64_t step = 0; step < 10; ++step) {
        const Batch batch = uniform_batch(40, 2, -7.0, 7.0, 200 + step);
        Values a, b;
        if (observe_first) plain->observe({batch});
        a = scores_of(*plain, batch);
        if (!observe_first) plain->observe({batch});
        disturb();
        if (observe_first) disturbed->observe({batch});
        if (observe_first) disturb();
        b = scores_of(*disturbed, batch);
        if (!observe_first) disturb();
        if (!observe_first) disturbed->observe({batch});
        disturb();
        EXPECT_EQ(a, b);
        EXPECT_EQ(archive_of(*plain), archive_of(*disturbed));
      }
      EXPECT_GT(plain->members(), 50);
      EXPECT_LT(plain->members(), 450);
    }
  }
}

// Observed first and scored then, a row that entered finds itself.
TEST(NoveltyArchive, ScoresAfterObservingSeeTheBatch) {
  auto density = with_archive(column({0}), {.neighbours = 1, .threshold = 1.0});
  const Batch batch = column({4, 0.5});
  EXPECT_EQ(scores_of(*density, batch), (Values{-4.0, -0.5}));
  density->observe({batch});
  EXPECT_EQ(scores_of(*density, batch), (Values{0.0, -0.5}));
}

TEST(NoveltyArchive, ABatchThatDiffersInOneValueIsAnother) {
  auto density = with_archive(column({0}), {.neighbours = 1, .threshold = 2.0});
  Batch batch = column({4, 0.5, 3});
  scores_of(*density, batch);
  batch(1, 0) = 5;  // in place: the same address, the same length
  density->observe({batch});
  EXPECT_EQ(archive_of(*density), (Values{0, 4, 5, 3}));
}
