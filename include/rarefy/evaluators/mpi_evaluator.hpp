// Evaluation by other processes, on this machine or many, that talk by MPI: rank 0 searches, and
// the others evaluate.
//
// Only the library rarefy::mpi has what is declared here, and only where an MPI was found; it is
// not part of rarefy::rarefy. All calls of MPI come from one thread of a process, the one that made
// its MpiSession (MPI_THREAD_FUNNELED).
//
// What a rank gets at a time, a chunk, is some rows of one job. It is a single row where rows take
// long, so that none waits for another, and as many as take a few milliseconds where they do not;
// then a second chunk waits at every rank, so that none waits for the network. Which rank evaluates
// a row never matters to a result.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "rarefy/evaluators/program_evaluator.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"

namespace rarefy {

/// MPI, from its beginning to its end. One in a process.
class MpiSession {
 public:
  /// Begins MPI, unless the program has done so. Returns when all ranks have come so far.
  MpiSession();
  /// On rank 0, sends the others home. Ends MPI where it began it, once all ranks are so far.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] Index rank() const;
  [[nodiscard]] Index size() const;

  class Mail;
  [[nodiscard]] Mail& mail() { return *mail_; }

 private:
  std::unique_ptr<Mail> mail_;
};

/// What rank 0 tells the others before they evaluate for it.
struct MpiGreeting {
  std::string text = {};  ///< of the caller's own: a description of the problem, say
  Index solution_dim = 0;
  Index feature_dim = 0;
};

/// On rank 0. Where the others evaluate by programs, it knows how these do.
class MpiEvaluator : public StreamEvaluator, public ProgramRecord {
 public:
  /// Greets the other ranks, of which there must be one at least, and waits until they are ready.
  /// Throws what any of them did. The session must outlive it.
  MpiEvaluator(MpiSession& session, const MpiGreeting& greeting);
  ~MpiEvaluator() override;
  MpiEvaluator(const MpiEvaluator&) = delete;
  MpiEvaluator& operator=(const MpiEvaluator&) = delete;

  void begin(Index job, BatchView solutions, const EvaluationSpan& out) override;
  /// Throws what an evaluation threw on any rank.
  std::span<const RowDone> wait(StopFlag stop = nullptr) override;
  void abandon() override;
  /// Of all ranks together.
  [[nodiscard]] Index capacity() const override;
  [[nodiscard]] std::string description() const override;

  /// Of the programs of all ranks.
  [[nodiscard]] const ProgramCounts& counts() const override;
  [[nodiscard]] std::deque<ProgramFailure> take_failures() override;

 private:
  class Desk;
  std::unique_ptr<Desk> desk_;
};

/// On any other rank: makes what rank 0 wants to be evaluated with ...
using MakeEvaluator = std::function<std::shared_ptr<Evaluator>(const MpiGreeting& greeting)>;

/// ... and evaluates, until rank 0 sends it home. What `make` or an evaluation throws is thrown on
/// rank 0. Evaluations run in a thread of their own, so that rank 0 is heard meanwhile. False: one
/// goes on that cannot be ended; nobody waits for it, and the process should leave at once, when
/// the session has ended.
[[nodiscard]] bool serve_mpi(MpiSession& session, const MakeEvaluator& make);

}  // namespace rarefy
