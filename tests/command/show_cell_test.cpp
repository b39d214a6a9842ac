// rarefy show --cell and --csv
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "rarefy/domains/arm.hpp"
#include "rarefy/storage/npz.hpp"
#include "run_files.hpp"

namespace {

const Words kFewEmitters = {"--iterations", "20", "--emitters", "3", "--batch", "12", "--quiet"};

struct CommandShowCell : testing::Test {
  RunPlace place;
  fs::path folder = place / "run";

  void run(const std::string& domain, const Words& more = {}) const {
    const auto result =
        rarefy_command(Words{"run", domain, "--out", folder.string()} + kFewEmitters + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  [[nodiscard]] ProcessResult show(const Words& more) const {
    return rarefy_command(Words{"show", folder.string()} + more);
  }
};

TEST_F(CommandShowCell, PrintsTheEliteOfACellByNumberOrPoint) {
  run("lp", {"--n", "4"});
  const auto arrays = rarefy::read_npz(folder / "archive.npz");
  const auto cell = arrays.at("cells").integers()[2];
  const auto features = arrays.at("features").reals().subspan(4, 2);
  const auto solution = arrays.at("solutions").reals().subspan(8, 4);

  const auto shown = show({"--cell", std::to_string(cell), "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto json = nlohmann::json::parse(shown.out);
  EXPECT_EQ(json["cell"], cell);
  EXPECT_EQ(json["objective"], 1.0);
  EXPECT_EQ(json["visits"], arrays.at("visits").integers()[static_cast<std::size_t>(cell)]);
  EXPECT_EQ(json["features"].get<std::vector<double>>(),
            std::vector<double>(features.begin(), features.end()));
  EXPECT_EQ(json["solution"].get<std::vector<double>>(),
            std::vector<double>(solution.begin(), solution.end()));
  EXPECT_FALSE(json.contains("picture"));

  const auto text = show({"--cell", std::to_string(cell)});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const auto& part : {fmt::format("cell {}\n", cell), fmt::format("{}", features[0]),
                           fmt::format("{},{}", solution[0], solution[1])}) {
    EXPECT_TRUE(contains(text.out, part)) << part << " is not in " << text.out;
  }
  const auto by_point = show({fmt::format("--cell={},{}", features[0], features[1])});
  EXPECT_EQ(by_point.out, text.out) << by_point.err;
}

TEST_F(CommandShowCell, DrawsAnArm) {
  run("arm", {"--n", "12"});
  const auto arrays = rarefy::read_npz(folder / "archive.npz");
  const auto cell = arrays.at("cells").integers()[0];
  const auto name = fmt::format("arm-{}.png", cell);
  const auto result = show({"--cell", std::to_string(cell)});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, name)) << result.out;
  EXPECT_GT(png_size(bytes_of(folder / name)).first, 0U);
  const auto json = nlohmann::json::parse(show({"--cell", std::to_string(cell), "--json"}).out);
  EXPECT_TRUE(contains(json["picture"].get<std::string>(), name));
  // A new run in the folder takes it away.
  run("arm", {"--n", "12", "--overwrite"});
  EXPECT_FALSE(fs::exists(folder / name));
}

TEST_F(CommandShowCell, RefusesCellsThatCannotBe) {
  run("lp", {"--n", "4"});
  for (const auto* cell : {"abc", "10000", "-1", "0.5", "0.5,", "1,2,3", "nan,0.5"}) {
    SCOPED_TRACE(cell);
    const auto result = show({std::string("--cell=") + cell});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, "--cell")) << result.err;
    EXPECT_TRUE(contains(result.err, cell)) << result.err;
    EXPECT_TRUE(contains(result.err, "0 to 9999")) << result.err;
    EXPECT_EQ(result.out, "");
  }
  const auto outside = show({"--cell=1e9,0"});
  EXPECT_EQ(outside.exit_code, 2);
  EXPECT_TRUE(contains(outside.err, "a point within [")) << outside.err;
  const auto empty = show({"--cell", "0"});  // a corner: 20 iterations do not get there
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_TRUE(contains(empty.err, "a cell that was reached")) << empty.err;
  for (const auto& words : {Words{"--cell", "3", "--csv"}, Words{"--csv", "--json"},
                            Words{"--cell", "3", "--density"}}) {
    EXPECT_EQ(show(words).exit_code, 2);
  }
}

TEST_F(CommandShowCell, FindsCellsOfManyFeaturesByAPoint) {
  run("multi-lp", {"--n", "12", "--m", "3", "--cells", "50", "--cvt-samples", "500"});
  const auto arrays = rarefy::read_npz(folder / "archive.npz");
  const auto features = arrays.at("features").reals();
  const auto point = fmt::format("--cell={},{},{}", features[0], features[1], features[2]);
  const auto found = show({point, "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(nlohmann::json::parse(found.out)["cell"], arrays.at("cells").integers()[0]);
  const auto wrong = show({"--cell=1,2"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "3 numbers")) << wrong.err;
}

TEST_F(CommandShowCell, PrintsTheArchiveAsCsv) {
  run("lp", {"--n", "4", "--sigma0", "1.5"});
  const auto result = show({"--csv"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto table = table_of(result.out);
  const auto arrays = rarefy::read_npz(folder / "archive.npz");
  const auto cells = arrays.at("cells").integers();
  ASSERT_EQ(table.rows.size(), cells.size());
  EXPECT_TRUE(result.out.starts_with(
      "cell,visits,objective,feature_1,feature_2,solution_1,solution_2,solution_3,solution_4\n"));
  double visits = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    visits += table.at(i, "visits");
    if (i > 0) {
      EXPECT_LT(table.at(i - 1, "cell"), table.at(i, "cell"));
    }
  }
  EXPECT_EQ(visits, 20 * 3 * 12);
}

}  // namespace
