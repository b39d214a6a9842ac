#include "seat.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "rarefy/core/error.hpp"

namespace rarefy::command {
namespace {

std::string_view from_environment(const char* name) {
  const auto* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::optional<Index> number_from(const char* name) {
  const auto text = from_environment(name);
  Index number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

bool launcher_started_us() {
  std::ifstream file(fmt::format("/proc/{}/comm", ::getppid()));
  std::string name;
  std::getline(file, name);
  static constexpr std::array<std::string_view, 11> kLaunchers = {
      "mpirun", "mpiexec", "orterun", "orted",      "prterun", "prted",
      "prun",   "hydra",   "pmi_pro", "slurmstepd", "srun"};
  return std::ranges::any_of(kLaunchers, [&](auto each) { return name.starts_with(each); });
}

// As Open MPI, MPICH and its relatives, and PMIx say it. What Slurm adds of itself is there for
// any program that srun starts.
std::optional<Seat> seat_in_environment() {
  struct Names {
    const char *rank, *size;
  };
  for (const auto& [rank, size] :
       {Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, Names{"PMI_RANK", "PMI_SIZE"},
        Names{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
        Names{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}) {
    const auto own = number_from(rank);
    if (!own) continue;
    const auto all = number_from(size);
    if (all || std::string_view(rank) == "PMIX_RANK") return Seat{*own, all.value_or(0)};
  }
  return std::nullopt;
}

}  // namespace

Seat seat_of_process() {
  const auto wish = from_environment("RAREFY_MPI");
  if (!wish.empty() && wish != "on" && wish != "off") {
    throw Error(ErrorKind::parameter, "RAREFY_MPI in the environment", wish, "on or off");
  }
  if (wish == "off") return {};
  const auto seat = seat_in_environment();
  if (!seat || !(wish == "on" || launcher_started_us())) return {};
  return *seat;
}

}  // namespace rarefy::command
