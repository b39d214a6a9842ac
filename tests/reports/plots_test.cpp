#include "rarefy/reports/plots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "rarefy/experiment/config.hpp"
#include "rarefy/reports/bandwidth_figure.hpp"
#include "rarefy/runs/frames.hpp"
#include "rarefy/storage/npz.hpp"
#include "reports/plots/parts.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;

namespace {

using rarefy::MetricsLine;
using rarefy::Profile;
using rarefy::ResultRow;
using rarefy::Results;
using rarefy::Trial;
using rarefy::TrialState;
using rarefy::reports::ablations;
using rarefy::reports::curves;
using rarefy::reports::heatmap_panels;
using rarefy::reports::plotted_metrics;
using rarefy::reports::rows_to_plot;

// A trial whose coverage rises to `end` in `lines` steps of 100 iterations.
Trial trial(const std::string& domain, double end, int lines,
            TrialState state = TrialState::finished) {
  Trial one;
  one.config = rarefy::default_config(domain);
  one.state = state;
  for (int i = 1; i <= lines; ++i) {
    MetricsLine line;
    line.iteration = 100 * i;
    line.evaluations = 54'000 * i;
    line.coverage = end * i / lines;
    line.cross_entropy = 30.0 - 10.0 * line.coverage;
    one.metrics.push_back(line);
  }
  return one;
}

ResultRow row(const std::string& algorithm, const std::string& domain, std::vector<Trial> trials,
              std::vector<std::pair<std::string, std::string>> parameters = {}) {
  ResultRow one;
  one.algorithm = algorithm;
  one.domain = domain;
  one.parameters = std::move(parameters);
  one.trials = std::move(trials);
  return one;
}

Results two_by_two() {
  Results results;
  for (const auto* algorithm : {"dds-kde", "ns"}) {
    for (const auto* domain : {"lp", "multi-lp"}) {
      results.rows.push_back(
          row(algorithm, domain, {trial(domain, 0.4, 4), trial(domain, 0.6, 4)}));
    }
  }
  return results;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& file : fs::directory_iterator(folder)) {
    names.insert(file.path().filename().string());
  }
  return names;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Plots, HaveNamesThatOneCanRelyOn) {
  const TemporaryFolder place;
  const auto folder = place.path() / "new" / "plots";
  rarefy::write_plots(two_by_two(), folder);
  std::set<std::string> expected;
  for (const auto* name : {"coverage", "cross-entropy", "coverage-lp", "cross-entropy-lp",
                           "coverage-multi-lp", "cross-entropy-multi-lp"}) {
    expected.insert(std::string(name) + ".png");
    expected.insert(std::string(name) + ".svg");
  }
  EXPECT_EQ(names_in(folder), expected);
  EXPECT_EQ(bytes_of(folder / "coverage.png").substr(1, 3), "PNG");
  EXPECT_NE(bytes_of(folder / "coverage-lp.svg").find("<svg"), std::string::npos);
  // The same again, to the byte.
  const auto before = bytes_of(folder / "coverage.svg");
  rarefy::write_plots(two_by_two(), folder);
  EXPECT_EQ(bytes_of(folder / "coverage.svg"), before);
}

TEST(Plots, OfSeveralProfilesAreInFoldersByTheirNames) {
  auto results = two_by_two();
  results.rows[0].profile = results.rows[2].profile = Profile::published;
  const TemporaryFolder place;
  rarefy::write_plots(results, place.path());
  EXPECT_EQ(names_in(place.path()), (std::set<std::string>{"default", "published"}));
  EXPECT_TRUE(fs::exists(place.path() / "published" / "coverage-lp.png"));
  EXPECT_FALSE(fs::exists(place.path() / "published" / "coverage-multi-lp.png"));
}

TEST(Plots, OfNothingAreNoFiles) {
  const TemporaryFolder place;
  Results results;
  rarefy::write_plots(results, place.path() / "plots");
  results.rows.push_back(row("ns", "lp", {trial("lp", 0.0, 0, TrialState::waiting)}));
  rarefy::write_plots(results, place.path() / "plots");
  EXPECT_TRUE(names_in(place.path()).empty());
}

TEST(Plots, NamesOfFilesHoldNoSeparators) {
  auto results = two_by_two();
  for (auto& one : results.rows) {
    if (one.domain == "lp") one.domain = "../my problem";
  }
  const TemporaryFolder place;
  rarefy::write_plots(results, place.path() / "plots");
  EXPECT_TRUE(fs::exists(place.path() / "plots" / "coverage-.._my_problem.png"));
  EXPECT_EQ(names_in(place.path()), std::set<std::string>{"plots"});
}

TEST(PlottedCurves, AreMeansWithTheirStandardErrors) {
  const auto results = two_by_two();
  const auto rows = rows_to_plot(results, Profile::standard);
  const auto chart = curves(rows, plotted_metrics()[0]);
  ASSERT_TRUE(chart.has_value());
  ASSERT_EQ(chart->panels.size(), 2U);
  ASSERT_EQ(chart->panels[0].lines.size(), 2U);
  const auto& line = chart->panels[0].lines[0];
  ASSERT_EQ(line.x, (std::vector<double>{100, 200, 300, 400}));
  EXPECT_NEAR(line.y[3], 50.0, 1e-12);
  // Of 40 and 60: standard deviation 14.14, over the root of 2.
  EXPECT_NEAR(line.high[3] - line.y[3], 10.0, 1e-12);
  EXPECT_NEAR(line.y[3] - line.low[3], 10.0, 1e-12);
  EXPECT_EQ(chart->panels[0].y.low, 0.0);
  EXPECT_EQ(chart->legend[0].label, "dds-kde");
  EXPECT_EQ(chart->panels[0].x.label, "iterations");
  EXPECT_NE(chart->subtitle.find("2 trials"), std::string::npos);
}

TEST(PlottedCurves, LeaveOutTrialsThatAreNotFinishedWhereOthersAre) {
  Results results;
  results.rows.push_back(row("ns", "lp",
                             {trial("lp", 0.4, 4), trial("lp", 0.9, 2, TrialState::begun),
                              trial("lp", 0.9, 4, TrialState::failed)}));
  auto chart = curves(rows_to_plot(results, Profile::standard), plotted_metrics()[0]);
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->panels[0].lines[0].y.back(), 40.0);
  EXPECT_TRUE(chart->panels[0].lines[0].low.empty()) << "one trial has no spread";
  // While none is finished: as far as all of them are.
  results.rows[0].trials[0].state = TrialState::begun;
  chart = curves(rows_to_plot(results, Profile::standard), plotted_metrics()[0]);
  EXPECT_EQ(chart->panels[0].lines[0].x, (std::vector<double>{100, 200}));
}

TEST(PlottedCurves, CountEvaluationsWhereBatchesDiffer) {
  auto results = two_by_two();
  for (auto& line : results.rows[1].trials[0].metrics) line.evaluations *= 2;
  const auto chart = curves(rows_to_plot(results, Profile::standard), plotted_metrics()[0], "lp");
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->panels[0].x.label, "evaluations");
  EXPECT_EQ(chart->panels[0].lines[0].x[0], 54'000.0);
}

TEST(PlottedCurves, MentionOnlyWhatTheyDraw) {
  auto results = two_by_two();
  results.rows.erase(results.rows.begin() + 3);  // ns on multi-lp
  const auto rows = rows_to_plot(results, Profile::standard);
  EXPECT_EQ(curves(rows, plotted_metrics()[0], "lp")->legend[1].label, "ns");
  EXPECT_EQ(curves(rows, plotted_metrics()[0], "multi-lp")->legend[1].label, "");
}

Results bandwidths(const std::vector<std::string>& values) {
  Results results;
  for (const auto* domain : {"lp", "multi-lp"}) {
    double end = 0.1;
    for (const auto& value : values) {
      results.rows.push_back(row("dds-kde", domain,
                                 {trial(domain, end, 2), trial(domain, end + 0.02, 2)},
                                 {{"bandwidth", value}}));
      end += 0.1;
    }
  }
  return results;
}

TEST(PlottedAblations, HaveALogarithmicAxisWhereValuesSpanADecade) {
  const auto results = bandwidths({"0.1 width", "0.001 width", "0.01 width", "1 width"});
  const auto all = ablations(rows_to_plot(results, Profile::standard));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].parameter, "bandwidth");
  const auto& chart = all[0].chart;
  ASSERT_EQ(chart.panels.size(), 4U) << "two metrics of two domains";
  EXPECT_EQ(chart.columns, 2U);
  EXPECT_TRUE(chart.panels[0].x.logarithmic);
  EXPECT_EQ(chart.panels[0].x.label, "bandwidth / width");
  const auto& line = chart.panels[0].lines.at(0);
  EXPECT_EQ(line.x, (std::vector<double>{0.001, 0.01, 0.1, 1.0})) << "in order";
  EXPECT_NEAR(line.y[0], 21.0, 1e-9);
  EXPECT_NEAR(line.high[0], 22.0, 1e-9);
  EXPECT_FALSE(ablations(rows_to_plot(bandwidths({"2", "3", "4"}), Profile::standard))[0]
                   .chart.panels[0]
                   .x.logarithmic);
  const TemporaryFolder place;
  rarefy::write_plots(results, place.path());
  EXPECT_TRUE(fs::exists(place.path() / "ablation-bandwidth.png"));
  EXPECT_TRUE(fs::exists(place.path() / "ablation-bandwidth.svg"));
}

TEST(PlottedAblations, InTwoUnitsAreTwoPictures) {
  const auto results = bandwidths({"1", "2", "3", "0.1 width", "0.2 width", "0.3 width"});
  const auto all = ablations(rows_to_plot(results, Profile::standard));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].parameter, "bandwidth");
  EXPECT_EQ(all[1].parameter, "bandwidth-width");
}

TEST(PlottedAblations, NeedThreeValuesThatAreNumbers) {
  EXPECT_TRUE(ablations(rows_to_plot(bandwidths({"1", "2"}), Profile::standard)).empty());
  EXPECT_TRUE(ablations(rows_to_plot(bandwidths({"scott", "a", "b"}), Profile::standard)).empty());
  EXPECT_TRUE(ablations(rows_to_plot(two_by_two(), Profile::standard)).empty());
}

// A run whose archive has visited the cells (0, 0), three times, and (1, 2).
Trial trial_with_archive(const fs::path& folder, double end) {
  fs::create_directories(folder);
  auto one = trial("lp", end, 2);
  one.folder = folder;
  const std::vector<std::int64_t> shape = {2, 3}, visits = {3, 0, 0, 0, 0, 1};
  const rarefy::NamedArray arrays[] = {{"shape", shape, {2}}, {"visits", visits, {6}}};
  rarefy::write_npz(folder / "archive.npz", arrays);
  return one;
}

TEST(PlottedHeatmaps, ShowTheMedianRunOfDomainsWithTwoFeatures) {
  const TemporaryFolder place;
  Results results;
  results.rows.push_back(row("dds-kde", "lp",
                             {trial("lp", 0.9, 2), trial("lp", 0.1, 2),
                              trial_with_archive(place.path() / "middle", 0.5)}));
  results.rows.push_back(row("dds-kde", "multi-lp", {trial("multi-lp", 0.9, 2)}));
  const auto panels = heatmap_panels(rows_to_plot(results, Profile::standard));
  ASSERT_TRUE(panels.has_value());
  ASSERT_EQ(panels->rows.size(), 1U);
  ASSERT_TRUE(panels->rows[0].maps.at(0).has_value());
  const auto& map = *panels->rows[0].maps[0];
  EXPECT_EQ(map.columns, 2);
  EXPECT_EQ(map.rows, 3);
  EXPECT_EQ(map.values[0], 3.0);
  EXPECT_EQ(map.values[5], 1.0) << "the last column of the last row";
  EXPECT_EQ(std::count_if(map.values.begin(), map.values.end(),
                          [](double value) { return std::isnan(value); }),
            4);
  EXPECT_TRUE(map.logarithmic);
  EXPECT_EQ(map.subtitle, "50.0 %");
  rarefy::write_plots(results, place.path() / "plots");
  EXPECT_TRUE(fs::exists(place.path() / "plots" / "heatmaps.svg"));
}

// An experiment over many values of a parameter: a picture can have 32,767 pixels and no more.
TEST(PlottedHeatmaps, AreSmallerWhereThereAreMany) {
  const TemporaryFolder place;
  const auto many = [&](int count) {
    Results results;
    for (int i = 0; i < count; ++i) {
      const auto value = std::to_string(i);
      // Every other one has no map that could be drawn.
      const bool plane = i % 2 == 0;
      auto one = plane ? trial_with_archive(place.path() / value, 0.5) : trial("multi-lp", 0.5, 2);
      results.rows.push_back(
          row("dds-kde", plane ? "lp" : "multi-lp", {one}, {{"patience", value}}));
    }
    return results;
  };
  const auto few = heatmap_panels(rows_to_plot(many(6), Profile::standard));
  ASSERT_TRUE(few.has_value());
  EXPECT_EQ(few->columns.size(), 3U);
  EXPECT_EQ(few->side, 300);
  const auto results = many(240);
  const auto panels = heatmap_panels(rows_to_plot(results, Profile::standard));
  ASSERT_TRUE(panels.has_value());
  EXPECT_EQ(panels->columns.size(), 120U);
  EXPECT_LT(panels->side, 200);
  rarefy::write_plots(results, place.path() / "plots");
  EXPECT_TRUE(fs::exists(place.path() / "plots" / "heatmaps.png"));
  EXPECT_FALSE(heatmap_panels(rows_to_plot(many(600), Profile::standard)).has_value());
}

TEST(PlottedHeatmaps, ComeFromTheLastFrameWhereThereIsNoGrid) {
  const TemporaryFolder place;
  auto one = trial("lp", 0.5, 2);
  one.folder = place.path();
  const std::vector<std::int64_t> iterations = {1, 2};
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const rarefy::NamedArray arrays[] = {{"iterations", iterations, {2}},
                                       {"values", values, {2, 2, 3}}};
  rarefy::write_npz(place.path() / "frames.npz", arrays);
  Results results;
  results.rows.push_back(row("dds-kde", "lp", {one}));
  const auto panels = heatmap_panels(rows_to_plot(results, Profile::standard));
  ASSERT_TRUE(panels.has_value());
  const auto& map = *panels->rows[0].maps[0];
  EXPECT_EQ(map.columns, 3);
  EXPECT_EQ(map.rows, 2);
  EXPECT_EQ(map.values, (std::vector<double>{7, 8, 9, 10, 11, 12}));
}

TEST(BandwidthFigure, ShowsMisleadingPeaksTheModesAndNoneOfThem) {
  const auto chart = rarefy::bandwidth_figure();
  ASSERT_EQ(chart.panels.size(), 3U);
  std::vector<int> peaks;
  for (const auto& panel : chart.panels) {
    const auto& line = panel.lines.at(0);
    int count = 0;
    double area = 0.0;
    for (std::size_t i = 1; i < line.y.size(); ++i) {
      area += 0.5 * (line.y[i] + line.y[i - 1]) * (line.x[i] - line.x[i - 1]);
      if (i + 1 < line.y.size() && line.y[i] > line.y[i - 1] && line.y[i] > line.y[i + 1]) ++count;
      EXPECT_LT(line.y[i], *panel.y.high) << "cut off";
    }
    peaks.push_back(count);
    EXPECT_GT(area, 0.85);
    EXPECT_LT(area, 1.001);
  }
  EXPECT_GT(peaks[0], 4);
  EXPECT_EQ(peaks[1], 2);
  EXPECT_EQ(peaks[2], 1);
}

}  // namespace
