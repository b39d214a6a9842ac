#include "experiment/toml_values.hpp"

#include <fmt/format.h>

#include <string>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Walls may be given as a list of lists of four numbers, a start as a list of three: the text
// that would say the same.
std::string list_as_text(const toml::array& list, const Parameter& parameter) {
  if (list.empty()) {
    throw Error(ErrorKind::parameter,
                fmt::format("{}: got an empty list{}", parameter.name,
                            parameter.name == "walls" ? "; maze = 'empty' has no walls" : ""));
  }
  std::string text;
  for (const auto& entry : list) {
    if (!text.empty()) text += entry.is_array() ? ";" : ",";
    if (const auto* inner = entry.as_array()) {
      text += list_as_text(*inner, parameter);
    } else if (const auto number = entry.value<double>(); number && entry.is_number()) {
      text += fmt::format("{}", *number);
    } else {
      throw Error(ErrorKind::parameter,
                  fmt::format("{}: expected a list of numbers", parameter.name));
    }
  }
  return text;
}

}  // namespace

ParameterValue value_of(const toml::node& node, const Parameter& parameter) {
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* list = node.as_array(); list != nullptr && parameter.list_serves) {
    return list_as_text(*list, parameter);
  }
  throw Error(ErrorKind::parameter, fmt::format("{}: got a table, list or date, expected {}",
                                                parameter.name, parameter.expected()));
}

}  // namespace rarefy
