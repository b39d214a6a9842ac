// What was evaluated of a run and is in no checkpoint yet, row by row.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/search.hpp"
#include "rarefy/storage/journal.hpp"

namespace rarefy {

/// Which candidate of a search: how often its emitter had been told before, and its row in a batch
/// of all emitters.
struct CandidatePlace {
  std::int64_t generation = 0;
  Index row = 0;
};

[[nodiscard]] inline CandidatePlace place_of(const Search& search, Index row) {
  return {search.generation(search.emitter_of_row(row)), row};
}

/// Of the emitter that was told least often.
[[nodiscard]] std::int64_t oldest_generation(const Search& search);

/// Whether it is of a candidate that the search was not told of yet.
[[nodiscard]] bool is_awaited(const Search& search, const JournalRecord& record);

/// Whether evaluations are worth a journal: so many in so many seconds, in which those at work have
/// spent `busy` seconds in all.
[[nodiscard]] bool is_worth_keeping(double seconds, double busy, Index evaluations);

/// A search that goes on from its last checkpoint asks for the same candidates as before, so that
/// it finds all that was done since.
class EvaluationJournal {
 public:
  /// Goes on with one that is there, unless it is switched off.
  EvaluationJournal(const Search& search, FilePlace file, const JournalOwner& owner,
                    const Config& config);

  [[nodiscard]] bool is_open() const { return journal_ != nullptr; }
  /// Whether it is to be opened where evaluations turn out to be expensive.
  [[nodiscard]] bool waits_to_see() const { return !is_open() && keep_ == KeepJournal::automatic; }
  void open();

  /// Whether anything is left that take() could find.
  [[nodiscard]] bool keeps_any() const { return !kept_.empty(); }
  /// Fills row `i` of `out` with what is known of a candidate. False: nothing is.
  bool take(const CandidatePlace& place, std::span<const double> solution,
            const EvaluationSpan& out, Index i);
  /// Adds what row `i` turned out to be, if it can be used; false otherwise.
  bool note(const CandidatePlace& place, std::span<const double> solution,
            const EvaluationSpan& out, Index i);
  /// Adds a row that has failed. Only once all that are told together are done: where nothing
  /// works, the evaluator throws instead, and is tried again with the same rows once it has been
  /// mended. What the search is going to refuse is not noted at all, for the same reason.
  void note_failed(const CandidatePlace& place, std::span<const double> solution,
                   const EvaluationSpan& out, Index i);
  /// No end of this process can take away what was noted before.
  void write();

  /// A checkpoint on the disk has all that was told.
  void saved();
  /// At the end: a journal that holds nothing is removed, another brought to the disk.
  void close();
  /// How many evaluations were taken from the journal.
  [[nodiscard]] std::int64_t taken() const { return taken_; }

 private:
  using Key = std::tuple<std::int64_t, Index, std::uint64_t>;  // generation, row, solution
  struct Outcome {
    bool valid = true;
    double objective = 0;
    std::vector<double> features;
  };
  void add(const CandidatePlace& place, std::span<const double> solution, const EvaluationSpan& out,
           Index i);

  const Search& search_;
  FilePlace file_;
  JournalOwner owner_;
  KeepJournal keep_;
  bool nan_fails_;
  std::unique_ptr<Journal> journal_;  // null: none is kept, or not yet
  std::map<Key, Outcome> kept_;       // what was found in it
  std::int64_t taken_ = 0;
};

}  // namespace rarefy
