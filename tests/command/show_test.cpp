// rarefy show
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "real_numpy.hpp"
#include "run_files.hpp"

namespace {

class CommandShow : public testing::TestWithParam<SmallCase> {};

TEST_P(CommandShow, SumsUpWhatTheFilesSay) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto archive = undisturbed_archive(GetParam().arguments(), folder);
  const auto picture = bytes_of(folder / "heatmap.png");
  const auto metrics = table_of(bytes_of(folder / "metrics.csv"));
  fs::remove(folder / "heatmap.png");

  const auto text = rarefy_command({"show", folder.string()});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.err, "");
  for (const auto* part : {"200 of 200", "coverage", "cross-entropy", "floor 1e-14", "seed 7",
                           "solutions/s", "heatmap.png"}) {
    EXPECT_TRUE(contains(text.out, part)) << part << " is not in " << text.out;
  }
  EXPECT_TRUE(bytes_of(folder / "heatmap.png") == picture) << "drawn again, but not the same";
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == archive);

  const auto shown = rarefy_command({"show", folder.string(), "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto json = nlohmann::json::parse(shown.out);
  EXPECT_EQ(json["finished"], true);
  EXPECT_EQ(json["folder"], folder.string());
  EXPECT_EQ(json["cells"], GetParam().cells());
  EXPECT_EQ(json["cross_entropy_floor"], 1e-14);
  EXPECT_EQ(static_cast<double>(json["occupied_cells"]) / static_cast<double>(json["cells"]),
            json["coverage"]);
  for (const auto* name : {"iteration", "evaluations", "coverage", "cross_entropy", "qd_score",
                           "best_objective", "restarts"}) {
    EXPECT_EQ(json[name].get<double>(), metrics.last(name)) << name;
  }
  // The run goes on for a moment after its last line, which has three decimals.
  EXPECT_GE(json["seconds"].get<double>(), metrics.last("seconds") - 0.001);
  for (const auto& parameter : rarefy::parameters()) {
    EXPECT_TRUE(
        json["config"][std::string(parameter.section)].contains(std::string(parameter.name)))
        << parameter.name;
  }
  EXPECT_EQ(json["config"]["domain"]["n"], 20);
}

INSTANTIATE_TEST_SUITE_P(Of, CommandShow,
                         testing::Values(SmallCase{"lp", "default"},
                                         SmallCase{"multi-lp", "published"}),
                         SmallCaseName());

TEST(CommandShowOf, ARunKilledBeforeAnyArchiveWasWritten) {
  const RunPlace place;
  const auto folder = place / "run";
  Process process(command_words(SmallCase{"lp", "default"}.arguments(1'000'000'000) +
                                Words{"--checkpoint-seconds", "1000", "--out", folder.string()}));
  ASSERT_TRUE(process.wait_until([&] { return fs::exists(folder / "config.toml"); }));
  process.send(SIGKILL);
  (void)process.wait();
  ASSERT_FALSE(fs::exists(folder / "archive.npz"));

  const auto shown = rarefy_command({"show", folder.string(), "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto json = nlohmann::json::parse(shown.out);
  EXPECT_EQ(json["finished"], false);
  EXPECT_EQ(json["iteration"], 0);
  EXPECT_EQ(json["coverage"], 0.0);
  EXPECT_TRUE(json["cross_entropy"].is_number());
  expect_finished_folder(folder, false);
  EXPECT_EQ(rarefy_command({"show", folder.string()}).exit_code, 0);
  if (!numpy_is_here()) GTEST_SKIP() << "NumPy is not here";
  const auto read = python(
      "import numpy, sys; a = numpy.load(sys.argv[1]); "
      "assert a['solutions'].shape == (0, 20) and a['features'].shape == (0, 2); "
      "assert a['cells'].shape == (0,) and a['visits'].sum() == 0 and a['iteration'] == 0",
      {(folder / "archive.npz").string()});
  EXPECT_EQ(read.exit_code, 0) << read.err;
}

TEST(CommandShowOf, WhatIsNoRunIsAnError) {
  const RunPlace place;
  for (const auto& folder : {place / "missing", place.path()}) {
    const auto result = rarefy_command({"show", folder.string()});
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_TRUE(contains(result.err, folder.string())) << result.err;
  }
  EXPECT_TRUE(fs::is_empty(place.path()));
}

}  // namespace
