// The maze by the command: runs, maps, walls, trajectories, evaluation.
#include <cmath>

#include "command_line.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/domains/maze.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/storage/npz.hpp"
#include "run_files.hpp"

namespace {

using rarefy::Batch;
using rarefy::Index;

const Words kShort = {"--iterations", "60", "--emitters", "3", "--batch", "12", "--seed", "3"};

struct CommandMaze : testing::Test {
  RunPlace place;
  fs::path folder = place / "run";

  void run(const Words& more = {}) const {
    const auto result =
        rarefy_command(Words{"run", "maze", "--out", folder.string(), "--quiet"} + kShort + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  [[nodiscard]] Batch array(const std::string& name) const {
    const auto arrays = rarefy::read_npz(folder / "archive.npz");
    const auto& found = arrays.at(name);
    Batch batch(found.shape.at(0), found.shape.at(1));
    const auto& values = std::get<std::vector<double>>(found.values);
    std::copy(values.begin(), values.end(), batch.values().begin());
    return batch;
  }
  [[nodiscard]] ProcessResult trajectory(const std::string& cell) const {
    return rarefy_command({"show", folder.string(), "--trajectory", cell});
  }
};

TEST_F(CommandMaze, HasThePapersSetUp) {
  run();
  const auto config = bytes_of(folder / "config.toml");
  for (const auto* line :
       {"n = 66 ", "grid = 100 ", "maze = 'deceptive'", "objective = 'constant'"}) {
    EXPECT_TRUE(contains(config, line)) << line;
  }
  EXPECT_EQ(array("solutions").cols(), 66);
  const auto picture = png_size(bytes_of(folder / "heatmap.png"));
  EXPECT_GT(picture.first, 0U);
}

TEST_F(CommandMaze, DrawsThePathOfACell) {
  run();
  const auto features = array("features");
  const Index elite = features.rows() - 1;
  const auto point = fmt::format("{},{}", features(elite, 0), features(elite, 1));
  const auto result = trajectory(point);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // The grid is row-major, the last feature fastest.
  const auto place_of = [](double x) {
    return std::min<Index>(99, std::max<Index>(0, static_cast<Index>(std::floor(x * 100))));
  };
  const Index cell = 100 * place_of(features(elite, 0)) + place_of(features(elite, 1));
  const auto name = fmt::format("trajectory-{}", cell);
  EXPECT_TRUE(contains(result.out, name + ".png")) << result.out;
  png_size(bytes_of(folder / (name + ".png")));
  const auto table = table_of(bytes_of(folder / (name + ".csv")));
  ASSERT_EQ(table.rows.size(), 251U);
  EXPECT_NEAR(table.at(0, "x"), 0.15, 1e-7);
  EXPECT_NEAR(table.at(249, "x"), features(elite, 0), 1e-8);
  EXPECT_NEAR(table.at(249, "y"), features(elite, 1), 1e-8);
  // The same by the number of the cell.
  const auto bytes = bytes_of(folder / (name + ".png"));
  ASSERT_EQ(trajectory(fmt::format("{}", cell)).exit_code, 0);
  EXPECT_TRUE(bytes_of(folder / (name + ".png")) == bytes);
  // A new run in the folder takes them away, and nothing else that lies there.
  write_text(folder / "trajectory-notes.txt", "mine");
  run({"--overwrite"});
  EXPECT_FALSE(fs::exists(folder / (name + ".png")));
  EXPECT_FALSE(fs::exists(folder / (name + ".csv")));
  EXPECT_TRUE(fs::exists(folder / "trajectory-notes.txt"));
}

TEST_F(CommandMaze, RefusesTrajectoriesThatCannotBe) {
  run();
  for (const auto* cell : {"abc", "10000", "-1", "0.5", "0.5,", "0.5,0.5,0.5", "nan,0.5"}) {
    SCOPED_TRACE(cell);
    const auto result =
        rarefy_command({"show", folder.string(), std::string("--trajectory=") + cell});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, cell)) << result.err;
    EXPECT_TRUE(contains(result.err, "0 to 9999")) << result.err;
  }
  const auto outside = trajectory("5,5");
  EXPECT_EQ(outside.exit_code, 2) << outside.out;
  EXPECT_TRUE(contains(outside.err, "[0, 1] x [0, 1]")) << outside.err;
  const auto empty = trajectory("0.05,0.95");  // 60 iterations do not get there
  EXPECT_EQ(empty.exit_code, 2) << empty.out;
  EXPECT_TRUE(contains(empty.err, "a cell that was reached")) << empty.err;
  const auto lp = place / "lp";
  ASSERT_EQ(rarefy_command({"run", "lp", "--iterations", "5", "--out", lp.string()}).exit_code, 0);
  const auto other = rarefy_command({"show", lp.string(), "--trajectory", "3"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(contains(other.err, "maze")) << other.err;
}

TEST_F(CommandMaze, TakesWallsFromAFileAndKeepsThemInTheRun) {
  write_text(place / "walls.toml",
             "[run]\ndomain = 'maze'\niterations = 20\n[domain]\n"
             "walls = [[0.5, 0, 0.5, 0.7],\n         [0.2, 0.9, 0.8, 0.9]]\n"
             "start = [0.2, 0.2, 0]\n[emitters]\nemitters = 3\n");
  const auto result = rarefy_command(
      {"run", "--config", (place / "walls.toml").string(), "--out", folder.string(), "--quiet"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(
      contains(bytes_of(folder / "config.toml"), "walls = '0.5,0,0.5,0.7; 0.2,0.9,0.8,0.9'"))
      << bytes_of(folder / "config.toml");
  const auto resumed = rarefy_command({"resume", folder.string(), "--iterations", "40", "--quiet"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto same = rarefy_command({"run", "maze", "--walls", "0.5,0,0.5,0.7; 0.2,0.9,0.8,0.9",
                                    "--start", "0.2,0.2,0", "--iterations", "40", "--emitters", "3",
                                    "--out", (place / "same").string(), "--quiet"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == bytes_of(place / "same" / "archive.npz"));
}

TEST_F(CommandMaze, NamesWhatIsWrongWithWallsAndMaps) {
  const auto refused = [&](const Words& words, std::string_view part) {
    const auto result = rarefy_command(Words{"run", "maze", "--out", folder.string()} + words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, part)) << result.err;
    EXPECT_FALSE(fs::exists(folder));
  };
  refused({"--walls", "0,0,1"}, "x1,y1,x2,y2");
  refused({"--walls", "0,0,1,1; 0.3,0.3,0.3,0.3"}, "wall 2");
  refused({"--walls", "0.1,0.15,0.2,0.15"}, "could not move");
  refused({"--start", "0.001,0.5,0"}, "the border");
  refused({"--start", "2,2,0"}, "unit square");
  refused({"--maze", "snaek"}, "did you mean");
  refused({"--n", "65"}, "66");
  refused({"--objective", "sphere"}, "constant, energy");
  refused({"--maze", "snake", "--walls", "0.5,0,0.5,0.7"}, "--maze has no effect");
  refused({"--algorithm", "cma-mae", "--objective", "energy", "--threshold-min", "0"},
          "threshold-min");
  write_text(place / "none.toml", "[run]\ndomain = 'maze'\n[domain]\nwalls = []\n");
  const auto none =
      rarefy_command({"run", "--config", (place / "none.toml").string(), "--out", folder.string()});
  EXPECT_EQ(none.exit_code, 2) << none.err;
  EXPECT_TRUE(contains(none.err, "maze = 'empty'")) << none.err;
  write_text(place / "bad.toml", "[run]\ndomain = 'maze'\n[domain]\nwalls = [['a', 1, 2, 3]]\n");
  const auto result =
      rarefy_command({"run", "--config", (place / "bad.toml").string(), "--out", folder.string()});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_TRUE(contains(result.err, "bad.toml:4")) << result.err;
}

TEST_F(CommandMaze, EvaluatesControllers) {
  Batch controllers(50, 66);
  rarefy::fill_normals({.seed = 5, .purpose = rarefy::Purpose::user}, controllers.values());
  rarefy::write_npy(place / "controllers.npy", controllers);
  const auto result =
      rarefy_command({"evaluate", "maze", "--solutions", (place / "controllers.npy").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto table = table_of(result.out);
  ASSERT_EQ(table.rows.size(), 50U);
  const rarefy::Maze maze({.objective = rarefy::MazeObjective::energy});
  Batch features(50, 2);
  std::vector<double> energies(50);
  maze.evaluate(controllers, features, energies);
  for (Index i = 0; i < 50; ++i) {
    const auto row = static_cast<std::size_t>(i);
    EXPECT_EQ(table.at(row, "x"), features(i, 0));
    EXPECT_EQ(table.at(row, "y"), features(i, 1));
    EXPECT_EQ(table.at(row, "objective"), energies[row]);
    EXPECT_LE(energies[row], 0.0);
    EXPECT_GE(energies[row], -0.3126);
  }
  rarefy::write_npy(place / "short.npy", Batch(3, 60));
  const auto wrong =
      rarefy_command({"evaluate", "maze", "--solutions", (place / "short.npy").string()});
  EXPECT_EQ(wrong.exit_code, 3) << wrong.err;
  EXPECT_TRUE(contains(wrong.err, "66, as all solutions of maze have")) << wrong.err;
}

}  // namespace
