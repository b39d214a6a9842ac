#include "rarefy/storage/journal.hpp"

#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "rarefy/core/error.hpp"
#include "storage/journal_sync.hpp"
#include "storage/read_at.hpp"
#include "storage/system_calls.hpp"

namespace rarefy {
namespace {

static_assert(std::endian::native == std::endian::little,
              "records are written as they lie in memory, which must be little-endian");

constexpr std::string_view kJournalMagic = "RAREFYJL";
constexpr std::uint32_t kJournalVersion = 1;
constexpr std::uint64_t kNumbers = 0x9e3779b97f4a7c15U;  // spreads the numbers of records

// These 32 bytes mean the same in every version.
struct JournalHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = kJournalVersion;
  std::uint32_t features = 0;
  std::uint64_t run = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(JournalHeader) == 32, "the layout has no gaps");

struct RecordHead {
  std::int64_t iteration = 0;
  std::uint32_t row = 0;
  std::uint32_t valid = 0;
  std::uint64_t solution = 0;
  double objective = 0;
};
static_assert(sizeof(RecordHead) == 32, "the layout has no gaps");

std::uint64_t checksum_of(const JournalHeader& header) {
  return XXH3_64bits(&header, offsetof(JournalHeader, checksum));
}

JournalHeader header_for(const JournalOwner& owner) {
  JournalHeader header;
  std::ranges::copy(kJournalMagic, header.magic.begin());
  header.features = static_cast<std::uint32_t>(owner.feature_dim);
  header.run = owner.run;
  header.checksum = checksum_of(header);
  return header;
}

std::size_t bytes_of_record(const JournalOwner& owner) {
  return sizeof(RecordHead) + sizeof(double) * static_cast<std::size_t>(owner.feature_dim) +
         sizeof(std::uint64_t);
}

std::uint64_t record_checksum(std::span<const std::byte> sealed, const JournalOwner& owner,
                              std::uint64_t number) {
  return XXH3_64bits_withSeed(sealed.data(), sealed.size(), owner.run ^ (number * kNumbers));
}

// Behind what is there.
void append_record(const JournalRecord& record, const JournalOwner& owner, std::uint64_t number,
                   std::vector<std::byte>& out) {
  const auto begin = out.size();
  const auto put = [&](const void* from, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(from);
    out.insert(out.end(), first, first + bytes);
  };
  const RecordHead head = {.iteration = record.iteration,
                           .row = static_cast<std::uint32_t>(record.row),
                           .valid = record.valid ? 1U : 0U,
                           .solution = record.solution,
                           .objective = record.objective};
  put(&head, sizeof head);
  put(record.features.data(), record.features.size_bytes());
  const auto seal = record_checksum(std::span(out).subspan(begin), owner, number);
  put(&seal, sizeof seal);
}

// Whether it is a journal of that owner's; an Error where a later version wrote it.
bool belongs_to(const JournalHeader& header, const JournalOwner& owner,
                const std::filesystem::path& shown) {
  const bool journal =
      std::ranges::equal(header.magic, kJournalMagic) && header.checksum == checksum_of(header);
  if (!journal) return false;
  if (header.version != kJournalVersion) {
    throw Error(ErrorKind::data, shown.string(),
                fmt::format("a journal of version {}", header.version),
                fmt::format("version {}: what it holds can be read by the rarefy that wrote it; "
                            "remove it to evaluate that again",
                            kJournalVersion));
  }
  return header.run == owner.run &&
         header.features == static_cast<std::uint64_t>(owner.feature_dim);
}

// A regular file that is not a link; none where there is anything else, or nothing.
std::optional<OpenFile> open_journal(const FilePlace& file) {
  struct stat status {};
  const int folder = file.folder() != nullptr ? file.folder()->descriptor() : AT_FDCWD;
  const auto* name = file.folder() != nullptr ? file.name().c_str() : file.path().c_str();
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    fail(file.path(), "look at it", errno);
  }
  if (!S_ISREG(status.st_mode)) return {};
  return open_to_read(file);
}

FilePlace in_a_folder(const FilePlace& file) {
  if (file.folder() != nullptr) return file;
  return {Folder::of_file(file.path()), file.path().filename().string()};
}

}  // namespace

void read_journal(const FilePlace& file, const JournalOwner& owner, const JournalVisitor& visit) {
  auto opened = open_journal(file);
  if (!opened || opened->size() < sizeof(JournalHeader)) return;
  JournalHeader header;
  opened->read(std::as_writable_bytes(std::span(&header, 1)));
  if (!belongs_to(header, owner, file.path())) return;

  // Piece by piece: what the file has room for costs nothing before it is trusted.
  const auto length = bytes_of_record(owner);
  const auto sealed = length - sizeof(std::uint64_t);
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{1} << 16) / length);
  std::vector<std::byte> piece(at_once * length);
  std::vector<double> features(static_cast<std::size_t>(owner.feature_dim));
  auto left = (opened->size() - sizeof header) / length;
  for (std::uint64_t number = 0; left > 0;) {
    const auto count = std::min<std::uint64_t>(left, at_once);
    const auto bytes = std::span(piece).first(static_cast<std::size_t>(count) * length);
    opened->read(bytes);
    left -= count;
    for (std::size_t at = 0; at < bytes.size(); at += length, ++number) {
      const auto whole = bytes.subspan(at, length);
      std::uint64_t seal = 0;
      std::memcpy(&seal, whole.data() + sealed, sizeof seal);
      if (seal != record_checksum(whole.first(sealed), owner, number)) return;
      RecordHead head;
      std::memcpy(&head, whole.data(), sizeof head);
      if (head.iteration < 0 || head.valid > 1) return;  // nothing that we write
      if (!features.empty()) {
        std::memcpy(features.data(), whole.data() + sizeof head, sizeof(double) * features.size());
      }
      visit({.iteration = head.iteration,
             .row = static_cast<Index>(head.row),
             .solution = head.solution,
             .valid = head.valid == 1,
             .objective = head.objective,
             .features = features});
    }
  }
}

class Journal::File {
 public:
  File(const FilePlace& file, const JournalOwner& owner, std::int64_t from,
       const JournalVisitor& visit)
      : place_(in_a_folder(file)), owner_(owner) {
    replace([from](const JournalRecord& record) { return record.iteration >= from; }, visit);
  }

  void add(const JournalRecord& record) {
    if (static_cast<Index>(record.features.size()) != owner_.feature_dim || record.row < 0 ||
        record.row > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(ErrorKind::parameter, "record of a journal",
                  fmt::format("row {} with {} features", record.row, record.features.size()),
                  fmt::format("a row below 2^32 with {} features", owner_.feature_dim));
    }
    append_record(record, owner_, records_ + added_, gathered_);
    ++added_;
    newest_added_ = std::max(newest_added_, record.iteration);
  }

  void write() {
    if (gathered_.empty()) return;
    for (auto rest = std::span<const std::byte>(gathered_); !rest.empty();) {
      const auto length = std::min(rest.size(), kLargestWrite);
      const auto written =
          uninterrupted([&] { return ::write(file_->get(), rest.data(), length); });
      if (written <= 0) {
        const int reason = written < 0 ? errno : EIO;
        // What was added is not there, but none of it in part.
        cut();
        fail(place_.path(), "write", reason);
      }
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
    records_ += added_;
    newest_ = std::max(newest_, newest_added_);
    forget_gathered();
    syncs_.wanted(file_);
    if (const int reason = syncs_.trouble(); reason != 0) {
      fail(place_.path(), "bring it to the disk", reason);
    }
  }

  void drop_before(std::int64_t iteration) {
    write();
    if (records_ == 0) return;
    if (newest_ >= iteration) {
      replace([iteration](const JournalRecord& record) { return record.iteration >= iteration; },
              [](const JournalRecord&) {});
      return;
    }
    records_ = 0;
    newest_ = -1;
    if (!cut()) fail(place_.path(), "shorten it", errno);
  }

  void keep_only(const std::function<bool(const JournalRecord&)>& is_needed) {
    write();
    if (records_ > 0) replace(is_needed, [](const JournalRecord&) {});
  }

  void sync() {
    write();
    syncs_.forget();
    if (uninterrupted([&] { return ::fdatasync(file_->get()); }) != 0) {
      fail(place_.path(), "bring it to the disk", errno);
    }
  }

  void remove() {
    forget_gathered();
    syncs_.forget();
    place_.folder()->remove(place_.name());
    place_.folder()->sync();
  }

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(records_ + added_); }

 private:
  static constexpr std::size_t kLargestWrite = std::size_t{1} << 30;

  // A new file with what is to be kept, under the name of the old one. Other names of the old one
  // (hard links), or what it leads to, are somebody else's.
  void replace(const std::function<bool(const JournalRecord&)>& is_kept,
               const JournalVisitor& visit) {
    const auto header = header_for(owner_);
    std::vector<std::byte> kept;
    std::uint64_t count = 0;
    std::int64_t newest = -1;
    read_journal(place_, owner_, [&](const JournalRecord& record) {
      if (!is_kept(record)) return;
      append_record(record, owner_, count++, kept);
      newest = std::max(newest, record.iteration);
      visit(record);
    });
    place_.folder()->write(place_.name(), std::array<std::span<const std::byte>, 2>{
                                              std::as_bytes(std::span(&header, 1)), kept});
    auto opened = open_at(place_.folder()->descriptor(), place_.name().c_str(),
                          O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!opened.valid()) fail(place_.path(), "open", errno);
    struct stat status {};
    if (::fstat(opened.get(), &status) != 0) fail(place_.path(), "look at it", errno);
    if (!S_ISREG(status.st_mode) || status.st_nlink != 1 ||
        static_cast<std::size_t>(status.st_size) != sizeof header + kept.size()) {
      throw Error(ErrorKind::io, place_.string(), "a file that somebody has just put there",
                  "the one that was written");
    }
    file_ = std::make_shared<const Descriptor>(std::move(opened));
    records_ = count;
    newest_ = newest;
    if (!go_to_end()) fail(place_.path(), "go to its end", errno);
  }

  [[nodiscard]] off_t end() const {
    return static_cast<off_t>(sizeof(JournalHeader) + records_ * bytes_of_record(owner_));
  }
  bool go_to_end() { return ::lseek(file_->get(), end(), SEEK_SET) == end(); }
  bool cut() {
    forget_gathered();
    return uninterrupted([&] { return ::ftruncate(file_->get(), end()); }) == 0 && go_to_end();
  }
  void forget_gathered() {
    gathered_.clear();
    added_ = 0;
    newest_added_ = -1;
  }

  FilePlace place_;
  JournalOwner owner_;
  std::shared_ptr<const Descriptor> file_;
  std::uint64_t records_ = 0;        // in the file
  std::int64_t newest_ = -1;         // iteration of those
  std::vector<std::byte> gathered_;  // to be written
  std::uint64_t added_ = 0;          // records in that
  std::int64_t newest_added_ = -1;
  JournalSync syncs_;
};

Journal::Journal(const FilePlace& file, const JournalOwner& owner, std::int64_t from,
                 const JournalVisitor& visit)
    : file_(std::make_unique<File>(file, owner, from, visit)) {}
Journal::~Journal() = default;

void Journal::add(const JournalRecord& record) { file_->add(record); }
void Journal::write() { file_->write(); }
void Journal::drop_before(std::int64_t iteration) { file_->drop_before(iteration); }
void Journal::keep_only(const std::function<bool(const JournalRecord&)>& is_needed) {
  file_->keep_only(is_needed);
}
void Journal::sync() { file_->sync(); }
void Journal::remove() { file_->remove(); }
std::int64_t Journal::size() const { return file_->size(); }

}  // namespace rarefy
