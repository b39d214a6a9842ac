// Thousands of robots end where, and as, those of the reference do.
#include "maze_cases.hpp"

namespace {

using namespace maze_cases;  // NOLINT(google-build-using-namespace)

struct Population {
  std::string_view name;
  Batch (*make)(Index rows, double deviation, std::uint64_t seed);
  double deviation;
  double usually, seldom;  // how far apart two simulations may end
};
void PrintTo(const Population& population, std::ostream* out) { *out << population.name; }

// Of evolved controllers a third or so are chaotic, and those are compared by distribution alone.
const std::array kPopulations = {
    Population{"Normal", normal_controllers, 1.0, kUsuallyApart, kSeldomApart},
    Population{"Wide", normal_controllers, 1.5, kUsuallyApart, kSeldomApart},
    Population{"Evolved", evolved_controllers, 0.1, 1e-6, 2.0},
};
constexpr Index kRobots = kFewer > 1 ? 500 : 2000;

class MazePopulations : public testing::TestWithParam<Population> {};
INSTANTIATE_TEST_SUITE_P(Of, MazePopulations, testing::ValuesIn(kPopulations),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(MazePopulations, EndWhereTheReferenceEnds) {
  const Batch controllers = GetParam().make(kRobots, GetParam().deviation, 11);
  const auto found = evaluate(Maze(energy()), controllers);
  const auto expected = reference_episodes({}, controllers);
  const auto twins = reference_episodes({}, twins_of(controllers, 12));
  std::vector<double> apart, twins_apart;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    apart.push_back(distance(found, static_cast<Index>(i), expected[i]));
    twins_apart.push_back(static_cast<double>(reference::distance(
        {twins[i].feature.x, twins[i].feature.y}, {expected[i].feature.x, expected[i].feature.y})));
  }
  expect_at_most(0.5, apart, GetParam().usually);
  expect_at_most(0.05, apart, GetParam().seldom);
  // Some end elsewhere, by more than a tenth of a cell of the paper's grid: those whose path
  // hangs on the last bit. There must not be more of them than when the last bits of the
  // reference's own parameters are changed. If one is as likely as the other, their
  // difference passes 5.26 sqrt(n) of n in all less than once in a million seeds, by Hoeffding's
  // inequality: exp(-5.26^2 / 2) = 1e-6.
  const double elsewhere = count_above(apart, 1e-3);
  const double twins_elsewhere = count_above(twins_apart, 1e-3);
  EXPECT_LE(elsewhere, twins_elsewhere + 5.26 * std::sqrt(elsewhere + twins_elsewhere));
  RecordProperty("elsewhere", static_cast<int>(elsewhere));
  RecordProperty("twins_elsewhere", static_cast<int>(twins_elsewhere));
  expect_no_lean(found, expected);
  expect_within_the_walls(found);
  expect_same_energy(found, expected);
}

// Positions of other robots than the reference's, on a grid of 10 x 10: Pearson's test of two
// independent samples, with a false-alarm rate of 1e-6. Cells in which the smaller sample expects
// fewer than five are taken together.
TEST_P(MazePopulations, FillTheMazeAsTheReferenceDoes) {
  const Index others = 8 * kRobots;
  const auto sample = evaluate(Maze(), GetParam().make(others, GetParam().deviation, 13));
  const auto expected = reference_episodes({}, GetParam().make(kRobots, GetParam().deviation, 14));
  const auto part = [](double v) { return static_cast<std::size_t>(std::clamp(10 * v, 0., 9.)); };
  std::vector<double> ours(100), theirs(100);
  for (Index i = 0; i < others; ++i) ours[10 * part(sample.x(i)) + part(sample.y(i))] += 1;
  for (const auto& episode : expected) {
    const auto x = static_cast<double>(episode.feature.x);
    const auto y = static_cast<double>(episode.feature.y);
    theirs[10 * part(x) + part(y)] += 1;
  }
  const auto n = static_cast<double>(others), m = static_cast<double>(kRobots);
  double statistic = 0, cells = 0, rest_ours = 0, rest_theirs = 0;
  // sum of (observed - expected)^2 / expected over both samples, for one cell
  const auto add = [&](double a, double b) {
    if (a + b == 0) return;
    statistic += (a * m - b * n) * (a * m - b * n) / (n * m * (a + b));
    cells += 1;
  };
  for (std::size_t i = 0; i < 100; ++i) {
    if ((ours[i] + theirs[i]) * m / (n + m) < 5.0) {
      rest_ours += ours[i];
      rest_theirs += theirs[i];
    } else {
      add(ours[i], theirs[i]);
    }
  }
  add(rest_ours, rest_theirs);
  ASSERT_GE(cells, 5) << "too few to compare";
  EXPECT_LE(statistic, chi_square_limit(cells - 1)) << cells << " cells";
  RecordProperty("cells", static_cast<int>(cells));
  RecordProperty("statistic", std::to_string(statistic));
}

}  // namespace
