#include "rarefy/storage/folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace files = std::filesystem;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::FilePlace;
using rarefy::Folder;

void put_text(const files::path& path, const std::string& text = "x") {
  std::ofstream(path) << text;
}

std::string whole_text(const files::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

unsigned permissions_of(const files::path& path) {
  return static_cast<unsigned>(files::status(path).permissions() & files::perms::mask);
}

TEST(Folder, StaysTheSameWhenItIsMovedAndAnotherTakesItsName) {
  const TemporaryFolder place;
  const auto path = place.path() / "run";
  const auto moved = place.path() / "moved";
  const auto folder = Folder::make(path);
  const FilePlace file(folder, "file");
  rarefy::write_file_atomically(file, "before");
  EXPECT_EQ(folder->place(), path);
  files::rename(path, moved);
  files::create_directory(path);
  rarefy::write_file_atomically(file, "after");
  EXPECT_TRUE(files::is_empty(path)) << "another's";
  EXPECT_EQ(whole_text(moved / "file"), "after");
  EXPECT_FALSE(folder->is_at_its_path());
  EXPECT_EQ(files::canonical(folder->place()), files::canonical(moved));
  const auto bytes = rarefy::read_file(file);
  EXPECT_EQ(bytes.size(), 5U);
  EXPECT_TRUE(file.exists());
  folder->remove("file");
  EXPECT_FALSE(file.exists());
  EXPECT_NO_THROW(folder->remove("file"));
}

TEST(Folder, OneThatIsGoneTakesNothing) {
  const TemporaryFolder place;
  const auto path = place.path() / "run";
  const auto folder = Folder::make(path);
  files::remove_all(path);
  files::create_directory(path);
  try {
    rarefy::write_file_atomically(FilePlace(folder, "file"), "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
  }
  EXPECT_TRUE(files::is_empty(path));
  EXPECT_EQ(folder->place(), path) << "there is nothing better to say";
}

TEST(Folder, LinksAreReplacedAndNotWrittenThrough) {
  const TemporaryFolder place;
  const auto precious = place.path() / "precious.txt";
  put_text(precious, "precious");
  const auto folder = Folder::make(place.path() / "run");
  files::create_symlink(precious, folder->path() / "file");
  files::create_symlink("nowhere", folder->path() / "dangling");
  for (const auto* name : {"file", "dangling"}) {
    rarefy::write_file_atomically(FilePlace(folder, name), "new");
    EXPECT_FALSE(files::is_symlink(folder->path() / name));
    EXPECT_EQ(whole_text(folder->path() / name), "new");
  }
  EXPECT_EQ(whole_text(precious), "precious");
  EXPECT_FALSE(files::exists(folder->path() / "nowhere"));

  files::create_symlink(precious, folder->path() / "link");
  EXPECT_EQ(rarefy::read_file(FilePlace(folder, "link")).size(), 8U) << "reading follows";
  folder->remove("link");
  EXPECT_EQ(whole_text(precious), "precious");
}

TEST(Folder, HardLinksAreLeftToTheirOtherNames) {
  const TemporaryFolder place;
  const auto precious = place.path() / "precious.txt";
  put_text(precious, "precious");
  const auto folder = Folder::make(place.path() / "run");
  files::create_hard_link(precious, folder->path() / "file");
  rarefy::write_file_atomically(FilePlace(folder, "file"), "new");
  EXPECT_EQ(whole_text(precious), "precious");
}

TEST(Folder, FilesKeepTheirPermissionsWhenReplaced) {
  const TemporaryFolder place;
  const auto folder = Folder::open(place.path());
  const auto before = ::umask(022);
  rarefy::write_file_atomically(FilePlace(folder, "file"), "x");
  EXPECT_EQ(permissions_of(place.path() / "file"), 0644U);
  for (const mode_t mode : {mode_t{0600}, mode_t{0664}, mode_t{0444}}) {
    ASSERT_EQ(::chmod((place.path() / "file").c_str(), mode), 0);
    rarefy::write_file_atomically(FilePlace(folder, "file"), "y");
    EXPECT_EQ(permissions_of(place.path() / "file"), mode);
    rarefy::write_file_atomically(place.path() / "file", "z");
    EXPECT_EQ(permissions_of(place.path() / "file"), mode);
  }
  ::umask(before);
}

TEST(Folder, RemovesOnlyTemporariesOfItsOwnFiles) {
  const TemporaryFolder place;
  const auto ours = [](std::string_view name) { return name == "a.npy" || name == "alive"; };
  const std::string kept[] = {"a.npy",
                              ".hidden",
                              ".a.npy.tmp-mine",
                              "a.npy.tmp-12-3",
                              ".a.npy.tmp-",
                              ".a.npy.tmp-4",
                              ".a.npy.tmp-1-2-3",
                              ".a.npy.tmp-01-2",
                              ".a.npy.tmp-1-02",
                              ".notes.tmp-2024-01-05",
                              ".notes.tmp-1-2",
                              ".tmp-1-2",
                              ".b.a.npy.tmp-1-2",
                              ".alive.tmp-1-1",
                              ".a.npy.tmp-12345678901-1"};
  for (const auto& name : kept) put_text(place.path() / name);
  for (const auto* name : {".a.npy.tmp-123-0", ".a.npy.tmp-1-17"}) put_text(place.path() / name);
  files::create_directory(place.path() / ".a.npy.tmp-1-3");
  files::create_symlink("a.npy", place.path() / ".a.npy.tmp-1-4");
  const int alive = ::open((place.path() / ".alive.tmp-1-1").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(alive, LOCK_EX), 0);

  const auto folder = Folder::open(place.path());
  folder->remove_stale_temporaries(ours);
  for (const auto& name : kept) EXPECT_TRUE(files::exists(place.path() / name)) << name;
  EXPECT_EQ(folder->names().size(), std::size(kept) + 2) << "a folder and a link";
  ::close(alive);
  folder->remove_stale_temporaries(ours);
  EXPECT_FALSE(files::exists(place.path() / ".alive.tmp-1-1"));
}

TEST(Folder, IsMadeWithItsParents) {
  const TemporaryFolder place;
  bool made = false;
  EXPECT_EQ(Folder::make(place.path() / "a/b//c/", &made)->names().size(), 0U);
  EXPECT_TRUE(made);
  EXPECT_NO_THROW((void)Folder::make(place.path() / "a/b/../b/c", &made));
  EXPECT_FALSE(made);
  files::create_directory_symlink("a", place.path() / "link");
  EXPECT_NO_THROW((void)Folder::make(place.path() / "link/d", &made));
  EXPECT_TRUE(made && files::is_directory(place.path() / "a/d"));
}

TEST(Folder, OneThatCannotBeMadeLeavesNoParents) {
  const TemporaryFolder place;
  std::string very_long = "a";
  for (int i = 0; i < 3000; ++i) very_long += "/a";
  files::create_symlink("loop", place.path() / "loop");
  put_text(place.path() / "file");
  for (const auto& path : {place.path() / "new" / std::string(300, 'n'), place.path() / very_long,
                           place.path() / "loop" / "x", place.path() / "file" / "x"}) {
    EXPECT_THROW((void)Folder::make(path), Error) << path.string().substr(0, 100);
  }
  EXPECT_EQ(Folder::open(place.path())->names(), (std::vector<std::string>{"file", "loop"}));
}

// What a process without a standard error opens must not take its number.
TEST(Folder, NoFileTakesTheNumberOfAStandardStream) {
  const TemporaryFolder place;
  const int kept = ::dup(STDERR_FILENO);
  ::close(STDERR_FILENO);
  const auto folder = Folder::open(place.path());
  const bool taken = ::fcntl(STDERR_FILENO, F_GETFD) >= 0;
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  EXPECT_FALSE(taken);
  EXPECT_GT(folder->descriptor(), STDERR_FILENO);
}

}  // namespace
