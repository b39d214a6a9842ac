// Novelty against its definition, and how it is saved.
#include "rarefy/density/novelty.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "density/novelty_cases.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "support/every_instruction_set.hpp"
#include "support/random_batches.hpp"

namespace {

using novelty_cases::archive_of;
using novelty_cases::at;
using novelty_cases::box;
using novelty_cases::column;
using novelty_cases::documented_error;
using novelty_cases::joined;
using novelty_cases::reference;
using novelty_cases::scores_of;
using novelty_cases::Values;
using novelty_cases::with_archive;
using rarefy::Batch;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::NoveltyDensity;
using rarefy::NoveltyOptions;
using rarefy::Workers;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<std::byte> state_of(const NoveltyDensity& density) {
  rarefy::StateWriter out;
  density.save(out);
  return out.bytes();
}

void load(NoveltyDensity& density, const std::vector<std::byte>& bytes) {
  rarefy::StateReader in(bytes);
  density.load(in);
  EXPECT_TRUE(in.at_end());
}

class Novelty : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, Novelty, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(Novelty, IsTheMeanDistanceToTheNearestWithinTheStatedError) {
  for (const Index dims : {1, 2, 3, 10, 17}) {
    for (const Index size : {1, 5, 100, 101, 3000}) {
      const Batch members = uniform_batch(size, dims, -5.0, 5.0, 1);
      const Batch queries =
          joined(uniform_batch(10, dims, -8.0, 8.0, 2), members.view().rows(0, 1));
      for (const Index k : {1, 7, 100}) {
        auto density = with_archive(members, {.neighbours = k});
        const auto scores = scores_of(*density, queries);
        for (Index i = 0; i < queries.rows(); ++i) {
          const auto exact = reference(members, queries.row(i), k);
          ASSERT_NEAR(-scores[at(i)], exact.novelty, documented_error(exact, dims, k))
              << dims << " features, " << size << " members, k " << k;
        }
      }
    }
  }
}

TEST(NoveltyBits, AreTheSameWithEveryInstructionSet) {
  for (const Index dims : {2, 10}) {
    const Batch members = uniform_batch(5000, dims, -5.0, 5.0, 11);
    const Batch queries = uniform_batch(100, dims, -6.0, 6.0, 12);
    Values first;
    for (const auto set : available_instruction_sets()) {
      const PinnedInstructionSet pinned(set);
      auto density = with_archive(members, {});
      const auto scores = scores_of(*density, queries);
      if (first.empty()) first = scores;
      EXPECT_EQ(scores, first) << rarefy::name_of(set);
    }
  }
}

TEST(NoveltyBits, DoNotDependOnThreads) {
  for (const bool count_batch : {false, true}) {
    Values first;
    for (const Index threads : {1, 2, 8}) {
      auto density = with_archive(uniform_batch(4000, 10, -5.0, 5.0, 21),
                                  {.threshold = 6.0, .count_batch = count_batch});
      Workers workers(threads);
      Values trace;
      for (std::uint64_t step = 0; step < 4; ++step) {
        const Batch batch = uniform_batch(150, 10, -6.0, 6.0, 30 + step);
        Values scores(150);
        density->score({batch}, scores, workers);
        density->observe({batch}, workers);
        trace.insert(trace.end(), scores.begin(), scores.end());
      }
      const auto members = archive_of(*density);
      trace.insert(trace.end(), members.begin(), members.end());
      if (first.empty()) first = trace;
      EXPECT_EQ(trace, first) << threads << " threads";
    }
    EXPECT_GT(first.size(), 4 * 150U + 4001 * 10U) << "nothing entered";
    EXPECT_LT(first.size(), 4 * 150U + 4600 * 10U) << "everything entered";
  }
}

TEST(NoveltyBits, DoNotDependOnTheOrderInWhichTheArchiveCameTogether) {
  const Batch members = uniform_batch(6000, 3, -5.0, 5.0, 31);
  Batch reversed(0, 3);
  for (Index i = members.rows(); i-- > 0;) reversed.append(members.row(i));
  const Batch queries = uniform_batch(60, 3, -6.0, 6.0, 32);
  EXPECT_EQ(scores_of(*with_archive(members, {}), queries),
            scores_of(*with_archive(reversed, {}), queries));
}

// Whether rows are alone, among others, or so many that they go in several rounds.
TEST(NoveltyBits, OfARowDoNotDependOnTheOthers) {
  auto density = with_archive(uniform_batch(900, 2, -5.0, 5.0, 41), {.neighbours = 20});
  const Batch queries = uniform_batch(2500, 2, -6.0, 6.0, 42);
  const auto together = scores_of(*density, queries, 2);
  for (const Index i : {0, 1, 311, 1023, 1024, 1249, 1250, 2047, 2048, 2498, 2499}) {
    EXPECT_EQ(scores_of(*density, queries.view().rows(i, 1))[0], together[at(i)]);
  }
  EXPECT_TRUE(scores_of(*density, queries.view().rows(0, 0)).empty());
}

TEST_P(Novelty, WithTheBatchCountsItsOtherRowsAsNeighbours) {
  for (const Index dims : {1, 2, 10}) {
    for (const Index size : {1, 40, 900}) {
      for (const Index rows : {1, 2, 40}) {
        const Batch members = uniform_batch(size, dims, -5.0, 5.0, 81);
        Batch batch = uniform_batch(rows, dims, -4.0, 4.0, 82);
        if (rows > 2) std::copy(batch.row(0).begin(), batch.row(0).end(), batch.row(1).begin());
        const Batch all = joined(batch, members);
        for (const Index k : {1, 30}) {
          auto density = with_archive(members, {.neighbours = k, .count_batch = true});
          const auto scores = scores_of(*density, batch);
          for (Index i = 0; i < rows; ++i) {
            const auto exact = reference(all, batch.row(i), k, i);
            ASSERT_NEAR(-scores[at(i)], exact.novelty, documented_error(exact, dims, k))
                << dims << " features, " << size << " members, " << rows << " rows, k " << k;
          }
        }
      }
    }
  }
}

TEST(NoveltyWithBatch, DecidesByItWhatEnters) {
  auto density =
      with_archive(column({0}), {.neighbours = 1, .threshold = 1.0, .count_batch = true});
  const Batch batch = column({5, 5.5, 9, 5});
  EXPECT_EQ(scores_of(*density, batch), (Values{0.0, -0.5, -3.5, 0.0}));
  density->observe({batch});
  EXPECT_EQ(archive_of(*density), (Values{0, 9}));
}

TEST(NoveltyWithBatch, AnEmptyArchiveTakesAllAndScoresNothing) {
  NoveltyDensity density({.space = box(1), .threshold = 100.0, .count_batch = true});
  const Batch batch = column({1, 2, 4});
  EXPECT_FALSE(density.informed());
  EXPECT_EQ(scores_of(density, batch), (Values{0.0, 0.0, 0.0}));
  density.observe({batch});
  EXPECT_EQ(archive_of(density), (Values{1, 2, 4}));
}

// So far out that squares overflow: finite, and in order all the same.
TEST(NoveltyRange, FarFeaturesAreStillToldApart) {
  for (const bool count_batch : {false, true}) {
    for (const Index size : {3, 2000}) {
      const Batch members = uniform_batch(size, 2, -5.0, 5.0, 91);
      auto density = with_archive(members, {.neighbours = 3, .count_batch = count_batch});
      Batch far(6, 2);
      const Values scales = {1e100, 1e160, 3e160, 1e200, 1e300, 1.7e308};
      for (Index i = 0; i < 6; ++i) {
        far(i, 0) = scales[at(i)];
        far(i, 1) = -0.5 * scales[at(i)];
      }
      for (Index i = 0; i < 6; ++i) {
        // One at a time: the batch must not bring neighbours that are as far out.
        const double novelty = -scores_of(*density, far.view().rows(i, 1))[0];
        EXPECT_NEAR(novelty / scales[at(i)], i == 5 ? 1.0574 : std::sqrt(1.25), 1e-4) << i;
      }
      // Such a member among others, and all of them neighbours.
      density->observe({far});
      auto few = with_archive(joined(column({1, 2}), column({-1e200})), {.neighbours = 3});
      EXPECT_NEAR(-scores_of(*few, column({0}))[0] / 1e200, 1.0 / 3.0, 1e-12);
      const auto again = scores_of(*density, far.view().rows(4, 1));
      EXPECT_TRUE(std::isfinite(again[0]));
    }
  }
}

TEST(NoveltyState, ALoadedArchiveContinuesToTheSameBits) {
  for (const bool count_batch : {false, true}) {
    const NoveltyOptions options{
        .space = box(10), .neighbours = 50, .threshold = 7.0, .count_batch = count_batch};
    NoveltyDensity original(options);
    for (std::uint64_t step = 0; step < 6; ++step) {
      original.observe({uniform_batch(300, 10, -6.0, 6.0, 300 + step)});
    }
    NoveltyDensity resumed(options);
    resumed.observe({uniform_batch(700, 10, -1.0, 1.0, 400)});  // to be forgotten
    const Batch batch = uniform_batch(300, 10, -6.0, 6.0, 350);
    scores_of(resumed, batch);  // so is what was known of this batch
    load(resumed, state_of(original));
    EXPECT_EQ(archive_of(resumed), archive_of(original));
    for (std::uint64_t step = 0; step < 3; ++step) {
      const Batch next = uniform_batch(300, 10, -6.0, 6.0, 350 + step);
      EXPECT_EQ(scores_of(resumed, next), scores_of(original, next));
      original.observe({next});
      resumed.observe({next});
    }
    EXPECT_EQ(state_of(resumed), state_of(original));
    EXPECT_GT(original.members(), 300);
  }
}

// What was known of a batch is not carried over to another archive of the same size.
TEST(NoveltyState, ScoresAreThoseOfTheLoadedArchive) {
  auto density = with_archive(column({0}), {});
  const Batch batch = column({4});
  EXPECT_EQ(scores_of(*density, batch)[0], -4.0);
  load(*density, state_of(*with_archive(column({3}), {})));
  EXPECT_EQ(scores_of(*density, batch)[0], -1.0);
}

TEST(NoveltyState, AnEmptyOneIsTaken) {
  const NoveltyOptions options{.space = box(2)};
  NoveltyDensity density(options);
  density.observe({uniform_batch(5, 2, 0.0, 1.0, 1)});
  load(density, state_of(NoveltyDensity(options)));
  EXPECT_FALSE(density.informed());
}

namespace {

/// True when loading ends in Error(corrupt); false when the state is taken.
bool refused(std::int64_t members, const Values& values) {
  rarefy::StateWriter out;
  out.integer("novelty.members", members);
  out.reals("novelty.archive", values);
  NoveltyDensity density({.space = box(2)});
  rarefy::StateReader in(out.bytes());
  try {
    density.load(in);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt) << error.what();
    return true;
  }
  EXPECT_EQ(archive_of(density), values);
  return false;
}

}  // namespace

TEST(NoveltyState, CorruptOnesAreRefused) {
  EXPECT_FALSE(refused(2, {1, 2, 3, 4})) << "a good one";
  EXPECT_TRUE(refused(-1, {}));
  EXPECT_TRUE(refused(2, {1, 2, 3}));
  EXPECT_TRUE(refused(2, {1, 2, 3, 4, 5}));
  EXPECT_TRUE(refused(2, {1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(refused(4'000'000'000, {1, 2}));
  EXPECT_TRUE(refused(std::numeric_limits<std::int64_t>::max(), {1, 2}));
  EXPECT_TRUE(refused(2, {1, 2, std::nan(""), 4}));
  EXPECT_TRUE(refused(2, {1, 2, 3, kInfinity}));
  EXPECT_TRUE(refused(2, {-kInfinity, 2, 3, 4}));
}

TEST(NoveltyState, EveryTruncatedStateIsRefused) {
  auto density = with_archive(uniform_batch(3, 2, 0.0, 1.0, 1), {});
  const auto bytes = state_of(*density);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    NoveltyDensity other({.space = box(2)});
    const auto part = std::span<const std::byte>(bytes).first(length);
    rarefy::StateReader in(part);
    EXPECT_THROW(other.load(in), Error) << length;
  }
}

TEST(NoveltyOptionsChecked, ImpossibleOnesAreRefused) {
  const auto kind_of = [](NoveltyOptions options) {
    try {
      const NoveltyDensity density(std::move(options));
    } catch (const Error& error) {
      return error.kind();
    }
    ADD_FAILURE() << "taken";
    return ErrorKind::io;
  };
  EXPECT_EQ(kind_of({.space = box(1), .neighbours = 0}), ErrorKind::parameter);
  EXPECT_EQ(kind_of({.space = box(1), .neighbours = -3}), ErrorKind::parameter);
  EXPECT_EQ(kind_of({.space = box(1), .threshold = -1e-9}), ErrorKind::parameter);
  EXPECT_EQ(kind_of({.space = box(1), .threshold = kInfinity}), ErrorKind::parameter);
  EXPECT_EQ(kind_of({.space = box(1), .threshold = std::nan("")}), ErrorKind::parameter);
  EXPECT_EQ(kind_of({.space = {}}), ErrorKind::parameter);
}

TEST(NoveltyOptionsChecked, FeaturesThatCannotBeAreRefusedAndChangeNothing) {
  for (const bool empty : {true, false}) {
    NoveltyDensity density({.space = box(2), .neighbours = 1});
    if (!empty) density.observe({uniform_batch(3, 2, 0.0, 1.0, 1)});
    const Index before = density.members();
    for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
      Batch batch = uniform_batch(4, 2, 0.0, 1.0, 2);
      batch(2, 1) = bad;
      try {
        density.observe({batch});
        ADD_FAILURE() << "taken";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::data);
        EXPECT_NE(std::string(error.what()).find("row 2, feature 1"), std::string::npos);
      }
    }
    EXPECT_THROW(density.observe({uniform_batch(4, 3, 0.0, 1.0, 2)}), Error);
    EXPECT_EQ(density.members(), before);
  }
}
