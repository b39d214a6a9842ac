#include "rarefy/trials/runner.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "rarefy/core/error.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/trials/results.hpp"
#include "support/temporary_folder.hpp"
#include "support/without_seconds.hpp"

namespace fs = std::filesystem;
using rarefy::Experiment;
using rarefy::ExperimentFolder;
using rarefy::ExperimentOutcome;
using rarefy::TrialBoard;
using rarefy::TrialState;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr std::string_view kSmall = R"(
algorithms = ['dds-kde', 'cma-mae']
domains = ['lp', 'multi-lp']
seeds = '1-2'
[set]
n = 20
batch = 8
emitters = 3
iterations = 40
metrics-every = 10
frames = 3
buffer = 100
cells = 30
cvt-samples = 300
)";

std::string bytes_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

struct RunExperiment : testing::Test {
  TemporaryFolder place;
  fs::path folder = place.path() / "experiment";
  rarefy::ExperimentPlaces places{folder};

  static Experiment parse(std::string_view text) {
    return rarefy::parse_experiment(text, "try.toml", [](const std::string& name, std::size_t) {
      ADD_FAILURE() << name;
      return "";
    });
  }
  ExperimentOutcome run(const Experiment& experiment, rarefy::Index jobs = 2,
                        bool overwrite = false, const rarefy::ProgressWatcher& watch = {},
                        rarefy::StopFlag stop = nullptr) const {
    const ExperimentFolder held(folder, overwrite);
    TrialBoard board(experiment, held, overwrite);
    return rarefy::run_experiment(board, held.places(), {.jobs = jobs, .stop = stop}, watch);
  }
  ExperimentOutcome run(std::string_view text, rarefy::Index jobs = 2) const {
    return run(parse(text), jobs);
  }
  // Names of trials, as results.csv has them.
  [[nodiscard]] std::vector<std::string> recorded() const {
    std::istringstream lines(bytes_in(folder / "results.csv"));
    std::vector<std::string> names;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) names.push_back(line.substr(0, line.find(',')));
    return names;
  }
};

std::string with(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string small(std::string_view from, std::string_view to) {
  return with(std::string(kSmall), from, to);
}

TEST_F(RunExperiment, GivesWhatEveryRunGivesAlone) {
  const auto experiment = parse(kSmall);
  ASSERT_EQ(experiment.trials.size(), 8U);
  const auto outcome = run(experiment, 3);
  EXPECT_EQ(outcome.finished, 8U);
  EXPECT_EQ(outcome.failed + outcome.left, 0U);
  EXPECT_EQ(bytes_in(folder / "experiment.toml"), kSmall);
  for (const auto& trial : experiment.trials) {
    SCOPED_TRACE(trial.name);
    const auto alone = place.path() / "alone" / trial.name;
    rarefy::Run::start(trial.config, rarefy::RunFolder::create(alone, false))->go();
    const auto ours = places.trial(trial.name);
    for (const auto* file : {"archive.npz", "config.toml", "frames.npz", "heatmap.png"}) {
      EXPECT_TRUE(bytes_in(ours / file) == bytes_in(alone / file)) << file;
    }
    EXPECT_EQ(without_seconds(bytes_in(ours / "metrics.csv")),
              without_seconds(bytes_in(alone / "metrics.csv")));
  }
}

TEST_F(RunExperiment, ResultsHaveALineForEachTrialAndNoMore) {
  run(kSmall);
  EXPECT_EQ(recorded().size(), 8U);
  EXPECT_EQ(recorded()[0], "default/dds-kde/lp/seed-1");
  const auto text = bytes_in(folder / "results.csv");
  EXPECT_THAT(text, testing::StartsWith("trial,profile,algorithm,domain,parameters,seed,"));
  EXPECT_THAT(text, HasSubstr(",rarefy run lp --algorithm dds-kde --profile default --seed 1 "));
  const auto results = rarefy::read_results(std::array{folder});
  EXPECT_EQ(results.title, "experiment");
  ASSERT_EQ(results.rows.size(), 4U);
  EXPECT_EQ(results.rows[1].algorithm, "cma-mae");
  EXPECT_EQ(results.rows[1].domain, "lp");
  for (const auto& row : results.rows) {
    ASSERT_EQ(row.trials.size(), 2U);
    for (const auto& trial : row.trials) {
      EXPECT_EQ(trial.state, TrialState::finished);
      EXPECT_EQ(trial.metrics.size(), 4U);
    }
  }
}

TEST_F(RunExperiment, MakesCellsOnce) {
  run(kSmall);
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder / "shared")) {
    files.insert(entry.path().filename().string());
  }
  ASSERT_EQ(files.size(), 1U);
  // Kept from one start to the next: those of a new seed are the same file, not made again.
  const auto file = folder / "shared" / *files.begin();
  const auto written = fs::last_write_time(file);
  run(small("'1-2'", "'1-3'"));
  EXPECT_EQ(fs::last_write_time(file), written);
  EXPECT_TRUE(bytes_in(places.trial("default/dds-kde/multi-lp/seed-3") / "centroids.npy") ==
              bytes_in(file));
  // One that cannot be read is no reason to fail.
  std::ofstream(file) << "nonsense";
  const auto outcome = run(small("'1-2'", "'1-4'"));
  EXPECT_EQ(outcome.failed, 0U);
  EXPECT_TRUE(bytes_in(places.trial("default/dds-kde/multi-lp/seed-4") / "centroids.npy") ==
              bytes_in(file));
}

TEST_F(RunExperiment, FinishedTrialsAreKeptAndNewOnesAdded) {
  run(kSmall);
  const auto file = places.trial("default/dds-kde/lp/seed-1") / "checkpoint.bin";
  const auto written = fs::last_write_time(file);
  std::size_t heard = 0;
  const auto longer = parse(small("seeds = '1-2'", "seeds = '0-3'"));
  const auto outcome =
      run(longer, 2, false, [&](const auto& progress) { heard += progress.events.size(); });
  EXPECT_EQ(outcome.finished, 16U);
  EXPECT_EQ(heard, 8U);
  EXPECT_EQ(fs::last_write_time(file), written);
  EXPECT_EQ(recorded().size(), 16U);
  EXPECT_EQ(recorded()[0], "default/dds-kde/lp/seed-0");
  EXPECT_EQ(bytes_in(folder / "experiment.toml"), longer.text);
}

TEST_F(RunExperiment, AFinishedTrialThatIsNotInTheResultsIsTakenUpOnceMore) {
  run(kSmall);
  const auto trial = places.trial("default/dds-kde/lp/seed-1");
  const auto archive = bytes_in(trial / "archive.npz");
  const auto metrics = bytes_in(trial / "metrics.csv");
  fs::remove(folder / "results.csv");
  fs::remove(trial / "archive.npz");  // as if it had been killed just before
  run(kSmall);
  EXPECT_TRUE(bytes_in(trial / "archive.npz") == archive);
  EXPECT_EQ(bytes_in(trial / "metrics.csv"), metrics);
  EXPECT_EQ(recorded().size(), 8U);
}

TEST_F(RunExperiment, GoesFurther) {
  run(kSmall);
  const auto further = parse(small("iterations = 40", "iterations = 60"));
  EXPECT_EQ(run(further).finished, 8U);
  const auto& trial = further.trials[0];
  rarefy::Run::start(trial.config, rarefy::RunFolder::create(place.path() / "alone", false))->go();
  EXPECT_TRUE(bytes_in(places.trial(trial.name) / "archive.npz") ==
              bytes_in(place.path() / "alone" / "archive.npz"));
}

TEST_F(RunExperiment, AnotherConfigurationUnderTheSameNameIsAnErrorUnlessOverwritten) {
  run(kSmall);
  const auto archive = bytes_in(places.trial("default/dds-kde/lp/seed-1") / "archive.npz");
  for (const auto& [from, to, told] :
       {std::tuple{"batch = 8", "batch = 10", "batch 8 there, 10 here"},
        std::tuple{"iterations = 40", "iterations = 30", "iterations 40 there, 30 here"},
        std::tuple{"frames = 3", "frames = 4", "frames 3 there, 4 here"},
        std::tuple{"metrics-every = 10", "metrics-every = 5", "metrics-every 10 there, 5 here"}}) {
    SCOPED_TRACE(told);
    try {
      run(small(from, to));
      ADD_FAILURE();
    } catch (const rarefy::Error& error) {
      EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
      EXPECT_THAT(error.what(), HasSubstr(std::string("default/dds-kde/lp/seed-1: ") + told));
      EXPECT_THAT(error.what(), HasSubstr("8 of the trials"));
    }
  }
  EXPECT_EQ(bytes_in(folder / "experiment.toml"), kSmall);  // as it was
  const auto outcome = run(parse(small("batch = 8", "batch = 10")), 2, true);
  EXPECT_EQ(outcome.finished, 8U);
  EXPECT_FALSE(bytes_in(places.trial("default/dds-kde/lp/seed-1") / "archive.npz") == archive);
}

TEST_F(RunExperiment, ATrialThatFailsStopsNoOtherAndIsTriedAgain) {
  // A file of centroids that is not there, found when the trial begins.
  const auto file = (place.path() / "centroids.npy").string();
  const auto text = fmt::format(R"(
domains = 'lp'
[set]
n = 6
iterations = 5
[[matrix]]
[[matrix]]
set = {{ archive = 'cvt', centroids = '{}' }}
)",
                                file);
  std::vector<rarefy::TrialEvent> events;
  const auto outcome = run(parse(text), 1, false, [&](const auto& progress) {
    events.insert(events.end(), progress.events.begin(), progress.events.end());
  });
  EXPECT_EQ(outcome.finished, 1U);
  EXPECT_EQ(outcome.failed, 1U);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].kind, rarefy::TrialEvent::Kind::failed);
  EXPECT_THAT(events[1].error, HasSubstr(file));
  EXPECT_THAT(bytes_in(places.failure(events[1].name)), HasSubstr(file));
  auto results = rarefy::read_results(std::array{folder});
  ASSERT_EQ(results.rows.size(), 2U);
  EXPECT_EQ(results.rows[1].trials[0].state, TrialState::failed);
  EXPECT_THAT(results.rows[1].trials[0].error, HasSubstr(file));
  EXPECT_EQ(recorded().size(), 1U);

  // Once it is there, all is well.
  rarefy::Batch centroids(3, 2);
  for (rarefy::Index i = 0; i < 3; ++i) centroids.row(i)[0] = static_cast<double>(i);
  rarefy::write_npy(fs::path(file), centroids);
  EXPECT_EQ(run(parse(text)).finished, 2U);
  EXPECT_FALSE(fs::exists(places.failure(events[1].name)));
}

TEST_F(RunExperiment, StopsAllTrialsAndGoesOnToTheSameBits) {
  const auto experiment = parse(small("iterations = 40", "iterations = 400"));
  std::atomic<bool> stop = false;
  const auto outcome = run(
      experiment, 2, false,
      [&](const auto& progress) {
        for (const auto& trial : progress.running) {
          if (trial.iteration > 0) stop = true;
        }
        if (progress.finished > 0) stop = true;
      },
      &stop);
  EXPECT_GT(outcome.left, 0U);
  EXPECT_EQ(outcome.failed, 0U);
  EXPECT_EQ(run(experiment).finished, 8U);
  for (const auto& trial : {experiment.trials[0], experiment.trials[2]}) {
    const auto alone = place.path() / "alone" / trial.name;
    rarefy::Run::start(trial.config, rarefy::RunFolder::create(alone, false))->go();
    EXPECT_TRUE(bytes_in(places.trial(trial.name) / "archive.npz") ==
                bytes_in(alone / "archive.npz"))
        << trial.name;
    EXPECT_EQ(without_seconds(bytes_in(places.trial(trial.name) / "metrics.csv")),
              without_seconds(bytes_in(alone / "metrics.csv")));
  }
}

TEST_F(RunExperiment, TellsHowThingsStand) {
  std::size_t last = 0;
  bool left = false;
  run(parse(small("iterations = 40", "iterations = 300")), 2, false, [&](const auto& progress) {
    EXPECT_EQ(progress.trials, 8U);
    EXPECT_LE(progress.running.size(), 2U);
    EXPECT_EQ(progress.finished + progress.failed + progress.waiting + progress.running.size(), 8U);
    EXPECT_GE(progress.finished, last);
    last = progress.finished;
    if (progress.time_left) left = true;
  });
  EXPECT_EQ(last, 8U);
  EXPECT_TRUE(left);
}

TEST_F(RunExperiment, TimeLeftIsKnownOnceATrialGetsOn) {
  const auto experiment = parse("domains = ['lp', 'arm']\nseeds = '1-3'");
  const ExperimentFolder held(folder, false);
  TrialBoard board(experiment, held, false);
  std::vector<std::size_t> trials;
  for (int i = 0; i < 4; ++i) trials.push_back(board.next().value());
  EXPECT_FALSE(board.progress(4).time_left);
  // Trials of one row, neither of which has got anywhere.
  for (const auto trial : trials) board.heard(trial, {.iteration = 10, .coverage = 0});
  EXPECT_FALSE(board.progress(4).time_left);
  board.heard(trials[0], {.iteration = 20, .coverage = 0.25});
  const auto now = board.progress(4);
  ASSERT_TRUE(now.time_left);
  EXPECT_GE(*now.time_left, 0.0);
  ASSERT_EQ(now.running.size(), 4U);
  EXPECT_EQ(now.running[0].iteration, 20);
  EXPECT_EQ(now.running[0].coverage, 0.25);
  EXPECT_EQ(now.waiting, 2U);
}

TEST_F(RunExperiment, FirstSeedsComeFirst) {
  std::vector<std::string> names;
  run(parse(kSmall), 1, false, [&](const auto& progress) {
    for (const auto& event : progress.events) names.push_back(event.name);
  });
  ASSERT_EQ(names.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(names[i].ends_with(i < 4 ? "-1" : "-2")) << i;
}

TEST_F(RunExperiment, OneProcessAtATimeHasTheFolder) {
  const ExperimentFolder held(folder, false);
  try {
    const ExperimentFolder second(folder, false);
    ADD_FAILURE();
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), rarefy::ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr("being run by another rarefy"));
  }
}

TEST_F(RunExperiment, RefusesFoldersOfAnotherKind) {
  const auto refused = [&] {
    try {
      const ExperimentFolder held(folder, false);
      return std::string();
    } catch (const rarefy::Error& error) {
      return std::string(error.what());
    }
  };
  fs::create_directories(folder / "trials");
  EXPECT_THAT(refused(), HasSubstr("no experiment.toml"));
  fs::remove(folder / "trials");
  std::ofstream(folder / "config.toml") << "";
  EXPECT_THAT(refused(), HasSubstr("holds a run"));
}

TEST_F(RunExperiment, ResultsOfAnExperimentUnderWayNameWhatWaits) {
  const auto experiment = parse(kSmall);
  {
    const ExperimentFolder held(folder, false);
    const TrialBoard board(experiment, held, false);
  }
  const auto results = rarefy::read_results(std::array{place.path()});  // found below, too
  ASSERT_EQ(results.rows.size(), 4U);
  EXPECT_EQ(results.rows[0].trials.size(), 2U);
  EXPECT_EQ(results.rows[0].trials[0].state, TrialState::waiting);
  EXPECT_EQ(results.rows[0].trials[0].config, experiment.trials[0].config);
}

TEST_F(RunExperiment, ResultsOfAnExperimentWhoseFileCannotBeReadAreItsRuns) {
  run(kSmall);
  std::ofstream(folder / "experiment.toml") << "nonsense";
  const auto results = rarefy::read_results(std::array{folder});
  EXPECT_EQ(results.rows.size(), 4U);
  ASSERT_EQ(results.notes.size(), 1U);
  EXPECT_THAT(results.notes[0], HasSubstr("experiment.toml"));
}

TEST_F(RunExperiment, KeepsWhatItBuildsUpon) {
  std::ofstream(place.path() / "run.toml") << "[run]\ndomain = 'lp'\niterations = 5\n";
  std::ofstream(place.path() / "my.toml") << "base = 'run.toml'\nset = { n = 6 }\n";
  run(rarefy::read_experiment(place.path() / "my.toml"));
  fs::remove(place.path() / "run.toml");
  const auto results = rarefy::read_results(std::array{folder});
  ASSERT_EQ(results.rows.size(), 1U);
  EXPECT_TRUE(results.notes.empty());
  EXPECT_EQ(results.rows[0].trials[0].config.iterations, 5);
}

}  // namespace
