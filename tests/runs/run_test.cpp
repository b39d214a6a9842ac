#include "rarefy/runs/run.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/storage/npz.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using rarefy::DriveEnd;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Observer;
using rarefy::Run;
using rarefy::RunFolder;
using rarefy::Search;

namespace {

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Throws at an iteration.
class Thrower : public Observer {
 public:
  explicit Thrower(std::int64_t at) : at_(at) {}
  rarefy::Next iteration_done(const Search& search) override {
    if (search.iteration() == at_) throw std::runtime_error("enough of this");
    return rarefy::Next::go_on;
  }

 private:
  std::int64_t at_;
};

struct RunInAFolder : testing::Test {
  TemporaryFolder place;
  rarefy::Config config = small_config();

  RunFolder create(const std::string& name) const {
    return RunFolder::create(place.path() / name, false);
  }
  RunFolder open(const std::string& name) const { return RunFolder::open(place.path() / name); }
  std::string whole_archive() const {
    const auto run = Run::start(config, create("whole"), 1);
    EXPECT_EQ(run->go(), DriveEnd::finished);
    return bytes_of(run->folder().archive());
  }
};

TEST_F(RunInAFolder, CanBeResumedFromItsFirstMoment) {
  const auto expected = whole_archive();
  (void)Run::start(config, create("run"), 1);  // and no further
  const auto run = Run::resume(open("run"), 2);
  EXPECT_EQ(run->search().iteration(), 0);
  EXPECT_TRUE(run->config() == config);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

// Answers with the first two numbers, and counts.
class FirstTwo : public rarefy::Evaluator {
 public:
  void evaluate(rarefy::BatchView solutions, const rarefy::EvaluationSpan& out) override {
    for (rarefy::Index i = 0; i < solutions.rows(); ++i) {
      std::copy_n(solutions.row(i).begin(), 2, out.features.row(i).begin());
      out.objectives[static_cast<std::size_t>(i)] = 1.0;
      ++rows;
    }
  }
  [[nodiscard]] std::string description() const override { return "somebody else"; }
  rarefy::Index rows = 0;
};

TEST_F(RunInAFolder, SomebodyElseCanEvaluateForAProgram) {
  // Nobody starts the program, which would fail.
  config = rarefy::resolve(rarefy::parse_settings(
      "[run]\ndomain = 'mine'\niterations = 4\n[program]\ncommand = 'exit 3'\n"
      "[problem]\nname = 'mine'\nn = 3\nconstant-objective = true\nlower = [-2.0, -2.0]\n"
      "upper = [2.0, 2.0]\n",
      "test"));
  const auto evaluator = std::make_shared<FirstTwo>();
  const auto run =
      Run::start(config, create("run"), rarefy::RunTeam{.threads = 1, .evaluator = evaluator});
  EXPECT_EQ(run->evaluated_by(), "somebody else");
  EXPECT_EQ(run->program(), nullptr);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_EQ(evaluator->rows, 4 * run->search().candidates());
  const auto expected = bytes_of(run->folder().archive());

  // And take over from another.
  const auto second = Run::start(config, create("second"), 1);
  EXPECT_NE(second->program(), nullptr);
  second->evaluate_with(evaluator);
  EXPECT_EQ(second->go(), DriveEnd::finished);
  EXPECT_TRUE(bytes_of(second->folder().archive()) == expected);
}

TEST_F(RunInAFolder, AnObserverThatThrowsLeavesAResumableFolder) {
  const auto expected = whole_archive();
  {
    const auto run = Run::start(config, create("run"), 1);
    Thrower thrower(17);
    Observer* const observers[] = {&thrower};
    EXPECT_THROW(run->go(observers), std::runtime_error);
    for (const fs::path& file : {run->folder().archive(), run->folder().metrics(),
                                 run->folder().heatmap(), run->folder().checkpoint()}) {
      EXPECT_TRUE(fs::exists(file)) << file;
    }
  }
  const auto run = Run::resume(open("run"), 1);
  EXPECT_EQ(run->search().iteration(), 17) << "not an iteration is lost";
  EXPECT_EQ(run->metrics().lines().back().iteration, 17);
  EXPECT_EQ(run->go(), DriveEnd::finished);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

TEST_F(RunInAFolder, AnErrorOfAnObserverIsNotHiddenByOneOfTheDisk) {
  const auto run = Run::start(config, create("run"), 1);
  class Wrecker : public Observer {
   public:
    explicit Wrecker(fs::path folder) : folder_(std::move(folder)) {}
    rarefy::Next iteration_done(const Search& /*search*/) override {
      fs::remove_all(folder_);
      throw std::runtime_error("the first trouble");
    }

   private:
    fs::path folder_;
  } wrecker(run->folder().path());
  Observer* const observers[] = {&wrecker};
  try {
    run->go(observers);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "the first trouble");
  }
}

TEST_F(RunInAFolder, AStopIsAResumableEnd) {
  const auto expected = whole_archive();
  std::atomic<bool> stop{true};
  {
    const auto run = Run::start(config, create("run"), 1);
    EXPECT_EQ(run->go({}, &stop), DriveEnd::stopped);
    EXPECT_EQ(run->search().iteration(), 0);
    EXPECT_TRUE(run->metrics().lines().empty());
    stop = false;
    EXPECT_EQ(run->go({}, &stop), DriveEnd::finished) << "it goes on in the same process too";
    EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
  }
}

TEST_F(RunInAFolder, MetricsComeEverySoOftenAndAtTheEnd) {
  config.iterations = 25;
  const auto run = Run::start(config, create("run"), 1);
  run->go();
  std::vector<std::int64_t> iterations;
  for (const auto& line : run->metrics().lines()) {
    iterations.push_back(line.iteration);
    EXPECT_EQ(line.evaluations, line.iteration * 24);
  }
  EXPECT_EQ(iterations, (std::vector<std::int64_t>{10, 20, 25}));
  EXPECT_EQ(bytes_of(run->folder().metrics()), run->metrics().csv());
  run->set_iterations(40);
  run->go();
  EXPECT_EQ(run->metrics().lines().back().iteration, 40);
  EXPECT_EQ(run->metrics().lines().size(), 4U) << "10, 20, 30, 40: the stop at 25 leaves no trace";
  EXPECT_EQ(rarefy::resolve(rarefy::read_settings(run->folder().config())).iterations, 40);
}

TEST_F(RunInAFolder, SecondsAreThoseOfSearching) {
  const auto run = Run::start(config, create("run"), 1);
  EXPECT_EQ(run->seconds(), 0.0);
  run->go();
  const double spent = run->seconds();
  EXPECT_GT(spent, 0.0);
  EXPECT_EQ(run->seconds(), spent) << "the clock stands still now";
  EXPECT_EQ(run->now().seconds, spent);
}

TEST_F(RunInAFolder, ACheckpointOfAnotherConfigurationIsRefused) {
  (void)Run::start(config, create("run"), 1);
  auto other = config;
  other.emitters.sigma0 = 1.25;
  std::ofstream(place.path() / "run" / "config.toml") << rarefy::to_toml(other);
  try {
    (void)Run::resume(open("run"), 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("config.toml"), std::string::npos) << error.what();
  }
  other = config;
  other.iterations = 7;
  other.output.metrics_every = 3;
  other.output.checkpoint_seconds = 0;
  std::ofstream(place.path() / "run" / "config.toml") << rarefy::to_toml(other);
  EXPECT_TRUE(Run::resume(open("run"), 1)->config() == other);
}

TEST_F(RunInAFolder, AFailedBeginningLeavesNoRun) {
  config.problem.n = 7;  // not a multiple of m
  EXPECT_THROW((void)Run::start(config, create("run"), 1), Error);
  EXPECT_FALSE(fs::exists(place.path() / "run" / "config.toml"));
  EXPECT_THROW((void)open("run"), Error);
  config.problem.n = 6;
  EXPECT_NO_THROW((void)Run::start(config, create("run"), 1));
}

// Centroids cost time to make, and could come out differently elsewhere: they are kept.
TEST_F(RunInAFolder, CentroidsAreKeptInTheFolder) {
  config = small_config("multi-lp");
  const auto expected = whole_archive();
  const auto made = bytes_of(place.path() / "whole" / "centroids.npy");
  auto given = config;
  given.archive.centroids = (place.path() / "given.npy").string();
  given.archive.cvt.seed = 77;
  fs::copy_file(place.path() / "whole" / "centroids.npy", given.archive.centroids);
  (void)Run::start(given, create("run"), 1);
  fs::remove(given.archive.centroids);
  const auto run = Run::resume(open("run"), 1);
  run->go();
  EXPECT_TRUE(bytes_of(run->folder().centroids()) == made);
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

// Left by a run that was killed before its configuration was written.
TEST_F(RunInAFolder, CentroidsLeftBehindAreNotTakenByANewRun) {
  config = small_config("multi-lp");
  const auto expected = whole_archive();
  config.archive.cvt.seed = 5;
  (void)Run::start(config, create("run"), 1);
  fs::remove(place.path() / "run" / "config.toml");
  config.archive.cvt.seed = 1;
  const auto run = Run::start(config, RunFolder::create(place.path() / "run", true), 1);
  run->go();
  EXPECT_TRUE(bytes_of(run->folder().archive()) == expected);
}

}  // namespace
