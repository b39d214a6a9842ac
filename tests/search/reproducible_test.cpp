// The same bits: whatever the number of threads, and when continued from a saved state.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "support/small_search.hpp"

namespace rarefy {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kIterations = 60;
#else
constexpr int kIterations = 250;
#endif

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void expect_same(const small::Loop& a, const small::Loop& b) {
  EXPECT_EQ(a.search.iteration(), b.search.iteration());
  EXPECT_EQ(a.search.restarts(), b.search.restarts());
  EXPECT_TRUE(
      same_bits(a.search.archive().solutions().values(), b.search.archive().solutions().values()));
  EXPECT_TRUE(
      same_bits(a.search.archive().features().values(), b.search.archive().features().values()));
  EXPECT_TRUE(std::ranges::equal(a.search.archive().visits(), b.search.archive().visits()));
  EXPECT_TRUE(a.state() == b.state());
}

struct Named {
  std::string name;
  small::Options options;
};

// Every kind of part once.
std::vector<Named> configurations() {
  using small::Point;
  using small::Trigger;
  const StopTests early = {.flat = 0.6};  // so that the emitter's own stop tests fire as well
  return {
      {"average", {.point = Point::average}},
      {"origin", {.point = Point::origin}},
      {"elite", {.point = Point::elite}},
      {"sparsest", {.point = Point::sparsest}},
      {"rarest", {.point = Point::rarest}},
      {"adaptive", {.point = Point::adaptive}},
      {"basic", {.trigger = Trigger::basic, .point = Point::elite, .stop_tests = early}},
      {"eigen", {.factor = Factor::eigen, .point = Point::adaptive}},
      {"common shape", {.point = Point::adaptive, .shape_rate = 0.5}},
      {"common shape, eigen", {.factor = Factor::eigen, .shape_rate = 1}},
      {"quality", {.point = Point::adaptive, .objective = LpObjective::sphere}},
      {"unlimited", {.buffer = 0}},
      {"published",
       {.trigger = Trigger::basic,
        .point = Point::origin,
        .stop_tests = {.flat = 1e-5},
        .published = true}},
  };
}

TEST(SearchThreads, DoNotChangeABit) {
  for (auto& [name, options] : configurations()) {
    SCOPED_TRACE(name);
    options.threads = 1;
    small::Loop one(options);
    one.steps(kIterations);
    EXPECT_GT(one.search.restarts(), 0) << "no restart: the test says little";
    for (const Index threads : {2, 8}) {
      SCOPED_TRACE(threads);
      options.threads = threads;
      small::Loop many(options);
      many.steps(kIterations);
      expect_same(one, many);
      EXPECT_TRUE(same_bits(one.search.scores(), many.search.scores()));
    }
  }
}

TEST(SearchThreads, ButAnotherSeedDoes) {
  small::Loop one({.seed = 1}), other({.seed = 2});
  one.steps(3);
  other.steps(3);
  EXPECT_FALSE(one.state() == other.state());
}

TEST(SearchState, AnySavedStateGoesOnToTheSameBits) {
  constexpr int kLast = kIterations / 2;
  for (auto& [name, options] : configurations()) {
    SCOPED_TRACE(name);
    options.threads = 1;
    small::Loop original(options);
    std::vector<std::vector<std::byte>> states;
    for (int i = 0; i < kLast; ++i) {
      states.push_back(original.state());
      original.step();
    }
    ASSERT_GT(original.search.restarts(), 0);
    for (const int from : {0, 1, 2, 9, 10, 23, kLast / 2, kLast - 1}) {
      SCOPED_TRACE("from iteration " + std::to_string(from));
      options.threads = from % 2 == 0 ? 1 : 2;
      small::Loop other(options);
      if (from % 3 == 0) other.steps(5);  // what it did before does not matter
      other.load(states[static_cast<std::size_t>(from)]);
      EXPECT_TRUE(other.state() == states[static_cast<std::size_t>(from)]);
      other.steps(kLast - from);
      expect_same(original, other);
      EXPECT_TRUE(same_bits(original.search.scores(), other.search.scores()));
    }
  }
}

// Candidates that were asked for but not told are asked for again, and are the same.
TEST(SearchState, MayBeSavedBetweenAskingAndTelling) {
  small::Loop original;
  original.steps(30);
  original.evaluate();
  const auto state = original.state();
  const auto asked = original.search.ask();
  const std::vector<double> candidates(asked.values().begin(), asked.values().end());
  small::Loop other;
  other.load(state);
  EXPECT_TRUE(same_bits(other.search.ask().values(), candidates));
  original.search.tell(original.features, original.objectives);
  original.steps(10);
  other.steps(11);
  expect_same(original, other);
}

// A candidate asked for before loading must not be taken for one of the loaded state.
TEST(SearchState, LoadingForgetsWhatWasAskedBefore) {
  small::Loop original;
  original.steps(5);
  small::Loop other;
  other.evaluate();
  other.load(original.state());
  EXPECT_THROW(other.search.tell(other.features, other.objectives), Error);
  original.steps(5);
  other.steps(5);
  expect_same(original, other);
}

TEST(SearchState, OfAnotherConfigurationIsRefused) {
  small::Loop original({.point = small::Point::adaptive});
  original.steps(40);
  const auto state = original.state();
  const auto refused = [&](const small::Options& options) {
    small::Loop other(options);
    try {
      other.load(state);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::data;
    }
    return false;
  };
  using small::Point;
  EXPECT_FALSE(refused({.point = Point::adaptive}));
  EXPECT_TRUE(refused({.n = 22, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.emitters = 3, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.emitters = 5, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.buffer = 300, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.buffer = 500, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.cells = 29, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.factor = Factor::eigen, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.trigger = small::Trigger::basic, .point = Point::adaptive}));
  EXPECT_TRUE(refused({.point = Point::average}));
  EXPECT_TRUE(refused({.point = Point::adaptive, .published = true}));
}

// These leave no trace in the fields of any part: without one, the search would go on to other
// bits in silence.
TEST(SearchState, OfAnotherSeedOrBatchIsRefused) {
  small::Loop original;
  original.steps(5);
  for (const small::Options& options :
       {small::Options{.seed = 2}, small::Options{.batch = 14}, small::Options{.batch = 10}}) {
    small::Loop other(options);
    EXPECT_THROW(other.load(original.state()), Error)
        << "seed " << options.seed << ", batch " << options.batch;
  }
}

TEST(SearchState, TruncatedIsRefusedAtEveryLength) {
  for (const bool published : {false, true}) {
    const small::Options options = {.n = 4,
                                    .emitters = 2,
                                    .batch = 6,
                                    .buffer = 10,
                                    .cells = 5,
                                    .point = small::Point::adaptive,
                                    .published = published};
    small::Loop original(options);
    original.steps(30);
    const auto state = original.state();
    small::Loop other(options);
    ASSERT_GT(state.size(), 2000U);
    for (std::size_t length = 0; length < state.size(); ++length) {
      StateReader in(std::span<const std::byte>(state).first(length));
      try {
        other.search.load(in);
        ADD_FAILURE() << "accepted " << length << " of " << state.size() << " bytes";
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::corrupt) << length;
      }
    }
    // The whole one still loads.
    other.load(state);
    original.steps(3);
    other.steps(3);
    expect_same(original, other);
  }
}

// One bit of any byte turned over: either refused, or read as other numbers; never a crash, and
// the search can be used afterwards or says why not.
TEST(SearchState, ForgedBytesNeverCrash) {
  for (const bool published : {false, true}) {
    const small::Options options = {
        .n = 4,
        .emitters = 2,
        .batch = 6,
        .buffer = 10,
        .cells = 5,
        .trigger = published ? small::Trigger::basic : small::Trigger::stagnation,
        .point = small::Point::adaptive,
        .published = published};
    small::Loop original(options);
    original.steps(30);
    const auto state = original.state();
    int refused = 0;
    for (std::size_t at = 0; at < state.size(); at += 3) {
      auto forged = state;
      forged[at] ^= std::byte{1} << (at % 8);
      small::Loop other(options);
      try {
        other.load(forged);
        other.steps(1);
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 100);
  }
}

// Numbers of the published buffer that no run can reach: they would index outside of a batch.
TEST(SearchState, ImpossibleCountersOfThePublishedBufferAreRefused) {
  for (const double w : {-0.5, 1.5}) {
    StateWriter out;
    out.integer("published_buffer.filled", 2);
    out.integer("published_buffer.skip", 1);
    out.integer("published_buffer.draws", 1);
    out.real("published_buffer.w", w);
    out.integer("published_buffer.slot", 0);
    out.reals("published_buffer.rows", std::vector<double>(2, 0.0));
    compat::PublishedBuffer buffer({.feature_dim = 1, .capacity = 2});
    StateReader in(out.bytes());
    EXPECT_THROW(buffer.load(in), Error) << w;
  }
}

}  // namespace
}  // namespace rarefy
