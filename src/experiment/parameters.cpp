#include "rarefy/experiment/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/core/nearest_name.hpp"

namespace rarefy {
namespace {

[[noreturn]] void refuse(const Parameter& parameter, std::string_view given) {
  throw Error(ErrorKind::parameter, parameter.name, given, parameter.expected());
}

void check_range(const Parameter& parameter, double value, std::string_view given) {
  if (!std::isfinite(value)) refuse(parameter, given);
  if (parameter.low == parameter.high) return;
  const bool above = parameter.low_open ? value > parameter.low : value >= parameter.low;
  if (!above || value > parameter.high) refuse(parameter, given);
}

}  // namespace

std::string_view Parameter::type() const {
  constexpr std::string_view kTypes[] = {"true or false", "integer", "number", "text"};
  return kTypes[member.index()];
}

std::string Parameter::expected() const {
  if (!choices.empty()) return fmt::format("one of {}", fmt::join(choices, ", "));
  if (std::holds_alternative<bool Config::*>(member)) return "true or false";
  if (std::holds_alternative<std::string Config::*>(member)) return "text";
  const auto* const noun =
      std::holds_alternative<std::int64_t Config::*>(member) ? "an integer" : "a number";
  if (!zero.empty()) return fmt::format("'{}' or {} from {} to {}", zero, noun, low, high);
  if (low == high || (std::isinf(low) && std::isinf(high))) return noun;
  if (std::isinf(high)) return fmt::format("{} {} {}", noun, low_open ? ">" : ">=", low);
  if (low_open) return fmt::format("{} > {} and <= {}", noun, low, high);
  return fmt::format("{} from {} to {}", noun, low, high);
}

const Parameter& parameter_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& parameter : parameters()) {
    if (parameter.name == name) return parameter;
    known.push_back(parameter.name);
  }
  throw unknown_name("parameter", name, known);
}

ParameterValue value_of(const Config& config, const Parameter& parameter) {
  return std::visit([&](auto member) { return ParameterValue(config.*member); }, parameter.member);
}

std::string text_of(const ParameterValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

void set_parameter(Config& config, const Parameter& parameter, const ParameterValue& value) {
  const auto given = text_of(value);
  if (const auto* flag = std::get_if<bool Config::*>(&parameter.member)) {
    if (!std::holds_alternative<bool>(value)) refuse(parameter, given);
    config.*(*flag) = std::get<bool>(value);
  } else if (const auto* integer = std::get_if<std::int64_t Config::*>(&parameter.member)) {
    if (!parameter.zero.empty() && given == parameter.zero) {
      config.*(*integer) = 0;
      return;
    }
    if (!std::holds_alternative<std::int64_t>(value)) refuse(parameter, given);
    check_range(parameter, static_cast<double>(std::get<std::int64_t>(value)), given);
    config.*(*integer) = std::get<std::int64_t>(value);
  } else if (const auto* real = std::get_if<double Config::*>(&parameter.member)) {
    double number = 0;
    if (std::holds_alternative<double>(value)) {
      number = std::get<double>(value);
    } else if (std::holds_alternative<std::int64_t>(value)) {
      number = static_cast<double>(std::get<std::int64_t>(value));
    } else {
      refuse(parameter, given);
    }
    check_range(parameter, number, given);
    config.*(*real) = number;
  } else {
    const auto& choices = parameter.choices;
    const bool number =
        std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
    if (!std::holds_alternative<std::string>(value) && !(number && parameter.number_serves)) {
      refuse(parameter, given);
    }
    if (!choices.empty() && std::find(choices.begin(), choices.end(), given) == choices.end()) {
      throw unknown_name(parameter.name, given, choices);
    }
    config.*std::get<std::string Config::*>(parameter.member) = given;
  }
}

void set_from_text(Config& config, const Parameter& parameter, std::string_view text) {
  const auto quoted = fmt::format("'{}'", text);
  const auto* const first = text.data();
  const auto* const last = first + text.size();
  if (std::holds_alternative<bool Config::*>(parameter.member)) {
    if (text != "true" && text != "false") refuse(parameter, quoted);
    set_parameter(config, parameter, ParameterValue(text == "true"));
  } else if (std::holds_alternative<std::int64_t Config::*>(parameter.member) &&
             (parameter.zero.empty() || text != parameter.zero)) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(first, last, value);
    if (problem != std::errc() || end != last) refuse(parameter, quoted);
    set_parameter(config, parameter, ParameterValue(value));
  } else if (std::holds_alternative<double Config::*>(parameter.member)) {
    double value = 0;
    const auto [end, problem] = std::from_chars(first, last, value);
    if (problem != std::errc() || end != last) refuse(parameter, quoted);
    set_parameter(config, parameter, ParameterValue(value));
  } else {
    set_parameter(config, parameter, ParameterValue(std::string(text)));
  }
}

}  // namespace rarefy
