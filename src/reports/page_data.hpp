// Results as the page reads them: JSON.
//
//   { rarefy, title, notes, seconds ('processor': how long processors worked, all trials know it;
//     'clock': how long it took),
//     domains: [{ name, title, features, lower, upper, lines, places, constant }],
//     rows: [{ label, algorithm, domain (index), profile, parameters: [[name, value]], iterations,
//              config (TOML), trials: [{ seed, state, error, folder, command, curve: { iteration,
//              evaluations, coverage, cross_entropy, qd_score, seconds } }],
//              paper: { METRIC: { mean, error } }, frames }],
//     comparisons: see reports/page_comparisons.hpp }
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rarefy/domains/domain.hpp"
#include "rarefy/trials/results.hpp"
#include "reports/page_comparisons.hpp"

namespace rarefy {

using PageJson = nlohmann::ordered_json;

/// The rows without their frames, which are big and come another way (reports/page_frames.hpp).
struct PageData {
  PageJson head;  ///< all but rows and comparisons
  std::vector<PageJson> rows;
  PageJson comparisons;
  /// The rows of the results that these are: those that have trials.
  std::vector<const ResultRow*> sources;
  std::vector<DomainInfo> domains;     ///< every one that differs from the others
  std::vector<std::size_t> domain_of;  ///< a row's
};

/// Refers to `results`.
[[nodiscard]] PageData page_data(const Results& results, ComparisonCache& cache);

/// In one line, in ASCII whatever names hold.
[[nodiscard]] std::string text_of_json(const PageJson& json);

}  // namespace rarefy
