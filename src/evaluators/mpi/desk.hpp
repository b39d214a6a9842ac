// Rank 0's side: who has which rows.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "evaluators/mpi/chunk_sizes.hpp"
#include "evaluators/mpi/letters.hpp"
#include "evaluators/mpi/mail.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"

namespace rarefy {

class MpiEvaluator::Desk {
 public:
  Desk(MpiSession::Mail& mail, const MpiGreeting& greeting);
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk();

  void begin(Index number, BatchView solutions, const EvaluationSpan& out);
  /// `waiting` is called now and then.
  std::span<const RowDone> wait(StopFlag stop, const std::function<void()>& waiting);
  void abandon();
  [[nodiscard]] Index places() const { return places_; }
  [[nodiscard]] std::string description() const;
  [[nodiscard]] const ProgramCounts& counts() const { return counts_; }
  [[nodiscard]] std::deque<ProgramFailure>& failures() { return failures_; }

 private:
  struct Job {
    Index number = 0;
    BatchView solutions;
    EvaluationSpan out;
    Index next = 0;  // the first row that nobody has had
    Index left = 0;  // not done yet
  };
  struct Chunk {
    Index rank = 0;
    std::list<Job>::iterator job;
    Index first = 0;
    Index left = 0;
  };
  struct Rank {
    Index places = 0;  // rows that it can evaluate at a time; 0: not ready
    Index rows = 0;    // that it has
    Index chunks = 0;
    ProgramCounts counts;
    bool hopeless = false;
  };

  void greet(const MpiGreeting& greeting);
  void check_room(BatchView solutions, const EvaluationSpan& out) const;
  void hand_out();
  void send_chunk(Index to, Index rows);
  /// Takes all letters that are there; false where there were none.
  bool read_letters();
  void read(Index from, LetterReader letter);
  void read_rows(Rank& from, LetterReader& letter);
  void read_row(LetterReader& letter);
  void read_failure(LetterReader& letter);
  void read_hopeless(Rank& from, LetterReader& letter);
  void note_counts(Rank& from, const ProgramCounts& counts);

  MpiSession::Mail& mail_;
  Index solution_dim_, feature_dim_;
  Index epoch_ = 0;
  std::vector<Rank> ranks_;  // of the others: rank r is at r - 1
  Index places_ = 0;
  ChunkSizes sizes_;

  std::list<Job> jobs_;
  Index waiting_ = 0;  // rows that nobody has had
  std::unordered_map<Index, Chunk> chunks_;
  Index last_chunk_ = 0;
  std::vector<RowDone> ready_, done_;  // not named yet; named by the last wait()
  std::exception_ptr trouble_;

  ProgramCounts counts_;
  std::deque<ProgramFailure> failures_;
};

}  // namespace rarefy
