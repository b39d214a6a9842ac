// Results as figures for papers.
#pragma once

#include <filesystem>

#include "rarefy/trials/results.hpp"

namespace rarefy {

/// Draws results into `folder`, which is made where it is missing. Each picture is a .png and a
/// .svg, replaced as a whole:
///
///   coverage, cross-entropy                 their course: mean and standard error over seeds, one
///                                           panel a domain
///   coverage-DOMAIN, cross-entropy-DOMAIN   the same of one domain, larger
///   heatmaps                                of domains with two features: the run with the median
///                                           coverage at its end, one column a row of the results
///   ablation-PARAMETER                      what came out at the end by the value of a parameter,
///                                           where rows have three values of it or more, and differ
///                                           by nothing else
///
/// Results of several profiles go into folders by their names. Finished trials are drawn; where a
/// row has none, those that have begun, as far as all of them have come. What has nothing to show
/// is left out, files and all. In names of files, whatever is no letter, digit, '-', '_' or '.' is
/// a '_'.
void write_plots(const Results& results, const std::filesystem::path& folder);

}  // namespace rarefy
