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
};
struct FeaturePlace {
  double x = 0, y = 0;
  std::string name;
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
  /// What pictures of two features show besides: the walls of a maze, and its start.
  std::vector<FeatureLine> lines;
  std::vector<FeaturePlace> places;

  [[nodiscard]] Index feature_dim() const { return feature_space.dim(); }
};

class Domain {
 public:
  virtual ~Domain() = default;

  [[nodiscard]] const DomainInfo& info() const { return info_; }

  /// Fills row i of `features` and objectives[i] for row i of `solutions`. Rows are
  /// independent of each other. Thread-safe.
  virtual void evaluate(BatchView solutions, BatchSpan features,
                        std::span<double> objectives) const = 0;

 protected:
  explicit Domain(DomainInfo info) : info_(std::move(info)) {}

 private:
  DomainInfo info_;
};

}  // namespace rarefy
