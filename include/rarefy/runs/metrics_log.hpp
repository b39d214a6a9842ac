// The course of a run: one line of metrics every so many iterations.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rarefy/core/state.hpp"
#include "rarefy/search.hpp"

namespace rarefy {

struct MetricsLine {
  std::int64_t iteration = 0;
  std::int64_t evaluations = 0;
  double coverage = 0;
  double cross_entropy = 0;
  double qd_score = 0;
  double best_objective = 0;
  double mean_objective = 0;  ///< of the elites
  std::int64_t restarts = 0;
  std::int64_t failed = 0;    ///< evaluations that failed
  std::int64_t left_out = 0;  ///< evaluations that served the probe of step sizes alone
  double outside = 0;         ///< part of the others whose features lay outside the box
  double seconds = 0;         ///< spent searching, interruptions not counted
  /// How long processors have worked for it meanwhile, all threads together. Not a number where it
  /// is not known: other processes evaluated, or it is a line from before there was this column.
  double processor_seconds = std::numeric_limits<double>::quiet_NaN();
};

/// A column of metrics.csv. Whoever writes lines or shows them goes by the table of all of them.
struct MetricsColumn {
  std::string_view name;
  std::variant<std::int64_t MetricsLine::*, double MetricsLine::*> field;
};
[[nodiscard]] std::span<const MetricsColumn> metrics_columns();

/// Reads what MetricsLog::csv() has written, by the names in its first line: a column that is
/// missing there leaves its field as it is, an unknown one is passed over. Error (data) for
/// anything else.
[[nodiscard]] std::vector<MetricsLine> parse_metrics(std::string_view csv);

/// Without an objective floor the QD score is not a number.
[[nodiscard]] MetricsLine measure(const Search& search, double entropy_floor,
                                  std::optional<double> objective_floor, double seconds,
                                  double processor_seconds);

class MetricsLog {
 public:
  enum class Line { regular, makes_way };  ///< for the next that is added
  void add(const MetricsLine& line, Line kind = Line::regular);
  [[nodiscard]] const std::vector<MetricsLine>& lines() const { return lines_; }
  /// With a header line; numbers such that reading them back gives the same ones.
  [[nodiscard]] std::string csv() const;

  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  std::vector<MetricsLine> lines_;
  bool last_makes_way_ = false;
};

}  // namespace rarefy
