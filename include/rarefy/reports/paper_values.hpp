// What the paper prints (Lee et al., "Density descent for diversity optimization", GECCO 2024),
// number by number and by our names. Coverage is in percent, as there.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "rarefy/statistics/pairwise.hpp"

namespace rarefy {

struct PaperValue {
  double mean = 0, standard_error = 0;
};

inline constexpr double kPaperTrials = 10;  ///< that means and standard errors are of
inline constexpr long kPaperIterations = 5000;

[[nodiscard]] std::span<const std::string_view> paper_algorithms();  ///< in its order
[[nodiscard]] std::span<const std::string_view> paper_domains();
/// "coverage" and "cross_entropy", as metrics.csv calls them.
[[nodiscard]] std::span<const std::string_view> paper_metrics();
/// Those of the ablation of DDS-KDE, over the width of feature space.
[[nodiscard]] std::span<const double> paper_bandwidths();

/// Of its main table. Null where the paper has no such algorithm, domain or metric.
[[nodiscard]] const PaperValue* paper_value(std::string_view algorithm, std::string_view domain,
                                            std::string_view metric);
/// Of DDS-KDE with a bandwidth of so many widths. Null where it has none.
[[nodiscard]] const PaperValue* paper_ablation(double bandwidth, std::string_view domain,
                                               std::string_view metric);
/// How many trials a domain's values of the ablation are of.
[[nodiscard]] double paper_ablation_trials(std::string_view domain);
/// F(5, 54) of its analysis of variance.
[[nodiscard]] std::optional<double> paper_f(std::string_view domain, std::string_view metric);
/// Its table of pairwise comparisons by Tukey's HSD: the first algorithm beside the second.
[[nodiscard]] std::optional<Verdict> paper_verdict(std::string_view domain, std::string_view metric,
                                                   std::string_view first, std::string_view second);

}  // namespace rarefy
