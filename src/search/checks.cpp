#include "search/checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

void require(bool condition, std::string_view thing, std::string_view given,
             std::string_view expected) {
  if (!condition) throw Error(ErrorKind::parameter, thing, given, expected);
}

}  // namespace

void check_parts(const SearchParts& parts) {
  require(!parts.emitters.empty(), "search: emitters", "none", "at least one");
  require(parts.triggers.size() == parts.emitters.size(), "search: restart triggers",
          fmt::format("{}", parts.triggers.size()),
          fmt::format("{}, one for each emitter", parts.emitters.size()));
  require(parts.restart_point && parts.density && parts.archive, "search: parts",
          "a missing restart point, density or archive", "one of each");
  require(parts.density->feature_dim() == parts.archive->feature_dim(), "search: features",
          fmt::format("{} in the density, {} in the archive", parts.density->feature_dim(),
                      parts.archive->feature_dim()),
          "the same number");
  require(!parts.memory || (parts.memory->feature_dim() == parts.archive->feature_dim() &&
                            parts.memory->solution_dim() == parts.archive->solution_dim()),
          "search: memory of restarts", "another number of values or features than the archive",
          "the same");
  for (const auto& trigger : parts.triggers) {
    require(trigger != nullptr, "search: restart triggers", "an empty one", "none empty");
  }
  for (const auto& emitter : parts.emitters) {
    require(emitter != nullptr, "search: emitters", "an empty one", "none empty");
    require(emitter->dimension() == parts.archive->solution_dim(), "search: solution dimension",
            fmt::format("{} in an emitter, {} in the archive", emitter->dimension(),
                        parts.archive->solution_dim()),
            "the same number");
  }
}

void check_initial_solutions(BatchView solutions, Index dimension) {
  if (solutions.rows() == 0) return;
  require(solutions.cols() == dimension, "initial solutions",
          fmt::format("{} values each", solutions.cols()), fmt::format("{}", dimension));
  for (Index i = 0; i < solutions.rows(); ++i) {
    for (const double value : solutions.row(i)) {
      require(std::isfinite(value), fmt::format("initial solutions: row {}", i),
              fmt::format("{}", value), "finite numbers");
    }
  }
}

}  // namespace rarefy
