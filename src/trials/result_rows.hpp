// Trials sorted into rows.
#pragma once

#include <span>
#include <vector>

#include "rarefy/trials/results.hpp"

namespace rarefy {

/// What is the same for all trials of a row: the configuration without its seed, and without what
/// decides no result but how far it goes.
[[nodiscard]] Config row_of(const Config& trial);

/// In which order rows stand.
enum class RowOrder {
  as_given,  ///< as their first trials come
  sorted,    ///< by profile, domain, algorithm and values of parameters
};
[[nodiscard]] std::vector<ResultRow> make_rows(std::vector<Trial> trials, RowOrder order);

}  // namespace rarefy
