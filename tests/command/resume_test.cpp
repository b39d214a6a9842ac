// rarefy resume
#include <algorithm>

#include "command_line.hpp"
#include "run_files.hpp"

namespace {

const SmallCase kSmall = {"lp", "default"};

struct CommandResume : testing::Test {
  RunPlace place;
  fs::path folder = place / "run";
  std::string finished;  // archive.npz

  void SetUp() override {
    finished = undisturbed_archive(kSmall.arguments(100), folder);
    ASSERT_FALSE(finished.empty());
  }
  [[nodiscard]] ProcessResult resume(const Words& more = {}) const {
    return rarefy_command(Words{"resume", folder.string()} + more);
  }
};

TEST_F(CommandResume, AFinishedRunStaysAsItIs) {
  const auto metrics = bytes_of(folder / "metrics.csv");
  const auto picture = bytes_of(folder / "heatmap.png");
  const auto result = resume();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "this run is finished (100 iterations)")) << result.err;
  EXPECT_TRUE(contains(result.err, "--iterations")) << result.err;
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == finished);
  EXPECT_EQ(bytes_of(folder / "metrics.csv"), metrics);
  EXPECT_TRUE(bytes_of(folder / "heatmap.png") == picture);
}

TEST_F(CommandResume, GoesFurtherToTheSameBits) {
  const auto result = resume({"--iterations", "250"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(bytes_of(folder / "archive.npz") ==
              undisturbed_archive(kSmall.arguments(250), place / "whole"));
  EXPECT_EQ(bytes_of(folder / "config.toml"), bytes_of(place / "whole" / "config.toml"));
}

TEST_F(CommandResume, RefusesIterationsThatCannotBe) {
  for (const auto* iterations : {"0", "-5", "many", "1e3", "99999999999999"}) {
    SCOPED_TRACE(iterations);
    const auto result = resume({std::string("--iterations=") + iterations});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, "iterations")) << result.err;
    EXPECT_TRUE(contains(bytes_of(folder / "config.toml"), "iterations = 100"));
  }
}

TEST_F(CommandResume, AFolderThatIsNoRunIsNamed) {
  fs::create_directory(place / "empty");
  auto result = rarefy_command({"resume", (place / "empty").string()});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(contains(result.err, (place / "empty").string())) << result.err;
  EXPECT_TRUE(contains(result.err, "config.toml")) << result.err;
  EXPECT_TRUE(fs::is_empty(place / "empty"));

  result = rarefy_command({"resume", (place / "missing").string()});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(contains(result.err, (place / "missing").string())) << result.err;
  EXPECT_FALSE(fs::exists(place / "missing"));
}

TEST_F(CommandResume, RefusesAConfigurationThatWasChangedInWhatMatters) {
  const auto config = bytes_of(folder / "config.toml");
  const std::vector<std::pair<std::string, std::string>> changes = {{"seed", "8"},
                                                                    {"sigma0", "1.4"},
                                                                    {"n", "22"},
                                                                    {"emitters", "4"},
                                                                    {"domain", "'arm'"},
                                                                    {"restart-at", "'origin'"},
                                                                    {"mirrored", "false"},
                                                                    {"buffer", "501"},
                                                                    {"kernel", "'triangular'"},
                                                                    {"profile", "'published'"},
                                                                    {"grid", "99"},
                                                                    {"entropy-floor", "1e-12"}};
  for (const auto& [name, value] : changes) {
    SCOPED_TRACE(name);
    change_config(folder / "config.toml", name, value);
    const auto result = resume({"--iterations", "110"});
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_TRUE(contains(result.err, "config.toml")) << result.err;
    EXPECT_TRUE(bytes_of(folder / "archive.npz") == finished);
    write_text(folder / "config.toml", config);
  }
  EXPECT_EQ(resume().exit_code, 0) << "as it was, it is good again";
}

// Nobody asked for it on the command line: the file is bad.
TEST_F(CommandResume, AnImpossibleConfigurationInsideTheCheckpointIsBadData) {
  const auto payload = rarefy::read_checkpoint(folder / "checkpoint.bin");
  std::string text(reinterpret_cast<const char*>(payload.data()), payload.size());
  const std::string was = "sigma0 = 'auto'";
  const auto at = text.find(was);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, was.size(), "sigma0 = -1.00 ");
  rarefy::write_checkpoint(folder / "checkpoint.bin", std::as_bytes(std::span(text)));
  const auto result = resume({"--iterations", "110"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_TRUE(contains(result.err, "checkpoint.bin") && contains(result.err, "sigma0"))
      << result.err;
}

TEST_F(CommandResume, AcceptsAConfigurationThatWasChangedInWhatMayChange) {
  change_config(folder / "config.toml", "iterations", "150");
  change_config(folder / "config.toml", "metrics-every", "10");
  change_config(folder / "config.toml", "checkpoint-seconds", "0.5");
  const auto result = resume();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(iteration_in(folder), 150);
  EXPECT_TRUE(bytes_of(folder / "archive.npz") ==
              undisturbed_archive(kSmall.arguments(150), place / "whole"));
  EXPECT_TRUE(contains(bytes_of(folder / "metrics.csv"), "\n110,"));
}

TEST_F(CommandResume, AMisspeltKeyIsNamedWithItsPlace) {
  const auto config = bytes_of(folder / "config.toml");
  const auto at = config.find("sigma0");
  const auto line = std::count(config.begin(), config.begin() + static_cast<long>(at), '\n') + 1;
  auto changed = config;
  changed.replace(at, 6, "sigma");
  write_text(folder / "config.toml", changed);
  const auto result = resume();
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_TRUE(contains(result.err, "config.toml:" + std::to_string(line))) << result.err;
  EXPECT_TRUE(contains(result.err, "'sigma0'")) << result.err;
}

TEST_F(CommandResume, RefusesADamagedCheckpointAndTouchesNothing) {
  const auto good = bytes_of(folder / "checkpoint.bin");
  const auto config = bytes_of(folder / "config.toml");
  std::vector<std::pair<std::string, std::string>> damaged = {
      {"empty", ""},
      {"another file", "iteration,evaluations\n"},
      {"cut within the header", good.substr(0, 25)},
      {"cut behind the header", good.substr(0, 40)},
      {"cut in the middle", good.substr(0, good.size() / 2)},
      {"cut at the end", good.substr(0, good.size() - 1)},
      {"too long", good + "x"}};
  for (const std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{20}, std::size_t{30},
                               std::size_t{60}, good.size() / 2, good.size() - 1}) {
    auto flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    damaged.emplace_back("flipped at " + std::to_string(at), flipped);
  }
  for (const auto& [name, bytes] : damaged) {
    SCOPED_TRACE(name);
    write_text(folder / "checkpoint.bin", bytes);
    for (const auto* verb : {"resume", "show"}) {
      const auto result = rarefy_command({verb, folder.string()});
      EXPECT_EQ(result.exit_code, 3) << result.err;
      EXPECT_TRUE(contains(result.err, (folder / "checkpoint.bin").string())) << result.err;
    }
    EXPECT_TRUE(bytes_of(folder / "archive.npz") == finished);
    EXPECT_EQ(bytes_of(folder / "config.toml"), config);
    EXPECT_TRUE(bytes_of(folder / "checkpoint.bin") == bytes);
  }
  fs::remove(folder / "checkpoint.bin");
  const auto result = resume();
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_TRUE(contains(result.err, (folder / "checkpoint.bin").string())) << result.err;
}

TEST_F(CommandResume, RefusesACheckpointOfAnotherRun) {
  (void)undisturbed_archive(kSmall.arguments(100) + Words{"--sigma0", "1.25"}, place / "other");
  fs::copy_file(place / "other" / "checkpoint.bin", folder / "checkpoint.bin",
                fs::copy_options::overwrite_existing);
  const auto result = resume({"--iterations", "110"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == finished);
}

TEST_F(CommandResume, RefusesFewerIterationsThanAreDone) {
  const auto config = bytes_of(folder / "config.toml");
  const auto result = resume({"--iterations", "20"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_TRUE(contains(result.err, "100 that are done")) << result.err;
  EXPECT_EQ(bytes_of(folder / "config.toml"), config);
}

TEST(CommandCentroids, OfAnotherRunAreRefusedAndMissingOnesToo) {
  const RunPlace place;
  const Words words = {"run",           "multi-lp", "--n",     "20", "--emitters",   "2",
                       "--batch",       "12",       "--cells", "50", "--iterations", "20",
                       "--cvt-samples", "500",      "--quiet"};
  for (const auto* seed : {"1", "2"}) {
    const auto made =
        rarefy_command(words + Words{"--cvt-seed", seed, "--out", (place / seed).string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  const auto resume_first = [&] {
    return rarefy_command({"resume", (place / "1").string(), "--iterations", "30"});
  };
  fs::copy_file(place / "2" / "centroids.npy", place / "1" / "centroids.npy",
                fs::copy_options::overwrite_existing);
  const auto other = resume_first();
  EXPECT_EQ(other.exit_code, 3) << other.err;
  EXPECT_TRUE(contains(other.err, "centroids.npy")) << other.err;
}

TEST_F(CommandResume, OnlyOneProcessAtATime) {
  Process first(command_words({"resume", folder.string(), "--iterations", "1000000000"}));
  ASSERT_TRUE(first.wait_until(
      [&] { return contains(bytes_of(folder / "config.toml"), "iterations = 1000000000"); }));
  const std::vector<Words> others = {{"resume", folder.string()},
                                     {"run", "lp", "--out", folder.string(), "--overwrite"}};
  for (const auto& words : others) {
    SCOPED_TRACE(words[0]);
    const auto second = rarefy_command(words);
    EXPECT_EQ(second.exit_code, 4) << second.err;
    EXPECT_TRUE(contains(second.err, "in use by another rarefy")) << second.err;
    EXPECT_TRUE(contains(second.err, folder.string())) << second.err;
  }
  // Looking is free, and changes nothing.
  const auto look = rarefy_command({"show", folder.string()});
  EXPECT_EQ(look.exit_code, 0) << look.err;
  EXPECT_TRUE(contains(look.err, "writing nothing") && contains(look.err, "in use")) << look.err;
  EXPECT_TRUE(contains(look.out, "coverage")) << look.out;
  first.send(SIGKILL);
  (void)first.wait();
  const auto after = rarefy_command({"show", folder.string()});
  EXPECT_EQ(after.exit_code, 0) << "the lock ends with it";
  EXPECT_FALSE(contains(after.err, "writing nothing")) << after.err;
}

// The objective has a scale that is computed when the run is taken up: by the instructions that
// the run was begun with, not by those that happen to be the best here.
TEST(CommandResumeInstructionSet, GoesOnWithTheOneTheRunWasBegunWith) {
  for (const auto& [objective, n] : std::vector<std::pair<std::string, std::string>>{
           {"constant", "20"}, {"sphere", "33"}, {"rastrigin", "101"}}) {
    SCOPED_TRACE(objective);
    const RunPlace place;
    const Words words = {"run",
                         "lp",
                         "--n",
                         n,
                         "--m",
                         "1",
                         "--batch",
                         "12",
                         "--emitters",
                         "3",
                         "--objective",
                         objective,
                         "--instruction-set",
                         "baseline"};
    const auto expected = undisturbed_archive(words + Words{"--iterations", "60"}, place / "whole");
    (void)undisturbed_archive(words + Words{"--iterations", "30"}, place / "part");
    const auto result = rarefy_command({"resume", (place / "part").string(), "--iterations", "60"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(bytes_of(place / "part" / "archive.npz") == expected);
  }
}

TEST(CommandResumeInstructionSet, SaysSoWhenAnotherIsAskedFor) {
  const RunPlace place;
  const auto folder = place / "run";
  (void)undisturbed_archive(kSmall.arguments(10), folder);
  const auto shown = rarefy_command({"show", folder.string(), "--json"});
  if (contains(shown.out, R"("instruction_set": "baseline")")) {
    GTEST_SKIP() << "this processor has no other";
  }
  const auto result = rarefy_command(
      {"resume", folder.string(), "--iterations", "20", "--instruction-set", "baseline"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.err, "baseline")) << result.err;
  EXPECT_TRUE(contains(result.err, "may differ")) << result.err;
}

}  // namespace
