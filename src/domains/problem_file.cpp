#include "domains/problem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/nearest_name.hpp"

namespace rarefy {
namespace {

constexpr std::array<std::string_view, 13> kKeys = {
    "name",         "title",           "n",
    "lower",        "upper",           "feature-names",
    "solution-low", "solution-high",   "constant-objective",
    "lines",        "least-objective", "greatest-objective",
    "places"};

[[noreturn]] void refuse(std::string_view key, std::string_view expected) {
  throw Error(ErrorKind::parameter,
              fmt::format("[{}] {}: expected {}", kProblemTable, key, expected));
}

template <typename Value>
Value required(const toml::table& table, std::string_view key, std::string_view expected) {
  const auto value = table[key].value<Value>();
  if (!value) refuse(key, expected);
  return *value;
}

std::vector<double> numbers(const toml::array* list, std::string_view key, std::size_t count = 0) {
  std::vector<double> values;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto value = (*list)[i].value<double>();
    if (!value) refuse(key, "a list of numbers");
    values.push_back(*value);
  }
  if (values.empty() || (count > 0 && values.size() != count)) refuse(key, "a list of numbers");
  return values;
}

// What is there must be of its type; what is not has a default.
template <typename Value>
Value optional(const toml::table& table, std::string_view key, Value otherwise,
               std::string_view expected) {
  return table.contains(key) ? required<Value>(table, key, expected) : otherwise;
}

const toml::array* optional_list(const toml::table& table, std::string_view key) {
  if (table.contains(key) && !table[key].is_array()) refuse(key, "a list");
  return table[key].as_array();
}

std::optional<double> optional_number(const toml::table& table, std::string_view key) {
  if (!table.contains(key)) return {};
  return required<double>(table, key, "a number");
}

void put_optional(toml::table& table, std::string_view key, const std::optional<double>& value) {
  if (value) table.insert(key, *value);
}

toml::array as_array(const std::vector<double>& values) {
  toml::array list;
  for (const double value : values) list.push_back(value);
  return list;
}

}  // namespace

DomainInfo read_problem(const toml::table& table) {
  for (const auto& [key, node] : table) {
    if (std::find(kKeys.begin(), kKeys.end(), key.str()) == kKeys.end()) {
      throw unknown_name("key of [problem]", key.str(), kKeys);
    }
  }
  DomainInfo problem;
  problem.name = required<std::string>(table, "name", "a text");
  problem.title = optional(table, "title", std::string(), "a text");
  problem.solution_dim = required<std::int64_t>(table, "n", "a number of values");
  problem.feature_space.lower = numbers(table["lower"].as_array(), "lower");
  problem.feature_space.upper = numbers(table["upper"].as_array(), "upper");
  if (const auto* names = optional_list(table, "feature-names")) {
    for (const auto& entry : *names) {
      const auto name = entry.value<std::string>();
      if (!name) refuse("feature-names", "a list of texts");
      problem.feature_names.push_back(*name);
    }
  }
  problem.solution_low = optional_number(table, "solution-low");
  problem.solution_high = optional_number(table, "solution-high");
  problem.constant_objective = optional(table, "constant-objective", true, "true or false");
  problem.least_objective = optional_number(table, "least-objective");
  problem.greatest_objective = optional_number(table, "greatest-objective");
  if (const auto* lines = optional_list(table, "lines")) {
    for (const auto& entry : *lines) {
      const auto ends = numbers(entry.as_array(), "lines", 4);
      problem.lines.push_back({ends[0], ends[1], ends[2], ends[3]});
    }
  }
  if (const auto* places = optional_list(table, "places")) {
    for (const auto& entry : *places) {
      const auto* place = entry.as_table();
      if (place == nullptr) refuse("places", "tables of x, y and name");
      problem.places.push_back({required<double>(*place, "x", "a number"),
                                required<double>(*place, "y", "a number"),
                                (*place)["name"].value_or(std::string())});
    }
  }
  problem.check();
  return problem;
}

std::string problem_as_toml(const DomainInfo& problem) {
  toml::table table;
  table.insert("name", problem.name);
  if (!problem.title.empty()) table.insert("title", problem.title);
  table.insert("n", problem.solution_dim);
  table.insert("lower", as_array(problem.feature_space.lower));
  table.insert("upper", as_array(problem.feature_space.upper));
  if (!problem.feature_names.empty()) {
    toml::array names;
    for (const auto& name : problem.feature_names) names.push_back(name);
    table.insert("feature-names", std::move(names));
  }
  put_optional(table, "solution-low", problem.solution_low);
  put_optional(table, "solution-high", problem.solution_high);
  table.insert("constant-objective", problem.constant_objective);
  put_optional(table, "least-objective", problem.least_objective);
  put_optional(table, "greatest-objective", problem.greatest_objective);
  if (!problem.lines.empty()) {
    toml::array lines;
    for (const auto& line : problem.lines) {
      lines.push_back(as_array({line.x1, line.y1, line.x2, line.y2}));
    }
    table.insert("lines", std::move(lines));
  }
  if (!problem.places.empty()) {
    toml::array places;
    for (const auto& place : problem.places) {
      places.push_back(toml::table{{"x", place.x}, {"y", place.y}, {"name", place.name}});
    }
    table.insert("places", std::move(places));
  }
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // where memory runs out, a stream says nothing by itself
  out << "\n# The problem, which belongs to the program that evaluates it.\n"
      << toml::table{{kProblemTable, std::move(table)}} << "\n";
  return out.str();
}

}  // namespace rarefy
