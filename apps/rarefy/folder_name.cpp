#include "folder_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rarefy/core/fingerprint.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy::command {
namespace {

// Only what is at home in the name of a folder.
std::string as_part_of_a_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) {
        return std::string_view(" ,;:/\\'\"*?[]()&|<>$!").find(c) != std::string::npos;
      },
      '_');
  return text;
}

}  // namespace

std::string folder_name(const Config& config) {
  constexpr std::size_t kLong = 60;
  // A problem of its own has the defaults that any problem has, and is known by its name.
  const auto defaults = default_config(config.own_problem ? Config{}.domain : config.domain,
                                       config.algorithm, config.profile);
  std::string differences;
  for (const auto& parameter : parameters()) {
    if (!parameter.decides_results || parameter.name == "seed") continue;
    if (config.own_problem && (parameter.name == "domain" || parameter.section == "domain"))
      continue;
    const auto value = parameter.get(config);
    if (value == parameter.get(defaults)) continue;
    differences += fmt::format("-{}-{}", parameter.name, text_of(value));
  }
  if (differences.size() > kLong) {
    Fingerprint all;
    for (const char c : differences) all.add(static_cast<std::uint64_t>(c));
    differences =
        fmt::format("{}-{:08x}", differences.substr(0, kLong / 2), all.value() & 0xffffffffU);
  }
  return as_part_of_a_name(fmt::format("{}-{}-{}-seed{}{}", config.domain, config.algorithm,
                                       name_of(config.profile), config.seed, differences));
}

}  // namespace rarefy::command
