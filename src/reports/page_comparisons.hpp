// What statistics say of results, for the page; and what the paper has.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "rarefy/trials/results.hpp"

namespace rarefy {

struct PageData;

/// Tests that were made before, by the values they are of: a page that is live asks again and
/// again, and pairs take their time.
struct ComparisonCache {
  std::mutex guard;
  std::map<std::string, nlohmann::ordered_json, std::less<>> known;
};

/// [{ domain, profile, detail, metric, rows, anova, welch: { f, between, within, p },
///    tukey, games_howell: [[{ sign, p }]] }]: rows that can be compared, as in a report, and have
/// two finished trials at least, by the last values of those. A test that these rows do not allow
/// is left out. Of `data`, which was made of `results`, it reads which rows there are, and their
/// domains.
[[nodiscard]] nlohmann::ordered_json page_comparisons(const Results& results, const PageData& data,
                                                      ComparisonCache& cache);

/// { METRIC: { mean, error } }, in the units of metrics.csv; empty where the paper has nothing that
/// this row repeats.
[[nodiscard]] nlohmann::ordered_json paper_values_of(const ResultRow& row);

}  // namespace rarefy
