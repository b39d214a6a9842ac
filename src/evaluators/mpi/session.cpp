#include <fmt/format.h>

#include <limits>
#include <utility>

#include "evaluators/mpi/mail.hpp"
#include "evaluators/mpi/pause.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

MpiSession::Mail::Mail() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) {
    int given = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) {
      throw Error(ErrorKind::io, "MPI could not be begun");
    }
    began_mpi_ = true;
    if (given < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw Error(ErrorKind::io, "this MPI allows no threads beside the one that calls it");
    }
  }
  // Of our own, so that letters of others do not get among them.
  MPI_Comm_dup(MPI_COMM_WORLD, &ranks_);
  int rank = 0, size = 1;
  MPI_Comm_rank(ranks_, &rank);
  MPI_Comm_size(ranks_, &size);
  rank_ = rank;
  size_ = size;
}

MpiSession::Mail::~Mail() {
  if (rank_ == 0) send_to_others(LetterWriter(LetterKind::leave, new_epoch()).take());
  for (Pause pause; !sweep();) pause.rest();
  MPI_Comm_free(&ranks_);
  if (began_mpi_) MPI_Finalize();
}

void MpiSession::Mail::send(Index to, Letter letter) {
  if (letter.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorKind::parameter, "solution", fmt::format("{} numbers", letter.size()),
                "fewer, to be sent by MPI");
  }
  auto& sent = sent_.emplace_back();
  sent.letter = std::move(letter);
  MPI_Isend(sent.letter.data(), static_cast<int>(sent.letter.size()), MPI_DOUBLE,
            static_cast<int>(to), 0, ranks_, &sent.request);
}

void MpiSession::Mail::send_to_others(const Letter& letter) {
  for (Index to = 0; to < size_; ++to) {
    if (to != rank_) send(to, letter);
  }
}

std::optional<MpiSession::Mail::Received> MpiSession::Mail::receive() {
  int there = 0;
  MPI_Status status{};
  MPI_Iprobe(MPI_ANY_SOURCE, 0, ranks_, &there, &status);
  if (there == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_DOUBLE, &size);
  Received received;
  received.from = status.MPI_SOURCE;
  received.letter.resize(static_cast<std::size_t>(size));
  MPI_Recv(received.letter.data(), size, MPI_DOUBLE, status.MPI_SOURCE, 0, ranks_,
           MPI_STATUS_IGNORE);
  return received;
}

bool MpiSession::Mail::sweep() {
  std::erase_if(sent_, [](Sent& sent) {
    int gone = 0;
    MPI_Test(&sent.request, &gone, MPI_STATUS_IGNORE);
    return gone != 0;
  });
  return sent_.empty();
}

MpiSession::MpiSession() : mail_(std::make_unique<Mail>()) {}
MpiSession::~MpiSession() = default;
Index MpiSession::rank() const { return mail_->rank(); }
Index MpiSession::size() const { return mail_->size(); }

}  // namespace rarefy
