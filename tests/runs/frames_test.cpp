#include "rarefy/runs/frames.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/npz.hpp"
#include "support/small_config.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using rarefy::Run;
using rarefy::RunFolder;

namespace {

std::string frame_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Ends a run as a kill would, but for the files that the end itself writes.
class Leave : public rarefy::Observer {
 public:
  explicit Leave(std::int64_t at) : at_(at) {}
  rarefy::Next iteration_done(const rarefy::Search& search) override {
    return search.iteration() == at_ ? rarefy::Next::stop : rarefy::Next::go_on;
  }

 private:
  std::int64_t at_;
};

struct FramesOfARun : testing::Test {
  TemporaryFolder place;
  rarefy::Config config = small_config();
  FramesOfARun() {
    config.iterations = 40;
    config.output.frames = 5;
  }
  fs::path whole() const {
    Run::start(config, RunFolder::create(place.path() / "whole", false), 1)->go();
    return place.path() / "whole" / "frames.npz";
  }
};

TEST(FrameIterations, RiseToTheEndAndAreCloseInTheBeginning) {
  EXPECT_EQ(rarefy::frame_iterations(100, 5), (std::vector<std::int64_t>{4, 16, 36, 64, 100}));
  EXPECT_EQ(rarefy::frame_iterations(2, 5), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(rarefy::frame_iterations(7, 1), std::vector<std::int64_t>{7});
  EXPECT_TRUE(rarefy::frame_iterations(7, 0).empty());
}

TEST_F(FramesOfARun, AreItsArchiveOnTheWay) {
  const auto frames = rarefy::read_frames(whole());
  EXPECT_EQ(frames.iterations, rarefy::frame_iterations(40, 5));
  ASSERT_EQ(frames.values.size(), 5U);
  // The last one is the archive as it is in the end, cell by cell.
  const auto arrays = rarefy::read_npz(place.path() / "whole" / "archive.npz");
  const auto visits = rarefy::array_of(arrays, "visits", "archive").integers();
  ASSERT_EQ(static_cast<std::size_t>(frames.rows * frames.columns), visits.size());
  for (rarefy::Index column = 0; column < frames.columns; ++column) {
    for (rarefy::Index row = 0; row < frames.rows; ++row) {
      const auto found =
          static_cast<double>(visits[static_cast<std::size_t>(column * frames.rows + row)]);
      const auto shown = static_cast<double>(
          frames.values.back()[static_cast<std::size_t>(row * frames.columns + column)]);
      if (found > 0) {
        EXPECT_EQ(shown, found);
      } else {
        EXPECT_TRUE(std::isnan(shown));
      }
    }
  }
}

TEST_F(FramesOfARun, AreTheSameAfterAStopAtAnyIteration) {
  const auto expected = frame_bytes(whole());
  for (const std::int64_t at : {1, 2, 9, 14, 26, 39}) {
    const auto folder = place.path() / std::to_string(at);
    Leave leave(at);
    rarefy::Observer* const observers[] = {&leave};
    Run::start(config, RunFolder::create(folder, false), 1)->go(observers);
    Run::resume(RunFolder::open(folder), 1)->go();
    EXPECT_EQ(frame_bytes(folder / "frames.npz"), expected) << at;
  }
}

// A kill may come when a checkpoint is written, and the frame of its iteration is not.
TEST_F(FramesOfARun, OneThatACheckpointIsAheadOfIsMadeUpFor) {
  const auto expected = frame_bytes(whole());
  for (const std::int64_t at : rarefy::frame_iterations(40, 5)) {
    const auto folder = place.path() / std::to_string(at);
    Leave leave(at);
    rarefy::Observer* const observers[] = {&leave};
    Run::start(config, RunFolder::create(folder, false), 1)->go(observers);
    auto frames = rarefy::read_frames(folder / "frames.npz");
    ASSERT_EQ(frames.iterations.back(), at);
    frames.iterations.pop_back();
    frames.values.pop_back();
    if (frames.iterations.empty()) {
      fs::remove(folder / "frames.npz");
    } else {
      rarefy::write_frames(folder / "frames.npz", frames);
    }
    Run::resume(RunFolder::open(folder), 1)->go();
    EXPECT_EQ(frame_bytes(folder / "frames.npz"), expected) << at;
  }
}

// A kill leaves frames that are ahead of the checkpoint; what is there may be anything, too.
TEST_F(FramesOfARun, AheadOfTheCheckpointAreMadeAgainAndDamagedOnesEndNothing) {
  const auto file = whole();
  const auto expected = frame_bytes(file);
  const auto folder = place.path() / "ahead";
  Leave leave(10);
  rarefy::Observer* const observers[] = {&leave};
  Run::start(config, RunFolder::create(folder, false), 1)->go(observers);
  fs::copy_file(file, folder / "frames.npz", fs::copy_options::overwrite_existing);
  Run::resume(RunFolder::open(folder), 1)->go();
  EXPECT_EQ(frame_bytes(folder / "frames.npz"), expected);

  const auto damaged = place.path() / "damaged";
  Leave leave_again(10);
  rarefy::Observer* const once_more[] = {&leave_again};
  Run::start(config, RunFolder::create(damaged, false), 1)->go(once_more);
  std::ofstream(damaged / "frames.npz") << "no archive at all";
  EXPECT_EQ(Run::resume(RunFolder::open(damaged), 1)->go(), rarefy::DriveEnd::finished);
  EXPECT_EQ(rarefy::read_frames(damaged / "frames.npz").iterations,
            (std::vector<std::int64_t>{14, 26, 40}));
}

TEST_F(FramesOfARun, ChangeNoResultAndAreNotKeptUnlessAskedFor) {
  (void)whole();
  config.output.frames = 0;
  Run::start(config, RunFolder::create(place.path() / "without", false), 1)->go();
  EXPECT_FALSE(fs::exists(place.path() / "without" / "frames.npz"));
  EXPECT_EQ(frame_bytes(place.path() / "without" / "archive.npz"),
            frame_bytes(place.path() / "whole" / "archive.npz"));
}

TEST_F(FramesOfARun, WhatIsNoneIsRefused) {
  const std::vector<std::int64_t> iterations = {1, 2};
  const std::vector<double> values(8, 1.0);
  const auto file = place.path() / "frames.npz";
  const auto kind_of = [&](std::vector<rarefy::Index> shape, std::vector<std::int64_t> when) {
    const auto count = static_cast<rarefy::Index>(when.size());
    const rarefy::NamedArray arrays[] = {{"iterations", when, {count}},
                                         {"values", values, std::move(shape)}};
    rarefy::write_npz(file, arrays);
    try {
      (void)rarefy::read_frames(file);
    } catch (const rarefy::Error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(kind_of({2, 2, 2}, iterations), "taken");
  EXPECT_NE(kind_of({1, 2, 4}, iterations).find("iterations that rise"), std::string::npos);
  EXPECT_NE(kind_of({2, 4}, iterations).find("expected"), std::string::npos);
  EXPECT_NE(kind_of({2, 2, 2}, {2, 1}).find("iterations that rise"), std::string::npos);
}

}  // namespace
