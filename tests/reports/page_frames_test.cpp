#include "reports/page_frames.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/npz.hpp"
#include "reports/archive_frame.hpp"
#include "reports/packing.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"
#include "support/unpacked.hpp"

using rarefy::archive_frame;
using rarefy::Config;
using rarefy::Frames;
using rarefy::frames_of;
using rarefy::pack_frames;
using rarefy::ResultRow;
using rarefy::Run;
using rarefy::RunFolder;
using rarefy::shown_trial;
using rarefy::Trial;
using rarefy::TrialState;
using testing::ElementsAre;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Trial trial_with(TrialState state, std::int64_t iteration, double coverage) {
  Trial trial;
  trial.state = state;
  if (iteration > 0) trial.metrics = {{.iteration = iteration, .coverage = coverage}};
  return trial;
}

TEST(Packing, IsBase64OfWhatInflatesToTheSame) {
  for (const std::string text : {"", "a", "ab", "abc", "abcd"}) {
    const auto small = rarefy::packed(text);
    EXPECT_EQ(small.size() % 4, 0U);
    const auto back = unpacked(small);
    EXPECT_EQ(std::string(back.begin(), back.end()), text);
  }
  std::string bytes;
  for (int i = 0; i < 10'000; ++i) bytes += static_cast<char>(i * i % 251);
  const auto back = unpacked(rarefy::packed(bytes));
  EXPECT_EQ(std::string(back.begin(), back.end()), bytes);
}

TEST(PackedFrames, AreDifferencesOfOneByteACell) {
  const Frames frames{
      .columns = 3, .rows = 1, .iterations = {1, 2}, .values = {{kNan, 1, 100}, {10, kNan, 100}}};
  const auto packed = pack_frames(frames, true);
  EXPECT_TRUE(packed.logarithmic);
  EXPECT_EQ(packed.low, 1);
  EXPECT_EQ(packed.high, 100);
  // 10 lies half way between 1 and 100; what stays is 0.
  EXPECT_THAT(unpacked(packed.data), ElementsAre(0, 1, 127, 64, 255, 0));
  EXPECT_THAT(unpacked(pack_frames(frames, false).data), ElementsAre(0, 1, 127, 12, 255, 0));
}

TEST(PackedFrames, TakeAnyValues) {
  const auto bytes = [](std::vector<float> values) {
    const Frames frames{.columns = static_cast<rarefy::Index>(values.size()),
                        .rows = 1,
                        .iterations = {1},
                        .values = {std::move(values)}};
    return unpacked(pack_frames(frames, true).data);
  };
  EXPECT_THAT(bytes({kNan, kNan}), ElementsAre(0, 0));
  EXPECT_THAT(bytes({7, 7}), ElementsAre(64, 64));
  EXPECT_THAT(bytes({-1, 0, 1}), ElementsAre(1, 64, 127));  // not by logarithms
  EXPECT_THAT(bytes({1, std::numeric_limits<float>::infinity(), 2}), ElementsAre(1, 127, 127));
}

TEST(ShownTrial, IsTheMedianOnceAllAreDone) {
  using enum TrialState;
  ResultRow row;
  EXPECT_EQ(shown_trial(row), std::nullopt);
  row.trials = {trial_with(finished, 10, 0.9), trial_with(finished, 10, 0.1),
                trial_with(finished, 10, 0.5)};
  EXPECT_EQ(shown_trial(row), 2U);
  row.trials.push_back(trial_with(finished, 10, 0.6));
  EXPECT_EQ(shown_trial(row), 2U);  // of two in the middle, the lower
  row.trials.push_back(trial_with(failed, 5, 0.0));
  row.trials.push_back(trial_with(failed, 5, 0.0));
  EXPECT_EQ(shown_trial(row), 2U);  // those that failed do not count
}

TEST(ShownTrial, IsTheFurthestWhileSomeGoOn) {
  using enum TrialState;
  ResultRow row;
  row.trials = {trial_with(waiting, 0, 0), trial_with(begun, 30, 0.1), trial_with(begun, 50, 0.2),
                trial_with(begun, 50, 0.3)};
  EXPECT_EQ(shown_trial(row), 2U);
  row.trials = {trial_with(waiting, 0, 0)};
  EXPECT_EQ(shown_trial(row), std::nullopt);
}

// A finished run in a folder, and its trial.
struct RunFrames : testing::Test {
  TemporaryFolder place;

  Trial finished(const Config& config) const {
    const auto run = Run::start(config, RunFolder::create(place.path() / "run", true));
    run->go();
    Trial trial;
    trial.config = config;
    trial.folder = place.path() / "run";
    return trial;
  }
};

TEST_F(RunFrames, OfAnArchiveAreThoseThatWereRecorded) {
  auto config = small_config();
  config.iterations = 20;
  for (const bool constant : {true, false}) {
    config.problem.objective = constant ? "constant" : "sphere";
    auto with_frames = config;
    with_frames.output.frames = 1;
    const auto trial = finished(with_frames);
    const auto info = domain_info(config);
    const auto recorded = read_frames(RunFolder::peek(trial.folder).frames());
    const auto from_archive = archive_frame(RunFolder::peek(trial.folder).archive(), info);
    ASSERT_EQ(from_archive.columns, recorded.columns);
    ASSERT_EQ(from_archive.rows, recorded.rows);
    EXPECT_EQ(from_archive.iterations, recorded.iterations);
    ASSERT_EQ(from_archive.values.size(), 1U);
    int occupied = 0;
    for (std::size_t i = 0; i < recorded.values[0].size(); ++i) {
      const float a = from_archive.values[0][i], b = recorded.values[0][i];
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << i << ": " << a << ", " << b;
      if (!std::isnan(a)) ++occupied;
    }
    EXPECT_GT(occupied, 10);
  }
}

TEST_F(RunFrames, EndWithTheArchiveAsItIs) {
  auto config = small_config();
  config.iterations = 20;
  config.output.frames = 4;
  const auto trial = finished(config);
  const auto info = domain_info(config);
  const auto folder = RunFolder::peek(trial.folder);
  auto frames = read_frames(folder.frames());
  ASSERT_EQ(frames.iterations.back(), 20);
  EXPECT_EQ(frames_of(trial, info).iterations, frames.iterations);
  // The last frame is missing: the archive takes its place.
  const auto last = frames.values.back();
  frames.iterations.pop_back();
  frames.values.pop_back();
  write_frames(folder.frames(), frames);
  const auto mended = frames_of(trial, info);
  EXPECT_EQ(mended.iterations.back(), 20);
  EXPECT_EQ(mended.values.size(), frames.values.size() + 1);
  // Without any, it is all there is.
  std::filesystem::remove(trial.folder / "frames.npz");
  EXPECT_THAT(frames_of(trial, info).iterations, ElementsAre(20));
  std::filesystem::remove(trial.folder / "archive.npz");
  EXPECT_TRUE(frames_of(trial, info).values.empty());
}

TEST_F(RunFrames, OfCellsThatAreNoGridCountElites) {
  auto config = small_config();
  config.iterations = 20;
  config.archive.kind = rarefy::CellKind::cvt;
  config.archive.cvt.cells = 100;
  const auto trial = finished(config);
  const auto frames = frames_of(trial, domain_info(config));
  ASSERT_EQ(frames.values.size(), 1U);
  EXPECT_EQ(frames.columns, 5);
  double elites = 0;
  for (const float value : frames.values[0]) elites += std::isnan(value) ? 0 : value;
  const auto cells = read_npz_array(RunFolder::peek(trial.folder).archive(), "cells");
  EXPECT_EQ(elites, static_cast<double>(cells.size()));
  EXPECT_GT(elites, 5);
}

TEST_F(RunFrames, OfFilesThatAreNoneAreRefused) {
  auto config = small_config();
  config.iterations = 5;
  const auto trial = finished(config);
  std::ofstream(trial.folder / "archive.npz") << "no archive";
  EXPECT_THROW((void)frames_of(trial, domain_info(config)), rarefy::Error);
  auto other = config;
  other.problem.m = 3;
  EXPECT_THROW((void)archive_frame(RunFolder::peek(trial.folder).archive(), domain_info(other)),
               rarefy::Error);
}

}  // namespace
