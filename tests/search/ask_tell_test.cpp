// The contract of ask() and tell(): what is refused, and that a refusal changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/search.hpp"
#include "support/small_search.hpp"

namespace rarefy {
namespace {

template <typename Call>
void expect_error(ErrorKind kind, const std::vector<std::string>& words, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const auto& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "nothing was refused";
}

TEST(Search, TellingBeforeAskingIsRefused) {
  small::Loop loop;
  const auto tell = [&] { loop.search.tell(loop.features, loop.objectives); };
  expect_error(ErrorKind::state, {"ask"}, tell);
  loop.step();
  expect_error(ErrorKind::state, {"ask"}, tell);  // one answer for one question
  EXPECT_EQ(loop.search.iteration(), 1);
  loop.step();
  EXPECT_EQ(loop.search.iteration(), 2);
}

TEST(Search, CandidatesThatAreHeldAreNotWrittenOver) {
  small::Loop loop;
  std::vector<std::pair<std::shared_ptr<const Batch>, std::vector<double>>> held;
  for (int i = 0; i < 10; ++i) {
    const auto batch = loop.search.ask_shared();
    EXPECT_EQ(batch->data(), loop.search.ask().data()) << "nothing is copied";
    held.emplace_back(batch, std::vector<double>(batch->values().begin(), batch->values().end()));
    loop.step();
  }
  for (const auto& [batch, before] : held) EXPECT_TRUE(std::ranges::equal(batch->values(), before));
}

TEST(Search, CandidatesThatNobodyHoldsMakeRoomForOthers) {
  small::Loop loop;
  std::set<const double*> places;
  std::shared_ptr<const Batch> last;  // held while the next are asked for, as in a loop of Python's
  for (int i = 0; i < 20; ++i) {
    last = loop.search.ask_shared();
    places.insert(last->data());
    loop.step();
  }
  EXPECT_EQ(places.size(), 2U);
}

TEST(Search, AskingTwiceGivesTheSameCandidates) {
  small::Loop loop, other;
  for (int i = 0; i < 20; ++i) {
    const auto view = loop.search.ask();
    const std::vector<double> first(view.values().begin(), view.values().end());
    ASSERT_TRUE(std::ranges::equal(first, loop.search.ask().values()));
    ASSERT_TRUE(std::ranges::equal(first, other.search.ask().values()));
    loop.step();
    other.step();
  }
  EXPECT_TRUE(loop.state() == other.state());
}

TEST(Search, CountsWhatItWasTold) {
  small::Loop loop({.emitters = 3, .batch = 10});
  EXPECT_EQ(loop.search.candidates(), 30);
  EXPECT_EQ(loop.search.solution_dim(), 20);
  EXPECT_EQ(loop.search.feature_dim(), 2);
  EXPECT_EQ(loop.search.emitters(), 3);
  EXPECT_EQ(loop.search.iteration(), 0);
  EXPECT_EQ(loop.search.evaluations(), 0);
  loop.steps(7);
  EXPECT_EQ(loop.search.iteration(), 7);
  EXPECT_EQ(loop.search.evaluations(), 210);
  EXPECT_EQ(loop.search.archive().total_visits(), 210);
  EXPECT_EQ(loop.search.scores().size(), 30U);
}

TEST(Search, WrongShapesAreRefused) {
  small::Loop loop;
  loop.evaluate();
  const Index batch = loop.search.candidates();
  const auto told = [&](Index rows, Index cols, std::size_t objectives) {
    const Batch features(rows, cols);
    const std::vector<double> values(objectives, 1.0);
    loop.search.tell(features, values);
  };
  const auto right = static_cast<std::size_t>(batch);
  expect_error(ErrorKind::data, {"features", "47", "48"}, [&] { told(batch - 1, 2, right); });
  expect_error(ErrorKind::data, {"features", "49", "48"}, [&] { told(batch + 1, 2, right); });
  expect_error(ErrorKind::data, {"features"}, [&] { told(batch, 3, right); });
  expect_error(ErrorKind::data, {"features"}, [&] { told(batch, 1, right); });
  expect_error(ErrorKind::data, {"features"}, [&] { told(0, 2, right); });
  expect_error(ErrorKind::data, {"objectives", "47", "48"}, [&] { told(batch, 2, right - 1); });
  expect_error(ErrorKind::data, {"objectives", "49"}, [&] { told(batch, 2, right + 1); });
  EXPECT_EQ(loop.search.iteration(), 0);
  EXPECT_TRUE(loop.search.archive().empty());
}

// NaN or infinite values name their row; after any number of refusals the search is where one
// that never saw them is, to the last bit.
TEST(Search, ValuesThatAreNotFiniteAreRefusedWithoutATrace) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  small::Loop loop, clean;
  for (int i = 0; i < 60; ++i) {
    loop.evaluate();
    const auto row = static_cast<Index>((i * 7) % 48);
    const auto at = static_cast<std::size_t>(row);
    for (const double bad : {kNan, kInf, -kInf}) {
      for (const Index feature : {0, 1}) {
        const double good = loop.features(row, feature);
        loop.features(row, feature) = bad;
        expect_error(
            ErrorKind::data,
            {"features", "row " + std::to_string(row), "feature " + std::to_string(feature)},
            [&] { loop.search.tell(loop.features, loop.objectives); });
        loop.features(row, feature) = good;
      }
      const double good = loop.objectives[at];
      loop.objectives[at] = bad;
      expect_error(ErrorKind::data, {"objectives", "row " + std::to_string(row)},
                   [&] { loop.search.tell(loop.features, loop.objectives); });
      loop.objectives[at] = good;
    }
    ASSERT_EQ(loop.search.iteration(), i);
    loop.search.tell(loop.features, loop.objectives);  // the same batch, told again
    clean.step();
  }
  EXPECT_TRUE(loop.state() == clean.state());
  EXPECT_TRUE(std::ranges::equal(loop.search.scores(), clean.search.scores()));
}

TEST(Search, ObjectivesMayBeLeftOut) {
  small::Loop with, without;
  for (int i = 0; i < 20; ++i) {
    with.step();
    without.evaluate();
    without.search.tell(without.features);
  }
  // The constant objective of the domain is 1, and so is what is put in its place.
  EXPECT_TRUE(with.state() == without.state());
}

TEST(Search, PartsThatDoNotFitAreRefused) {
  const LinearProjection domain({.n = 20});
  const auto make = [&](auto&& change) {
    auto parts = small::parts({}, domain);
    change(parts);
    const Search search(std::move(parts), {.threads = 1});
  };
  EXPECT_NO_THROW(make([](SearchParts&) {}));
  const auto refused = [&](std::vector<std::string> words, auto&& change) {
    expect_error(ErrorKind::parameter, words, [&] { make(change); });
  };
  refused({"emitters"}, [](SearchParts& p) {
    p.emitters.clear();
    p.triggers.clear();
  });
  refused({"triggers", "3", "4"}, [](SearchParts& p) { p.triggers.pop_back(); });
  refused({"parts"}, [](SearchParts& p) { p.density.reset(); });
  refused({"parts"}, [](SearchParts& p) { p.archive.reset(); });
  refused({"parts"}, [](SearchParts& p) { p.restart_point.reset(); });
  refused({"dimension", "21", "20"}, [](SearchParts& p) {
    small::Options other;
    other.n = 21;
    p.emitters[2] = std::make_unique<EvolutionStrategyEmitter>(small::optimizer(other), 1, 2);
  });
  refused({"features", "3", "2"}, [](SearchParts& p) {
    const FeatureSpace space = {{0, 0, 0}, {1, 1, 1}};
    p.density = small::density({}, space);
  });
  expect_error(ErrorKind::parameter, {"threads"},
               [&] { const Search search(small::parts({}, domain), {.threads = -1}); });
}

// A missing emitter or trigger inside a list of the right length is a missing part as well.
TEST(Search, EmptyPlacesAmongThePartsAreRefused) {
  const LinearProjection domain({.n = 20});
  auto parts = small::parts({}, domain);
  parts.triggers[1].reset();
  expect_error(ErrorKind::parameter, {},
               [&] { const Search search(std::move(parts), {.threads = 1}); });
}

TEST(Search, RestartsHappenAndAreCounted) {
  small::Loop loop({.stagnation = {.patience = 4, .patience_rate = 0.1}});
  std::int64_t seen = 0;
  std::vector<std::int64_t> generations(4, 0);
  for (int i = 0; i < 200; ++i) {
    loop.step();
    for (Index e = 0; e < 4; ++e) {
      const auto& emitter = dynamic_cast<const EvolutionStrategyEmitter&>(loop.search.emitter(e));
      auto& before = generations[static_cast<std::size_t>(e)];
      const auto now = emitter.optimizer().generation();
      if (now == 0) {
        ++seen;
      } else {
        ASSERT_EQ(now, before + 1);
      }
      before = now;
    }
    ASSERT_EQ(loop.search.restarts(), seen) << i;
  }
  EXPECT_GT(seen, 20);
}

// 120 iterations of 48: descent must cover far more than the same number of samples from the
// distribution it starts with, and more than uniform samples of the box, whose features gather
// in the middle. One seed each, differences of many standard deviations (of coverage: about 2).
TEST(Search, DensityDescentCoversMoreThanRandomSearch) {
  constexpr int kIterations = 120;
  small::Loop loop({.stagnation = {.patience = 25, .patience_rate = 0.2}});
  loop.steps(kIterations);
  const auto coverage = [](const Archive& archive) {
    return 100.0 * static_cast<double>(archive.size()) /
           static_cast<double>(archive.tessellation().cells());
  };
  const double descent = coverage(loop.search.archive());

  const auto random_search = [&](bool uniform) {
    auto parts = small::parts({}, loop.domain);
    Workers workers(1);
    Batch solutions(48, 20), features(48, 2);
    std::vector<double> objectives(48);
    std::vector<Outcome> outcomes(48);
    for (std::uint64_t i = 0; i < kIterations; ++i) {
      const StreamKey key = {.seed = 1, .purpose = Purpose::user, .index = 0, .iteration = i};
      if (uniform) {
        RandomStream random(key);
        for (double& x : solutions.values()) x = 5.12 * (2 * random.uniform() - 1);
      } else {
        fill_normals(key, solutions.values());
        for (double& x : solutions.values()) x *= 0.5;
      }
      loop.domain.evaluate(solutions, features, objectives);
      parts.archive->record(solutions, {features, objectives}, workers, outcomes);
    }
    return coverage(*parts.archive);
  };
  EXPECT_GT(descent, 2 * random_search(false));
  EXPECT_GT(descent, 1.5 * random_search(true));
  EXPECT_GT(descent, 60);
  RecordProperty("descent", std::to_string(descent));
  RecordProperty("uniform", std::to_string(random_search(true)));
}

}  // namespace
}  // namespace rarefy
