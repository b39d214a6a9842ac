#include "../ranks.hpp"

#include <fmt/format.h>

#include "../exit_codes.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::command {

std::unique_ptr<Ranks> join_ranks(const Seat& seat) {
  if (seat.alone()) return nullptr;
  throw Error(ErrorKind::parameter,
              fmt::format("rarefy was started {} as one job (by mpirun, say), but it was built "
                          "without MPI: build it where Open MPI is found, or start it once "
                          "(RAREFY_MPI=off, if these are to be runs of their own)",
                          seat.size == 0 ? "several times" : fmt::format("{} times", seat.size)));
}

int serve_rank_0(const Seat& /*seat*/) { return kDone; }
int serve_trials_of_rank_0(const Seat& /*seat*/) { return kDone; }

}  // namespace rarefy::command
