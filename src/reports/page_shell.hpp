// The page itself, without data: what `make web` has made, compiled in.
#pragma once

#include <string>
#include <string_view>

#include "rarefy/trials/results.hpp"
#include "reports/page_comparisons.hpp"

namespace rarefy {

/// Empty where it was not there when the library was built.
[[nodiscard]] std::string_view page_shell();

/// The page with `data`, elements of HTML, in its place, and a title. Error (state) without a page.
[[nodiscard]] std::string page_around(std::string_view data, std::string_view title);

/// As report_page does, with tests that may have been made before.
[[nodiscard]] std::string report_with(const Results& results, ComparisonCache& cache);

}  // namespace rarefy
