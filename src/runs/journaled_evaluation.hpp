// Evaluates batches, and writes down what was evaluated before it is told and saved.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "rarefy/core/stop.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/search.hpp"
#include "rarefy/storage/journal.hpp"

namespace rarefy {

/// Between a search and its evaluator. What the journal has of a batch is not evaluated again; the
/// rest is noted as soon as it is done. A search that goes on from its last checkpoint asks for the
/// same candidates as before, so that it finds all that was done since.
class JournaledEvaluation {
 public:
  /// All must outlive it. A journal that is there is gone on with, unless it is switched off.
  JournaledEvaluation(Evaluator& evaluator, const Search& search, FilePlace file,
                      const JournalOwner& owner, const Config& config);

  /// False: `*stop` was true before all rows were done. Those that are, are in the journal.
  bool evaluate(BatchView solutions, const EvaluationSpan& out, StopFlag stop);
  /// A checkpoint on the disk has all before that iteration.
  void saved(std::int64_t iteration);
  /// At the end: a journal that holds nothing is removed, another brought to the disk.
  void close();

  /// How many evaluations were taken from the journal.
  [[nodiscard]] std::int64_t taken() const { return taken_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Key = std::tuple<std::int64_t, Index, std::uint64_t>;  // iteration, row, solution
  struct Outcome {
    bool valid = true;
    double objective = 0;
    std::vector<double> features;
  };

  void open();
  /// Fills in what the journal has, and names the rows that it has not.
  void take_what_is_kept(BatchView solutions, const EvaluationSpan& out);
  bool evaluate_missing(BatchView solutions, const EvaluationSpan& out, StopFlag stop);
  /// Whether an evaluation takes long enough, by all there were and what is under way.
  [[nodiscard]] bool is_expensive(Index done_now) const;
  /// Notes what is done and can be used; whatever else is done waits for the end of the batch.
  void note_rows(BatchView solutions, const EvaluationSpan& out);
  void note_failed_rows(BatchView solutions, const EvaluationSpan& out);
  void add(BatchView solutions, const EvaluationSpan& out, Index row);

  Evaluator& evaluator_;
  const Search& search_;
  FilePlace file_;
  JournalOwner owner_;
  KeepJournal keep_;
  bool nan_fails_;
  std::unique_ptr<Journal> journal_;  // null: none is kept, or not yet
  std::map<Key, Outcome> kept_;       // what was found in it
  std::int64_t taken_ = 0;

  std::vector<Index> missing_;  // rows of the batch that are to be evaluated
  std::vector<Index> done_;     // of those, not yet noted
  std::vector<Index> failed_;   // done, but without a result
  Clock::time_point began_;     // the batch
  double seconds_ = 0;          // that evaluating has taken
  double busy_ = 0;             // the same, times those at work
  Index evaluated_ = 0;         // in that time
};

}  // namespace rarefy
