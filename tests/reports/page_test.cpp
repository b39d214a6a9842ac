#include "rarefy/reports/page.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/runs/frames.hpp"
#include "rarefy/storage/folder.hpp"
#include "reports/page_data.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"
#include "support/unpacked.hpp"

using rarefy::report_page;
using rarefy::ResultRow;
using rarefy::Results;
using rarefy::text_of_json;
using rarefy::Trial;
using rarefy::TrialState;
using testing::HasSubstr;
using testing::Not;

namespace {

namespace fs = std::filesystem;

Trial made_up_trial(const rarefy::Config& config, std::int64_t seed, std::int64_t lines) {
  Trial trial;
  trial.config = config;
  trial.config.seed = seed;
  trial.state = TrialState::finished;
  for (std::int64_t i = 1; i <= lines; ++i) {
    const auto part = static_cast<double>(i) / static_cast<double>(lines);
    // Digits that no packing makes small.
    const double noise = std::fmod(std::sin(static_cast<double>(seed * 1000 + i)) * 43758.5453, 1);
    trial.metrics.push_back({.iteration = 50 * i,
                             .evaluations = 27'000 * i,
                             .coverage = 0.9 * part + 0.01 * noise,
                             .cross_entropy = 30 - 10 * part + noise,
                             .qd_score = std::numeric_limits<double>::quiet_NaN(),
                             .seconds = 100 * part + noise});
  }
  return trial;
}

ResultRow made_up_row(std::string_view domain, std::string_view algorithm, int seeds,
                      std::int64_t lines) {
  ResultRow row;
  row.algorithm = algorithm;
  row.domain = domain;
  const auto config = rarefy::default_config(domain, algorithm);
  for (int seed = 1; seed <= seeds; ++seed) {
    row.trials.push_back(made_up_trial(config, seed, lines));
  }
  return row;
}

Results made_up(std::string title, std::vector<ResultRow> rows) {
  Results results;
  results.title = std::move(title);
  results.rows = std::move(rows);
  return results;
}

// The JSON in a page.
nlohmann::json data_of(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const auto at = page.find(begin) + begin.size();
  const auto text = unpacked(page.substr(at, page.find('<', at) - at));
  return nlohmann::json::parse(text.begin(), text.end());
}

rarefy::PageData page_data(const Results& results) {
  rarefy::ComparisonCache cache;
  return rarefy::page_data(results, cache);
}

TEST(PageData, HasWhatTheTrialsHave) {
  auto results = made_up("three", {made_up_row("lp", "dds-kde", 2, 3)});
  results.rows.push_back(made_up_row("maze", "cma-mae", 1, 2));
  results.rows.push_back({});  // without trials: nothing to show
  results.rows[0].parameters = {{"bandwidth", "0.05 width"}};
  results.rows[0].trials[1].state = TrialState::failed;
  results.rows[0].trials[1].error = "no memory";
  results.rows[0].trials[1].metrics.clear();
  const auto data = page_data(results);
  ASSERT_EQ(data.rows.size(), 2U);
  EXPECT_EQ(data.head["title"], "three");
  EXPECT_EQ(data.head["domains"][0]["name"], "lp");
  EXPECT_EQ(data.head["domains"][1]["name"], "maze");
  EXPECT_GT(data.head["domains"][1]["lines"].size(), 3U);
  const auto& row = data.rows[0];
  EXPECT_EQ(row["label"], "dds-kde, bandwidth 0.05 width");
  EXPECT_EQ(row["domain"], 0);
  EXPECT_EQ(row["parameters"][0], (rarefy::PageJson::array({"bandwidth", "0.05 width"})));
  EXPECT_THAT(row["config"].get<std::string>(), HasSubstr("algorithm = 'dds-kde'"));
  const auto& trial = row["trials"][0];
  EXPECT_EQ(trial["state"], "finished");
  EXPECT_EQ(trial["curve"]["iteration"], (rarefy::PageJson::array({50, 100, 150})));
  EXPECT_NEAR(trial["curve"]["coverage"][2].get<double>(),
              results.rows[0].trials[0].metrics[2].coverage, 1e-6);
  EXPECT_THAT(text_of_json(trial["curve"]["qd_score"]), "[null,null,null]");
  EXPECT_EQ(row["trials"][1]["state"], "failed");
  EXPECT_EQ(row["trials"][1]["error"], "no memory");
  EXPECT_FALSE(row["trials"][1].contains("curve"));
}

TEST(PageData, NamesProfilesWhereThereAreSeveral) {
  auto results =
      made_up("", {made_up_row("lp", "dds-kde", 1, 1), made_up_row("lp", "dds-kde", 1, 1)});
  EXPECT_EQ(page_data(results).rows[0]["label"], "dds-kde");
  results.rows[1].profile = rarefy::Profile::published;
  EXPECT_THAT(page_data(results).rows[1]["label"].get<std::string>(), HasSubstr("published"));
  EXPECT_NE(page_data(results).rows[0]["label"], page_data(results).rows[1]["label"]);
}

TEST(PageData, SurvivesNamesThatAreNoText) {
  auto results = made_up("a\xff\n\"b", {made_up_row("lp", "dds-kde", 1, 1)});
  results.rows[0].trials[0].folder = "\xfe";
  const auto text = text_of_json(page_data(results).head);
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_TRUE(nlohmann::json::accept(text));
}

struct ReportPage : testing::Test {
  void SetUp() override {
    if (!rarefy::has_page()) GTEST_SKIP() << "built without the page (make web)";
  }
  TemporaryFolder place;
};

TEST_F(ReportPage, IsOneDocumentWithItsData) {
  const auto results =
      made_up("a </script><b>title</b> & more", {made_up_row("lp", "dds-kde", 2, 3)});
  const auto page = report_page(results);
  EXPECT_THAT(page,
              HasSubstr("<title>a &lt;/script&gt;&lt;b&gt;title&lt;/b&gt; &amp; more</title>"));
  EXPECT_THAT(page, Not(HasSubstr("<b>title")));
  EXPECT_THAT(page, Not(HasSubstr("<!--data-->")));
  EXPECT_EQ(data_of(page)["title"], results.title);
  EXPECT_EQ(page, report_page(results)) << "the same results give the same bytes";
}

TEST_F(ReportPage, TellsOfFramesThatCannotBeRead) {
  auto results = made_up("", {made_up_row("lp", "dds-kde", 1, 3)});
  results.rows[0].trials[0].folder = place.path();
  std::ofstream(place.path() / "config.toml") << to_toml(results.rows[0].trials[0].config);
  std::ofstream(place.path() / "frames.npz") << "nothing";
  const auto data = data_of(report_page(results));
  ASSERT_EQ(data["notes"].size(), 1U);
  EXPECT_THAT(data["notes"][0].get<std::string>(), HasSubstr("frames.npz"));
  EXPECT_FALSE(data["rows"][0].contains("frames"));
}

// Visits that grow from the middle, as a search spreads them.
void write_made_up_frames(const fs::path& folder, unsigned seed) {
  rarefy::Frames frames;
  frames.columns = frames.rows = 100;
  std::mt19937 random(seed);
  std::vector<float> visits(10'000, 0);
  for (int i = 1; i <= 21; ++i) {
    std::normal_distribution<double> where(50, 2.0 * i);
    for (int k = 0; k < 40'000; ++k) {
      const auto x = static_cast<int>(where(random)), y = static_cast<int>(where(random));
      if (x >= 0 && x < 100 && y >= 0 && y < 100) ++visits[static_cast<std::size_t>(100 * y + x)];
    }
    frames.iterations.push_back(11 * i * i);
    auto& frame = frames.values.emplace_back(visits);
    for (auto& value : frame) {
      if (value == 0) value = std::numeric_limits<float>::quiet_NaN();
    }
  }
  fs::create_directories(folder);
  std::ofstream(folder / "config.toml") << to_toml(rarefy::default_config("lp"));
  write_frames({rarefy::Folder::open(folder), "frames.npz"}, frames);
}

TEST_F(ReportPage, OfThePapersMainTableIsBelowThreeMegabytes) {
  auto results = made_up("main table", {});
  unsigned frames = 0;
  for (const auto* domain : {"lp", "arm", "maze", "multi-lp"}) {
    for (const auto* algorithm :
         {"dds-kde", "dds-cnf", "ns", "cma-mae", "cma-me", "map-elites-line"}) {
      results.rows.push_back(made_up_row(domain, algorithm, 10, 100));
      if (frames == 18) continue;
      const auto folder = place.path() / std::to_string(frames);
      write_made_up_frames(folder, ++frames);
      for (auto& trial : results.rows.back().trials) trial.folder = folder;
    }
  }
  const auto page = report_page(results);
  EXPECT_LT(page.size(), 3'000'000U);
  EXPECT_GT(page.size(), 1'000'000U) << "are the frames in it?";
  RecordProperty("bytes", static_cast<int>(page.size()));
}

}  // namespace
