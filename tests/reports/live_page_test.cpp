#include "rarefy/reports/live_page.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/runs/run.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

using nlohmann::json;
using rarefy::LivePage;
using rarefy::Run;
using rarefy::RunFolder;
using testing::HasSubstr;
using testing::Not;

namespace {

struct LivePages : testing::Test {
  TemporaryFolder place;
  std::filesystem::path folder = place.path() / "runs";

  rarefy::Config config(std::int64_t seed) const {
    auto made = small_config();
    made.iterations = 20;
    made.seed = seed;
    return made;
  }
  void run(std::int64_t seed, std::string_view algorithm = "dds-kde") const {
    auto made = config(seed);
    made.algorithm = algorithm;
    Run::start(made,
               RunFolder::create(folder / (std::string(algorithm) + std::to_string(seed)), true))
        ->go();
  }
};

TEST_F(LivePages, WaitForARunAndSayWhere) {
  LivePage page({folder});
  EXPECT_EQ(page.everything().name, "wait");
  EXPECT_THAT(page.everything().data, HasSubstr("runs"));
  (void)page.look();
  EXPECT_EQ(page.everything().name, "wait");
  EXPECT_EQ(page.frames(0), std::nullopt);
  EXPECT_THROW((void)page.as_report(), rarefy::Error);
  run(1);
  const auto news = page.look();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->name, "all");
  EXPECT_EQ(json::parse(news->data)["rows"].size(), 1U);
  EXPECT_EQ(news->data, page.everything().data);
}

TEST_F(LivePages, SendWhatHasChangedAndNothingElse) {
  run(1, "dds-kde");
  run(1, "cma-mae");
  LivePage page({folder});
  ASSERT_TRUE(page.look());
  EXPECT_FALSE(page.look()) << "nothing has changed";
  // Another seed of one of the two.
  run(2, "cma-mae");
  const auto news = page.look();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->name, "rows");
  const auto rows = json::parse(news->data)["rows"];
  ASSERT_EQ(rows.size(), 1U);
  const auto all = json::parse(page.everything().data);
  const auto index = rows.begin().key();
  EXPECT_EQ(rows.begin().value(), all["rows"][std::stoul(index)]);
  EXPECT_EQ(rows.begin().value()["algorithm"], "cma-mae");
  EXPECT_EQ(rows.begin().value()["trials"].size(), 2U);
  EXPECT_THAT(news->data, Not(HasSubstr("\n")));
  // A row more: everything.
  run(1, "ns");
  const auto more = page.look();
  ASSERT_TRUE(more);
  EXPECT_EQ(more->name, "all");
}

TEST_F(LivePages, TellOfNewFramesByTheirVersion) {
  run(1);
  LivePage page({folder});
  (void)page.look();
  const auto version = [&] {
    return json::parse(page.everything().data)["rows"][0]["frames"]["version"].get<std::uint64_t>();
  };
  const auto before = version();
  EXPECT_LT(before, std::uint64_t{1} << 53U) << "JavaScript could not hold it";
  const auto frames = page.frames(0);
  ASSERT_TRUE(frames);
  EXPECT_EQ(json::parse(*frames)["iterations"], json::array({20}));
  EXPECT_EQ(page.frames(0), frames);
  EXPECT_EQ(page.frames(1), std::nullopt);
  // The same file, written again.
  const auto archive = folder / "dds-kde1" / "archive.npz";
  std::filesystem::last_write_time(
      archive, std::filesystem::last_write_time(archive) + std::chrono::seconds(5));
  const auto news = page.look();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->name, "rows");
  EXPECT_NE(version(), before);
}

TEST_F(LivePages, OutliveFilesThatAreNotWhole) {
  run(1);
  LivePage page({folder});
  (void)page.look();
  std::ofstream(folder / "dds-kde1" / "archive.npz") << "half a file";
  (void)page.look();
  EXPECT_EQ(page.frames(0), std::nullopt);
  std::ofstream(folder / "dds-kde1" / "metrics.csv") << "iteration,coverage\n1";
  (void)page.look();
  std::filesystem::remove_all(folder);
  (void)page.look();
  EXPECT_EQ(page.everything().name, "wait");
}

}  // namespace
