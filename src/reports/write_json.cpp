#include <nlohmann/json.hpp>

#include "rarefy/core/version.hpp"
#include "reports/report_document.hpp"

namespace rarefy::reports {
namespace {

using ReportJson = nlohmann::ordered_json;  // what is no number, or infinite, becomes null

ReportJson json_of(const Summary& summary) {
  return {{"count", summary.count},         {"mean", summary.mean},
          {"deviation", summary.deviation}, {"standard_error", summary.standard_error},
          {"least", summary.least},         {"lower_quartile", summary.lower_quartile},
          {"median", summary.median},       {"upper_quartile", summary.upper_quartile},
          {"greatest", summary.greatest}};
}

ReportJson json_of(const ReportRow& row) {
  ReportJson json = {{"label", row.label},           {"algorithm", row.algorithm},
                     {"iterations", row.iterations}, {"finished", row.finished},
                     {"begun", row.begun},           {"waiting", row.waiting},
                     {"failed", row.failed}};
  json["parameters"] = ReportJson::object();
  for (const auto& [name, value] : row.parameters) json["parameters"][name] = value;
  json["metrics"] = ReportJson::object();
  for (const auto& metric : row.metrics) {
    auto& each = json["metrics"][metric.metric];
    each = json_of(metric.summary);
    if (metric.paper) {
      each["paper"] = {{"mean", metric.paper->mean},
                       {"standard_error", metric.paper->standard_error}};
    }
    if (metric.off) each["off"] = *metric.off;
  }
  if (row.reach) {
    auto& reach = json["reach"];
    reach["coverage"] = row.reach->coverage;
    reach["from_paper"] = row.reach->from_paper;
    reach["reached"] = row.reach->reached;
    reach["evaluations"] = row.reach->evaluations ? ReportJson(*row.reach->evaluations) : nullptr;
    reach["seconds"] = row.reach->seconds ? ReportJson(*row.reach->seconds) : nullptr;
    reach["processor_seconds"] =
        row.reach->processor_seconds ? ReportJson(*row.reach->processor_seconds) : nullptr;
  }
  return json;
}

ReportJson json_of(const Anova& anova) {
  return {{"f", anova.f}, {"between", anova.between}, {"within", anova.within}, {"p", anova.p}};
}

ReportJson json_of(const std::vector<PairComparison>& pairs) {
  auto json = ReportJson::array();
  for (const auto& pair : pairs) {
    json.push_back({{"first", pair.first},
                    {"second", pair.second},
                    {"difference", pair.difference},
                    {"q", pair.q},
                    {"df", pair.freedom},
                    {"p", pair.p},
                    {"lower", pair.lower},
                    {"upper", pair.upper},
                    {"verdict", name_of(pair.verdict)}});
  }
  return json;
}

ReportJson json_of(const Confirmation& found) {
  return {{"confirmed", found.confirmed}, {"opposite", found.opposite}, {"of", found.of}};
}

ReportJson json_of(const ReportGroup& group, const TestReport& test) {
  ReportJson json = {{"metric", test.metric}};
  json["rows"] = ReportJson::array();
  for (const auto row : test.rows) json["rows"].push_back(group.rows[row].label);
  json["anova"] = json_of(test.anova);
  if (test.paper_f) json["paper_f"] = *test.paper_f;
  json["tukey"] = json_of(test.tukey);
  if (test.tukey_confirms) json["tukey_confirms"] = json_of(*test.tukey_confirms);
  json["welch"] = json_of(test.welch);
  json["games_howell"] = json_of(test.games_howell);
  if (test.games_howell_confirms) {
    json["games_howell_confirms"] = json_of(*test.games_howell_confirms);
  }
  return json;
}

}  // namespace

std::string as_json(const Report& report) {
  ReportJson json = {{"rarefy", kVersion}, {"title", report.title}, {"level", report.level}};
  json["groups"] = ReportJson::array();
  for (const auto& group : report.groups) {
    ReportJson each = {
        {"title", group.title}, {"domain", group.domain}, {"profile", name_of(group.profile)}};
    each["rows"] = ReportJson::array();
    for (const auto& row : group.rows) each["rows"].push_back(json_of(row));
    each["tests"] = ReportJson::array();
    for (const auto& test : group.tests) each["tests"].push_back(json_of(group, test));
    each["notes"] = group.notes;
    json["groups"].push_back(std::move(each));
  }
  json["confirmations"] = ReportJson::array();
  for (const auto& found : report.confirmations) {
    json["confirmations"].push_back({{"profile", name_of(found.profile)},
                                     {"tukey", json_of(found.tukey)},
                                     {"games_howell", json_of(found.games_howell)}});
  }
  json["notes"] = report.notes;
  // In ASCII, whatever names hold: safe on a terminal, and valid where a path is not UTF-8.
  return json.dump(2, ' ', true, ReportJson::error_handler_t::replace) + "\n";
}

}  // namespace rarefy::reports
