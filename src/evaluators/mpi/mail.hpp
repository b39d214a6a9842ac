// Letters between ranks. Nobody ever waits for another to read one, so that two who write to each
// other cannot wait for each other.
#pragma once

#include <mpi.h>

#include <list>
#include <optional>

#include "evaluators/mpi/letters.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"

namespace rarefy {

class MpiSession::Mail {
 public:
  Mail();
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  ~Mail();

  [[nodiscard]] Index rank() const { return rank_; }
  [[nodiscard]] Index size() const { return size_; }

  void send(Index to, Letter letter);
  void send_to_others(const Letter& letter);
  struct Received {
    Index from = 0;
    Letter letter;
  };
  /// The next letter, where one is there.
  [[nodiscard]] std::optional<Received> receive();
  /// Forgets the letters that have gone; true where none is left.
  bool sweep();

  /// A number that no epoch has had, on rank 0.
  [[nodiscard]] Index new_epoch() { return ++epoch_; }

 private:
  struct Sent {
    MPI_Request request = MPI_REQUEST_NULL;
    Letter letter;
  };
  MPI_Comm ranks_ = MPI_COMM_NULL;
  bool began_mpi_ = false;
  Index rank_ = 0, size_ = 1;
  Index epoch_ = 0;
  std::list<Sent> sent_;
};

}  // namespace rarefy
