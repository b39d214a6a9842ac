#include "rarefy/storage/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "rarefy/core/error.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using rarefy::Error;
using rarefy::ErrorKind;

namespace {

std::string text_of(const fs::path& path) {
  const auto bytes = rarefy::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// The message of the Error (io) that `call` throws, or what happened instead.
template <typename Call>
std::string io_error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::io ? error.what() : "an Error of another kind";
  }
  return "no Error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void remove_leftovers(const fs::path& folder) {
  rarefy::Folder::open(folder)->remove_stale_temporaries(
      [](std::string_view name) { return name == "file"; });
}

constexpr int kSkip = 77;

/// Runs `body` in a process of its own, so that limits and mounts end with it.
template <typename Body>
int status_of_child(Body body) {
  const auto child = ::fork();
  if (child == 0) {
    try {
      ::_exit(body());
    } catch (...) {
      ::_exit(99);  // and never on into the tests that follow
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Gives this process mounts of its own; without privileges, by way of users of its own.
bool enter_own_mounts() {
  if (::unshare(CLONE_NEWNS) == 0) return true;
  const auto user = std::to_string(::geteuid());
  const auto group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  const auto put = [](const char* path, const std::string& text) {
    return static_cast<bool>(std::ofstream(path) << text << std::flush);
  };
  return put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", "0 " + user + " 1") &&
         put("/proc/self/gid_map", "0 " + group + " 1");
}

/// 0 when a write that cannot end fails with `reason` and leaves the old file and nothing else.
int failed_write_leaves_all_as_it_was(const fs::path& folder, const std::string& reason) {
  const auto path = folder / "kept";
  rarefy::write_file_atomically(path, "old");
  const std::string large(1 << 20, 'x');
  const auto message =
      io_error_of([&] { rarefy::write_file_atomically(path, std::string_view(large)); });
  if (!contains(message, path.string()) || !contains(message, reason)) return 1;
  if (text_of(path) != "old") return 2;
  return entries_in(folder) == 1 ? 0 : 3;
}

}  // namespace

TEST(AtomicFile, WritesReadsAndReplaces) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  rarefy::write_file_atomically(path, "first");
  EXPECT_EQ(text_of(path), "first");
  rarefy::write_file_atomically(path, "second, longer");
  EXPECT_EQ(text_of(path), "second, longer");
  rarefy::write_file_atomically(path, "");
  EXPECT_EQ(text_of(path), "");
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(AtomicFile, JoinsParts) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  const std::array<std::byte, 2> first{std::byte{'a'}, std::byte{'b'}};
  const std::array<std::byte, 1> last{std::byte{'c'}};
  const std::array<std::span<const std::byte>, 3> parts{first, {}, last};
  rarefy::write_parts_atomically(path, parts);
  EXPECT_EQ(text_of(path), "abc");
}

TEST(AtomicFile, TakesLongNamesAndRelativePaths) {
  const TemporaryFolder folder;
  const auto path = folder.path() / std::string(255, 'n');
  rarefy::write_file_atomically(path, "long");
  EXPECT_EQ(text_of(path), "long");
  const auto status = status_of_child([&] {
    if (::chdir(folder.path().c_str()) != 0) return 1;
    rarefy::write_file_atomically("relative", "here");
    return text_of(folder.path() / "relative") == "here" ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST(AtomicFile, HonoursTheUmask) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  const auto before = ::umask(027);
  rarefy::write_file_atomically(path, "x");
  ::umask(before);
  EXPECT_EQ(fs::status(path).permissions() & fs::perms::mask, static_cast<fs::perms>(0640));
}

TEST(AtomicFile, FollowsLinks) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  const auto link = folder.path() / "link";
  rarefy::write_file_atomically(path, "old");
  fs::create_symlink("file", link);
  rarefy::write_file_atomically(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(text_of(path), "new");
}

TEST(AtomicFile, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  const auto message = io_error_of([&] { rarefy::write_file_atomically(folder.path(), "x"); });
  EXPECT_TRUE(contains(message, folder.path().string() + ": got a folder")) << message;

  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(contains(io_error_of([&] { rarefy::write_file_atomically(pipe, "x"); }),
                       "got a special file"));
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(
      contains(io_error_of([] { rarefy::write_file_atomically("", "x"); }), "the name of a file"));
}

TEST(AtomicFile, NamesThePathAndTheReasonWhenTheFolderIsMissing) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "missing" / "file";
  const auto message = io_error_of([&] { rarefy::write_file_atomically(path, "x"); });
  EXPECT_TRUE(contains(message, path.string())) << message;
  EXPECT_TRUE(contains(message, "No such file or directory")) << message;
}

TEST(AtomicFile, AFileSizeLimitLeavesTheOldFile) {
  const TemporaryFolder folder;
  const auto status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    // The first write is cut short at the limit, the second gets EFBIG.
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return kSkip;
    return failed_write_leaves_all_as_it_was(folder.path(), "File too large");
  });
  if (status == kSkip) GTEST_SKIP() << "limits cannot be set here";
  EXPECT_EQ(status, 0);
}

TEST(AtomicFile, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const auto status = status_of_child([&] {
    // The mount is seen by this process alone and ends with it.
    if (!enter_own_mounts()) return kSkip;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kSkip;
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) return kSkip;
    return failed_write_leaves_all_as_it_was(folder.path(), "No space left on device");
  });
  if (status == kSkip) GTEST_SKIP() << "no small file system can be mounted here";
  EXPECT_EQ(status, 0);
}

TEST(AtomicFile, ReadersNeverSeeHalfAFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  const std::string a(200'000, 'a');
  const std::string b(100'000, 'b');
  rarefy::write_file_atomically(path, std::string_view(a));
  std::vector<std::jthread> writers;
  for (const auto* text : {&a, &b}) {
    writers.emplace_back([&path, text] {
      for (int i = 0; i < 30; ++i) rarefy::write_file_atomically(path, std::string_view(*text));
    });
  }
  for (int i = 0; i < 100; ++i) {
    const auto seen = text_of(path);
    ASSERT_TRUE(seen == a || seen == b);
    remove_leftovers(folder.path());  // never takes one from a living writer
  }
  writers.clear();
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(AtomicFile, AKilledWriterLeavesTheOldFileAndALeftover) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  rarefy::write_file_atomically(path, "old");
  const auto status = status_of_child([&] {
    // SIGXFSZ, not ignored, kills in the middle of the write.
    const rlimit limit{100'000, 100'000};
    const rlimit no_core{0, 0};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return kSkip;
    (void)::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGXFSZ, SIG_DFL);
    rarefy::write_file_atomically(path, std::string(1 << 20, 'x'));
    return 0;
  });
  if (status == kSkip) GTEST_SKIP() << "limits cannot be set here";
  EXPECT_EQ(status, 128 + SIGXFSZ);
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(entries_in(folder.path()), 2U);
  remove_leftovers(folder.path());
  EXPECT_EQ(entries_in(folder.path()), 1U);
}

TEST(ReadFile, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto missing = folder.path() / "missing";
  auto message = io_error_of([&] { (void)rarefy::read_file(missing); });
  EXPECT_TRUE(contains(message, missing.string() + ": cannot open: No such file")) << message;

  message = io_error_of([&] { (void)rarefy::read_file(folder.path()); });
  EXPECT_TRUE(contains(message, "got a folder, expected a regular file")) << message;

  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  message = io_error_of([&] { (void)rarefy::read_file(pipe); });
  EXPECT_TRUE(contains(message, "got a special file")) << message;

  const auto large = folder.path() / "large";
  rarefy::write_file_atomically(large, "12345");
  message = io_error_of([&] { (void)rarefy::read_file(large, 4); });
  EXPECT_TRUE(contains(message, "got 5 bytes, expected at most 4 bytes")) << message;
  EXPECT_EQ(rarefy::read_file(large, 5).size(), 5U);
}
