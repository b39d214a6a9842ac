#include "reports/page_comparisons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/reports/paper_values.hpp"
#include "rarefy/reports/report.hpp"
#include "rarefy/statistics/anova.hpp"
#include "rarefy/statistics/pairwise.hpp"
#include "rarefy/statistics/summary.hpp"
#include "reports/page_data.hpp"
#include "reports/report_parts.hpp"

namespace rarefy {
namespace {

using Json = nlohmann::ordered_json;

Json variance_json(const Anova& anova) {
  return {{"f", anova.f}, {"between", anova.between}, {"within", anova.within}, {"p", anova.p}};
}

Json matrix_json(const std::vector<PairComparison>& pairs, std::size_t size) {
  Json matrix(std::vector<Json>(size, Json(std::vector<Json>(size))));
  for (const auto& pair : pairs) {
    matrix[pair.first][pair.second] = {{"sign", name_of(pair.verdict)}, {"p", pair.p}};
    matrix[pair.second][pair.first] = {{"sign", name_of(turned(pair.verdict))}, {"p", pair.p}};
  }
  return matrix;
}

// A test that some groups do not allow says so by an Error: then there is none to show.
void put_if_possible(Json& json, std::string_view name, const std::function<Json()>& test) {
  try {
    json[std::string(name)] = test();
  } catch (const Error&) {
    return;
  }
}

Json tests_of(const std::vector<GroupMoments>& moments) {
  auto json = Json::object();
  put_if_possible(json, "anova", [&] { return variance_json(one_way_anova(moments)); });
  put_if_possible(json, "welch", [&] { return variance_json(welch_anova(moments)); });
  put_if_possible(json, "tukey", [&] { return matrix_json(tukey_hsd(moments), moments.size()); });
  put_if_possible(json, "games_howell", [&] {
    return matrix_json(games_howell(moments, 0.05, Intervals::left_out), moments.size());
  });
  return json;
}

Json remembered_tests(const std::vector<GroupMoments>& moments, ComparisonCache& cache) {
  constexpr std::size_t kMostKept = 500;
  std::string key;
  for (const auto& group : moments) {
    key += fmt::format("{} {} {};", group.count, group.mean, group.variance);
  }
  const std::lock_guard lock(cache.guard);
  if (const auto known = cache.known.find(key); known != cache.known.end()) return known->second;
  if (cache.known.size() >= kMostKept) cache.known.clear();
  return cache.known[key] = tests_of(moments);
}

}  // namespace

Json page_comparisons(const Results& results, const PageData& data, ComparisonCache& cache) {
  auto all = Json::array();
  // Rows of the page are those of the results that have trials.
  std::map<std::size_t, std::size_t> page_row;
  for (std::size_t i = 0; i < data.sources.size(); ++i) {
    page_row[static_cast<std::size_t>(data.sources[i] - results.rows.data())] = i;
  }
  const bool several_profiles = std::any_of(
      data.sources.begin(), data.sources.end(),
      [&](const ResultRow* row) { return row->profile != data.sources.front()->profile; });
  for (const auto& group : reports::group_rows(results)) {
    const auto& first = results.rows[group.rows.front()];
    const auto domain = data.domain_of[page_row.at(group.rows.front())];
    for (const auto metric : reports::compared_metrics()) {
      // Where all objectives are the same, the QD score counts cells, as coverage does.
      if (metric == "qd_score" && data.domains[domain].constant_objective) continue;
      std::vector<GroupMoments> moments;
      auto compared = Json::array();
      for (const auto row : group.rows) {
        const auto values = reports::final_values(results.rows[row], metric);
        const bool known = std::all_of(values.begin(), values.end(),
                                       [](double value) { return std::isfinite(value); });
        if (values.size() < 2 || !known) continue;
        moments.push_back(moments_of(values));
        compared.push_back(page_row.at(row));
      }
      if (moments.size() < 2) continue;
      Json json;
      json["domain"] = domain;
      if (several_profiles) json["profile"] = name_of(first.profile);
      if (!group.detail.empty()) json["detail"] = group.detail;
      json["metric"] = metric;
      json["rows"] = std::move(compared);
      json.update(remembered_tests(moments, cache));
      all.push_back(std::move(json));
    }
  }
  return all;
}

Json paper_values_of(const ResultRow& row) {
  auto json = Json::object();
  for (const auto metric : paper_metrics()) {
    const auto* const value = paper_value_of(row, metric);
    if (value == nullptr) continue;
    const double unit = metric == "coverage" ? 0.01 : 1.0;  // the paper's is in percent
    json[std::string(metric)] = {{"mean", unit * value->mean},
                                 {"error", unit * value->standard_error}};
  }
  return json;
}

}  // namespace rarefy
