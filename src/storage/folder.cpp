#include "rarefy/storage/folder.hpp"

#include <dirent.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "storage/read_at.hpp"
#include "storage/system_calls.hpp"

namespace rarefy {
namespace fs = std::filesystem;
namespace {

// One call moves at most this much: Linux stops a little below 2 GiB anyway.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;
constexpr std::string_view kMark = ".tmp-";
constexpr mode_t kPermissions = 0777;

/// `.NAME.tmp-PROCESS-COUNT`
std::string next_name_of_temporary(std::string name) {
  static std::atomic<unsigned> count{0};
  name.resize(std::min<std::size_t>(name.size(), 200));  // a file name has 255 bytes at most
  return fmt::format(".{}{}{}-{}", name, kMark, ::getpid(), count++);
}

/// A number as we write one: no sign, no zero in front.
bool is_plain_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos &&
         (text == "0" || text.front() != '0') && text.size() <= 10;
}

/// The file of which `name` is a temporary.
std::optional<std::string_view> file_of_temporary(std::string_view name) {
  const auto mark = name.rfind(kMark);
  if (mark == std::string_view::npos || mark < 2 || name.front() != '.') return {};
  const auto numbers = name.substr(mark + kMark.size());
  const auto dash = numbers.find('-');
  if (dash == std::string_view::npos || !is_plain_number(numbers.substr(0, dash)) ||
      !is_plain_number(numbers.substr(dash + 1))) {
    return {};
  }
  return name.substr(1, mark - 1);
}

/// The temporary of one write: locked while it lives, deleted unless it took the file's name.
class Temporary : public FileSink {
 public:
  Temporary(int folder, const std::string& name, fs::path shown, mode_t mode)
      : folder_(folder), name_(name), shown_(std::move(shown)) {
    // A name may be taken by a leftover of an earlier process with our number.
    for (int attempt = 0; attempt < 1000; ++attempt) {
      own_name_ = next_name_of_temporary(name);
      file_ = open_at(folder_, own_name_.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
      if (!file_.valid()) {
        if (errno == EEXIST) continue;
        fail(shown_, fmt::format("create the temporary {}", own_name_), errno);
      }
      exists_ = true;
      // The lock says that the writer lives. Where locks are not supported there is none, and
      // remove_stale_temporaries leaves everything alone.
      uninterrupted([&] { return ::flock(file_.get(), LOCK_EX); });
      struct stat status {};
      if (::fstat(file_.get(), &status) != 0 || status.st_nlink > 0) return;
      // Taken for a leftover and deleted before we had locked it: try again.
      exists_ = false;
    }
    fail(shown_, "find a free name for a temporary", EEXIST);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() override {
    if (exists_) ::unlinkat(folder_, own_name_.c_str(), 0);
  }

  // Small pieces are gathered.
  void write(std::span<const std::byte> bytes) override {
    if (gathered_.size() + bytes.size() > kGathered) flush();
    if (bytes.size() >= kGathered) {
      write_now(bytes);
    } else {
      if (gathered_.empty()) gathered_.reserve(kGathered);
      gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
    }
  }

  [[nodiscard]] std::uint64_t place() const override { return place_ + gathered_.size(); }

  void go_to(std::uint64_t place) override {
    flush();
    if (::lseek(file_.get(), static_cast<off_t>(place), SEEK_SET) < 0) fail(shown_, "write", errno);
    place_ = place;
  }

  void flush() {
    write_now(gathered_);
    gathered_.clear();
  }

  void set_permissions(mode_t mode) {
    if (::fchmod(file_.get(), mode) != 0) fail(shown_, "keep its permissions", errno);
  }

  /// After the sync nothing is left that closing the file could still report.
  void take_the_name() {
    if (uninterrupted([&] { return ::fsync(file_.get()); }) != 0) {
      fail(shown_, "bring it to the disk", errno);
    }
    if (::renameat(folder_, own_name_.c_str(), folder_, name_.c_str()) != 0) {
      fail(shown_, "replace it", errno);
    }
    exists_ = false;
  }

 private:
  static constexpr std::size_t kGathered = std::size_t{1} << 16;

  void write_now(std::span<const std::byte> bytes) {
    place_ += bytes.size();
    while (!bytes.empty()) {
      const auto length = std::min(bytes.size(), kLargestTransfer);
      const auto written =
          uninterrupted([&] { return ::write(file_.get(), bytes.data(), length); });
      if (written < 0) fail(shown_, "write", errno);
      // No progress and no reason would loop for ever.
      if (written == 0) fail(shown_, "write", EIO);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  int folder_;
  std::string name_, own_name_;
  fs::path shown_;
  Descriptor file_;
  std::vector<std::byte> gathered_;
  std::uint64_t place_ = 0;  // in the file; behind it comes what is gathered
  bool exists_ = false;
};

/// The permissions of the file that is to be replaced; none where there is no file, or a link.
/// A rename would quietly replace a device by a file: anything else is refused.
std::optional<mode_t> permissions_to_keep(int folder, const std::string& name,
                                          const fs::path& shown) {
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    fail(shown, "look at it", errno);
  }
  if (S_ISLNK(status.st_mode)) return {};
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::io, shown.string(),
                S_ISDIR(status.st_mode) ? "a folder" : "a special file",
                "a regular file, or nothing yet");
  }
  return status.st_mode & kPermissions;
}

/// A new name is itself data of the folder. Some file systems cannot sync one, and say EINVAL.
bool sync_names(int folder) {
  return uninterrupted([&] { return ::fsync(folder); }) == 0 || errno == EINVAL;
}

bool leads_to(const fs::path& path, int descriptor) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/// Makes one folder on the way to `whole`; false where it is there already.
bool make_folder(const fs::path& path, const fs::path& whole) {
  if (::mkdir(path.c_str(), 0777) != 0) {
    const int reason = errno;
    struct stat status {};
    const bool seen = ::stat(path.c_str(), &status) == 0;
    if (seen && S_ISDIR(status.st_mode)) return false;
    const int unseen = errno;
    if (reason == EEXIST && !seen && unseen != ENOENT) fail(path, "look at", unseen);
    throw Error(ErrorKind::io,
                fmt::format("cannot make the folder '{}': {}{}", whole.string(),
                            path == whole ? "" : fmt::format("'{}': ", path.string()),
                            reason == EEXIST ? "there is something else of that name"
                                             : std::generic_category().message(reason)));
  }
  // Where the parent may not be read, its names cannot be synced either.
  const auto parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto above = open_at(AT_FDCWD, parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (above.valid() && !sync_names(above.get())) {
    fail(parent, "bring the name of a new folder to the disk", errno);
  }
  return true;
}

}  // namespace

Folder::Folder(fs::path path, Descriptor descriptor)
    : path_(std::move(path)), descriptor_(std::make_unique<Descriptor>(std::move(descriptor))) {}

Folder::~Folder() = default;

int Folder::descriptor() const { return descriptor_->get(); }

std::shared_ptr<const Folder> Folder::open(const fs::path& path) {
  auto descriptor = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!descriptor.valid()) {
    throw Error(ErrorKind::io, errno == ENOTDIR
                                   ? fmt::format("'{}' is not a folder", path.string())
                                   : fmt::format("cannot open the folder '{}': {}", path.string(),
                                                 std::generic_category().message(errno)));
  }
  return std::shared_ptr<const Folder>(new Folder(path, std::move(descriptor)));
}

std::shared_ptr<const Folder> Folder::of_file(const fs::path& file) {
  auto parent = file.parent_path();
  auto descriptor =
      open_at(AT_FDCWD, parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (!descriptor.valid()) {
    fail(file, fmt::format("open its folder {}", parent.empty() ? "." : parent.string()), errno);
  }
  return std::shared_ptr<const Folder>(new Folder(std::move(parent), std::move(descriptor)));
}

std::shared_ptr<const Folder> Folder::make(const fs::path& path, bool* made) {
  // What cannot be there at all (a name that is too long, a loop of links) is not begun.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 && errno != ENOENT && errno != ENOTDIR) {
    throw Error(ErrorKind::io, fmt::format("cannot make the folder '{}': {}", path.string(),
                                           std::generic_category().message(errno)));
  }
  std::vector<fs::path> new_ones;
  try {
    fs::path so_far;
    bool last = false;
    for (const auto& part : path) {
      so_far /= part;
      if (part.empty() || part == "/") continue;  // a slash at the end; the root
      new_ones.push_back(so_far);  // before it is there: afterwards, memory may be short
      last = make_folder(so_far, path);
      if (!last) new_ones.pop_back();
    }
    if (made != nullptr) *made = last;
    return open(path);
  } catch (...) {
    std::for_each(new_ones.rbegin(), new_ones.rend(),
                  [](const fs::path& folder) { ::rmdir(folder.c_str()); });
    throw;
  }
}

bool Folder::is_at_its_path() const { return leads_to(path_, descriptor()); }

fs::path Folder::place() const {
  if (is_at_its_path()) return path_;
  std::error_code unknown;
  auto target = fs::read_symlink(fmt::format("/proc/self/fd/{}", descriptor()), unknown);
  return !unknown && leads_to(target, descriptor()) ? target : path_;
}

fs::path Folder::file(const std::string& name) const { return path_ / name; }

bool Folder::holds(const std::string& name) const {
  struct stat status {};
  if (::fstatat(descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno != ENOENT) fail(file(name), "look at it", errno);
  return false;
}

std::vector<std::string> Folder::names() const {
  // A descriptor of its own: reading a folder moves a place in it.
  auto again = open_at(descriptor(), ".", O_RDONLY | O_DIRECTORY);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(
      again.valid() ? ::fdopendir(again.get()) : nullptr, &::closedir);
  if (listing == nullptr) fail(path_, "list the folder", errno);
  (void)again.release();  // the listing's now
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const auto* entry = ::readdir(listing.get());  // NOLINT(concurrency-mt-unsafe): it is ours
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) fail(path_, "list the folder", errno);
  std::sort(names.begin(), names.end());
  return names;
}

void Folder::write(const std::string& name,
                   std::span<const std::span<const std::byte>> parts) const {
  write(name, [&](FileSink& sink) {
    for (const auto part : parts) sink.write(part);
  });
}

void Folder::write(const std::string& name, const FileWriter& writer) const {
  const auto shown = file(name);
  const auto kept = permissions_to_keep(descriptor(), name, shown);
  Temporary temporary(descriptor(), name, shown, kept.value_or(0666));
  writer(temporary);
  temporary.flush();
  if (kept) temporary.set_permissions(*kept);
  temporary.take_the_name();
  if (!sync_names(descriptor())) {
    fail(shown, "bring its new name to the disk (the file itself is written)", errno);
  }
}

std::vector<std::byte> Folder::read(const std::string& name, std::uintmax_t most) const {
  return OpenFile(descriptor(), name.c_str(), file(name)).read_all(most);
}

void Folder::remove(const std::string& name) const {
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return;
  fail(file(name), "remove it", errno);
}

void Folder::sync() const {
  if (!sync_names(descriptor())) fail(place(), "bring to the disk which names are in", errno);
}

void Folder::remove_stale_temporaries(const std::function<bool(std::string_view)>& ours) const {
  for (const auto& name : names()) {
    const auto of = file_of_temporary(name);
    if (!of || !ours(*of)) continue;
    const auto opened = open_at(descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!opened.valid()) continue;  // its writer has just finished, or it is not ours to read
    struct stat status {};
    if (::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (uninterrupted([&] { return ::flock(opened.get(), LOCK_EX | LOCK_NB); }) != 0) continue;
    remove(name);
  }
}

}  // namespace rarefy
