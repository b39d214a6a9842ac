// The order in which emitters are asked and told when they do not wait for each other.
//
// Which emitter is told next depends on who is evaluated first, and so on the world outside.
// Everything else follows from the order: a run that repeats it ends with the same bits. It lies in
// order.bin, which has the layout of a journal (storage/journal.hpp): a record is a turn, its
// "iteration" the number of the turn, its "row" the emitter, its "solution" the kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/storage/file_place.hpp"
#include "rarefy/storage/journal.hpp"

namespace rarefy {

enum class TurnKind : std::uint8_t {
  told_and_asked,  ///< the rule: an emitter that was told asks again at once
  told,            ///< so many evaluations as planned are under way already
  asked,           ///< at the beginning, and where a run goes further than was planned
};

struct Turn {
  Index emitter = 0;
  TurnKind kind = TurnKind::told_and_asked;
  bool operator==(const Turn&) const = default;
};

/// All turns in a file; none where there is no file, or another.
[[nodiscard]] std::vector<Turn> read_turns(const FilePlace& file);

/// Turns that were taken, and those that are prescribed: what the file has beyond the turns that a
/// search has behind it, because it was killed since its checkpoint, or was given another's order.
class Turns {
 public:
  /// Without a file: nothing is prescribed, and nobody else hears of turns.
  Turns() = default;
  /// Goes on with the file, or begins it. Throws where it holds fewer turns than are `behind`.
  Turns(const FilePlace& file, std::int64_t behind);

  /// The next turn, where it is prescribed.
  [[nodiscard]] std::optional<Turn> prescribed() const;
  /// The prescribed turn cannot be taken, because fewer evaluations are planned than then.
  void skip();
  /// Writes down a turn that is about to be taken, unless the file has it already as prescribed.
  /// Where the emitter may not ask any more, what is prescribed is still followed, but the file
  /// has what becomes of it; where a turn is another's, nothing is prescribed any more.
  void note(const Turn& turn);
  /// The turn was taken. Not before: what was noted and not taken is prescribed to whoever goes on.
  void count() { ++taken_; }
  /// How many were taken, those behind at the beginning included.
  [[nodiscard]] std::int64_t taken() const { return taken_; }
  /// Brings them to the disk.
  void sync();

 private:
  void forget_from(std::int64_t number);
  void leave_the_file();

  std::unique_ptr<Journal> file_;
  std::vector<Turn> prescribed_;
  std::size_t next_ = 0;  // of those
  bool in_file_ = true;   // the prescribed ones are there, behind those that were taken
  std::int64_t taken_ = 0;
};

/// Begins a file with turns to be repeated.
void write_turns(const FilePlace& file, const std::vector<Turn>& turns);

}  // namespace rarefy
