// A problem: from solutions to features and objectives.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/feature_space.hpp"

namespace rarefy {

/// A straight line, and a named place, in the space of two features.
struct FeatureLine {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool operator==(const FeatureLine&) const = default;
};
struct FeaturePlace {
  double x = 0, y = 0;
  std::string name;
  bool operator==(const FeaturePlace&) const = default;
};

struct DomainInfo {
  std::string name;
  std::string title;  ///< for pictures
  Index solution_dim = 0;
  FeatureSpace feature_space;
  std::vector<std::string> feature_names;
  /// The natural range of a solution's values, where there is one; searches are unbounded
  /// unless asked otherwise.
  std::optional<double> solution_low, solution_high;
  bool constant_objective = true;
  /// The least an objective can be, in the domain's natural range: what a QD score counts from
  /// and the thresholds of CMA-MAE start at. A problem whose objective varies should state it.
  std::optional<double> least_objective;
  std::optional<double> greatest_objective;  ///< where there is a greatest
  /// What pictures of two features show besides: the walls of a maze, and its start.
  std::vector<FeatureLine> lines;
  std::vector<FeaturePlace> places;

  [[nodiscard]] Index feature_dim() const { return feature_space.dim(); }
  /// The least objective; 0 where all are 1. Unknown where the problem does not state it.
  [[nodiscard]] std::optional<double> objective_floor() const {
    return least_objective || !constant_objective ? least_objective : std::optional(0.0);
  }
  /// Throws unless it can be searched: at least one value in a solution and a feature space that
  /// makes sense.
  void check() const;
  bool operator==(const DomainInfo&) const = default;
};

/// In what two problems differ that matters to a search, in words; empty where they are the same
/// but for titles, names of features and what pictures show.
[[nodiscard]] std::string difference(const DomainInfo& a, const DomainInfo& b);

class Domain {
 public:
  virtual ~Domain() = default;

  [[nodiscard]] const DomainInfo& info() const { return info_; }

  /// Fills row i of `features` and objectives[i] for row i of `solutions`. Rows are
  /// independent of each other. Thread-safe.
  virtual void evaluate(BatchView solutions, BatchSpan features,
                        std::span<double> objectives) const = 0;

  /// As many rows at least are evaluated by one call, as long as there are so many: vectors want
  /// to be filled. Where a row takes milliseconds, 1 shares them out best.
  [[nodiscard]] virtual Index rows_together() const { return 32; }

 protected:
  explicit Domain(DomainInfo info) : info_(std::move(info)) {}

 private:
  DomainInfo info_;
};

}  // namespace rarefy
