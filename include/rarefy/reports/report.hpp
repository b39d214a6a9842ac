// What results say: every row in numbers, and which rows of a domain differ. Plain values; how they
// look is up to reports/write_report.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/experiment/config.hpp"
#include "rarefy/reports/paper_values.hpp"
#include "rarefy/statistics/anova.hpp"
#include "rarefy/statistics/pairwise.hpp"
#include "rarefy/statistics/summary.hpp"
#include "rarefy/trials/results.hpp"

namespace rarefy {

struct ReportOptions {
  double level = 0.05;  ///< at which rows are told apart
  std::optional<double> reach =
      {};  ///< coverage in percent; none: the paper's, or 50 where it has none
  Intervals intervals = Intervals::computed;  ///< of Games and Howell's comparisons
};

/// A metric at the end of a row's finished trials. Coverage and what lay outside are in percent.
struct MetricReport {
  std::string metric;  ///< as metrics.csv calls it
  Summary summary;
  std::optional<PaperValue> paper;
  /// How far ours is from the paper's: the difference of the means over the root of the sum of both
  /// squared standard errors. None for a single trial.
  std::optional<double> off;
};

/// What it took until a coverage was reached: the first line of a trial's metrics that has it.
struct ReachReport {
  double coverage = 0;      ///< in percent
  bool from_paper = false;  ///< it is the paper's of this row
  std::size_t reached = 0;  ///< of the finished trials
  /// The median over all finished trials, of which those that never got there count as infinite;
  /// none where that is infinite.
  std::optional<double> evaluations, seconds;
  /// The same of processors' time, where all finished trials know it: none as well where not.
  std::optional<double> processor_seconds;
  bool knows_processors = false;
};

struct ReportRow {
  std::string label;
  std::size_t source = 0;  ///< its place in Results::rows
  std::string algorithm;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::size_t finished = 0, begun = 0, waiting = 0, failed = 0;  ///< trials
  std::int64_t iterations = 0;
  std::vector<MetricReport> metrics;  ///< none without a finished trial
  std::optional<ReachReport> reach;   ///< none without a finished trial

  [[nodiscard]] std::size_t trials() const { return finished + begun + waiting + failed; }
  [[nodiscard]] const MetricReport* metric(std::string_view name) const;
};

/// How many of the paper's verdicts on pairs come out.
struct Confirmation {
  std::size_t confirmed = 0;
  std::size_t opposite = 0;  ///< > there and < here, or the other way round
  std::size_t of = 0;

  Confirmation& operator+=(const Confirmation& other);
};

/// Whether rows differ in a metric.
struct TestReport {
  std::string metric;
  std::vector<std::size_t> rows;  ///< of the group, in the order that pairs refer to
  Anova anova, welch;
  std::vector<PairComparison> tukey, games_howell;
  std::optional<double> paper_f;
  /// Where the rows are the paper's six algorithms on one of its domains.
  std::optional<Confirmation> tukey_confirms, games_howell_confirms;
};

/// Rows that can be compared: of the same problem and profile, and where several algorithms share
/// sets of parameters, of the same set.
struct ReportGroup {
  std::string title;
  std::string domain;
  Profile profile = Profile::standard;
  std::vector<ReportRow> rows;
  std::vector<TestReport> tests;  ///< none with fewer than two rows of two finished trials
  std::vector<std::string> notes;
};

/// The paper's verdicts in all groups of a profile that have its six algorithms.
struct ProfileConfirmation {
  Profile profile = Profile::standard;
  Confirmation tukey, games_howell;
};

struct Report {
  std::string title;
  double level = 0.05;
  std::vector<ReportGroup> groups;
  std::vector<ProfileConfirmation> confirmations;
  std::vector<std::string> notes;
};

[[nodiscard]] Report make_report(const Results& results, const ReportOptions& options = {});

/// The paper's value beside a row's: of its main table, or of its ablation where the row is one of
/// several bandwidths of dds-kde. None unless the row's problem and cells are the paper's.
[[nodiscard]] const PaperValue* paper_value_of(const ResultRow& row, std::string_view metric);

}  // namespace rarefy
