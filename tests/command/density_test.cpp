// Density descent by the command: what its density looks like, and what it says of trouble.
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "real_numpy.hpp"
#include "run_files.hpp"

namespace {

Words small_run(const std::string& algorithm, const fs::path& folder) {
  Words words = {"run",      "lp",  "--algorithm",  algorithm, "--n",    "20",
                 "--batch",  "12",  "--emitters",   "3",       "--seed", "7",
                 "--buffer", "200", "--iterations", "60",      "--out",  folder.string()};
  if (algorithm == "dds-cnf") words = words + Words{"--flow-layers", "24,24", "--flow-steps", "5"};
  return words;
}

class CommandDensity : public testing::TestWithParam<const char*> {};

TEST_P(CommandDensity, IsDrawnWithItsValues) {
  const RunPlace place;
  const auto folder = place / "run";
  ASSERT_EQ(rarefy_command(small_run(GetParam(), folder) + Words{"--quiet"}).exit_code, 0);
  const auto shown = rarefy_command({"show", folder.string(), "--density"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_TRUE(contains(shown.out, "density.png")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "density.npz")) << shown.out;
  const auto first = bytes_of(folder / "density.png");
  EXPECT_GT(png_size(first).first, 0U);
  const auto values = bytes_of(folder / "density.npz");
  ASSERT_EQ(rarefy_command({"show", folder.string(), "--density"}).exit_code, 0);
  EXPECT_TRUE(bytes_of(folder / "density.png") == first) << "drawn again, but not the same";
  EXPECT_TRUE(bytes_of(folder / "density.npz") == values);

  // What was learned is a density over the plane: within the box, at most 1.
  if (numpy_is_here()) {
    const auto read = python(
        "import numpy as np, sys; a = np.load(sys.argv[1]); "
        "p = np.exp(a['log_density']); dx = a['x'][1] - a['x'][0]; dy = a['y'][1] - a['y'][0]; "
        "total = p.sum() * dx * dy; assert p.shape == (200, 200) and 0.5 < total < 1.05, total; "
        "assert a['samples'].shape == (200, 2)",
        {(folder / "density.npz").string()});
    EXPECT_EQ(read.exit_code, 0) << read.err;
  }

  // A new run in the folder does not keep the old one's density.
  ASSERT_EQ(
      rarefy_command(small_run(GetParam(), folder) + Words{"--quiet", "--overwrite"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder / "density.png"));
  EXPECT_FALSE(fs::exists(folder / "density.npz"));
}

INSTANTIATE_TEST_SUITE_P(Of, CommandDensity, testing::Values("dds-kde", "dds-cnf", "dds-gmm"),
                         [](const auto& each) {
                           const std::string algorithm = each.param;
                           if (algorithm == "dds-gmm") return "AMixture";
                           return algorithm == "dds-kde" ? "Kernels" : "AFlow";
                         });

TEST(CommandDensityOf, WhatHasNoneIsAnError) {
  const RunPlace place;
  const auto refused = [&](const Words& words, std::string_view reason) {
    const auto folder = place / "run";
    ASSERT_EQ(rarefy_command(Words{"run"} + words +
                             Words{"--n", "20", "--iterations", "2", "--overwrite", "--quiet",
                                   "--out", folder.string()})
                  .exit_code,
              0);
    const auto result = rarefy_command({"show", folder.string(), "--density"});
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, reason)) << result.err;
    EXPECT_FALSE(fs::exists(folder / "density.png"));
  };
  refused({"lp", "--algorithm", "ns"}, "dds-kde, dds-cnf, dds-gmm or dds-qd");
  refused({"multi-lp", "--cells", "50", "--cvt-samples", "500"}, "10 features");
  const auto both = rarefy_command({"show", (place / "run").string(), "--density", "--json"});
  EXPECT_EQ(both.exit_code, 2);
}

TEST(CommandDensityOf, AFlowWhoseTrainingFailsIsReportedAndSurvives) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto result = rarefy_command(small_run("dds-cnf", folder) +
                                     Words{"--flow-rate", "1000000", "--sigma0", "1.5"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "training turned non-finite in 1 of ")) << result.err;
  EXPECT_TRUE(contains(result.out, "warning")) << result.out;
  EXPECT_TRUE(contains(result.out, "of 60 iterations")) << result.out;
  const auto shown = rarefy_command({"show", folder.string(), "--json"});
  const auto json = nlohmann::json::parse(shown.out);
  EXPECT_EQ(json["iteration"], 60);
  EXPECT_TRUE(contains(json["warnings"].at(0).get<std::string>(), "learning rate halved"));

  const auto well = rarefy_command(small_run("dds-cnf", place / "well"));
  EXPECT_FALSE(contains(well.out, "warning")) << well.out;
}

}  // namespace
