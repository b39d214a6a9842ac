// Runs on problems that do not come with the library.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "rarefy/core/error.hpp"
#include "rarefy/domains/function_domain.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/runs/summary.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/storage/npz.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

namespace rarefy {
namespace {

namespace fs = std::filesystem;

DomainInfo description() {
  DomainInfo info;
  info.name = "wave";
  info.title = "A wave of 'one's \"own\"";
  info.solution_dim = 4;
  info.feature_space = {{-2, -1e-3}, {2, 1e3}};
  info.feature_names = {"left", "right, and so on"};
  info.solution_low = -3;
  info.constant_objective = false;
  info.least_objective = -1.5;
  info.lines = {{0, 0, 1, 1}, {0.1, 2, 3, 4}};
  info.places = {{0.5, 0.25, "here"}};
  return info;
}

double wave(std::span<const double> x, std::span<double> features) {
  features[0] = x[0] + 0.5 * std::sin(x[1]);
  features[1] = 500 + 400 * std::tanh(x[2] * x[3]);
  return std::cos(x[0] + x[3]);
}

std::shared_ptr<const Domain> own() {
  return std::make_shared<FunctionDomain>(description(), wave);
}

Config small() {
  auto config = small_config();
  config.iterations = 30;
  return config;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

struct OwnProblem : testing::Test {
  TemporaryFolder place;
  [[nodiscard]] fs::path at(const std::string& name) const { return place.path() / name; }
  [[nodiscard]] RunFolder create(const std::string& name) const {
    return RunFolder::create(at(name), false);
  }
  [[nodiscard]] RunFolder open(const std::string& name) const { return RunFolder::open(at(name)); }
};

TEST_F(OwnProblem, HasAFolderLikeAnyOther) {
  const auto run = Run::start(small(), own(), create("run"), {.threads = 1});
  EXPECT_EQ(run->go(), DriveEnd::finished);
  for (const fs::path& file :
       {run->folder().config(), run->folder().metrics(), run->folder().archive(),
        run->folder().heatmap(), run->folder().checkpoint()}) {
    EXPECT_TRUE(fs::exists(file)) << file;
  }
  const auto summary = summary_of(*run);
  EXPECT_NE(summary.find(description().title), std::string::npos) << summary;
  EXPECT_NE(summary.find("objectives less -1.5"), std::string::npos) << summary;
}

TEST_F(OwnProblem, GoesOnToTheSameBytes) {
  {
    const auto whole = Run::start(small(), own(), create("whole"), {.threads = 1});
    whole->go();
  }
  {
    auto config = small();
    config.iterations = 13;
    Run::start(config, own(), create("run"), {.threads = 2})->go();
  }
  const auto run = Run::resume(open("run"), own(), {.threads = 1});
  EXPECT_EQ(run->search().iteration(), 13);
  run->set_iterations(30);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_TRUE(bytes_of(at("run") / "archive.npz") == bytes_of(at("whole") / "archive.npz"));
}

TEST_F(OwnProblem, CanBeLookedAtWithoutIt) {
  Run::start(small(), own(), create("run"), {.threads = 1})->go();
  const auto picture = bytes_of(at("run") / "heatmap.png");
  fs::remove(at("run") / "heatmap.png");
  const auto run = Run::resume(open("run"), 1);
  EXPECT_FALSE(run->can_go_on());
  EXPECT_TRUE(run->domain().info() == description()) << "as it was described";
  run->write_results();
  EXPECT_TRUE(bytes_of(at("run") / "heatmap.png") == picture);
  run->set_iterations(40);
  const auto message = message_of([&] { run->go(); });
  EXPECT_NE(message.find("'wave'"), std::string::npos) << message;
}

TEST_F(OwnProblem, MustBeTheOneTheRunWasBegunOn) {
  Run::start(small(), own(), create("run"), {.threads = 1})->go();
  auto other = description();
  other.feature_space.upper[0] = 4;
  const auto message = message_of(
      [&] { (void)Run::resume(open("run"), std::make_shared<FunctionDomain>(other, wave)); });
  EXPECT_NE(message.find("another problem"), std::string::npos) << message;
  EXPECT_NE(message.find("feature space"), std::string::npos) << message;
  other = description();
  other.title = "Another title";  // which matters to nobody
  EXPECT_NO_THROW((void)Run::resume(open("run"), std::make_shared<FunctionDomain>(other, wave)));
}

TEST_F(OwnProblem, NeedsANameOfItsOwnAndNothingPublished) {
  auto info = description();
  info.name = "lp";
  auto message = message_of([&] {
    (void)Run::start(small(), std::make_shared<FunctionDomain>(info, wave), create("a"));
  });
  EXPECT_NE(message.find("'lp'"), std::string::npos) << message;
  info.name = "";
  EXPECT_THROW((void)Run::start(small(), std::make_shared<FunctionDomain>(info, wave), create("b")),
               Error);
  auto config = small();
  config.profile = Profile::published;
  message = message_of([&] { (void)Run::start(config, own(), create("c")); });
  EXPECT_NE(message.find("published"), std::string::npos) << message;
}

TEST_F(OwnProblem, OfOursIsTheDomainKnownByName) {
  const auto config = small();
  {
    const auto run = Run::start(config, make_domain(config), create("open"), {.threads = 1});
    EXPECT_FALSE(run->config().own_problem);
    run->go();
  }
  Run::start(config, create("named"), 1)->go();
  EXPECT_TRUE(bytes_of(at("open") / "archive.npz") == bytes_of(at("named") / "archive.npz"));
  EXPECT_TRUE(Run::resume(open("open"), 1)->can_go_on());
}

TEST_F(OwnProblem, MayBeEvaluatedByWhoeverOneLikes) {
  class Counting : public Evaluator {
   public:
    void evaluate(BatchView solutions, const EvaluationSpan& out) override {
      ++calls;
      for (Index i = 0; i < solutions.rows(); ++i) {
        out.objectives[static_cast<std::size_t>(i)] = wave(solutions.row(i), out.features.row(i));
      }
      out.valid[0] = 0;
    }
    int calls = 0;
  };
  const auto evaluator = std::make_shared<Counting>();
  const auto run =
      Run::start(small(), own(), create("run"), {.threads = 1, .evaluator = evaluator});
  run->go();
  EXPECT_EQ(evaluator->calls, 30);
  EXPECT_EQ(run->now().failed, 30);
  EXPECT_NE(summary_of(*run).find("30 evaluations"), std::string::npos) << summary_of(*run);
  EXPECT_NE(run->metrics().csv().find(",30,"), std::string::npos);
}

TEST_F(OwnProblem, MayFailWithNaNWhereThatIsDeclared) {
  const auto sometimes = [](std::span<const double> x, std::span<double> features) {
    const double objective = wave(x, features);
    if (x[0] > 0.5) features[1] = std::nan("");
    return objective;
  };
  const auto domain = std::make_shared<FunctionDomain>(description(), sometimes);
  auto config = small();
  const auto refused = message_of([&] { Run::start(config, domain, create("refused"))->go(); });
  EXPECT_NE(refused.find("row"), std::string::npos) << refused;
  config.nan_fails = true;
  const auto run = Run::start(config, domain, create("taken"), {.threads = 1});
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_GT(run->search().failed(), 0);
  EXPECT_LT(run->search().failed(), run->search().evaluations());
}

TEST_F(OwnProblem, TellsObserversOfCheckpoints) {
  class Listener : public Observer {
   public:
    void checkpoint_written(const Search& search, const fs::path& file) override {
      EXPECT_TRUE(fs::exists(file));
      at.push_back(search.iteration());
    }
    std::vector<std::int64_t> at;
  } listener;
  Observer* const observers[] = {&listener};
  auto config = small();
  config.iterations = 4;
  config.output.checkpoint_seconds = 0;
  const auto run = Run::start(config, own(), create("run"), {.threads = 1});
  run->go(observers);
  EXPECT_EQ(listener.at, (std::vector<std::int64_t>{1, 2, 3, 4, 4})) << "and one at the end";
}

// For every algorithm: the given solutions are evaluated first, and resuming needs no file but
// those in the folder.
TEST_F(OwnProblem, StartsFromGivenSolutions) {
  Batch given(40, 4);  // more than a batch
  for (Index i = 0; i < given.rows(); ++i) {
    for (Index d = 0; d < 4; ++d) given(i, d) = -1.0 + 0.05 * static_cast<double>(i + d);
  }
  write_npy(at("given.npy"), given);
  for (const auto& algorithm : algorithms()) {
    const std::string name(algorithm.name);
    auto config = small();
    const auto defaults = default_config("lp", algorithm.name);
    config.algorithm = algorithm.name;
    config.restarts.when = defaults.restarts.when;
    config.restarts.at = defaults.restarts.at;
    config.emitters.selection = defaults.emitters.selection;
    config.density.flow.network.layers = config.density.discount.network.layers = {4};
    config.density.discount_range = 2.0;  // it does not state its greatest objective
    config.iterations = 4;
    config.emitters.initial_solutions = at("given.npy").string();
    const auto whole = Run::start(config, own(), create(name), {.threads = 1});
    whole->go();
    // All of them are in the archive, or something better is.
    const auto& archive = whole->search().archive();
    std::vector<double> features(2);
    for (Index i = 0; i < given.rows(); ++i) {
      const double objective = wave(given.row(i), features);
      Index cell = 0;
      archive.tessellation().assign(BatchView(features.data(), 1, 2), std::span(&cell, 1));
      const auto elite = archive.elite_of(cell);
      ASSERT_GE(elite, 0) << name << ", solution " << i;
      EXPECT_GE(archive.objectives()[static_cast<std::size_t>(elite)], objective) << name;
    }
    config.iterations = 1;
    Run::start(config, own(), create(name + "-2"), {.threads = 1})->go();
    const auto kept = at("given.npy").string() + ".away";
    fs::rename(at("given.npy"), kept);
    const auto run = Run::resume(open(name + "-2"), own(), {.threads = 1});
    run->set_iterations(4);
    run->go();
    fs::rename(kept, at("given.npy"));
    EXPECT_TRUE(bytes_of(at(name) / "archive.npz") == bytes_of(at(name + "-2") / "archive.npz"));
  }
}

TEST_F(OwnProblem, StartsFromTheArchiveOfAnotherRun) {
  Run::start(small(), own(), create("first"), {.threads = 1})->go();
  const auto size = read_npz(at("first") / "archive.npz").at("objectives").size();
  for (const auto& source : {at("first"), at("first") / "archive.npz"}) {
    auto config = small();
    config.iterations = 1 + size / 24;
    config.seed = 2;
    config.emitters.initial_solutions = source.string();
    const auto run =
        Run::start(config, own(), RunFolder::create(at("second"), true), {.threads = 1});
    run->go();
    EXPECT_GE(run->search().archive().size(), size);
  }
}

TEST_F(OwnProblem, RefusesSolutionsThatDoNotFit) {
  auto config = small();
  config.emitters.initial_solutions = at("given.npy").string();
  write_npy(at("given.npy"), Batch(3, 5));
  auto message = message_of([&] { (void)Run::start(config, own(), create("a")); });
  EXPECT_NE(message.find("3 x 5"), std::string::npos) << message;
  Batch bad(3, 4);
  bad(2, 1) = std::nan("");
  write_npy(at("given.npy"), bad);
  message = message_of([&] { (void)Run::start(config, own(), create("b")); });
  EXPECT_NE(message.find("row 2"), std::string::npos) << message;
  write_npy(at("given.npy"), Batch(3, 4));
  set(config, "bounds", "1,2");
  config.emitters.x0 = 1.5;
  message = message_of([&] { (void)Run::start(config, own(), create("c")); });
  EXPECT_NE(message.find("row 0"), std::string::npos) << message;
  config.emitters.initial_solutions = at("missing.npy").string();
  EXPECT_THROW((void)Run::start(config, own(), create("d")), Error);
}

// x0 need not lie in bounds that nothing starts outside of.
TEST_F(OwnProblem, StartsFromSolutionsWithinBoundsWithoutZero) {
  Batch given(2, 4);
  for (double& value : given.values()) value = 1.5;
  write_npy(at("given.npy"), given);
  auto config = small();
  config.emitters.initial_solutions = at("given.npy").string();
  set(config, "bounds", "1,2");
  config.iterations = 2;
  EXPECT_EQ(Run::start(config, own(), create("run"), {.threads = 1})->go(), DriveEnd::finished);
}

// Whatever a folder is begun with must be readable again.
TEST_F(OwnProblem, RefusesValuesThatNoFileCouldHave) {
  const std::vector<std::pair<std::string, std::function<void(Config&)>>> wrong = {
      {"metrics-every", [](Config& c) { c.output.metrics_every = 0; }},
      {"seed", [](Config& c) { c.seed = -1; }},
      {"checkpoint-seconds", [](Config& c) { c.output.checkpoint_seconds = INFINITY; }},
      {"iterations", [](Config& c) { c.iterations = 0; }},
      {"batch", [](Config& c) { c.emitters.batch = 1; }}};
  for (const auto& [name, change] : wrong) {
    auto config = small();
    change(config);
    const auto message = message_of([&] { (void)Run::start(config, own(), create("run")); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_FALSE(RunFolder::holds_run(at("run")));
  }
}

TEST_F(OwnProblem, ThatCallsItsObjectivesConstantIsWarnedWhereTheyAreNot) {
  auto info = description();
  info.least_objective.reset();
  info.constant_objective = true;
  const auto run = Run::start(small(), std::make_shared<FunctionDomain>(info, wave), create("run"),
                              {.threads = 1});
  run->go();
  EXPECT_NE(summary_of(*run).find("objectives differ"), std::string::npos) << summary_of(*run);
  info.least_objective = -1;
  EXPECT_THROW(info.check(), Error);
}

TEST_F(OwnProblem, SharesATeamWithOthers) {
  Run::start(small(), own(), create("alone"), {.threads = 1})->go();
  const auto team = std::make_shared<Workers>(2);
  const auto first = Run::start(small(), own(), create("first"), {.workers = team});
  const auto second = Run::start(small(), own(), create("second"), {.workers = team});
  first->go();
  second->go();
  EXPECT_TRUE(bytes_of(at("first") / "archive.npz") == bytes_of(at("alone") / "archive.npz"));
  EXPECT_TRUE(bytes_of(at("second") / "archive.npz") == bytes_of(at("alone") / "archive.npz"));
}

}  // namespace
}  // namespace rarefy
