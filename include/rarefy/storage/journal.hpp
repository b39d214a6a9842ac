// A file of finished evaluations that only grows: what was paid for and is in no checkpoint yet.
//
//   offset  bytes
//        0      8  "RAREFYJL"
//        8      4  version of this layout, 1
//       12      4  F, the number of features
//       16      8  the run it belongs to
//       24      8  XXH3 of the 24 bytes before
//       32      -  records of 40 + 8 F bytes, to the end of the file:
//
//        0      8  iteration
//        8      4  row
//       12      4  1: it was evaluated, 0: that failed
//       16      8  XXH3 of the solution
//       24      8  objective
//       32    8 F  features
//        -      8  XXH3 of the bytes before, with the run and the record's number as its seed
//
// Integers are little-endian. The first record that is cut short or fails its checksum, and all
// behind it, count for nothing: a kill or a power cut may leave anything there. The number in the
// seed keeps a record from being taken for one in another place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/storage/file_place.hpp"

namespace rarefy {

/// What one solution turned out to be.
struct JournalRecord {
  std::int64_t iteration = 0;  ///< of the batch it is in
  Index row = 0;               ///< of the batch
  std::uint64_t solution = 0;  ///< its checksum (storage/checkpoint.hpp)
  bool valid = true;           ///< false: it could not be evaluated
  double objective = 0;
  std::span<const double> features;
};

using JournalVisitor = std::function<void(const JournalRecord&)>;

/// Whose journal it is. One of another run, or with other features, is never read.
struct JournalOwner {
  std::uint64_t run = 0;
  Index feature_dim = 0;
};

/// Shows all records that can be trusted, in their order. None where there is no journal, or
/// another's, or something else of that name. Error (data) for one of a later version, which has
/// what only that version can read.
void read_journal(const FilePlace& file, const JournalOwner& owner, const JournalVisitor& visit);

/// The writer. One thread at a time.
class Journal {
 public:
  /// Takes up the one that is there, or begins one. What it holds of iterations before `from` is
  /// left out, and the rest shown to `visit`. The file is replaced as a whole, so that what cannot
  /// be trusted is gone before anything is added.
  Journal(const FilePlace& file, const JournalOwner& owner, std::int64_t from,
          const JournalVisitor& visit);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Puts a record behind the others, in memory.
  void add(const JournalRecord& record);
  /// Hands what was added to the system, in one call: no end of this process can take it away any
  /// more. The end of the machine can, for half a second: until then it is brought to the disk, by
  /// another thread. Throws Error (io) when it cannot, or that could not; the records before
  /// are whole.
  void write();
  /// Forgets all of earlier iterations: to be called when something else that is on the disk has
  /// them.
  void drop_before(std::int64_t iteration);
  /// Forgets all but those that are still needed.
  void keep_only(const std::function<bool(const JournalRecord&)>& is_needed);
  /// Brings everything to the disk now.
  void sync();
  /// How many records it has.
  [[nodiscard]] std::int64_t size() const;
  /// Away with the file, on the disk, too.
  void remove();

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace rarefy
