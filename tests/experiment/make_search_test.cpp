#include "rarefy/experiment/make_search.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

using rarefy::Batch;
using rarefy::Config;
using rarefy::DomainInfo;
using rarefy::Error;
using rarefy::Index;

namespace {

struct Variant {
  std::string name;
  std::function<void(Config&)> change;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const auto* at : {"adaptive", "average", "rarest", "sparsest", "elite", "origin"}) {
    all.push_back({std::string("restart_at_") + at, [at](Config& c) { set(c, "restart-at", at); }});
  }
  for (const auto* when : {"stagnation", "basic"}) {
    all.push_back(
        {std::string("restart_when_") + when, [when](Config& c) { set(c, "restart-when", when); }});
  }
  for (const auto* kernel : {"gaussian", "triangular", "epanechnikov"}) {
    all.push_back({kernel, [kernel](Config& c) { set(c, "kernel", kernel); }});
    // So narrow that most candidates lie outside of every kernel.
    all.push_back({std::string("narrow_") + kernel, [kernel](Config& c) {
                     set(c, "kernel", kernel);
                     set(c, "bandwidth", "0.0001 width");
                   }});
  }
  for (const auto* factor : {"cholesky", "eigen"}) {
    all.push_back({factor, [factor](Config& c) { set(c, "factor", factor); }});
  }
  for (const auto* bandwidth :
       {"auto", "scott", "spread", "likelihood", "local", "3.5", "0.05 width"}) {
    auto name = std::string("bandwidth_") + bandwidth;
    for (char& c : name) c = c == '.' || c == ' ' ? '_' : c;
    all.push_back({name, [bandwidth](Config& c) { set(c, "bandwidth", bandwidth); }});
  }
  all.push_back({"unlimited_buffer", [](Config& c) {
                   c.density.buffer = 0;
                   set(c, "bandwidth", "0.05 width");
                 }});
  all.push_back({"buffer_of_one", [](Config& c) { c.density.buffer = 1; }});
  all.push_back({"odd_batch", [](Config& c) { c.emitters.batch = 7; }});
  all.push_back({"smallest_batch", [](Config& c) { c.emitters.batch = 2; }});
  all.push_back({"one_emitter", [](Config& c) { c.emitters.count = 1; }});
  all.push_back({"not_mirrored", [](Config& c) { c.emitters.cma_es.mirrored = false; }});
  all.push_back({"cvt_in_two_dimensions", [](Config& c) { set(c, "archive", "cvt"); }});
  all.push_back({"one_dimension", [](Config& c) { c.problem.m = 1; }});
  all.push_back({"grid_in_three_dimensions", [](Config& c) {
                   c.problem.m = 3;
                   set(c, "archive", "grid");
                 }});
  all.push_back({"sphere", [](Config& c) { c.problem.objective = "sphere"; }});
  all.push_back({"rastrigin", [](Config& c) { c.problem.objective = "rastrigin"; }});
  for (const auto* repair : {"reflect", "clip"}) {
    all.push_back({std::string("bounds_") + repair, [repair](Config& c) {
                     set(c, "bounds", "-1,1.5");
                     set(c, "repair", repair);
                   }});
  }
  all.push_back({"published", [](Config& c) {
                   const auto now = c;
                   c = small_config("lp", rarefy::Profile::published);
                   c.seed = now.seed;
                 }});
  all.push_back({"multi_lp", [](Config& c) { c = small_config("multi-lp"); }});
  all.push_back({"arm", [](Config& c) { c = small_config("arm"); }});
  all.push_back({"arm_even", [](Config& c) {
                   c = small_config("arm");
                   c.problem.objective = "even";
                 }});
  return all;
}

class EveryPreset : public testing::TestWithParam<Variant> {};

TEST_P(EveryPreset, RunsAndGoesOnFromItsSavedState) {
  auto config = small_config();
  GetParam().change(config);
  const auto domain = rarefy::make_domain(config);
  PlainEvaluator evaluator(*domain);
  const auto search = rarefy::make_search(config, domain->info(), 1);
  rarefy::drive(*search, evaluator, 30);
  const auto state = state_of(*search);
  rarefy::drive(*search, evaluator, 60);
  EXPECT_EQ(search->archive().total_visits(), search->evaluations());
  EXPECT_GE(search->archive().size(), 5);

  // The same on two threads, taken up in the middle.
  const auto other = rarefy::make_search(config, domain->info(), 2);
  rarefy::StateReader in(state);
  ASSERT_NO_THROW(other->load(in));
  EXPECT_TRUE(in.at_end());
  rarefy::drive(*other, evaluator, 60);
  EXPECT_TRUE(state_of(*other) == state_of(*search));
}

INSTANTIATE_TEST_SUITE_P(Of, EveryPreset, testing::ValuesIn(variants()),
                         [](const auto& each) { return each.param.name; });

// Sums over aligned and unaligned memory can be rounded differently, and where a search lies in
// memory differs from process to process.
TEST(MakeSearch, WhereASearchLiesInMemoryChangesNothing) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 9, 12, 33}) {
    for (const auto* factor : {"cholesky", "eigen"}) {
      for (const auto* bounds : {"none", "-1,1"}) {
        auto config = small_config();
        config.problem.n = n;
        config.problem.m = 1;
        set(config, "factor", factor);
        set(config, "bounds", bounds);
        const auto domain = rarefy::make_domain(config);
        PlainEvaluator evaluator(*domain);
        std::vector<std::byte> expected;
        std::vector<std::unique_ptr<char[]>> in_the_way;
        for (std::size_t attempt = 0; attempt < 8; ++attempt) {
          const auto search = rarefy::make_search(config, domain->info(), 1);
          rarefy::drive(*search, evaluator, 15);
          if (attempt == 0) expected = state_of(*search);
          EXPECT_TRUE(state_of(*search) == expected) << n << " " << factor << " " << bounds;
          // Moves what the next one allocates by 16 bytes or a few.
          for (std::size_t i = 0; i < 3 * attempt + 1; ++i) {
            in_the_way.push_back(std::make_unique<char[]>(8 + 16 * i));
          }
        }
      }
    }
  }
}

TEST(MakeSearch, GiveAnUnlimitedBufferPanelsWhereTheyServe) {
  auto config = small_config();
  config.density.buffer = 0;
  const auto domain = rarefy::make_domain(config);
  EXPECT_THAT(rarefy::make_search(config, domain->info(), 1)->density().description(),
              testing::StartsWith("panels"));
  set(config, "kde", "direct");
  EXPECT_EQ(rarefy::make_search(config, domain->info(), 1)->density().description(), "direct sums");
  set(config, "kde", "panels");
  set(config, "kernel", "triangular");
  EXPECT_THROW((void)rarefy::make_search(config, domain->info(), 1), Error);
}

TEST(MakeSearch, SayWhatTakesLinearMemoryWhereMatricesDoNotFit) {
  auto config = small_config();
  config.problem.n = 1'000'000;
  config.emitters.strategy = rarefy::Strategy::cma_es;
  const auto domain = rarefy::make_domain(config);
  try {
    (void)rarefy::make_search(config, domain->info(), 1);
    FAIL() << "there is no machine with so much memory";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("strategy sep-cma-es or lm-ma-es"));
  }
}

TEST(MakeSearch, DifferentChoicesGiveDifferentSearches) {
  const auto state_with = [](const std::function<void(Config&)>& change) {
    auto config = small_config();
    change(config);
    const auto domain = rarefy::make_domain(config);
    PlainEvaluator evaluator(*domain);
    const auto search = rarefy::make_search(config, domain->info(), 1);
    rarefy::drive(*search, evaluator, 60);
    EXPECT_GT(search->restarts(), 0);
    std::vector<double> found(search->archive().solutions().values().begin(),
                              search->archive().solutions().values().end());
    return found;
  };
  const auto before = state_with([](Config&) {});
  EXPECT_TRUE(before == state_with([](Config&) {}));
  for (const auto* at : {"average", "rarest", "sparsest", "elite", "origin"}) {
    EXPECT_FALSE(before == state_with([at](Config& c) { set(c, "restart-at", at); })) << at;
  }
  EXPECT_FALSE(before == state_with([](Config& c) { set(c, "kernel", "triangular"); }));
  EXPECT_FALSE(before == state_with([](Config& c) { set(c, "factor", "eigen"); }));
  EXPECT_FALSE(before == state_with([](Config& c) { set(c, "strategy", "sep-cma-es"); }));
  EXPECT_FALSE(before == state_with([](Config& c) { set(c, "strategy", "lm-ma-es"); }));
  EXPECT_FALSE(before == state_with([](Config& c) { c.seed = 2; }));
  EXPECT_FALSE(before == state_with([](Config& c) { c.emitters.sigma0 = 1.25; }));
  EXPECT_FALSE(before == state_with([](Config& c) { c.emitters.x0 = 0.5; }));
  EXPECT_FALSE(before == state_with([](Config& c) { c.emitters.cma_es.mirrored = false; }));
  EXPECT_FALSE(before == state_with([](Config& c) { c.restarts.stagnation.patience = 4; }));
  EXPECT_FALSE(before == state_with([](Config& c) { c.restarts.adaptive.average_of = 2; }));
}

TEST(MakeSearch, BasicRestartsAreRarerThanThoseOfStagnation) {
  const auto restarts_with = [](const std::string& when) {
    auto config = small_config();
    set(config, "restart-when", when);
    const auto domain = rarefy::make_domain(config);
    PlainEvaluator evaluator(*domain);
    const auto search = rarefy::make_search(config, domain->info(), 1);
    rarefy::drive(*search, evaluator, 60);
    return search->restarts();
  };
  EXPECT_LT(restarts_with("basic"), restarts_with("stagnation"));
}

TEST(MakeSearch, BoundsKeepEverySolutionInside) {
  struct Box {
    std::string domain, bounds;
    double low, high;
  };
  const std::vector<Box> boxes = {{"lp", "-1,1.5", -1, 1.5},
                                  {"lp", "domain", -5.12, 5.12},
                                  {"arm", "domain", -std::numbers::pi, std::numbers::pi},
                                  {"lp", "-1e-3,2e-3", -1e-3, 2e-3}};
  for (const auto& box : boxes) {
    for (const auto* repair : {"reflect", "clip"}) {
      for (const std::int64_t resamples : {0, 10}) {
        auto config = small_config(box.domain);
        set(config, "bounds", box.bounds);
        set(config, "repair", repair);
        config.emitters.resamples = resamples;
        config.emitters.sigma0 = 4.0;  // most samples fall outside
        const auto domain = rarefy::make_domain(config);
        const auto search = rarefy::make_search(config, domain->info(), 1);
        Batch features(search->candidates(), search->feature_dim());
        std::vector<double> objectives(static_cast<std::size_t>(search->candidates()));
        bool at_the_border = false;
        for (int iteration = 0; iteration < 20; ++iteration) {
          const auto solutions = search->ask();
          for (const double value : solutions.values()) {
            ASSERT_GE(value, box.low);
            ASSERT_LE(value, box.high);
            at_the_border = at_the_border || value == box.low || value == box.high;
          }
          domain->evaluate(solutions, features, objectives);
          search->tell(features, objectives);
        }
        if (std::string(repair) == "clip" && resamples == 0) {
          EXPECT_TRUE(at_the_border) << "clipping leaves values on the border";
        }
      }
    }
  }
}

TEST(MakeSearch, RefuseBoundsThatCannotBe) {
  for (const auto* bounds :
       {"", "1", "1,", ",1", "2,1", "1,1", "a,b", "1;2", "1,2,3", "nan,1", "domains"}) {
    auto config = small_config();
    try {
      set(config, "bounds", bounds);
      ADD_FAILURE() << "accepted '" << bounds << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
      EXPECT_NE(std::string(error.what()).find(fmt::format("'{}'", bounds)), std::string::npos)
          << error.what();
    }
  }
}

// Not one of ours: a name, a length and a feature space are enough.
TEST(MakeSearch, TakeAProblemOfTheUsers) {
  DomainInfo mine;
  mine.name = "mine";
  mine.solution_dim = 3;
  mine.feature_space = {{0.0, -1.0}, {2.0, 1.0}};
  auto config = small_config();
  const auto search = rarefy::make_search(config, mine, 1);
  EXPECT_EQ(search->solution_dim(), 3);
  EXPECT_EQ(search->feature_dim(), 2);
  Batch features(search->candidates(), 2);
  for (int iteration = 0; iteration < 40; ++iteration) {
    const auto solutions = search->ask();
    for (Index i = 0; i < solutions.rows(); ++i) {
      features(i, 0) = 1.0 + std::tanh(solutions(i, 0));
      features(i, 1) = std::tanh(solutions(i, 1) * solutions(i, 2));
    }
    search->tell(features);
  }
  EXPECT_GT(search->archive().size(), 40);
  EXPECT_EQ(search->archive().objectives()[0], 1.0) << "all equal where there are none";

  set(config, "bounds", "domain");
  try {
    (void)rarefy::make_search(config, mine, 1);
    FAIL() << "it has no natural range";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'mine'"), std::string::npos) << error.what();
  }
  mine.solution_low = -2.0;
  mine.solution_high = 2.0;
  EXPECT_NO_THROW((void)rarefy::make_search(config, mine, 1));
}

TEST(MakeSearch, RefuseAProblemThatCannotBe) {
  const auto config = small_config();
  DomainInfo mine;
  mine.name = "mine";
  mine.solution_dim = 3;
  EXPECT_THROW((void)rarefy::make_search(config, mine, 1), Error) << "no features";
  mine.feature_space = {{0.0, 1.0}, {2.0, 1.0}};
  EXPECT_THROW((void)rarefy::make_search(config, mine, 1), Error) << "a feature without width";
  mine.feature_space = {{0.0, 0.0}, {2.0, 1.0}};
  mine.solution_dim = 0;
  EXPECT_THROW((void)rarefy::make_search(config, mine, 1), Error) << "empty solutions";
}

TEST(MakeSearch, ChooseTheArchive) {
  rarefy::Workers workers(1);
  auto config = small_config();
  const auto cells_of = [&](const Config& c) {
    return rarefy::make_tessellation(c, rarefy::make_domain(c)->info(), workers);
  };
  EXPECT_EQ(cells_of(config)->name(), "grid");
  EXPECT_EQ(cells_of(config)->cells(), 400);
  config.problem.m = 3;
  EXPECT_EQ(cells_of(config)->name(), "cvt");
  EXPECT_EQ(cells_of(config)->cells(), 30);
  set(config, "archive", "grid");
  EXPECT_EQ(cells_of(config)->cells(), 8000);
  config.problem.m = 2;
  set(config, "archive", "cvt");
  EXPECT_EQ(cells_of(config)->name(), "cvt");

  // Centroids of a file, in place of made ones; with archive = auto they say cvt by themselves.
  const TemporaryFolder folder;
  const auto path = folder.path() / "centroids.npy";
  Batch centroids(4, 2);
  for (Index i = 0; i < 4; ++i) centroids(i, 0) = static_cast<double>(i);
  rarefy::write_npy(path, centroids);
  for (const auto* archive : {"cvt", "auto"}) {
    set(config, "archive", archive);
    config.archive.centroids = path.string();
    const auto cells = cells_of(config);
    const auto* cvt = dynamic_cast<const rarefy::Cvt*>(cells.get());
    ASSERT_NE(cvt, nullptr) << archive;
    EXPECT_EQ(cvt->cells(), 4);
    EXPECT_EQ(cvt->centroids()(3, 0), 3.0);
  }
  rarefy::write_npy(path, Batch(4, 3));
  EXPECT_THROW((void)cells_of(config), Error) << "of another number of features";
  config.archive.centroids = (folder.path() / "missing.npy").string();
  EXPECT_THROW((void)cells_of(config), Error);
}

TEST(MakeSearch, MakeTheDomainThatIsNamed) {
  EXPECT_EQ(rarefy::make_domain(small_config("lp"))->info().name, "lp");
  EXPECT_EQ(rarefy::make_domain(small_config("arm"))->info().name, "arm");
  const auto multi = rarefy::make_domain(small_config("multi-lp"));
  EXPECT_EQ(multi->info().name, "multi-lp");
  EXPECT_EQ(multi->info().feature_dim(), 10);
  auto config = small_config("arm");
  config.problem.objective = "sphere";
  EXPECT_THROW((void)rarefy::make_domain(config), Error);
  config = small_config("lp");
  config.problem.n = 7;
  EXPECT_THROW((void)rarefy::make_domain(config), Error);
}

TEST(MakeSearch, RefuseWhatTheyWouldIgnore) {
  auto published = rarefy::default_config("lp", "dds-kde", rarefy::Profile::published);
  set(published, "factor", "cholesky");
  const auto lp = rarefy::make_domain(published);
  EXPECT_THROW((void)rarefy::make_search(published, lp->info(), 1), rarefy::Error);
  set(published, "factor", "eigen");
  set(published, "kernel", "triangular");
  EXPECT_THROW((void)rarefy::make_search(published, lp->info(), 1), rarefy::Error);
}

TEST(MakeSearch, RefuseAnInitialSolutionOutsideTheBounds) {
  auto config = rarefy::default_config("arm");
  set(config, "bounds", "domain");
  config.emitters.x0 = 10;
  const auto arm = rarefy::make_domain(config);
  EXPECT_THROW((void)rarefy::make_search(config, arm->info(), 1), rarefy::Error);
}

}  // namespace
