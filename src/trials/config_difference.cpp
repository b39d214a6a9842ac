#include "trials/config_difference.hpp"

#include <fmt/format.h>

namespace rarefy {
namespace {

std::string shown(const ParameterValue& value) {
  const auto text = text_of(value);
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::string config_difference(const Config& there, const Config& here,
                              const std::function<bool(const Parameter&)>& counts) {
  std::string text;
  const auto add = [&](const std::string& difference) {
    text += (text.empty() ? "" : "; ") + difference;
  };
  for (const auto& parameter : parameters()) {
    if (counts && !counts(parameter)) continue;
    const auto first = parameter.get(there), second = parameter.get(here);
    if (first == second) continue;
    add(fmt::format("{} {} there, {} here", parameter.name, shown(first), shown(second)));
  }
  if (there.own_problem && here.own_problem) {
    const auto problem = difference(*there.own_problem, *here.own_problem);
    if (!problem.empty()) add(problem);
  } else if (there.own_problem || here.own_problem) {
    add("a problem of its own, and one of rarefy's");
  }
  return text;
}

}  // namespace rarefy
