#include "trials/result_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "rarefy/core/numbers.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy {
namespace {

// Parameters that a row has anyway, or that none has.
bool is_apart(std::string_view name) {
  return name == "domain" || name == "algorithm" || name == "profile" || name == "seed";
}

bool tells_rows_apart(const Parameter& parameter) {
  return !is_apart(parameter.name) && (parameter.decides_results || parameter.name == "iterations");
}

// A problem of the user's own comes after all of ours.
template <typename Rows>
std::size_t place_in(const Rows& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, [](const auto& row) { return row.name; });
  return static_cast<std::size_t>(found - rows.begin());
}

// Numbers by what they are, with or without a unit, and before other texts.
bool value_less(const std::string& a, const std::string& b) {
  const auto first = parse_number_with_unit(a), second = parse_number_with_unit(b);
  if (!first || !second) return first || second ? first.has_value() : a < b;
  return std::tuple(first->unit, first->value, a) < std::tuple(second->unit, second->value, b);
}

bool row_less(const ResultRow& a, const ResultRow& b) {
  const auto place = [](const ResultRow& row) {
    return std::tuple(row.profile, place_in(domain_rows(), row.domain),
                      std::string_view(row.domain), place_in(algorithms(), row.algorithm));
  };
  if (place(a) != place(b)) return place(a) < place(b);
  for (std::size_t i = 0; i < std::min(a.parameters.size(), b.parameters.size()); ++i) {
    const auto &first = a.parameters[i].second, &second = b.parameters[i].second;
    if (first != second) return value_less(first, second);
  }
  return false;
}

bool are_alike(const ResultRow& a, const ResultRow& b) {
  return a.algorithm == b.algorithm && a.domain == b.domain && a.profile == b.profile;
}

// By what `row` differs from others of its algorithm, domain and profile.
std::vector<std::pair<std::string, std::string>> differences(const ResultRow& row,
                                                             const std::vector<ResultRow>& all) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto& own = row.trials.front().config;
  for (const auto& parameter : parameters()) {
    if (!tells_rows_apart(parameter) || !reason_without_effect(own, parameter).empty()) continue;
    const auto value = parameter.get(own);
    const bool differs = std::ranges::any_of(all, [&](const ResultRow& other) {
      return are_alike(row, other) && parameter.get(other.trials.front().config) != value;
    });
    if (differs) found.emplace_back(parameter.name, text_of(value));
  }
  return found;
}

}  // namespace

Config row_of(const Config& trial) {
  const auto iterations = trial.iterations;
  const Config defaults;
  Config config = trial;
  for (const auto& parameter : parameters()) {
    // What has no effect tells no rows apart either.
    if (!parameter.decides_results || !reason_without_effect(trial, parameter).empty()) {
      parameter.put(config, parameter.get(defaults));
    }
  }
  config.seed = defaults.seed;
  config.iterations = iterations;
  config.chosen = {};
  return config;
}

std::vector<ResultRow> make_rows(std::vector<Trial> trials, RowOrder order) {
  // By text, as there may be thousands of them.
  std::map<std::string, std::size_t, std::less<>> places;
  std::vector<ResultRow> rows;
  for (auto& trial : trials) {
    const auto [place, is_new] = places.emplace(to_toml(row_of(trial.config)), rows.size());
    if (is_new) {
      rows.push_back({.algorithm = trial.config.algorithm,
                      .domain = trial.config.domain,
                      .profile = trial.config.profile,
                      .parameters = {},
                      .trials = {}});
    }
    rows[place->second].trials.push_back(std::move(trial));
  }
  for (auto& row : rows) {
    std::ranges::stable_sort(row.trials, {}, [](const Trial& trial) { return trial.config.seed; });
    row.parameters = differences(row, rows);
  }
  if (order == RowOrder::sorted) std::ranges::stable_sort(rows, row_less);
  return rows;
}

std::string ResultRow::label(bool with_profile) const {
  auto text = algorithm;
  if (with_profile) text += fmt::format(" ({})", name_of(profile));
  for (const auto& [name, value] : parameters) {
    text += value.empty() ? fmt::format(", no {}", name) : fmt::format(", {} {}", name, value);
  }
  return text;
}

}  // namespace rarefy
