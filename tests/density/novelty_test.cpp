// Novelty against its definition, its archive against the rule of acceptance, and what the paper
// proves about it.
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

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/kde.hpp"
#include "support/every_instruction_set.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::NoveltyDensity;
using rarefy::NoveltyOptions;
using rarefy::Workers;
using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

FeatureSpace box(Index dims) { return {Values(at(dims), -5.0), Values(at(dims), 5.0)}; }

Values scores_of(NoveltyDensity& density, BatchView features, Index threads = 1) {
  Workers workers(threads);
  Values scores(at(features.rows()), -7.0);
  density.score({features}, scores, workers);
  return scores;
}

struct Settings {
  Index neighbours = 100;
  double threshold = 0.0;
  bool count_batch = false;
};

NoveltyOptions options_of(const Settings& settings, Index dims) {
  return {.space = box(dims),
          .neighbours = settings.neighbours,
          .threshold = settings.threshold,
          .count_batch = settings.count_batch};
}

/// A novelty whose archive holds exactly these rows.
std::unique_ptr<NoveltyDensity> with_archive(BatchView members, const Settings& settings) {
  auto density = std::make_unique<NoveltyDensity>(options_of(settings, members.cols()));
  density->observe({members});  // into an empty archive goes everything
  EXPECT_EQ(density->members(), members.rows());
  return density;
}

long double distance(std::span<const double> a, std::span<const double> b) {
  long double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const long double difference = static_cast<long double>(a[d]) - b[d];
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

/// The definition: distances to all, sorted, the mean of the first k. `skip` is left out.
struct Reference {
  double novelty;
  double farthest;  // of the k neighbours
};
Reference reference(BatchView neighbours, std::span<const double> query, Index k, Index skip = -1) {
  std::vector<long double> all;
  for (Index i = 0; i < neighbours.rows(); ++i) {
    if (i != skip) all.push_back(distance(query, neighbours.row(i)));
  }
  std::sort(all.begin(), all.end());
  all.resize(std::min(at(k), all.size()));
  long double sum = 0;
  for (const auto one : all) sum += one;
  return {static_cast<double>(sum / static_cast<long double>(all.size())),
          static_cast<double>(all.back())};
}

/// The error that the header states.
double documented_error(const Reference& exact, Index dims, Index k) {
  return (0.5 * static_cast<double>(dims) + 4.0) * 0x1p-53 * exact.novelty +
         static_cast<double>(k) * 0x1p-60 * exact.farthest;
}

Batch joined(BatchView a, BatchView b) {
  Batch all(0, a.cols());
  for (Index i = 0; i < a.rows(); ++i) all.append(a.row(i));
  for (Index i = 0; i < b.rows(); ++i) all.append(b.row(i));
  return all;
}

Batch column(const Values& values) {
  Batch batch(static_cast<Index>(values.size()), 1);
  std::copy(values.begin(), values.end(), batch.data());
  return batch;
}

Values archive_of(const NoveltyDensity& density) {
  const Batch members = density.archive();
  return {members.values().begin(), members.values().end()};
}

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

// Theorem "ns_stability": novelty is W/k-uniformly stable. Exchange one member for another at
// distance W, and it changes nowhere by more than W / k. (The paper has W the diameter of feature
// space, which bounds that distance.)
TEST(NoveltyStability, ExchangingOneMemberMovesItByAtMostItsMoveOverK) {
  double greatest = 0.0;
  for (const Index dims : {1, 2, 10}) {
    for (const Index size : {30, 400}) {
      const Batch members = uniform_batch(size, dims, -5.0, 5.0, 501);
      const Batch newcomers = uniform_batch(6, dims, -5.0, 5.0, 502);
      for (const Index k : {1, 10, 30}) {
        auto before = with_archive(members, {.neighbours = k});
        for (Index n = 0; n < newcomers.rows(); ++n) {
          const Index slot = 5 * n;
          Batch changed = members;
          std::copy(newcomers.row(n).begin(), newcomers.row(n).end(), changed.row(slot).begin());
          auto after = with_archive(changed, {.neighbours = k});
          // All over the space, at the members, and at both exchanged points.
          const Batch probes = joined(joined(uniform_batch(100, dims, -6.0, 6.0, 503), members),
                                      newcomers.view().rows(n, 1));
          const auto a = scores_of(*before, probes);
          const auto b = scores_of(*after, probes);
          const auto moved = static_cast<double>(distance(members.row(slot), newcomers.row(n)));
          const double bound = moved / static_cast<double>(k);
          for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_LE(std::abs(a[i] - b[i]), bound + 1e-13)
                << dims << " features, " << size << " members, k " << k;
            greatest = std::max(greatest, std::abs(a[i] - b[i]) / bound);
          }
        }
      }
    }
  }
  EXPECT_GT(greatest, 0.9) << "the probes missed where it matters";
}

// The paper's proof adds one: then it is the k-th neighbour that gives way.
TEST(NoveltyStability, AddingOneMemberMovesItByAtMostTheDiameterOverK) {
  for (const Index dims : {1, 2, 10}) {
    const double diameter = 10.0 * std::sqrt(static_cast<double>(dims));
    const Batch members = uniform_batch(200, dims, -5.0, 5.0, 511);
    const Batch newcomers = uniform_batch(6, dims, -5.0, 5.0, 512);
    for (const Index k : {1, 10, 200}) {
      auto before = with_archive(members, {.neighbours = k});
      for (Index n = 0; n < newcomers.rows(); ++n) {
        auto after = with_archive(joined(members, newcomers.view().rows(n, 1)), {.neighbours = k});
        const Batch probes = joined(uniform_batch(200, dims, -5.0, 5.0, 513), newcomers);
        const auto a = scores_of(*before, probes);
        const auto b = scores_of(*after, probes);
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_LE(std::abs(a[i] - b[i]), diameter / static_cast<double>(k) + 1e-13);
          EXPECT_GE(b[i], a[i] - 1e-13) << "a member more makes nothing more novel";
        }
      }
    }
  }
}

TEST(NoveltyStability, TheBoundIsAttained) {
  // All members are neighbours, and one moves straight away from the probe.
  auto before = with_archive(column({1, 2, 3, 4}), {.neighbours = 4});
  auto after = with_archive(column({1, 2, 3, 12}), {.neighbours = 4});
  const Batch probe = column({0});
  EXPECT_EQ(scores_of(*before, probe)[0] - scores_of(*after, probe)[0], 8.0 / 4.0);
}

// Theorem "ns=kde": with k = |B| novelty ranks exactly as a kernel density of B does whose
// triangular kernel reaches across the whole space. Moreover, h^m c p = 1 - rho / h.
TEST(NoveltyAsKernelDensity, WithAllNeighboursItRanksAsATriangularKernelDoes) {
  for (const Index dims : {1, 2, 10}) {
    const auto space = box(dims);
    const Batch points = uniform_batch(300, dims, -5.0, 5.0, 521);
    const Batch queries = uniform_batch(150, dims, -5.0, 5.0, 522);
    const double reach = 10.0 * std::sqrt(static_cast<double>(dims));
    auto kde =
        kde_reference::estimate_over(points, {.space = space,
                                              .kernel = rarefy::Kernel::triangular,
                                              .bandwidth = rarefy::Bandwidth::absolute(reach)});
    const auto log_density = kde_reference::scores_of(kde, queries);
    const double error = kde_reference::documented_error(space, kde.bandwidths());
    const double log_constant =
        std::log(kde_reference::kernel_integral(rarefy::Kernel::triangular, dims)) +
        static_cast<double>(dims) * std::log(reach);
    for (const Index k : {300, 1'000'000}) {
      auto density = with_archive(points, {.neighbours = k});
      const auto novelty = scores_of(*density, queries);
      int compared = 0;
      for (std::size_t i = 0; i < novelty.size(); ++i) {
        const double share = 1.0 + novelty[i] / reach;
        EXPECT_NEAR(log_density[i] + log_constant, std::log(share), error);
        for (std::size_t j = 0; j < i; ++j) {
          // Closer in log-density than twice its error, the kernel density cannot tell them apart.
          const double other = 1.0 + novelty[j] / reach;
          if (std::abs(std::log(share / other)) <= 2.0 * error) continue;
          ++compared;
          EXPECT_EQ(log_density[i] < log_density[j], novelty[i] < novelty[j]);
        }
      }
      EXPECT_GT(compared, 11'000);  // of 11,175 pairs
    }
  }
}
