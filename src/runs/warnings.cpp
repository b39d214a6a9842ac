#include "rarefy/runs/warnings.hpp"

#include <fmt/format.h>

namespace rarefy {
namespace {

// Fewer than this many iterations say little: emitters have only begun to learn.
constexpr std::int64_t kEnough = 20;
// From this part on, somebody should look at it.
constexpr double kMany = 0.3;

}  // namespace

std::vector<Warning> warnings_of(const Search& search) {
  std::vector<Warning> warnings;
  if (auto text = search.density().warning(); !text.empty()) {
    warnings.push_back({"density", std::move(text)});
  }
  const auto all = search.evaluations();
  const auto failed = search.failed();
  const auto evaluated = all - failed - search.left_out();
  const auto part = [](std::int64_t some, std::int64_t of) {
    return static_cast<double>(some) / static_cast<double>(of);
  };
  if (search.iteration() >= kEnough && part(failed, all) >= kMany) {
    warnings.push_back(
        {"failed", fmt::format("{:.0f} % of the evaluations failed", 100 * part(failed, all))});
  }
  if (search.iteration() >= kEnough && evaluated > 0 &&
      part(search.outside(), evaluated) >= kMany) {
    warnings.push_back(
        {"outside", fmt::format("{:.0f} % of the evaluations have features outside the box of "
                                "feature space: a wider box would keep them apart",
                                100 * part(search.outside(), evaluated))});
  }
  return warnings;
}

}  // namespace rarefy
