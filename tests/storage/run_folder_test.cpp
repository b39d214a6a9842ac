#include "rarefy/storage/run_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::RunFolder;

namespace {

void put(const fs::path& path, const std::string& text = "x") { std::ofstream(path) << text; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <typename Call>
std::string error_of(ErrorKind kind, Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// What another process gets that opens the folder: 0 all well, 1 an Error (io), 2 anything else.
int another_process_opens(const fs::path& path) {
  const auto child = ::fork();
  if (child == 0) {
    int code = 2;
    try {
      (void)RunFolder::open(path);
      code = 0;
    } catch (const Error& error) {
      code = error.kind() == ErrorKind::io && contains(error.what(), "in use") ? 1 : 2;
    } catch (...) {
      code = 2;
    }
    ::_exit(code);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

TEST(RunFolder, IsMadeWithItsParents) {
  const TemporaryFolder place;
  const auto path = place.path() / "a" / "b" / "run";
  const auto folder = RunFolder::create(path, false);
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_TRUE(fs::is_empty(path)) << "the lock needs no file";
  EXPECT_EQ(folder.path(), path);
  for (const auto& file : {folder.config(), folder.metrics(), folder.archive(), folder.heatmap(),
                           folder.checkpoint(), folder.centroids()}) {
    EXPECT_EQ(file.path().parent_path(), path);
  }
}

TEST(RunFolder, AFolderWithOtherThingsWillDo) {
  const TemporaryFolder place;
  put(place.path() / "notes.txt");
  EXPECT_NO_THROW((void)RunFolder::create(place.path(), false));
  EXPECT_TRUE(fs::exists(place.path() / "notes.txt"));
}

TEST(RunFolder, ARunThatIsThereIsRefusedUnlessOverwritten) {
  const TemporaryFolder place;
  const auto path = place.path() / "run";
  const std::vector<std::string> files = {"config.toml", "metrics.csv",    "archive.npz",
                                          "heatmap.png", "checkpoint.bin", "centroids.npy"};
  fs::create_directory(path);
  for (const auto& file : files) put(path / file);
  put(path / "notes.txt");
  const auto message =
      error_of(ErrorKind::parameter, [&] { (void)RunFolder::create(path, false); });
  EXPECT_TRUE(contains(message, path.string())) << message;
  EXPECT_TRUE(contains(message, "resume it") && contains(message, "overwrite it")) << message;
  for (const auto& file : files) EXPECT_TRUE(fs::exists(path / file)) << file;

  RunFolder::create(path, true).clear();
  for (const auto& file : files) EXPECT_FALSE(fs::exists(path / file)) << file;
  EXPECT_TRUE(fs::exists(path / "notes.txt")) << "not ours";
}

// Files that somebody else has put there, or a run that was killed before it had begun.
TEST(RunFolder, FilesWithTheNamesOfARunAreRefusedUnlessOverwritten) {
  for (const auto* name :
       {"metrics.csv", "archive.npz", "heatmap.png", "checkpoint.bin", "centroids.npy",
        "initial.npy", "journal.bin", "failures.log", "warnings.txt", "density.png", "density.npz",
        "frames.npz", "trajectory-12.csv", "trajectory-3.png", "arm-7.png"}) {
    const TemporaryFolder place;
    const auto path = place.path() / "run";
    fs::create_directory(path);
    put(path / name, "mine");
    const auto message =
        error_of(ErrorKind::parameter, [&] { (void)RunFolder::create(path, false); });
    EXPECT_TRUE(contains(message, path.string()) && contains(message, name)) << message;
    EXPECT_TRUE(fs::exists(path / name));
    RunFolder::create(path, true).clear();
    EXPECT_FALSE(fs::exists(path / name));
    fs::create_symlink("/nowhere", path / name);
    (void)error_of(ErrorKind::parameter, [&] { (void)RunFolder::create(path, false); });
  }
  const TemporaryFolder place;
  for (const auto* name : {"trajectory-.csv", "trajectory-1.txt", "my-metrics.csv", "Archive.npz",
                           "arm-.png", "arm-1.csv", "arm-x.png"}) {
    put(place.path() / name);
  }
  EXPECT_NO_THROW((void)RunFolder::create(place.path(), false));
}

TEST(RunFolder, AFolderWithTheNameOfAFileIsNotRemoved) {
  const TemporaryFolder place;
  fs::create_directory(place.path() / "heatmap.png");
  (void)error_of(ErrorKind::parameter, [&] { (void)RunFolder::create(place.path(), false); });
  const auto folder = RunFolder::create(place.path(), true);
  const auto message = error_of(ErrorKind::io, [&] { folder.clear(); });
  EXPECT_TRUE(contains(message, "heatmap.png")) << message;
  EXPECT_TRUE(fs::is_directory(place.path() / "heatmap.png"));
}

TEST(RunFolder, OnlyWhatItMadeIsRemovedAgainAndOnlyWhereItLies) {
  const TemporaryFolder place;
  const auto path = place.path() / "run";
  { const auto folder = RunFolder::create(path, false); }
  EXPECT_FALSE(fs::exists(path));
  {
    const auto folder = RunFolder::create(path, false);
    fs::rename(path, place.path() / "moved");
    fs::create_directory(path);
  }
  EXPECT_TRUE(fs::exists(path)) << "another's";
  { const auto folder = RunFolder::create(path, false); }
  EXPECT_TRUE(fs::exists(path)) << "it was there before";
}

// The lock is on the folder, and not on its name.
TEST(RunFolder, AnotherRunMayTakeTheNameOfAFolderThatWasMoved) {
  const TemporaryFolder place;
  const auto path = place.path() / "run";
  const auto first = RunFolder::create(path, false);
  put(first.config().path());
  fs::rename(path, place.path() / "moved");
  const auto second = RunFolder::create(path, false);
  rarefy::write_file_atomically(first.metrics(), "first");
  rarefy::write_file_atomically(second.metrics(), "second");
  std::ifstream in(place.path() / "moved" / "metrics.csv");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "first");
  EXPECT_EQ(another_process_opens(place.path() / "moved"), 1);
  EXPECT_EQ(fs::canonical(first.place()), fs::canonical(place.path() / "moved"));
  EXPECT_EQ(second.place(), path);
}

TEST(RunFolder, OpensOnlyRuns) {
  const TemporaryFolder place;
  auto message = error_of(ErrorKind::io, [&] { (void)RunFolder::open(place.path() / "missing"); });
  EXPECT_TRUE(contains(message, "missing")) << message;
  EXPECT_FALSE(fs::exists(place.path() / "missing"));
  message = error_of(ErrorKind::io, [&] { (void)RunFolder::open(place.path()); });
  EXPECT_TRUE(contains(message, "config.toml")) << message;
  put(place.path() / "file");
  message = error_of(ErrorKind::io, [&] { (void)RunFolder::open(place.path() / "file"); });
  EXPECT_TRUE(contains(message, "not a folder")) << message;
  put(place.path() / "config.toml");
  EXPECT_NO_THROW((void)RunFolder::open(place.path()));
}

TEST(RunFolder, CannotBeMadeUnderAFile) {
  const TemporaryFolder place;
  put(place.path() / "file");
  for (const auto& path :
       {place.path() / "file", place.path() / "file" / "run", fs::path("/proc/rarefy-run")}) {
    const auto message = error_of(ErrorKind::io, [&] { (void)RunFolder::create(path, false); });
    EXPECT_TRUE(contains(message, path.string())) << message;
  }
}

TEST(RunFolder, CannotBeUsedWhereNothingCanBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const TemporaryFolder place;
  put(place.path() / "config.toml");
  ::chmod(place.path().c_str(), 0555);
  const auto message = error_of(ErrorKind::io, [&] { (void)RunFolder::open(place.path()); });
  EXPECT_TRUE(contains(message, place.path().string())) << message;
  ::chmod(place.path().c_str(), 0755);
}

TEST(RunFolder, IsHeldByOneProcessAtATime) {
  const TemporaryFolder place;
  const auto path = place.path() / "run";
  {
    auto folder = RunFolder::create(path, false);
    put(folder.config().path());
    EXPECT_EQ(another_process_opens(path), 1);
    // Twice in one process is no better.
    EXPECT_TRUE(contains(error_of(ErrorKind::io, [&] { (void)RunFolder::open(path); }), "in use"));
    // The lock moves with the folder.
    const RunFolder moved(std::move(folder));
    EXPECT_EQ(moved.path(), path);
    EXPECT_EQ(another_process_opens(path), 1);
  }
  EXPECT_EQ(another_process_opens(path), 0);
}

TEST(RunFolder, AnAssignmentLetsGoOfTheOldFolder) {
  const TemporaryFolder place;
  for (const auto* name : {"one", "two"}) {
    fs::create_directory(place.path() / name);
    put(place.path() / name / "config.toml");
  }
  {
    auto folder = RunFolder::open(place.path() / "one");
    folder = RunFolder::open(place.path() / "two");
    EXPECT_EQ(folder.path(), place.path() / "two");
    EXPECT_EQ(another_process_opens(place.path() / "one"), 0);
    EXPECT_EQ(another_process_opens(place.path() / "two"), 1);
  }
  EXPECT_EQ(another_process_opens(place.path() / "two"), 0);
}

// An overwriting run that finds the folder in use must not have removed anything by then.
TEST(RunFolder, OverwritingWaitsForTheLock) {
  const TemporaryFolder place;
  put(place.path() / "config.toml");
  const auto folder = RunFolder::open(place.path());
  EXPECT_TRUE(contains(
      error_of(ErrorKind::io, [&] { (void)RunFolder::create(place.path(), true); }), "in use"));
  EXPECT_TRUE(folder.config().exists());
}

TEST(RunFolder, SweepsUpWhatAKilledWriterLeft) {
  const TemporaryFolder place;
  put(place.path() / "config.toml");
  put(place.path() / ".archive.npz.tmp-12345-0", "half");
  (void)RunFolder::open(place.path());
  EXPECT_FALSE(fs::exists(place.path() / ".archive.npz.tmp-12345-0"));
  EXPECT_TRUE(fs::exists(place.path() / "config.toml"));
}

}  // namespace
