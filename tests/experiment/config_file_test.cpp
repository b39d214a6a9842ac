#include "rarefy/experiment/config_file.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "support/temporary_folder.hpp"

using rarefy::Config;
using rarefy::ErrorKind;

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string message_of(std::string_view toml) {
  try {
    (void)rarefy::resolve(rarefy::parse_settings(toml, "file.toml"));
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown for " << toml;
  return "";
}

TEST(ConfigFile, SetsWhatItNamesAndLeavesTheRest) {
  const auto config = rarefy::resolve(rarefy::parse_settings(
      "# a comment\n[run]\nseed = 5\n[density]\nkernel = \"triangular\"  # another\n"
      "[emitters]\nsigma0 = 2\nmirrored = false\n",
      "test"));
  Config expected;
  expected.seed = 5;
  expected.density.kde.kernel = rarefy::Kernel::triangular;
  expected.emitters.sigma0 = 2.0;
  expected.emitters.cma_es.mirrored = false;
  EXPECT_TRUE(config == expected);
  EXPECT_TRUE(rarefy::resolve({}) == Config{});
  EXPECT_TRUE(rarefy::resolve(rarefy::parse_settings("", "empty")) == Config{});
}

// The profile decides what the other defaults are, wherever it stands among the settings.
TEST(ConfigFile, DefaultsAreThoseOfTheDomainAndProfileItNames) {
  const auto config = rarefy::resolve(rarefy::parse_settings(
      "[emitters]\nfactor = 'cholesky'\n[run]\nprofile = 'published'\ndomain = 'arm'\n", "test"));
  Config expected = rarefy::default_config("arm", "dds-kde", rarefy::Profile::published);
  EXPECT_EQ(expected.restarts.at, rarefy::RestartAt::origin);
  expected.emitters.cma_es.factor = rarefy::Factor::cholesky;
  EXPECT_TRUE(config == expected);
}

TEST(ConfigFile, LaterSettingsWin) {
  auto settings = rarefy::parse_settings("[run]\nseed = 5\ndomain = 'arm'\n", "test");
  settings.set("seed", std::int64_t{6});
  settings.set("domain", std::string("multi-lp"));
  const auto config = rarefy::resolve(settings);
  EXPECT_EQ(config.seed, 6);
  EXPECT_EQ(config.domain, "multi-lp");
  EXPECT_EQ(config.problem.m, 10);
}

TEST(ConfigFile, EveryDefaultConfigurationComesBack) {
  for (const auto& domain : rarefy::domain_rows()) {
    for (const auto profile :
         {rarefy::Profile::standard, rarefy::Profile::published, rarefy::Profile::text}) {
      const auto config = rarefy::default_config(domain.name, "dds-kde", profile);
      const auto toml = rarefy::to_toml(config);
      EXPECT_TRUE(rarefy::resolve(rarefy::parse_settings(toml, "test")) == config) << toml;
      EXPECT_TRUE(contains(toml, rarefy::kVersion));
      EXPECT_TRUE(contains(toml, rarefy::name_of(rarefy::instruction_set())));
    }
  }
}

TEST(ConfigFile, ErrorsSayWhere) {
  auto message = message_of("[run]\nseed = 1\n\niteratons = 5\n");
  EXPECT_TRUE(contains(message, "file.toml:4") && contains(message, "'iterations'")) << message;
  message = message_of("[run]\nseed = 1\n[desnity]\nbuffer = 5\n");
  EXPECT_TRUE(contains(message, "file.toml:3") && contains(message, "'density'")) << message;
  message = message_of("[run]\nbuffer = 5\n");
  EXPECT_TRUE(contains(message, "file.toml:2") && contains(message, "expected in [density]"))
      << message;
  message = message_of("seed = 1\n");
  EXPECT_TRUE(contains(message, "file.toml:1") && contains(message, "'seed'")) << message;
  message = message_of("[run]\nseed = 1\nseed 2\n");
  EXPECT_TRUE(contains(message, "file.toml:3") && contains(message, "not valid TOML")) << message;
  message = message_of("[run\n");
  EXPECT_TRUE(contains(message, "file.toml:1")) << message;
  message = message_of("[run]\nseed = -1\n");
  EXPECT_TRUE(contains(message, "file.toml:2: seed: got -1")) << message;
  message = message_of("[run]\nseed = 1979-05-27\n");
  EXPECT_TRUE(contains(message, "file.toml:2") && contains(message, "date")) << message;
  message = message_of("[run.domain]\nx = 1\n");
  EXPECT_TRUE(contains(message, "file.toml:1") && contains(message, "domain")) << message;
  message = message_of("[run]\nprofile = 'publisht'\n");
  EXPECT_TRUE(contains(message, "file.toml:2") && contains(message, "'published'")) << message;
}

TEST(ConfigFile, ReportsAllItsErrorsAtOnce) {
  const auto message = message_of(
      "[run]\niteratons = 5\nseed = -1\n[density]\nbandwidth = 'wide'\nbuffer = 50\n"
      "[desnity]\nx = 1\n[domain]\nwalls = '1,2,3'\n[emitters]\nbounds = '2,1'\n");
  for (const auto* part : {"file.toml:2", "'iterations'", "file.toml:3", "seed", "file.toml:5",
                           "bandwidth: got 'wide'", "file.toml:7", "'density'", "file.toml:10",
                           "wall 1", "file.toml:12", "bounds: got '2,1'"}) {
    EXPECT_TRUE(contains(message, part)) << part << " in\n" << message;
  }
  EXPECT_FALSE(contains(message, "file.toml:6"));
}

// What was a default when the file was written binds nobody who chooses another algorithm.
// Somebody gave the wrong file: what is wrong with it would fill the screen.
TEST(ConfigFile, TellsTheFirstErrorsOfVeryMany) {
  std::string text = "[run]\n";
  for (int i = 0; i < 30'000; ++i) text += fmt::format("unknown-{} = 1\n", i);
  try {
    (void)rarefy::parse_settings(text, "many.toml");
    FAIL();
  } catch (const rarefy::Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 20);
    EXPECT_TRUE(message.ends_with("and more after these")) << message;
  }
}

std::string repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

std::string refusal_of(const std::string& text) {
  try {
    (void)rarefy::parse_settings(text, "f.toml");
  } catch (const rarefy::Error& error) {
    return error.what();
  }
  return "";
}

bool is_too_deep(const std::string& text) {
  return refusal_of(text).find("nested too deeply") != std::string::npos;
}

// What the parser would take by recursion, level by level.
TEST(ConfigFile, NestedTooDeeplyIsRefusedBeforeItIsParsed) {
  for (const auto& key :
       {repeated("a.", 9) + "a", repeated(R"("a=,".)", 9) + "a", repeated("'[' . ", 9) + "a",
        "1" + repeated(".1", 40'000), repeated(R"("\"".)", 9) + "a"}) {
    EXPECT_TRUE(is_too_deep(key + " = 1")) << key.substr(0, 80);
    EXPECT_TRUE(is_too_deep("# a line\n[" + key + "]")) << key.substr(0, 80);
    EXPECT_TRUE(is_too_deep("x = { " + key + " = 1 }")) << key.substr(0, 80);
  }
  const auto deep = repeated("a.", 9) + "a = 1";
  EXPECT_TRUE(is_too_deep(R"(x = """ \""" """")"
                          "\n" +
                          deep))
      << "after a text of many lines";
  EXPECT_TRUE(is_too_deep("x = '''\n '' '''''\n" + deep));
  EXPECT_TRUE(is_too_deep("x = " + repeated("[", 17) + repeated("]", 17)));
  EXPECT_TRUE(is_too_deep(repeated("x = {", 17)));
  EXPECT_NE(refusal_of(std::string(2 << 20, '#')).find("at most 1048576 bytes"), std::string::npos);
}

TEST(ConfigFile, DotsAndBracketsInTextsCommentsAndNumbersAreNoLevels) {
  const auto walls = repeated("[0.5, 0.0, 0.5, 0.7], ", 100);
  EXPECT_EQ(
      refusal_of("# " + repeated(".[", 100) + "\n[run]\ndomain = 'maze'\n[domain]\nwalls = [" +
                 walls + "]\nstart = '0.2,0.2,0.0'\n"),
      "");
  EXPECT_FALSE(is_too_deep("x = '" + repeated(".[", 100) + "'"));
  EXPECT_FALSE(is_too_deep("x = '''\n" + repeated(".[", 100) + "'''"));
  EXPECT_FALSE(is_too_deep("x = \"" + repeated(".[\\\"", 100) + "\""));
}

TEST(ConfigFile, OfARunMarksWhatWasChosen) {
  auto given = rarefy::parse_settings("[run]\nseed = 7\n[emitters]\nbatch = 20\nx0 = 0\n", "given");
  const auto first = rarefy::resolve(given);
  auto again = rarefy::parse_settings(rarefy::to_toml(first), "written");
  EXPECT_TRUE(rarefy::resolve(again) == first);
  again.set("algorithm", std::string("cma-me"));
  auto expected = rarefy::default_config("lp", "cma-me");
  expected.seed = 7;
  expected.emitters.batch = 20;
  const auto other = rarefy::resolve(again);
  EXPECT_TRUE(other == expected);
  EXPECT_FALSE(other.emitters.cma_es.mirrored) << "not the first one's";
  // Also what was chosen though it is the default, and through a second file.
  EXPECT_TRUE(other.chosen.names.contains("x0"));
  auto third = rarefy::parse_settings(rarefy::to_toml(other), "written again");
  third.set("algorithm", std::string("dds-kde"));
  EXPECT_TRUE(rarefy::resolve(third) == first);
  // A file without the mark was written by hand: all of it was chosen.
  auto by_hand = rarefy::parse_settings("[emitters]\nsigma0 = 1.5\n", "hand");
  by_hand.set("algorithm", std::string("cma-mae"));
  EXPECT_EQ(rarefy::resolve(by_hand).emitters.sigma0, 1.5);
}

// The same where somebody writes another algorithm into the file.
TEST(ConfigFile, OfARunWithAnotherAlgorithmWrittenIntoItHasThatOnesDefaults) {
  auto toml = rarefy::to_toml(rarefy::default_config("lp"));
  const std::string old = "algorithm = 'dds-kde'";
  toml.replace(toml.find(old), old.size(), "algorithm = 'ns'");
  EXPECT_TRUE(rarefy::resolve(rarefy::parse_settings(toml, "edited")) ==
              rarefy::default_config("lp", "ns"));
}

TEST(ConfigFile, DescribesOneProblem) {
  const std::string problem = "[problem]\nname = 'mine'\nn = 3\nlower = [0, 0]\nupper = [1, 2]\n";
  const auto config =
      rarefy::resolve(rarefy::parse_settings("[run]\ndomain = 'mine'\n" + problem, "own"));
  ASSERT_TRUE(config.own_problem);
  EXPECT_EQ(config.own_problem->solution_dim, 3);
  auto message = message_of("[run]\ndomain = 'arm'\n" + problem);
  EXPECT_TRUE(contains(message, "'arm'") && contains(message, "'mine'")) << message;
  message = message_of("[run]\ndomain = 'mine'\n" + problem + "uper = [2, 3]\n");
  EXPECT_TRUE(contains(message, "'upper'")) << message;
  message = message_of("[run]\ndomain = 'mine'\n" + problem + "constant-objective = 'false'\n");
  EXPECT_TRUE(contains(message, "constant-objective")) << message;
  message = message_of("[run]\ndomain = 'mine'\n[problem]\nname = 'mine'\nn = 3\nlower = [0]\n");
  EXPECT_TRUE(contains(message, "upper")) << message;
}

// A misspelling most likely means a name of its own table, not a nearer one of another.
TEST(ConfigFile, SuggestsNamesOfTheSameTableFirst) {
  EXPECT_TRUE(contains(message_of("[archive]\ncell = 5\n"), "'cells'"));
  EXPECT_TRUE(contains(message_of("[archive]\ncvtseed = 5\n"), "'cvt-seed'"));
  EXPECT_TRUE(contains(message_of("[emitters]\nsigma_0 = 5\n"), "'sigma0'"));
}

TEST(ConfigFile, IsReadFromDisk) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "given.toml";
  std::ofstream(path) << "[run]\nseed = 9\n";
  EXPECT_EQ(rarefy::resolve(rarefy::read_settings(path)).seed, 9);
  std::ofstream(path) << "[run]\nsede = 9\n";
  try {
    (void)rarefy::read_settings(path);
    FAIL();
  } catch (const rarefy::Error& error) {
    EXPECT_TRUE(contains(error.what(), path.string() + ":2")) << error.what();
  }
  try {
    (void)rarefy::read_settings(folder.path() / "missing.toml");
    FAIL();
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_TRUE(contains(error.what(), "missing.toml")) << error.what();
  }
}

// --- names ---

TEST(NearestName, CountsEdits) {
  const std::vector<std::string_view> names = {"seed", "iterations", "domain", "cells"};
  EXPECT_EQ(rarefy::nearest_name("seed", names), "seed");
  EXPECT_EQ(rarefy::nearest_name("sede", names), "seed");  // a swap
  EXPECT_EQ(rarefy::nearest_name("iteration", names), "iterations");
  EXPECT_EQ(rarefy::nearest_name("itertions", names), "iterations");
  EXPECT_EQ(rarefy::nearest_name("iter", names), "iterations");  // the beginning of it
  EXPECT_EQ(rarefy::nearest_name("doamin", names), "domain");
  EXPECT_EQ(rarefy::nearest_name("xxxxxxxx", names), "");
  EXPECT_EQ(rarefy::nearest_name("seed", {}), "");
}

TEST(NearestName, AnErrorListsWhatThereIsUnlessThatIsLong) {
  const std::vector<std::string_view> few = {"one", "two"};
  const auto error = rarefy::unknown_name("number", "tow", few);
  EXPECT_EQ(error.kind(), ErrorKind::parameter);
  EXPECT_STREQ(error.what(),
               "unknown number 'tow' (did you mean 'two'?); expected one of one, two");
  const std::vector<std::string_view> many(13, "same");
  EXPECT_FALSE(contains(rarefy::unknown_name("x", "y", many).what(), "same, same"));
}

// --- defaults ---

TEST(DefaultConfig, FollowsTheReproductionNotes) {
  const auto lp = rarefy::default_config("lp");
  EXPECT_TRUE(lp == Config{});
  EXPECT_EQ(lp.emitters.count * lp.emitters.batch, 540);
  EXPECT_EQ(rarefy::default_config("multi-lp").problem.m, 10);
  const auto published = rarefy::default_config("multi-lp", "dds-kde", rarefy::Profile::published);
  EXPECT_EQ(published.density.kde.bandwidth.text(), "5.12");
  EXPECT_EQ(published.restarts.at, rarefy::RestartAt::origin);
  EXPECT_FALSE(published.emitters.cma_es.mirrored);
  EXPECT_EQ(rarefy::default_config("lp", "dds-kde", rarefy::Profile::published)
                .density.kde.bandwidth.text(),
            "25.6");
  EXPECT_EQ(rarefy::default_config("arm", "dds-kde", rarefy::Profile::published)
                .density.kde.bandwidth.text(),
            "10");
  EXPECT_EQ(rarefy::default_config("maze", "dds-kde", rarefy::Profile::published)
                .density.kde.bandwidth.text(),
            "0.01");
  // The rivals: the paper's table of hyperparameters, as docs/published-profile.md has it.
  struct Line {
    std::string_view domain, threshold;
    double cma_mae, cma_me, iso, cnf;
  };
  for (const Line& line :
       {Line{"lp", "21.504", 0.5, 0.5, 0.5, 0.5}, Line{"arm", "8.4", 0.2, 0.5, 0.1, 1.5},
        Line{"maze", "0.042", 0.5, 0.2, 0.1, 1.5},
        Line{"multi-lp", "2.1504", 0.5, 0.5, 0.5, 0.5}}) {
    const auto of = [&](std::string_view algorithm) {
      return rarefy::default_config(line.domain, algorithm, rarefy::Profile::published);
    };
    EXPECT_EQ(of("dds-cnf").emitters.sigma0, line.cnf);
    EXPECT_EQ(of("dds-cnf").density.flow.network.layers,
              (std::vector<rarefy::Index>{256, 256, 256}));
    EXPECT_EQ(of("dds-cnf").density.flow.training.steps, 20);
    EXPECT_EQ(of("dds-cnf").density.flow.training.batch, 256);
    EXPECT_EQ(of("dds-cnf").restarts.at, rarefy::RestartAt::origin);
    EXPECT_EQ(of("ns").density.novelty.threshold.text(), line.threshold);
    EXPECT_EQ(of("ns").emitters.sigma0, 0.5);
    EXPECT_EQ(of("ns").density.novelty.neighbours, 100);
    EXPECT_EQ(of("cma-mae").emitters.sigma0, line.cma_mae);
    EXPECT_EQ(of("cma-mae").density.alpha, 0.01);
    EXPECT_EQ(of("cma-mae").density.threshold_min, std::nullopt);
    EXPECT_EQ(of("cma-me").emitters.sigma0, line.cma_me);
    EXPECT_EQ(of("map-elites-line").emitters.iso_sigma, line.iso);
    EXPECT_EQ(of("map-elites-line").emitters.iso_line.sigma_line, 0.2);
    for (const auto* algorithm : {"ns", "cma-mae", "cma-me"}) {
      EXPECT_EQ(of(algorithm).emitters.selection, rarefy::Selection::mu);
      EXPECT_EQ(of(algorithm).restarts.when, rarefy::RestartWhen::basic);
      EXPECT_EQ(of(algorithm).restarts.at, rarefy::RestartAt::elite);
      EXPECT_FALSE(of(algorithm).emitters.cma_es.mirrored);
    }
  }
}

TEST(DefaultConfig, RefusesUnknownNames) {
  EXPECT_THROW((void)rarefy::default_config("lpp"), rarefy::Error);
  EXPECT_THROW((void)rarefy::default_config("lp", "cma-mee"), rarefy::Error);
  EXPECT_THROW((void)rarefy::named<rarefy::Profile>("paper"), rarefy::Error);
}

}  // namespace
