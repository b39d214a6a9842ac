// What statistics say of results, for the page; and what the paper has.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "rarefy/trials/results.hpp"

namespace rarefy {

/// [{ domain, profile, metric, rows, anova, welch: { f, between, within, p },
///    tukey, games_howell: [[{ sign, p }]] }]: the rows of a domain and a profile that have two
/// finished trials at least, by the last values of those. A test that these rows do not allow is
/// left out. `domains` and `rows` go by the same index.
[[nodiscard]] nlohmann::ordered_json page_comparisons(const std::vector<const ResultRow*>& rows,
                                                      const std::vector<std::size_t>& domains);

/// { METRIC: { mean, error } }, in the units of metrics.csv; empty where the paper has nothing that
/// this row repeats.
[[nodiscard]] nlohmann::ordered_json paper_values_of(const ResultRow& row);

}  // namespace rarefy
