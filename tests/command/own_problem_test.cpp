// The folder of a run on a problem that the command does not know, and names of folders.
#include "command_line.hpp"
#include "run_files.hpp"

namespace {

#ifdef RAREFY_LANDER_PATH

ProcessResult lander(const fs::path& folder) {
  Process process({RAREFY_LANDER_PATH, folder.string()});
  return process.wait();
}

TEST(CommandOwnProblem, IsShownButNotGoneOnWith) {
  const RunPlace place;
  const auto folder = place / "lander";
  const auto made = lander(folder);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(contains(made.out, "Landings on the moon")) << made.out;
  const auto archive = bytes_of(folder / "archive.npz");
  fs::remove(folder / "archive.npz");

  const auto shown = rarefy_command({"show", folder.string()});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "Landings on the moon")) << shown.out;
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == archive);
  EXPECT_EQ(rarefy_command({"show", folder.string(), "--density"}).exit_code, 0);
  const auto json = nlohmann::json::parse(rarefy_command({"show", folder.string(), "--json"}).out);
  EXPECT_EQ(json["iteration"], 300);

  const auto resumed = rarefy_command({"resume", folder.string(), "--iterations", "400"});
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_TRUE(contains(resumed.err, "'lander'")) << resumed.err;
  EXPECT_TRUE(contains(resumed.err, "the program that began it")) << resumed.err;
  const auto again = rarefy_command(
      {"run", "--config", (folder / "config.toml").string(), "--out", (place / "x").string()});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(contains(again.err, "'lander'")) << again.err;
  // Its parameters serve a domain that is known.
  const auto other = rarefy_command({"run", "lp", "--config", (folder / "config.toml").string(),
                                     "--iterations", "2", "--out", (place / "lp").string()});
  EXPECT_EQ(other.exit_code, 0) << other.err;
}

// Killed and started again, it goes on: its own program needs no option for that.
TEST(CommandOwnProblem, GoesOnByItsOwnProgram) {
  const RunPlace place;
  ASSERT_EQ(lander(place / "whole").exit_code, 0);
  const auto folder = place / "killed";
  {
    Process process({RAREFY_LANDER_PATH, folder.string()});
    process.wait_until([&] { return fs::exists(folder / "config.toml"); });
    process.send(SIGKILL);
    process.wait();
  }
  ASSERT_EQ(lander(folder).exit_code, 0);
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == bytes_of(place / "whole" / "archive.npz"));
}

#endif

TEST(CommandRunFolder, HasANameThatTellsRunsApart) {
  const RunPlace place;
  const auto folder_of = [&](const Words& words) {
    const auto result = rarefy_command(
        Words{"run"} + words + Words{"--iterations", "1", "--emitters", "2", "--quiet"},
        {.folder = place / ""});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(place / "runs")) {
      names.push_back(entry.path().filename().string());
    }
    fs::remove_all(place / "runs");
    return names.size() == 1 ? names.front() : "not one folder";
  };
  EXPECT_EQ(folder_of({"lp"}), "lp-dds-kde-default-seed1-emitters-2");
  EXPECT_EQ(folder_of({"lp", "--n", "20", "--seed", "3"}),
            "lp-dds-kde-default-seed3-n-20-emitters-2");
  EXPECT_EQ(folder_of({"lp", "--objective", "sphere", "--grid", "50"}),
            "lp-dds-kde-default-seed1-objective-sphere-emitters-2-grid-50");
  EXPECT_EQ(folder_of({"lp", "--checkpoint-seconds", "3"}), folder_of({"lp"}))
      << "what decides nothing";
  // Long lists of differences are cut, and still tell runs apart.
  const auto one = folder_of({"maze", "--walls", "0.5,0,0.5,0.7; 0.2,0.9,0.8,0.9; 0.3,0,0.3,0.1"});
  const auto other =
      folder_of({"maze", "--walls", "0.5,0,0.5,0.7; 0.2,0.9,0.8,0.9; 0.3,0,0.3,0.2"});
  EXPECT_NE(one, other);
  EXPECT_LT(one.size(), 100U);
}

}  // namespace
