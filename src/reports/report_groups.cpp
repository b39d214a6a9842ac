#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rarefy/experiment/parameters.hpp"
#include "reports/report_parts.hpp"

namespace rarefy::reports {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

bool describes_problem(std::string_view section) {
  return section == "domain" || section == "archive";
}

// Where centroids come from, and from which seed, matters less than that there are as many.
bool tells_problems_apart(const Parameter& parameter) {
  return describes_problem(parameter.section) && parameter.decides_results &&
         parameter.name != "centroids";
}

bool same_domain(const ResultRow& a, const ResultRow& b) {
  return a.domain == b.domain && a.profile == b.profile &&
         a.trials.front().config.own_problem == b.trials.front().config.own_problem;
}

// By what the problem of a row differs from those of other rows of its domain and profile.
Values problem_of(const ResultRow& row, const std::vector<const ResultRow*>& alike) {
  Values values;
  const auto& own = row.trials.front().config;
  if (own.own_problem) return values;
  for (const auto& parameter : parameters()) {
    if (!tells_problems_apart(parameter)) continue;
    const auto value = parameter.get(own);
    const bool differs = std::any_of(alike.begin(), alike.end(), [&](const ResultRow* other) {
      return parameter.get(other->trials.front().config) != value;
    });
    if (differs) values.emplace_back(parameter.name, text_of(value));
  }
  return values;
}

// Its other parameters.
Values search_of(const ResultRow& row) {
  Values values;
  for (const auto& [name, value] : row.parameters) {
    if (!describes_problem(parameter_named(name).section)) values.emplace_back(name, value);
  }
  return values;
}

std::string detail_of(const Values& problem, const Values& search) {
  std::string detail;
  for (const auto* values : {&problem, &search}) {
    for (const auto& [name, value] : *values) {
      detail += fmt::format("{}{} {}", detail.empty() ? "" : ", ", name, value);
    }
  }
  return detail;
}

std::string title_of(const ResultRow& row, const std::string& detail) {
  return fmt::format("{}, {} profile{}{}", row.domain, name_of(row.profile),
                     detail.empty() ? "" : ", ", detail);
}

}  // namespace

std::vector<RowGroup> group_rows(const Results& results) {
  // The rows of one domain and profile, in the order of the results.
  std::vector<std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < results.rows.size(); ++i) {
    if (results.rows[i].trials.empty()) continue;
    const auto known = std::find_if(alike.begin(), alike.end(), [&](const auto& rows) {
      return same_domain(results.rows[rows.front()], results.rows[i]);
    });
    if (known == alike.end()) {
      alike.push_back({i});
    } else {
      known->push_back(i);
    }
  }
  std::vector<RowGroup> groups;
  for (const auto& rows : alike) {
    std::vector<const ResultRow*> all;
    all.reserve(rows.size());
    for (const auto i : rows) all.push_back(&results.rows[i]);
    // Sets of parameters that several algorithms share keep their rows apart.
    std::map<std::pair<Values, Values>, std::set<std::string>> users;
    for (const auto* row : all) {
      users[{problem_of(*row, all), search_of(*row)}].insert(row->algorithm);
    }
    const bool shared = std::any_of(users.begin(), users.end(), [](const auto& entry) {
      return !entry.first.second.empty() && entry.second.size() > 1;
    });
    std::vector<std::pair<Values, Values>> keys;
    const auto first_of_these = groups.size();
    for (const auto i : rows) {
      const auto& row = results.rows[i];
      const std::pair key(problem_of(row, all), shared ? search_of(row) : Values{});
      const auto place =
          static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
      if (place == keys.size()) {
        keys.push_back(key);
        auto detail = detail_of(key.first, key.second);
        auto title = title_of(row, detail);
        groups.push_back({.title = std::move(title), .detail = std::move(detail), .rows = {}});
      }
      groups[first_of_these + place].rows.push_back(i);
    }
  }
  return groups;
}

}  // namespace rarefy::reports
