// The command that repeats a trial, as a shell runs it.
#include "command_line.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/trials/results.hpp"

namespace {

// Runs `config` by the library, and what command_of() says by a shell.
void expect_same_archive(const rarefy::Config& config) {
  RunPlace place;
  rarefy::Run::start(config, rarefy::RunFolder::create(place / "ours", false))->go();
  const auto command = rarefy::command_of(config);
  ASSERT_TRUE(command.starts_with("rarefy ")) << command;
  const auto line = std::string(RAREFY_COMMAND_PATH) + command.substr(6) + " --quiet --out theirs";
  Process shell({"sh", "-c", line}, {.folder = place.path()});
  const auto& result = shell.wait();
  ASSERT_EQ(result.exit_code, 0) << command << "\n" << result.err;
  EXPECT_TRUE(bytes_of(place / "ours" / "archive.npz") ==
              bytes_of(place / "theirs" / "archive.npz"))
      << command;
  auto theirs = rarefy::resolve(rarefy::read_settings(place / "theirs" / "config.toml"));
  theirs.program.folder = config.program.folder;  // where it was started, for later
  EXPECT_TRUE(theirs == config) << command;
}

rarefy::Config quick(std::string_view domain, std::string_view algorithm,
                     rarefy::Profile profile = rarefy::Profile::standard) {
  auto config = rarefy::default_config(domain, algorithm, profile);
  config.iterations = 12;
  config.seed = 7;
  config.problem.n = 8;
  config.emitters.count = 2;
  return config;
}

void set(rarefy::Config& config, std::string_view name, std::string_view value) {
  rarefy::set_from_text(config, rarefy::parameter_named(name), value);
}

TEST(CommandOf, NamesWhatIsNotTheDefault) {
  auto config = rarefy::default_config("lp", "cma-mae", rarefy::Profile::published);
  config.density.alpha = 0.25;
  config.chosen.names = {"alpha", "batch"};
  EXPECT_EQ(rarefy::command_of(config),
            "rarefy run lp --algorithm cma-mae --profile published --seed 1 --iterations 5000 "
            "--alpha 0.25");
}

TEST(CommandOf, LeavesOutWhatHasNoEffect) {
  auto config = rarefy::default_config("lp", "cma-me");
  config.density.alpha = 0.25;
  EXPECT_FALSE(contains(rarefy::command_of(config), "alpha"));
}

TEST(CommandOf, RepeatsRunsOfOurDomains) {
  expect_same_archive(quick("lp", "dds-kde"));
  expect_same_archive(quick("arm", "map-elites-line"));
  expect_same_archive(quick("lp", "cma-mae", rarefy::Profile::published));
}

TEST(CommandOf, RepeatsValuesThatAShellWouldTakeApart) {
  auto config = quick("lp", "dds-kde");
  set(config, "bandwidth", "0.05 width");
  set(config, "x0", "-0.125");
  set(config, "mirrored", "false");
  set(config, "buffer", "unlimited");
  set(config, "bounds", "-3,4.5");
  set(config, "objective-floor", "-1e-30");
  expect_same_archive(config);
  auto maze = rarefy::default_config("maze", "dds-kde");
  maze.iterations = 3;
  set(maze, "walls", "0.1,0.2,0.5,0.25; 0.7,0.1,0.7,0.8");
  expect_same_archive(maze);
}

TEST(CommandOf, RepeatsAProgramOfTheUsersOwn) {
  auto config = quick("lp", "dds-kde");
  config.problem = {};
  auto& problem = config.own_problem.emplace();
  problem.name = "sum";
  problem.title = "The user's \"own\" $PROBLEM";
  problem.solution_dim = 3;
  problem.feature_space = {.lower = {-2, -2.5}, .upper = {2, 1e1}};
  problem.feature_names = {"a b", "c's"};
  config.domain = "sum";
  config.program.command = R"(while read -r a b c; do echo "$a $b"; done)";
  config.program.workers = 1;
  expect_same_archive(config);
}

TEST(CommandOf, SaysNothingWhereNoOptionsCan) {
  auto config = quick("lp", "dds-kde");
  auto& problem = config.own_problem.emplace();
  problem.name = "mine";
  problem.solution_dim = 3;
  problem.feature_space = {.lower = {0}, .upper = {1}};
  config.domain = "mine";
  EXPECT_EQ(rarefy::command_of(config), "");  // it belongs to another program
  config.program.command = "cat";
  EXPECT_NE(rarefy::command_of(config), "");
  config.own_problem->least_objective = -3;
  EXPECT_EQ(rarefy::command_of(config), "");
}

}  // namespace
