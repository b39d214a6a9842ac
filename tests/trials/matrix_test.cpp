#include "rarefy/trials/matrix.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/trials/results.hpp"
#include "support/temporary_folder.hpp"

using rarefy::Experiment;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Bases = std::map<std::string, std::string>;

Experiment parse(std::string_view text, const Bases& bases = {}) {
  return rarefy::parse_experiment(text, "try.toml",
                                  [&](const std::string& name, std::size_t /*number*/) {
                                    if (!bases.contains(name)) {
                                      throw rarefy::Error(rarefy::ErrorKind::io, "no " + name);
                                    }
                                    return bases.at(name);
                                  });
}

std::vector<std::string> names(const Experiment& experiment) {
  std::vector<std::string> all;
  for (const auto& trial : experiment.trials) all.push_back(trial.name);
  return all;
}

std::string error_of(std::string_view text, const Bases& bases = {}) {
  try {
    (void)parse(text, bases);
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), rarefy::ErrorKind::parameter);
    return error.what();
  }
  return "no error";
}

TEST(Matrix, HasADefaultForAllButTheDomain) {
  const auto experiment = parse("domains = 'lp'");
  EXPECT_EQ(experiment.text, "domains = 'lp'");
  EXPECT_THAT(names(experiment), ElementsAre("default/dds-kde/lp/seed-1"));
  EXPECT_THAT(error_of("seeds = 3"), HasSubstr("no domain"));
}

TEST(Matrix, MultipliesItsListsInTheirOrder) {
  const auto experiment = parse(R"(
title = 'Two by two'
seeds = '2-3'
algorithms = ['cma-mae', 'dds-kde']
domains = ['lp', 'arm']
[set]
iterations = 70
)");
  EXPECT_EQ(experiment.title, "Two by two");
  EXPECT_THAT(names(experiment),
              ElementsAre("default/cma-mae/lp/seed-2", "default/cma-mae/lp/seed-3",
                          "default/dds-kde/lp/seed-2", "default/dds-kde/lp/seed-3",
                          "default/cma-mae/arm/seed-2", "default/cma-mae/arm/seed-3",
                          "default/dds-kde/arm/seed-2", "default/dds-kde/arm/seed-3"));
  auto expected = rarefy::default_config("arm", "cma-mae");
  expected.iterations = 70;
  expected.seed = 3;
  auto config = experiment.trials[5].config;
  config.output = expected.output;  // trials draw frames
  EXPECT_EQ(config, expected);
  EXPECT_TRUE(config.chosen.names.contains("iterations"));
}

TEST(Matrix, SeedsAreNumbersListsOrRanges) {
  const auto seeds = [](std::string_view text) {
    std::vector<std::int64_t> all;
    for (const auto& trial : parse("domains = 'lp'\nseeds = " + std::string(text)).trials) {
      all.push_back(trial.config.seed);
    }
    return all;
  };
  EXPECT_THAT(seeds("7"), ElementsAre(7));
  EXPECT_THAT(seeds("[3, 1, 3]"), ElementsAre(3, 1));
  EXPECT_THAT(seeds("'1-3, 7'"), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(seeds("'5,4-6'"), ElementsAre(5, 4, 6));
  for (const auto* bad :
       {"''", "'3-1'", "'1-'", "-1", "'-3'", "[1, 'a']", "[]", "1.5", "'1-2-3'"}) {
    EXPECT_THAT(error_of(std::string("domains = 'lp'\nseeds = ") + bad),
                AllOf(HasSubstr("try.toml:2: seeds: "), HasSubstr("expected")))
        << bad;
  }
  // Refused before memory is filled with them.
  EXPECT_THAT(error_of("domains = 'lp'\nseeds = '1-9000000000000000000'"), HasSubstr("at most"));
  EXPECT_THAT(error_of("domains = ['lp', 'arm']\nseeds = '1-99999'"), HasSubstr("more trials"));
}

TEST(Matrix, VariesParametersInAllCombinations) {
  const auto experiment = parse(R"(
domains = 'lp'
[vary]
sigma0 = [0.5, 1]
bandwidth = ['0.1 width', 'scott']
)");
  EXPECT_THAT(names(experiment),
              ElementsAre("default/dds-kde-sigma0-0.5-bandwidth-0.1_width/lp/seed-1",
                          "default/dds-kde-sigma0-0.5-bandwidth-scott/lp/seed-1",
                          "default/dds-kde-sigma0-1-bandwidth-0.1_width/lp/seed-1",
                          "default/dds-kde-sigma0-1-bandwidth-scott/lp/seed-1"));
  EXPECT_EQ(experiment.trials[2].config.emitters.sigma0, 1.0);
  EXPECT_EQ(experiment.trials[2].config.density.kde.bandwidth.text(), "0.1 width");
}

TEST(Matrix, AParameterThatMeansNothingToSomeTrialsIsLeftOutThere) {
  const auto experiment = parse(R"(
domains = 'lp'
algorithms = ['cma-mae', 'cma-me']
[set]
threshold-min = -1
[vary]
alpha = [0.1, 0.2]
)");
  EXPECT_THAT(names(experiment),
              ElementsAre("default/cma-mae-alpha-0.1/lp/seed-1",
                          "default/cma-mae-alpha-0.2/lp/seed-1", "default/cma-me/lp/seed-1"));
  EXPECT_FALSE(experiment.trials[2].config.density.threshold_min);
  // That of the whole file must mean something to one of its tables, that of a table to itself.
  EXPECT_EQ(parse("domains = 'lp'\n[set]\nalpha = 0.1\n[[matrix]]\n[[matrix]]\n"
                  "algorithms = 'cma-mae'")
                .trials.size(),
            2U);
  EXPECT_THAT(error_of("domains = 'lp'\n[[matrix]]\nset = { alpha = 0.1 }\n[[matrix]]\n"
                       "algorithms = 'cma-mae'"),
              HasSubstr("try.toml:3: alpha has no effect here"));
  EXPECT_THAT(error_of("domains = 'lp'\n[set]\nalpha = 0.1"),
              AllOf(HasSubstr("try.toml:3: alpha has no effect here"), HasSubstr("cma-mae")));
}

TEST(Matrix, IsTheUnionOfItsTables) {
  const auto experiment = parse(R"(
seeds = '1-2'
domains = ['lp']
[set]
iterations = 50
sigma0 = 0.5
[[matrix]]
algorithms = ['dds-kde', 'ns']
[[matrix]]
algorithms = 'ns'
domains = ['lp', 'arm']
seeds = 1
[[matrix]]
set = { iterations = 60 }
vary = { sigma0 = [0.5, 2.0] }
seeds = 1
)");
  EXPECT_THAT(names(experiment),
              ElementsAre("default/dds-kde/lp/seed-1", "default/dds-kde/lp/seed-2",
                          "default/ns/lp/seed-1", "default/ns/lp/seed-2", "default/ns/arm/seed-1",
                          "default/dds-kde-iterations-60-sigma0-0.5/lp/seed-1",
                          "default/dds-kde-iterations-60-sigma0-2/lp/seed-1"));
  EXPECT_EQ(experiment.trials[4].config.iterations, 50);
  EXPECT_EQ(experiment.trials[6].config.iterations, 60);
  EXPECT_EQ(experiment.trials[6].config.emitters.sigma0, 2.0);
}

TEST(Matrix, BuildsUponARunsConfiguration) {
  auto base = rarefy::default_config("arm", "cma-mae");
  base.emitters.batch = 12;
  base.iterations = 77;
  const Bases bases = {{"run.toml", to_toml(base)}};
  auto experiment = parse("base = 'run.toml'\nseeds = '4-5'", bases);
  EXPECT_THAT(names(experiment),
              ElementsAre("default/cma-mae/arm/seed-4", "default/cma-mae/arm/seed-5"));
  EXPECT_EQ(experiment.trials[1].config.emitters.batch, 12);
  EXPECT_EQ(experiment.trials[1].config.iterations, 77);
  EXPECT_THAT(experiment.bases, ElementsAre(bases.at("run.toml")));
  // What was chosen there holds elsewhere, its defaults do not.
  experiment = parse("base = 'run.toml'\ndomains = 'lp'\nalgorithms = 'dds-kde'", bases);
  auto expected = rarefy::default_config("lp", "dds-kde");
  expected.emitters.batch = 12;
  expected.iterations = 77;
  experiment.trials[0].config.output = expected.output;
  EXPECT_EQ(experiment.trials[0].config, expected);
  EXPECT_THAT(error_of("base = 'none.toml'"), HasSubstr("try.toml:1: no none.toml"));
  EXPECT_THAT(error_of("base = 'bad.toml'", {{"bad.toml", "[run]\nseeed = 1"}}),
              HasSubstr("bad.toml:2"));
}

TEST(Matrix, BuildsUponAProgramOfTheUsersOwn) {
  rarefy::Config base;
  auto& problem = base.own_problem.emplace();
  problem.name = "lander/two";
  problem.solution_dim = 12;
  problem.feature_space = {.lower = {0, 0}, .upper = {1, 1}};
  base.domain = problem.name;
  base.problem = {};
  base.program.command = "./lander";
  const Bases bases = {{"lander.toml", to_toml(base)}};
  const auto experiment = parse("base = 'lander.toml'\nalgorithms = ['dds-kde', 'cma-me']", bases);
  ASSERT_EQ(experiment.trials.size(), 2U);
  EXPECT_THAT(experiment.trials[1].name, testing::StartsWith("default/cma-me/lander_two-"));
  EXPECT_EQ(experiment.trials[1].config.own_problem, base.own_problem);
  EXPECT_EQ(experiment.trials[1].config.program.command, "./lander");
  EXPECT_THAT(error_of("base = 'lander.toml'\ndomains = 'lp'", bases),
              HasSubstr("problem of its own"));
  EXPECT_THAT(error_of("base = 'lander.toml'\nprofiles = 'published'", bases),
              HasSubstr("published"));
}

TEST(Matrix, TellsEverythingThatIsWrongWithItsPlaceAndTheNearestName) {
  const auto text = error_of(R"(titel = 'x'
domains = ['lp', 'amr']
algorithms = 'dds-kd'
profiles = ['publishd', 3]
[set]
itertions = 5
batch = 'many'
seed = 3
[vary]
bandwidth = 3
domain = ['lp']
sigma0 = [-1, 2]
[[matrix]]
seedz = 3
title = 'x'
)");
  for (const auto* part :
       {"try.toml:1: unknown key 'titel'", "did you mean 'title'", "try.toml:2: ", "'arm'",
        "try.toml:3: ", "'dds-kde'", "try.toml:4: ", "'published'",
        "try.toml:4: profiles: expected names", "try.toml:6: ", "'iterations'", "try.toml:7: batch",
        "try.toml:8: 'seed' is not set here, expected seeds",
        "try.toml:10: bandwidth: expected a list",
        "try.toml:11: 'domain' is not set here, expected domains", "try.toml:12: sigma0: got -1",
        "try.toml:14: unknown key 'seedz'", "'seeds'", "try.toml:15: "}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Matrix, RefusesWhatIsNoMatrix) {
  EXPECT_THAT(error_of("domains = "), HasSubstr("try.toml:1: not valid TOML"));
  EXPECT_THAT(error_of("matrix = 3"), HasSubstr("expected tables"));
  EXPECT_THAT(error_of("matrix = [3]"), HasSubstr("expected tables"));
  EXPECT_THAT(error_of("set = 3"), HasSubstr("expected a table"));
  EXPECT_THAT(error_of("base = 3"), HasSubstr("expected the name of a file"));
  EXPECT_THAT(error_of("title = 3\ndomains = 'lp'"), HasSubstr("title: expected a text"));
  EXPECT_THAT(error_of("domains = []"), HasSubstr("empty list"));
  EXPECT_THAT(error_of("domains = 'lp'\n[vary]\nsigma0 = []"), HasSubstr("list of values"));
  EXPECT_THAT(error_of("domains='lp'\n[set]\nsigma0=1\n[vary]\nsigma0=[1]"),
              HasSubstr("in [set] and in [vary]"));
  EXPECT_THAT(error_of("x = " + std::string(100'000, '[')), HasSubstr("nested too deeply"));
}

TEST(Matrix, TwoTrialsCannotHaveOneName) {
  rarefy::Config one, two;
  one.emitters.batch = 10;
  two.emitters.batch = 20;
  EXPECT_THAT(error_of("[[matrix]]\nbase = 'a'\n[[matrix]]\nbase = 'b'",
                       {{"a", to_toml(one)}, {"b", to_toml(two)}}),
              HasSubstr("batch 10 there, 20 here"));
}

TEST(Matrix, ReadsWhatItBuildsUponFromTheFoldersOfTheFile) {
  TemporaryFolder place;
  std::filesystem::create_directories(place.path() / "a" / "b");
  std::ofstream(place.path() / "a" / "run.toml") << "[run]\ndomain = 'arm'\n";
  std::ofstream(place.path() / "a" / "b" / "my.toml") << "base = '../run.toml'\n";
  const auto experiment = rarefy::read_experiment(place.path() / "a" / "b" / "my.toml");
  EXPECT_EQ(experiment.title, "my");
  EXPECT_THAT(names(experiment), ElementsAre("default/dds-kde/arm/seed-1"));
  EXPECT_THROW((void)rarefy::read_experiment(place.path() / "none.toml"), rarefy::Error);
}

}  // namespace
