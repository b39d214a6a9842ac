// CMA-MAE, CMA-ME, MAP-Elites (line) and MAP-Elites, put together from their parts: the loop's
// promises hold for them as for density descent, and they are what the theory says they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/density/annealed_thresholds.hpp"
#include "rarefy/density/improvement.hpp"
#include "rarefy/density/no_density.hpp"
#include "rarefy/domains/linear_projection.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/emitters/gaussian_emitter.hpp"
#include "rarefy/emitters/iso_line_emitter.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/restarts/restart_point.hpp"
#include "rarefy/restarts/restart_trigger.hpp"
#include "rarefy/search.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/random_batches.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RAREFY_COUNTS_NEW 0
#else
#define RAREFY_COUNTS_NEW 1
#endif

namespace {

std::atomic<bool> counting_new{false};
std::atomic<std::int64_t> news{0};

}  // namespace

// What the loop's own parts would allocate ends here. (allocation_test.cpp counts below this, in
// malloc, for what lies beneath all algorithms.) Not inline, or the compiler would take the
// free() for a mistake.
#if RAREFY_COUNTS_NEW
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (counting_new.load(std::memory_order_relaxed)) news.fetch_add(1, std::memory_order_relaxed);
  void* const block = std::malloc(size > 0 ? size : 1);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t /*size*/) noexcept {
  std::free(block);
}
#endif

namespace rarefy {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kIterations = 60;
#else
constexpr int kIterations = 200;
#endif

struct Setting {
  std::uint64_t seed = 1;
  Index threads = 1;
  Index n = 12;
  Index emitters = 4;
  Index batch = 12;
  Index grid = 20;  // cells along each feature
  LpObjective objective = LpObjective::sphere;
  bool cvt = false;
};

using Cells = std::shared_ptr<const Tessellation>;
using MakeDensity = std::function<std::unique_ptr<Density>(const Cells&)>;
using MakeEmitter = std::function<std::unique_ptr<Emitter>(const Setting&, std::uint32_t)>;
using MakeTrigger = std::function<std::unique_ptr<RestartTrigger>()>;

struct Algorithm {
  std::string name;
  MakeDensity density;
  MakeEmitter emitter;
  MakeTrigger trigger;
  Setting setting{};
};

MakeDensity thresholds(double rate, double minimum = 0.0) {
  return [=](const Cells& cells) {
    return std::make_unique<AnnealedThresholds>(
        AnnealedThresholdsOptions{.learning_rate = rate, .minimum = minimum}, cells);
  };
}

std::unique_ptr<Density> improvement(const Cells& cells) {
  return std::make_unique<Improvement>(cells);
}

std::unique_ptr<Density> nothing(const Cells& cells) {
  return std::make_unique<NoDensity>(cells->feature_dim());
}

MakeEmitter cma_es(Selection selection, const StopTests& stop_tests = {}) {
  return [=](const Setting& setting, std::uint32_t index) {
    auto optimizer = std::make_unique<CmaEs>(
        CmaEsOptions{.dimension = setting.n, .batch = setting.batch, .sigma0 = 0.5});
    return std::make_unique<EvolutionStrategyEmitter>(std::move(optimizer), setting.seed, index,
                                                      stop_tests, selection);
  };
}

MakeEmitter iso_line(const Bounds& bounds = {}) {
  return [=](const Setting& setting, std::uint32_t index) {
    return std::make_unique<IsoLineEmitter>(IsoLineOptions{.dimension = setting.n,
                                                           .batch = setting.batch,
                                                           .sigma_iso = 0.5,
                                                           .sigma_line = 0.2,
                                                           .bounds = bounds},
                                            setting.seed, index);
  };
}

std::unique_ptr<Emitter> gaussian(const Setting& setting, std::uint32_t index) {
  return std::make_unique<GaussianEmitter>(
      GaussianOptions{.dimension = setting.n, .batch = setting.batch, .sigma = 0.5}, setting.seed,
      index);
}

std::unique_ptr<RestartTrigger> basic() { return std::make_unique<BasicTrigger>(); }
std::unique_ptr<RestartTrigger> no_improvement() {
  return std::make_unique<NoImprovementTrigger>();
}

// Every kind of part once.
std::vector<Algorithm> algorithms() {
  const Setting constant = {.objective = LpObjective::constant};
  const Setting centroids = {.objective = LpObjective::constant, .cvt = true};
  const Bounds box = {.lower = {-5.12}, .upper = {5.12}, .resamples = 2};
  return {
      {"CMA-MAE", thresholds(0.01), cma_es(Selection::mu, {.flat = 5.0}), basic},
      {"CMA-MAE, filter", thresholds(0.9, 40.0), cma_es(Selection::filter), no_improvement},
      {"CMA-MAE, centroids", thresholds(0.1), cma_es(Selection::mu), basic, centroids},
      {"CMA-ME", improvement, cma_es(Selection::mu), basic, constant},
      {"CMA-ME, filter", improvement, cma_es(Selection::filter), no_improvement},
      {"CMA-ME, centroids", improvement, cma_es(Selection::filter), basic, centroids},
      {"MAP-Elites (line)", nothing, iso_line(), basic},
      {"MAP-Elites (line), in a box", nothing, iso_line(box), basic, constant},
      {"MAP-Elites", nothing, gaussian, basic},
  };
}

// Whether its emitters ever say that they cannot go on.
bool restarts(const Algorithm& algorithm) { return algorithm.name.rfind("CMA", 0) == 0; }

Cells cells_of(const Domain& domain, const Setting& setting) {
  const auto& space = domain.info().feature_space;
  if (!setting.cvt) return std::make_shared<Grid>(space, std::vector<Index>(2, setting.grid));
  return std::make_shared<Cvt>(space, uniform_batch(150, space.lower, space.upper, 3));
}

class Loop {
 public:
  explicit Loop(const Algorithm& algorithm)
      : domain({.n = algorithm.setting.n, .m = 2, .objective = algorithm.setting.objective}),
        search(parts(algorithm, domain),
               {.seed = algorithm.setting.seed, .threads = algorithm.setting.threads}),
        evaluator(domain, search.workers()),
        features(search.candidates(), search.feature_dim()),
        objectives(static_cast<std::size_t>(search.candidates())) {}

  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      evaluator.evaluate(search.ask(), {features, objectives});
      search.tell(features, objectives);
    }
  }
  [[nodiscard]] std::vector<std::byte> state() const {
    StateWriter out;
    search.save(out);
    return out.bytes();
  }
  void load(std::span<const std::byte> bytes) {
    StateReader in(bytes);
    search.load(in);
    EXPECT_TRUE(in.at_end());
  }

  LinearProjection domain;
  Search search;
  ThreadsEvaluator evaluator;
  Batch features;
  std::vector<double> objectives;

 private:
  static SearchParts parts(const Algorithm& algorithm, const Domain& domain) {
    const auto& setting = algorithm.setting;
    const auto cells = cells_of(domain, setting);
    SearchParts parts;
    for (Index e = 0; e < setting.emitters; ++e) {
      parts.emitters.push_back(algorithm.emitter(setting, static_cast<std::uint32_t>(e)));
      parts.triggers.push_back(algorithm.trigger());
    }
    parts.restart_point = std::make_unique<RestartAtElite>();
    parts.density = algorithm.density(cells);
    parts.archive = std::make_unique<Archive>(cells, setting.n);
    return parts;
  }
};

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void expect_same_course(const Loop& a, const Loop& b) {
  EXPECT_EQ(a.search.restarts(), b.search.restarts());
  EXPECT_TRUE(same_bits(a.search.scores(), b.search.scores()));
  EXPECT_TRUE(
      same_bits(a.search.archive().solutions().values(), b.search.archive().solutions().values()));
  EXPECT_TRUE(std::ranges::equal(a.search.archive().visits(), b.search.archive().visits()));
}

TEST(Rivals, ThreadsDoNotChangeABit) {
  for (auto& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    Loop one(algorithm);
    one.steps(kIterations);
    EXPECT_EQ(one.search.restarts() > 0, restarts(algorithm)) << one.search.restarts();
    for (const Index threads : {2, 8}) {
      algorithm.setting.threads = threads;
      Loop many(algorithm);
      many.steps(kIterations);
      expect_same_course(one, many);
      EXPECT_TRUE(one.state() == many.state());
    }
  }
}

TEST(Rivals, AnySavedStateGoesOnToTheSameBits) {
  constexpr int kLast = kIterations / 2;
  for (auto& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    Loop original(algorithm);
    std::vector<std::vector<std::byte>> states;
    for (int i = 0; i < kLast; ++i) {
      states.push_back(original.state());
      original.steps(1);
    }
    for (const int from : {0, 1, 7, kLast / 2, kLast - 1}) {
      SCOPED_TRACE("from iteration " + std::to_string(from));
      algorithm.setting.threads = from % 2 == 0 ? 1 : 2;
      Loop other(algorithm);
      if (from % 3 == 0) other.steps(5);  // what it did before does not matter
      other.load(states[static_cast<std::size_t>(from)]);
      EXPECT_TRUE(other.state() == states[static_cast<std::size_t>(from)]);
      other.steps(kLast - from);
      expect_same_course(original, other);
      EXPECT_TRUE(original.state() == other.state());
    }
  }
}

TEST(Rivals, DamagedStatesAreRefusedOrReadAsOtherNumbers) {
  for (auto& algorithm : algorithms()) {
    SCOPED_TRACE(algorithm.name);
    algorithm.setting.n = 4;
    algorithm.setting.emitters = 1;
    algorithm.setting.batch = 4;
    Loop original(algorithm);
    original.steps(6);
    const auto state = original.state();
    Loop other(algorithm);
    for (std::size_t length = 0; length < state.size(); length += 7) {
      try {
        other.load(std::span<const std::byte>(state).first(length));
        ADD_FAILURE() << "accepted " << length << " of " << state.size() << " bytes";
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::corrupt) << length;
      }
    }
    for (std::size_t at = 0; at < state.size(); at += 11) {
      auto forged = state;
      forged[at] ^= std::byte{1} << (at % 8);
      Loop hurt(algorithm);
      try {
        hurt.load(forged);
        hurt.steps(1);
      } catch (const Error&) {  // an Error is all that may come of it
      }
    }
    other.load(state);
    original.steps(3);
    other.steps(3);
    EXPECT_TRUE(original.state() == other.state());
  }
}

TEST(Rivals, TheStateOfOneIsRefusedByAnother) {
  const Setting setting = {.n = 4, .emitters = 2, .batch = 4};
  const std::vector<Algorithm> others = {
      {"CMA-MAE", thresholds(0.01), cma_es(Selection::mu), basic, setting},
      {"CMA-ME", improvement, cma_es(Selection::mu), basic, setting},
      {"MAP-Elites (line)", nothing, iso_line(), basic, setting},
      {"MAP-Elites", nothing, gaussian, basic, setting},
  };
  for (const auto& from : others) {
    Loop original(from);
    original.steps(3);
    for (const auto& to : others) {
      Loop other(to);
      if (from.name == to.name) {
        EXPECT_NO_THROW(other.load(original.state()));
      } else {
        EXPECT_THROW(other.load(original.state()), Error) << from.name << " to " << to.name;
      }
    }
  }
}

// After the first iteration: all that a batch needs has its place.
TEST(Rivals, AllocateNothingInTheLoop) {
  if (RAREFY_COUNTS_NEW == 0) GTEST_SKIP() << "allocations cannot be counted here";
  for (auto& algorithm : algorithms()) {
    for (const Index threads : {1, 2}) {
      SCOPED_TRACE(algorithm.name);
      algorithm.setting.threads = threads;
      Loop loop(algorithm);
      loop.steps(1);
      const auto restarted = loop.search.restarts();
      const auto found = loop.search.archive().size();
      news.store(0);
      counting_new.store(true);
      loop.steps(kIterations);
      counting_new.store(false);
      EXPECT_EQ(news.load(), 0);
      EXPECT_GT(loop.search.archive().size(), found);
      EXPECT_EQ(loop.search.restarts() > restarted, restarts(algorithm));
    }
  }
  news.store(0);
  counting_new.store(true);
  const auto block = std::make_unique<int>(5);
  counting_new.store(false);
  EXPECT_EQ(news.load(), *block == 5 ? 1 : 0) << "the counter does not count";
}

// An optimizer's view of the world.
class NegatedObjective : public Density {
 public:
  explicit NegatedObjective(Index feature_dim) : feature_dim_(feature_dim) {}
  [[nodiscard]] std::string_view name() const override { return "objective"; }
  [[nodiscard]] Index feature_dim() const override { return feature_dim_; }
  [[nodiscard]] bool informed() const override { return true; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& /*workers*/) override {
    std::transform(batch.objectives.begin(), batch.objectives.end(), scores.begin(),
                   std::negate<>());
  }
  void observe(const Evaluated& /*batch*/, Workers& /*workers*/) override {}
  void save(StateWriter& /*out*/) const override {}
  void load(StateReader& /*in*/) override {}

 private:
  Index feature_dim_;
};

// CMA-MAE with alpha = 0 is CMA-ES on the objective, for ever and to the last bit: through
// convergence on the optimum, and through the restarts after it.
TEST(Rivals, CmaMaeOfRateZeroIsCmaEs) {
  const Setting setting = {.n = 4, .emitters = 3, .batch = 8};
  Loop annealed({"alpha = 0", thresholds(0.0), cma_es(Selection::mu), basic, setting});
  Loop optimizer(
      {"CMA-ES",
       [](const Cells& cells) { return std::make_unique<NegatedObjective>(cells->feature_dim()); },
       cma_es(Selection::mu), basic, setting});
  for (int i = 0; i < 400; ++i) {
    annealed.steps(1);
    optimizer.steps(1);
    ASSERT_TRUE(same_bits(annealed.search.scores(), optimizer.search.scores())) << i;
  }
  expect_same_course(annealed, optimizer);
  EXPECT_GE(annealed.search.restarts(), 3);
  const auto best = annealed.search.archive().objectives();
  EXPECT_GT(*std::max_element(best.begin(), best.end()), 100 - 1e-9) << "the sphere's optimum";
}

// CMA-MAE with alpha = 1 ranks by improvement on what was accepted last, as CMA-ME does but for
// its stages. With one candidate a batch no two fall into the same cell, and its thresholds are
// the best objectives of the cells: what CMA-ME keeps, and what the archive holds.
TEST(Rivals, CmaMaeOfRateOneKeepsWhatCmaMeKeeps) {
  constexpr double kMinimum = -1e6;
  const Setting setting = {.n = 4, .emitters = 1, .batch = 1};
  Loop annealed({"alpha = 1", thresholds(1.0, kMinimum), iso_line(), basic, setting});
  Loop me({"improvement", improvement, iso_line(), basic, setting});
  int improved = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::vector<double> before(
        dynamic_cast<const AnnealedThresholds&>(annealed.search.density()).thresholds().begin(),
        dynamic_cast<const AnnealedThresholds&>(annealed.search.density()).thresholds().end());
    const auto known = annealed.search.archive().size();
    annealed.steps(1);
    me.steps(1);
    const auto& archive = annealed.search.archive();
    const auto& now = dynamic_cast<const AnnealedThresholds&>(annealed.search.density());
    const auto& best = dynamic_cast<const Improvement&>(me.search.density());
    for (Index cell = 0; cell < archive.tessellation().cells(); ++cell) {
      const auto at = static_cast<std::size_t>(cell);
      const Index elite = archive.elite_of(cell);
      if (elite < 0) {
        ASSERT_EQ(now.thresholds()[at], kMinimum);
        ASSERT_TRUE(std::isinf(best.best()[at]));
      } else {
        ASSERT_EQ(now.thresholds()[at], archive.objectives()[static_cast<std::size_t>(elite)]);
        ASSERT_EQ(now.thresholds()[at], best.best()[at]);
      }
    }
    // Accepted by one, accepted by the other, taken by the archive.
    const bool accepted = annealed.search.scores()[0] < 0;
    ASSERT_EQ(accepted, me.search.scores()[0] < 0);
    ASSERT_EQ(accepted, !std::ranges::equal(before, now.thresholds()));
    improved += accepted && archive.size() == known ? 1 : 0;
  }
  EXPECT_GT(improved, 50);
  EXPECT_LT(improved, 1400);
}

double qd_score(const Archive& archive) {
  const auto objectives = archive.objectives();
  return std::accumulate(objectives.begin(), objectives.end(), 0.0);
}

// Not a claim of the papers' figures, but of their order on an easy problem, with the same step
// for all: whoever learns, or follows the line between elites, leaves plain MAP-Elites behind.
TEST(SlowRivals, DoBetterThanPlainMapElites) {
  const auto score = [](const MakeDensity& density, const MakeEmitter& emitter) {
    Loop loop({"", density, emitter, basic, {.n = 100, .emitters = 5, .batch = 36, .grid = 100}});
    loop.steps(100);
    return qd_score(loop.search.archive());
  };
  const double plain = score(nothing, gaussian);
  EXPECT_GT(score(nothing, iso_line()), 1.25 * plain);
  EXPECT_GT(score(thresholds(0.01), cma_es(Selection::mu)), 1.25 * plain);
  EXPECT_GT(score(improvement, cma_es(Selection::mu)), 1.25 * plain);
  RecordProperty("plain", std::to_string(plain));
}

}  // namespace
}  // namespace rarefy
