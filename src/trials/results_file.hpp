// results.csv: one line for each finished trial.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "rarefy/trials/results.hpp"

namespace rarefy {

/// The line above them.
[[nodiscard]] std::string results_header();
/// `name` is that of the trial, `parameters` what tells its row from others. The trial has metrics.
[[nodiscard]] std::string results_line(const Trial& trial, std::string_view name,
                                       std::string_view parameters);
/// The names of the trials in such a file.
[[nodiscard]] std::set<std::string, std::less<>> trials_named_in(std::string_view csv);

}  // namespace rarefy
