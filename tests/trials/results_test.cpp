#include "rarefy/trials/results.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/runs/run.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using rarefy::Config;
using rarefy::read_results;
using rarefy::Results;
using rarefy::TrialState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

namespace {

void write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// A run as far as `done` iterations, as its folder has it.
void write_run(const fs::path& folder, const Config& config, std::int64_t done) {
  rarefy::MetricsLog log;
  for (std::int64_t i = 10; i <= done; i += 10) {
    log.add({.iteration = i, .evaluations = 24 * i, .coverage = 0.01 * static_cast<double>(i)});
  }
  write(folder / "metrics.csv", log.csv());
  write(folder / "config.toml", to_toml(config));
}

Config with(Config config, std::string_view name, std::string_view value) {
  set(config, name, value);
  return config;
}

Results read(const fs::path& folder) { return read_results(std::array{folder}); }

std::vector<std::string> labels(const Results& results, bool with_profile = false) {
  std::vector<std::string> all;
  for (const auto& row : results.rows) all.push_back(row.label(with_profile));
  return all;
}

struct TrialResults : testing::Test {
  TemporaryFolder place;
  Config config = small_config();
};

TEST_F(TrialResults, AreThoseOfARealRun) {
  config.iterations = 25;
  const auto run =
      rarefy::Run::start(config, rarefy::RunFolder::create(place.path() / "run", false));
  EXPECT_EQ(read(place.path()).rows.at(0).trials.at(0).state, TrialState::begun);
  run->go();
  const auto results = read(place.path() / "run");
  ASSERT_EQ(results.rows.size(), 1U);
  ASSERT_EQ(results.rows[0].trials.size(), 1U);
  const auto& trial = results.rows[0].trials[0];
  EXPECT_EQ(trial.config, config);
  EXPECT_EQ(trial.state, TrialState::finished);
  EXPECT_EQ(trial.folder, place.path() / "run");
  ASSERT_EQ(trial.metrics.size(), 3U);
  const auto& line = run->metrics().lines().back();
  EXPECT_EQ(trial.metrics.back().iteration, 25);
  EXPECT_EQ(trial.metrics.back().coverage, line.coverage);
  EXPECT_EQ(trial.metrics.back().qd_score, line.qd_score);
  EXPECT_FALSE(trial.version.empty());
  EXPECT_FALSE(trial.instruction_set.empty());
  EXPECT_EQ(results.title, "run");
}

TEST_F(TrialResults, AreFoundAtAnyDepthAndGroupedByAllButTheSeed) {
  write_run(place.path() / "b" / "deep" / "down" / "here", with(config, "seed", "10"), 60);
  write_run(place.path() / "a", with(config, "seed", "9"), 30);
  // What decides no result does not make a row of its own.
  write_run(place.path() / "c", with(with(config, "seed", "2"), "metrics-every", "7"), 60);
  write_run(place.path() / "d", with(config, "bandwidth", "0.1 width"), 60);
  const auto results = read(place.path());
  ASSERT_EQ(results.rows.size(), 2U);
  EXPECT_THAT(labels(results),
              ElementsAre("dds-kde, bandwidth 0.1 width", "dds-kde, bandwidth auto"));
  std::vector<std::int64_t> seeds;
  for (const auto& trial : results.rows[1].trials) seeds.push_back(trial.config.seed);
  EXPECT_THAT(seeds, ElementsAre(2, 9, 10));
  EXPECT_EQ(results.rows[1].trials[1].state, TrialState::begun);
  EXPECT_EQ(results.rows[1].trials[2].state, TrialState::finished);
}

TEST_F(TrialResults, RowsAreToldApartByTheParametersInWhichTheyDiffer) {
  for (const auto* width : {"0.1 width", "0.05 width", "0.035 width", "1 width"}) {
    write_run(place.path() / width, with(config, "bandwidth", width), 60);
  }
  auto other = small_config("arm");
  write_run(place.path() / "arm", other, 60);
  auto published = rarefy::default_config("lp", "cma-mae", rarefy::Profile::published);
  write_run(place.path() / "published", published, 60);
  const auto results = read(place.path());
  EXPECT_THAT(labels(results, true), ElementsAre("dds-kde (default), bandwidth 0.035 width",
                                                 "dds-kde (default), bandwidth 0.05 width",
                                                 "dds-kde (default), bandwidth 0.1 width",
                                                 "dds-kde (default), bandwidth 1 width",
                                                 "dds-kde (default)", "cma-mae (published)"));
  EXPECT_THAT(results.rows[0].parameters, ElementsAre(Pair("bandwidth", "0.035 width")));
  EXPECT_EQ(results.rows[4].domain, "arm");
}

TEST_F(TrialResults, AnotherNumberOfIterationsIsAnotherRow) {
  write_run(place.path() / "short", config, 60);
  write_run(place.path() / "long", with(config, "iterations", "100"), 60);
  EXPECT_THAT(labels(read(place.path())),
              ElementsAre("dds-kde, iterations 60", "dds-kde, iterations 100"));
}

TEST_F(TrialResults, ARunGivenTwiceCountsOnce) {
  write_run(place.path() / "runs" / "a", config, 60);
  fs::create_directory_symlink(place.path() / "runs", place.path() / "link");
  const std::array folders = {place.path() / "runs", place.path() / "runs" / "a",
                              place.path() / "link"};
  const auto results = read_results(folders);
  ASSERT_EQ(results.rows.size(), 1U);
  EXPECT_EQ(results.rows[0].trials.size(), 1U);
}

TEST_F(TrialResults, OfTwoCopiesOfATrialTheOneThatIsFurtherCounts) {
  write_run(place.path() / "a", config, 30);
  write_run(place.path() / "b", config, 50);
  write_run(place.path() / "c", config, 40);
  const auto results = read(place.path());
  ASSERT_EQ(results.rows.size(), 1U);
  ASSERT_EQ(results.rows[0].trials.size(), 1U);
  EXPECT_EQ(results.rows[0].trials[0].metrics.back().iteration, 50);
  ASSERT_EQ(results.notes.size(), 2U);
  EXPECT_THAT(results.notes[0], HasSubstr((place.path() / "a").string()));
  EXPECT_THAT(results.notes[1], HasSubstr((place.path() / "c").string()));
}

TEST_F(TrialResults, LinksBelowAreNotFollowed) {
  write_run(place.path() / "a", config, 60);
  fs::create_directory_symlink(place.path(), place.path() / "around");
  EXPECT_EQ(read(place.path()).rows.at(0).trials.size(), 1U);
}

TEST_F(TrialResults, WhatHasHardlyBegunHasNoMetricsOrNoConfiguration) {
  write(place.path() / "half" / "checkpoint.bin", "x");
  write(place.path() / "empty" / "config.toml", to_toml(config));
  const auto results = read(place.path());
  ASSERT_EQ(results.rows.size(), 1U);
  EXPECT_EQ(results.rows[0].trials[0].state, TrialState::begun);
  EXPECT_TRUE(results.rows[0].trials[0].metrics.empty());
  EXPECT_TRUE(results.notes.empty());
}

TEST_F(TrialResults, WhatCannotBeReadIsToldAndHarmsNoOther) {
  write_run(place.path() / "a", config, 60);
  write(place.path() / "b" / "config.toml", "[run]\nseeed = 3\n");
  write_run(place.path() / "c", with(config, "seed", "2"), 60);
  write(place.path() / "c" / "metrics.csv", "iteration,coverage\n10,many\n");
  const auto results = read(place.path());
  ASSERT_EQ(results.rows.size(), 1U);
  EXPECT_EQ(results.rows[0].trials.size(), 1U);
  ASSERT_EQ(results.notes.size(), 2U);
  EXPECT_THAT(results.notes[0], HasSubstr("seeed"));
  EXPECT_THAT(results.notes[1], HasSubstr("many"));
  EXPECT_THAT(results.notes[1], HasSubstr((place.path() / "c").string()));
}

TEST_F(TrialResults, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW((void)read(place.path() / "none"), rarefy::Error);
  EXPECT_TRUE(read(place.path()).rows.empty());
}

TEST_F(TrialResults, ProblemsOfTheUsersOwnHaveRowsToo) {
  auto& problem = config.own_problem.emplace();
  problem.name = "lander";
  problem.solution_dim = 12;
  problem.feature_space = {.lower = {0, 0}, .upper = {1, 1}};
  config.domain = "lander";
  config.problem = {};
  write_run(place.path() / "a", config, 60);
  write_run(place.path() / "b", with(config, "seed", "3"), 60);
  const auto results = read(place.path());
  ASSERT_EQ(results.rows.size(), 1U);
  EXPECT_EQ(results.rows[0].domain, "lander");
  EXPECT_EQ(results.rows[0].trials.size(), 2U);
}

}  // namespace
