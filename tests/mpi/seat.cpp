// What a command that was built without MPI makes of its surroundings.
#include "../../apps/rarefy/seat.hpp"

#include <cstdio>

#include "../../apps/rarefy/ranks.hpp"
#include "rarefy/core/error.hpp"

int main() {
  try {
    const auto seat = rarefy::command::seat_of_process();
    if (seat.rank > 0) return rarefy::command::serve_rank_0(seat);
    const auto ranks = rarefy::command::join_ranks(seat);
    std::puts(ranks == nullptr ? "alone" : "with others");
    return 0;
  } catch (const rarefy::Error& error) {
    std::puts(error.what());
    return 2;
  }
}
