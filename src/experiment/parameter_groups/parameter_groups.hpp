// The groups of parameters, each as the table has it: names, places in a Config, meanings, ranges,
// and when they have an effect. Private to the table.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "experiment/conditions.hpp"
#include "experiment/parameter_builder.hpp"

namespace rarefy {

[[nodiscard]] std::vector<ParameterBuilder> run_parameters();
[[nodiscard]] std::vector<ParameterBuilder> domain_parameters();
[[nodiscard]] std::vector<ParameterBuilder> emitter_parameters();
[[nodiscard]] std::vector<ParameterBuilder> restart_parameters();
[[nodiscard]] std::vector<ParameterBuilder> density_parameters();
[[nodiscard]] std::vector<ParameterBuilder> discount_parameters();
[[nodiscard]] std::vector<ParameterBuilder> flow_parameters();
[[nodiscard]] std::vector<ParameterBuilder> mixture_parameters();
[[nodiscard]] std::vector<ParameterBuilder> archive_parameters();
[[nodiscard]] std::vector<ParameterBuilder> output_parameters();
[[nodiscard]] std::vector<ParameterBuilder> program_parameters();

// Ends of ranges.
inline constexpr double kMany = 1e9;
inline constexpr double kAny = std::numeric_limits<double>::infinity();

template <typename Rows>
std::vector<std::string_view> names_in(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

}  // namespace rarefy
