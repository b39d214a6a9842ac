// A rank that evaluates: a thread at work, so that the one that calls MPI can listen meanwhile.
#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "evaluators/mpi/letters.hpp"
#include "rarefy/evaluators/evaluator.hpp"

namespace rarefy {

struct ChunkTask {
  Index ticket = 0;
  Batch solutions;
};

class Workbench {
 public:
  /// `epoch`: what its letters say they belong to.
  Workbench(std::shared_ptr<Evaluator> evaluator, Index feature_dim, Index epoch);
  /// Ends what is under way. Where that cannot be ended, it goes on, and nobody listens.
  ~Workbench();
  Workbench(const Workbench&) = delete;
  Workbench& operator=(const Workbench&) = delete;

  void add(ChunkTask task);
  /// Forgets all tasks; another epoch begins.
  void abandon(Index epoch);
  /// The program has worked on another rank.
  void it_works();
  /// What there is to say to rank 0; waits so long for it at most.
  [[nodiscard]] std::vector<Letter> take(std::chrono::microseconds wait);
  /// Ends what is under way; false where it goes on.
  bool leave();

 private:
  struct Shared;
  class Work;
  class PlainWork;
  class StreamWork;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace rarefy
