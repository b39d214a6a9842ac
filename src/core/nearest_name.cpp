#include "rarefy/core/nearest_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace rarefy {
namespace {

// Optimal string alignment distance, by the usual table.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      table[i][j] =
          std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view given, std::span<const std::string_view> known) {
  std::string best;
  // More than half the name wrong is another name, not a misspelling.
  std::size_t least = std::max<std::size_t>(2, given.size() / 2) + 1;
  for (const auto name : known) {
    const bool starts = given.size() >= 3 && name.starts_with(given);
    const auto distance = starts ? 1 : edits(given, name);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

Error unknown_name(std::string_view thing, std::string_view given,
                   std::span<const std::string_view> known) {
  const auto nearest = nearest_name(given, known);
  const auto hint = nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest);
  // A long list helps nobody when there is a good guess.
  constexpr std::size_t kLong = 12;
  if (known.size() > kLong) {
    const auto some = nearest.empty() ? fmt::format("; there are {} to choose from", known.size())
                                      : std::string();
    return {ErrorKind::parameter, fmt::format("unknown {} '{}'{}{}", thing, given, hint, some)};
  }
  return {ErrorKind::parameter, fmt::format("unknown {} '{}'{}; expected one of {}", thing, given,
                                            hint, fmt::join(known, ", "))};
}

}  // namespace rarefy
