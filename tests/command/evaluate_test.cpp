// rarefy evaluate
#include <cmath>
#include <limits>
#include <random>

#include "command_line.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/storage/npy.hpp"

namespace {

using rarefy::Batch;
using rarefy::Index;

constexpr int kUsage = 2;
constexpr int kBadData = 3;
constexpr int kSystem = 4;

Batch random_solutions(Index rows, Index cols, double spread) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> value(-spread, spread);
  Batch batch(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (double& x : batch.row(i)) x = value(random);
  }
  return batch;
}

/// What a row should give, by the definition of the domain, and how far rounding may be off.
struct Expected {
  std::vector<double> features;
  double tolerance = 0;
};

Expected linear_projection(std::span<const double> x, std::size_t m) {
  const std::size_t width = x.size() / m;
  Expected expected;
  double size = 0;
  for (std::size_t j = 0; j < m; ++j) {
    double sum = 0;
    for (std::size_t k = 0; k < width; ++k) {
      const double value = x[j * width + k];
      const double term = std::abs(value) <= 5.12 ? value : 5.12 / value;
      sum += term;
      size += std::abs(term);
    }
    expected.features.push_back(sum);
  }
  // A sum of correctly rounded terms, in any order.
  expected.tolerance =
      static_cast<double>(x.size()) * std::numeric_limits<double>::epsilon() * size;
  return expected;
}

Expected arm(std::span<const double> joints) {
  Expected expected{{0, 0}, 0};
  double heading = 0;
  for (const double joint : joints) {
    heading += joint;
    expected.features[0] += std::cos(heading);
    expected.features[1] += std::sin(heading);
  }
  // Each cosine within 3 ulp of 1, and the sum of n of them.
  const auto n = static_cast<double>(joints.size());
  expected.tolerance = (3 * n + n * n) * std::numeric_limits<double>::epsilon();
  return expected;
}

Expected expected_of(const std::string& domain, std::span<const double> row) {
  if (domain == "arm") return arm(row);
  return linear_projection(row, domain == "lp" ? 2 : 10);
}

struct CommandEvaluate : testing::TestWithParam<std::string> {
  RunPlace place;
  [[nodiscard]] ProcessResult evaluate(const Words& more = {}) const {
    return rarefy_command(
        Words{"evaluate", GetParam(), "--solutions", (place / "solutions.npy").string()} + more);
  }
};

TEST_P(CommandEvaluate, GivesTheFeaturesOfTheDefinition) {
  const auto solutions = random_solutions(50, 30, 8.0);  // clipping included
  rarefy::write_npy(place / "solutions.npy", solutions);
  const auto result = evaluate();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto table = table_of(result.out);
  const auto columns = GetParam() == "multi-lp" ? 11U : 3U;
  ASSERT_EQ(table.names.size(), columns);
  EXPECT_EQ(table.names.back(), "objective");
  EXPECT_EQ(table.names.front(), GetParam() == "arm" ? "x" : "feature_1");
  ASSERT_EQ(table.rows.size(), 50U);
  for (Index i = 0; i < 50; ++i) {
    const auto expected = expected_of(GetParam(), solutions.row(i));
    const auto& row = table.rows[static_cast<std::size_t>(i)];
    for (std::size_t d = 0; d + 1 < columns; ++d) {
      EXPECT_NEAR(row[d], expected.features[d], expected.tolerance) << "row " << i;
    }
    EXPECT_EQ(row.back(), 1.0);
  }
}

TEST_P(CommandEvaluate, WritesTheSameNumbersToCsvAndNpy) {
  rarefy::write_npy(place / "solutions.npy", random_solutions(20, 20, 8.0));
  const auto printed = evaluate();
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  for (const auto* name : {"out.csv", "out.npy", "out"}) {
    const auto result = evaluate({"--out", (place / name).string(), "--threads", "2"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(bytes_of(place / "out.csv"), printed.out);
  EXPECT_EQ(bytes_of(place / "out"), printed.out);
  const auto table = table_of(printed.out);
  const auto array = rarefy::read_npy_batch(place / "out.npy");
  ASSERT_EQ(static_cast<std::size_t>(array.rows()), table.rows.size());
  ASSERT_EQ(static_cast<std::size_t>(array.cols()), table.names.size());
  for (Index i = 0; i < array.rows(); ++i) {
    for (Index d = 0; d < array.cols(); ++d) {
      // Written so that reading them gives the same bits.
      EXPECT_EQ(array(i, d), table.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(d)]);
    }
  }
}

TEST_P(CommandEvaluate, RefusesWhatIsNotFiniteAndNamesTheRow) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto solutions = random_solutions(20, 20, 1.0);
    solutions(13, 4) = bad;
    rarefy::write_npy(place / "solutions.npy", solutions);
    const auto result = evaluate({"--out", (place / "out.csv").string()});
    EXPECT_EQ(result.exit_code, kBadData);
    EXPECT_TRUE(contains(result.err, "row 13")) << result.err;
    EXPECT_TRUE(contains(result.err, (place / "solutions.npy").string())) << result.err;
    EXPECT_FALSE(fs::exists(place / "out.csv"));
  }
}

TEST_P(CommandEvaluate, RefusesAnotherLengthThanAskedFor) {
  rarefy::write_npy(place / "solutions.npy", random_solutions(5, 20, 1.0));
  const auto result = evaluate({"--n", "30"});
  EXPECT_EQ(result.exit_code, kBadData);
  EXPECT_TRUE(contains(result.err, (place / "solutions.npy").string())) << result.err;
  EXPECT_TRUE(contains(result.err, "20 values")) << result.err;
  EXPECT_TRUE(contains(result.err, "30")) << result.err;
  EXPECT_EQ(evaluate({"--n", "20"}).exit_code, 0);
}

TEST_P(CommandEvaluate, RefusesFilesThatAreNoTableOfNumbers) {
  const auto path = (place / "solutions.npy").string();
  const std::vector<double> values(20, 0.5);
  const auto put = [&](const std::vector<std::byte>& bytes) {
    write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  const auto refused = [&](const std::string& what) {
    SCOPED_TRACE(what);
    const auto result = evaluate();
    EXPECT_EQ(result.exit_code, kBadData) << result.err;
    EXPECT_TRUE(contains(result.err, path)) << result.err;
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  put(rarefy::encode_npy(values, std::vector<Index>{20}));
  EXPECT_TRUE(contains(refused("one dimension"), "(20,)"));
  put(rarefy::encode_npy(values, std::vector<Index>{1, 1, 20}));
  EXPECT_TRUE(contains(refused("three dimensions"), "(1, 1, 20)"));
  const auto whole = rarefy::encode_npy(values, std::vector<Index>{1, 20});
  put({whole.begin(), whole.end() - 3});
  (void)refused("cut short");
  write_text(path, "0.5,0.5,0.5\n");
  (void)refused("CSV");
  write_text(path, "");
  (void)refused("empty");
}

INSTANTIATE_TEST_SUITE_P(Domain, CommandEvaluate, testing::Values("lp", "multi-lp", "arm"),
                         [](const auto& each) {
                           return each.param == "multi-lp" ? std::string("multi_lp") : each.param;
                         });

TEST(CommandEvaluateOptions, TakeParametersOfTheDomainAndNoOthers) {
  const RunPlace place;
  const auto path = (place / "solutions.npy").string();
  Batch optimum(1, 12);
  for (double& x : optimum.row(0)) x = 0.4 * 5.12;
  rarefy::write_npy(path, optimum);
  const Words words = {"evaluate", "lp", "--solutions", path};
  auto result = rarefy_command(words + Words{"--m", "4", "--objective", "sphere"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto table = table_of(result.out);
  EXPECT_EQ(table.names.size(), 5U);
  EXPECT_EQ(table.last("objective"), 100.0);  // its optimum, exactly
  EXPECT_NEAR(table.last("feature_4"), 3 * 0.4 * 5.12, 1e-14);

  result = rarefy_command(words + Words{"--sigma0", "1"});
  EXPECT_EQ(result.exit_code, kUsage);
  EXPECT_TRUE(contains(result.err, "'--sigma0'")) << result.err;
  result = rarefy_command(words + Words{"--m", "5"});
  EXPECT_EQ(result.exit_code, kUsage);
  EXPECT_TRUE(contains(result.err, "n = 12, m = 5")) << result.err;
  result = rarefy_command({"evaluate", "amr", "--solutions", path});
  EXPECT_EQ(result.exit_code, kUsage);
  EXPECT_TRUE(contains(result.err, "did you mean 'arm'?")) << result.err;
  result = rarefy_command(words + Words{"--out", (place / "no" / "out.npy").string()});
  EXPECT_EQ(result.exit_code, kSystem);
  EXPECT_TRUE(contains(result.err, (place / "no" / "out.npy").string())) << result.err;
}

TEST(CommandEvaluateOptions, NoSolutionsGiveNoRows) {
  const RunPlace place;
  rarefy::write_npy(place / "none.npy", Batch(0, 20));
  const auto result =
      rarefy_command({"evaluate", "lp", "--solutions", (place / "none.npy").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "feature_1,feature_2,objective\n");
}

// Finite solutions whose objective no number can hold.
TEST(CommandEvaluateObjective, WhatOverflowsIsRefused) {
  const RunPlace place;
  rarefy::Batch huge(2, 20);
  std::fill(huge.values().begin(), huge.values().end(), 0.5);
  huge(1, 3) = -1.7e308;
  rarefy::write_npy(place / "solutions.npy", huge);
  const auto end = rarefy_command({"evaluate", "lp", "--objective", "sphere", "--solutions",
                                   (place / "solutions.npy").string()});
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_TRUE(contains(end.err, "row 1: what it evaluates to: got -inf")) << end.err;
  EXPECT_EQ(end.out, "");
}

}  // namespace
