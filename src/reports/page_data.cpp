#include "reports/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "rarefy/core/version.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/domain_table.hpp"

namespace rarefy {
namespace {

// More digits than a chart can show, and as few as that takes.
double short_number(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

std::string_view state_name(TrialState state) {
  switch (state) {
    case TrialState::waiting: return "waiting";
    case TrialState::begun: return "begun";
    case TrialState::finished: return "finished";
    case TrialState::failed: return "failed";
  }
  return "";
}

template <typename Field>
PageJson column_of(const std::vector<MetricsLine>& lines, Field field) {
  auto column = PageJson::array();
  for (const auto& line : lines) {
    if constexpr (std::is_same_v<Field, double MetricsLine::*>) {
      column.push_back(short_number(line.*field));  // what is no number becomes null
    } else {
      column.push_back(line.*field);
    }
  }
  return column;
}

bool knows_processors(const std::vector<MetricsLine>& lines) {
  return std::none_of(lines.begin(), lines.end(),
                      [](const MetricsLine& line) { return std::isnan(line.processor_seconds); });
}

PageJson curve_of(const std::vector<MetricsLine>& lines, bool by_processors) {
  PageJson curve;
  curve["iteration"] = column_of(lines, &MetricsLine::iteration);
  curve["evaluations"] = column_of(lines, &MetricsLine::evaluations);
  curve["coverage"] = column_of(lines, &MetricsLine::coverage);
  curve["cross_entropy"] = column_of(lines, &MetricsLine::cross_entropy);
  curve["qd_score"] = column_of(lines, &MetricsLine::qd_score);
  curve["seconds"] =
      column_of(lines, by_processors ? &MetricsLine::processor_seconds : &MetricsLine::seconds);
  return curve;
}

PageJson trial_json(const Trial& trial, bool by_processors) {
  PageJson json;
  json["seed"] = trial.config.seed;
  json["state"] = state_name(trial.state);
  if (!trial.error.empty()) json["error"] = trial.error;
  json["folder"] = trial.folder.string();
  json["command"] = command_of(trial.config);
  if (!trial.metrics.empty()) json["curve"] = curve_of(trial.metrics, by_processors);
  return json;
}

PageJson row_json(const ResultRow& row, bool with_profile, bool by_processors, std::size_t domain) {
  PageJson json;
  json["label"] = row.label(with_profile);
  json["algorithm"] = row.algorithm;
  json["domain"] = domain;
  json["profile"] = name_of(row.profile);
  json["parameters"] = PageJson::array();
  for (const auto& [name, value] : row.parameters) {
    json["parameters"].push_back(PageJson::array({name, value}));
  }
  json["iterations"] = row.trials.front().config.iterations;
  json["config"] = to_toml(row.trials.front().config);
  json["trials"] = PageJson::array();
  for (const auto& trial : row.trials) json["trials"].push_back(trial_json(trial, by_processors));
  if (auto paper = paper_values_of(row); !paper.empty()) json["paper"] = std::move(paper);
  return json;
}

PageJson domain_json(const DomainInfo& domain) {
  PageJson json;
  json["name"] = domain.name;
  json["title"] = domain.title.empty() ? domain.name : domain.title;
  json["features"] = PageJson::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(domain.feature_dim()); ++i) {
    json["features"].push_back(i < domain.feature_names.size() ? domain.feature_names[i]
                                                               : fmt::format("feature {}", i + 1));
  }
  json["lower"] = domain.feature_space.lower;
  json["upper"] = domain.feature_space.upper;
  json["lines"] = PageJson::array();
  for (const auto& line : domain.lines) {
    json["lines"].push_back(PageJson::array({line.x1, line.y1, line.x2, line.y2}));
  }
  json["places"] = PageJson::array();
  for (const auto& place : domain.places) {
    json["places"].push_back({{"x", place.x}, {"y", place.y}, {"name", place.name}});
  }
  json["constant"] = domain.constant_objective;
  return json;
}

}  // namespace

PageData page_data(const Results& results, ComparisonCache& cache) {
  PageData data;
  for (const auto& row : results.rows) {
    if (!row.trials.empty()) data.sources.push_back(&row);
  }
  const bool with_profile = std::any_of(
      data.sources.begin(), data.sources.end(),
      [&](const ResultRow* row) { return row->profile != data.sources.front()->profile; });
  // Those of a clock say little of trials that ran side by side; but never some of each.
  const bool by_processors =
      std::all_of(data.sources.begin(), data.sources.end(), [](const ResultRow* row) {
        return std::all_of(row->trials.begin(), row->trials.end(),
                           [](const Trial& trial) { return knows_processors(trial.metrics); });
      });
  for (const auto* row : data.sources) {
    auto info = domain_info(row->trials.front().config);
    const auto known = std::find(data.domains.begin(), data.domains.end(), info);
    data.domain_of.push_back(static_cast<std::size_t>(known - data.domains.begin()));
    if (known == data.domains.end()) data.domains.push_back(std::move(info));
    data.rows.push_back(row_json(*row, with_profile, by_processors, data.domain_of.back()));
  }
  data.head["rarefy"] = kVersion;
  data.head["title"] = results.title;
  data.head["seconds"] = by_processors ? "processor" : "clock";
  data.head["domains"] = PageJson::array();
  for (const auto& domain : data.domains) data.head["domains"].push_back(domain_json(domain));
  data.comparisons = page_comparisons(results, data, cache);
  return data;
}

std::string text_of_json(const PageJson& json) {
  return json.dump(-1, ' ', true, PageJson::error_handler_t::replace);
}

}  // namespace rarefy
