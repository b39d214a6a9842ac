// Results as a page for a browser.
#pragma once

#include <string>

#include "rarefy/trials/results.hpp"

namespace rarefy {

/// One HTML document with everything in it: curves, tables, heat maps of the median trial of every
/// row, an ablation where there is one, and how to repeat each trial. It loads nothing from
/// anywhere. Error (state) where the library was built without the page (see has_page).
[[nodiscard]] std::string report_page(const Results& results);

/// The page's script is made of other people's code as well, and is compiled in where it was there
/// when the library was built (`make web`).
[[nodiscard]] bool has_page();

}  // namespace rarefy
