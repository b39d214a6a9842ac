// rarefy run: what it leaves, and that it leaves the same again.
#include "command_line.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "real_numpy.hpp"
#include "run_files.hpp"

namespace {

class CommandRun : public testing::TestWithParam<SmallCase> {};

// Everything that must hold between the arrays, and between them and metrics.csv.
constexpr const char* kCheckArchive = R"(
import csv, sys
import numpy as np

folder, domain = sys.argv[1:3]
with np.load(folder + '/archive.npz') as file:
    a = {name: file[name] for name in file.files}
grid = domain != 'multi-lp'
assert set(a) == {'solutions', 'objectives', 'features', 'cells', 'visits', 'iteration', 'lower',
                  'upper', 'shape' if grid else 'centroids'}, set(a)
for name in a:
    integers = name in ('cells', 'visits', 'iteration', 'shape')
    assert a[name].dtype == (np.int64 if integers else np.float64), (name, a[name].dtype)

count, cells, m = len(a['cells']), len(a['visits']), len(a['lower'])
assert a['iteration'].shape == () and a['iteration'] == 200
assert a['solutions'].shape == (count, 20) and a['objectives'].shape == (count,)
assert a['features'].shape == (count, m) and a['upper'].shape == (m,)
assert m == (2 if grid else 10) and count > 20

# Every elite in a cell of its own, and the cells with elites are those that were visited.
assert len(set(a['cells'])) == count
assert sorted(a['cells']) == sorted(np.flatnonzero(a['visits']))

# Every elite in the cell that its features say.
if grid:
    assert tuple(a['shape']) == (100, 100) and cells == 10000
    part = (a['features'] - a['lower']) / (a['upper'] - a['lower'])
    at = np.clip(np.floor(part * a['shape']).astype(int), 0, a['shape'] - 1)
    assert (np.ravel_multi_index(at.T, a['shape']) == a['cells']).all()
else:
    assert a['centroids'].shape == (60, 10) and cells == 60
    assert (a['centroids'] >= a['lower']).all() and (a['centroids'] <= a['upper']).all()
    assert (a['centroids'] == np.load(folder + '/centroids.npy')).all()
    distances = ((a['features'][:, None] - a['centroids'][None]) ** 2).sum(2)
    assert (distances.argmin(1) == a['cells']).all()

with open(folder + '/metrics.csv') as file:
    lines = list(csv.DictReader(file))
assert [int(line['iteration']) for line in lines] == [50, 100, 150, 200]
last = lines[-1]
assert int(last['evaluations']) == 200 * 36
assert 0 <= int(last['left_out']) < 300
assert a['visits'].sum() == 200 * 36 - int(last['left_out'])
assert float(last['coverage']) == count / cells
assert float(last['best_objective']) == a['objectives'].max()
assert np.isclose(float(last['qd_score']), a['objectives'].sum(), rtol=1e-12, atol=0)
entropy = -np.log(a['visits'] / a['visits'].sum() + 1e-14).mean()
assert np.isclose(float(last['cross_entropy']), entropy, rtol=1e-12, atol=0)
)";

TEST_P(CommandRun, LeavesAFolderThatIsWholeAndAgreesWithItself) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto run = rarefy_command(GetParam().arguments() + Words{"--out", folder.string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "coverage")) << run.out;
  EXPECT_TRUE(contains(run.out, "200 of 200 (7,200 solutions")) << run.out;
  EXPECT_TRUE(contains(run.out, folder.string())) << run.out;

  expect_finished_folder(folder, !GetParam().has_grid());
  const auto picture = bytes_of(folder / "heatmap.png");
  const auto [width, height] = png_size(picture);
  EXPECT_TRUE(width >= 600 && width <= 4000 && height >= 600 && height <= 4000)
      << width << " x " << height;
  EXPECT_GT(picture.size(), 5'000U);

  if (!numpy_is_here()) GTEST_SKIP() << "NumPy is not here";
  const auto checked = python(kCheckArchive, {folder.string(), GetParam().domain});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
}

TEST_P(CommandRun, StoresTheFeaturesThatEvaluateFindsAgain) {
  const RunPlace place;
  const auto folder = place / "run";
  ASSERT_EQ(rarefy_command(GetParam().arguments() + Words{"--out", folder.string()}).exit_code, 0);
  const auto arrays = rarefy::read_npz(folder / "archive.npz");
  const auto solutions = rarefy::to_batch(rarefy::array_of(arrays, "solutions", "archive"));
  const auto features = rarefy::to_batch(rarefy::array_of(arrays, "features", "archive"));
  const auto objectives = rarefy::array_of(arrays, "objectives", "archive").reals();
  rarefy::write_npy(place / "solutions.npy", solutions);

  const auto evaluated =
      rarefy_command({"evaluate", GetParam().domain, "--solutions",
                      (place / "solutions.npy").string(), "--out", (place / "again.npy").string()});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const auto again = rarefy::read_npy_batch(place / "again.npy");
  ASSERT_EQ(again.rows(), features.rows());
  ASSERT_EQ(again.cols(), features.cols() + 1);
  for (rarefy::Index i = 0; i < features.rows(); ++i) {
    for (rarefy::Index d = 0; d < features.cols(); ++d) ASSERT_EQ(again(i, d), features(i, d));
    ASSERT_EQ(again(i, features.cols()), objectives[static_cast<std::size_t>(i)]);
  }
}

TEST_P(CommandRun, ItsConfigurationGivesTheSameArchive) {
  const RunPlace place;
  const auto first = undisturbed_archive(GetParam().arguments(), place / "first");
  const auto again = undisturbed_archive(
      {"run", "--config", (place / "first" / "config.toml").string()}, place / "again");
  EXPECT_TRUE(first == again);
  // On one machine even the comment on the instruction set is the same.
  EXPECT_EQ(bytes_of(place / "first" / "config.toml"), bytes_of(place / "again" / "config.toml"));
}

TEST_P(CommandRun, TheNumberOfThreadsChangesNothing) {
  const RunPlace place;
  const auto with = [&](const std::string& threads) {
    return undisturbed_archive(GetParam().arguments() + Words{"--threads", threads},
                               place / ("threads-" + threads));
  };
  const auto one = with("1");
  EXPECT_TRUE(one == with("2"));
  EXPECT_TRUE(one == with("8"));
  // The comparison can fail: another step size gives another archive.
  EXPECT_FALSE(one == undisturbed_archive(GetParam().arguments() + Words{"--sigma0", "1.4"},
                                          place / "another"));
}

INSTANTIATE_TEST_SUITE_P(All, CommandRun, testing::ValuesIn(all_small_cases()), SmallCaseName());

TEST(CommandRunOptions, OptionsWinOverTheConfiguration) {
  const RunPlace place;
  write_text(place / "given.toml",
             "[run]\ndomain = \"arm\"\nseed = 3\niterations = 7\n[domain]\nn = 5\n"
             "[emitters]\nemitters = 2\nbatch = 6\n");
  const auto run =
      rarefy_command({"run", "--config", (place / "given.toml").string(), "--iterations", "9",
                      "--x0", "-0.5", "--bounds", "-1,1", "--out", (place / "run").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto config = toml::parse(bytes_of(place / "run" / "config.toml"));
  EXPECT_EQ(config["run"]["domain"].value<std::string>(), "arm");
  EXPECT_EQ(config["run"]["seed"].value<int>(), 3);
  EXPECT_EQ(config["run"]["iterations"].value<int>(), 9);
  EXPECT_EQ(config["domain"]["n"].value<int>(), 5);
  EXPECT_EQ(config["emitters"]["x0"].value<double>(), -0.5);
  EXPECT_EQ(config["emitters"]["bounds"].value<std::string>(), "-1,1");
  EXPECT_EQ(iteration_in(place / "run"), 9);
}

TEST(CommandRunOptions, TheFolderIsNamedAfterTheRunUnlessGiven) {
  const RunPlace place;
  const auto run = rarefy_command({"run", "lp", "--n", "4", "--iterations", "2", "--seed", "12"},
                                  {.folder = place.path()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_finished_folder(place / "runs" / "lp-dds-kde-default-seed12-n-4", false);
}

TEST(CommandRunOptions, ObjectivesVaryWhereAskedFor) {
  const RunPlace place;
  const std::vector<Words> problems = {
      {"lp", "sphere"}, {"lp", "rastrigin"}, {"multi-lp", "sphere"}, {"arm", "even"}};
  for (const auto& problem : problems) {
    SCOPED_TRACE(problem[0] + " " + problem[1]);
    const auto folder = place / (problem[0] + problem[1]);
    const auto run = rarefy_command(SmallCase{problem[0], "default"}.arguments(60) +
                                    Words{"--objective", problem[1], "--out", folder.string()});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, "best objective")) << run.out;
    const auto arrays = rarefy::read_npz(folder / "archive.npz");
    const auto objectives = rarefy::array_of(arrays, "objectives", "archive").reals();
    const auto [least, most] = std::minmax_element(objectives.begin(), objectives.end());
    EXPECT_LT(*least, *most);
    EXPECT_EQ(table_of(bytes_of(folder / "metrics.csv")).last("best_objective"), *most);
  }
}

TEST(CommandRunOptions, CentroidsOfAnotherRunAreTaken) {
  const RunPlace place;
  const Words small = {"run", "multi-lp", "--n", "20", "--iterations", "10"};
  (void)undisturbed_archive(small + Words{"--cells", "60", "--cvt-samples", "600"},
                            place / "first");
  (void)undisturbed_archive(
      small + Words{"--centroids", (place / "first" / "centroids.npy").string()}, place / "second");
  EXPECT_TRUE(bytes_of(place / "first" / "centroids.npy") ==
              bytes_of(place / "second" / "centroids.npy"));
}

// A run that was killed while it began has left centroids but no configuration. The next run in
// that folder must not take them for its own.
TEST(CommandRunOptions, CentroidsLeftBehindByAKilledBeginningAreNotTaken) {
  const RunPlace place;
  const auto small = SmallCase{"multi-lp", "default"}.arguments(30);
  const auto expected = undisturbed_archive(small, place / "clean");
  (void)undisturbed_archive(small + Words{"--cvt-seed", "9"}, place / "left");
  for (const auto* name : {"config.toml", "checkpoint.bin", "archive.npz", "metrics.csv"}) {
    fs::remove(place / "left" / name);
  }
  EXPECT_TRUE(undisturbed_archive(small + Words{"--overwrite"}, place / "left") == expected);
}

TEST(CommandRunOptions, OverwriteReplacesTheRunAndNothingElse) {
  const RunPlace place;
  const auto folder = place / "run";
  (void)undisturbed_archive(SmallCase{"multi-lp", "default"}.arguments(20), folder);
  write_text(folder / "notes.txt", "mine");
  const auto small = SmallCase{"lp", "default"}.arguments(20);
  const auto expected = undisturbed_archive(small, place / "clean");
  EXPECT_TRUE(undisturbed_archive(small + Words{"--overwrite"}, folder) == expected);
  EXPECT_EQ(bytes_of(folder / "notes.txt"), "mine");
  EXPECT_FALSE(fs::exists(folder / "centroids.npy"));
}

// What is about to be replaced is still worth keeping until the new run can really begin.
TEST(CommandRunOptions, OverwriteWithImpossibleParametersKeepsTheOldRun) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto before = undisturbed_archive(SmallCase{"lp", "default"}.arguments(20), folder);
  const std::vector<Words> impossible = {{"--n", "7"},
                                         {"--bounds", "3,1"},
                                         {"--bandwidth", "wide"},
                                         {"--centroids", (place / "missing.npy").string()}};
  for (const auto& words : impossible) {
    SCOPED_TRACE(words[0]);
    const auto run =
        rarefy_command(Words{"run", "lp", "--overwrite", "--out", folder.string()} + words);
    EXPECT_NE(run.exit_code, 0);
    ASSERT_TRUE(fs::exists(folder / "archive.npz")) << run.err;
    EXPECT_TRUE(bytes_of(folder / "archive.npz") == before);
    expect_finished_folder(folder, false);
  }
}

}  // namespace
