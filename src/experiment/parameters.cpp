#include "rarefy/experiment/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/core/numbers.hpp"

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

bool is_number(const ParameterValue& value) {
  return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
}

// The value with the type that the parameter has; throws where there is no such value.
ParameterValue checked(const Parameter& parameter, const ParameterValue& value) {
  const auto text = text_of(value);
  const bool is_text = std::holds_alternative<std::string>(value);
  const auto given = is_text ? fmt::format("'{}'", text) : text;
  if (!parameter.word.empty() && is_text && text == parameter.word) return value;
  switch (parameter.type) {
    case Parameter::Type::flag:
      if (!std::holds_alternative<bool>(value)) refuse(parameter, given);
      return value;
    case Parameter::Type::integer:
      if (!std::holds_alternative<std::int64_t>(value)) refuse(parameter, given);
      check_range(parameter, static_cast<double>(std::get<std::int64_t>(value)), given);
      return value;
    case Parameter::Type::number: {
      if (!is_number(value)) refuse(parameter, given);
      const auto* integer = std::get_if<std::int64_t>(&value);
      const double number =
          integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
      check_range(parameter, number, given);
      return number;
    }
    case Parameter::Type::text: break;
  }
  if (!is_text && !(parameter.number_serves && is_number(value))) refuse(parameter, given);
  const auto& choices = parameter.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    throw unknown_name(parameter.name, text, choices);
  }
  return text;
}

}  // namespace

std::string_view Parameter::type_name() const {
  switch (type) {
    case Type::flag: return "true or false";
    case Type::integer: return "integer";
    case Type::number: return "number";
    case Type::text: break;
  }
  return "text";
}

std::string Parameter::expected() const {
  if (!choices.empty()) return fmt::format("one of {}", fmt::join(choices, ", "));
  if (type == Type::flag) return "true or false";
  if (type == Type::text) return "text";
  const auto* const noun = type == Type::integer ? "an integer" : "a number";
  const auto bound = [&](double value) {
    return type == Type::integer ? fmt::format("{:.0f}", value) : text_of(value);
  };
  std::string out;
  if (low == high || (std::isinf(low) && std::isinf(high))) {
    out = noun;
  } else if (std::isinf(high)) {
    out = fmt::format("{} {} {}", noun, low_open ? ">" : ">=", bound(low));
  } else if (low_open) {
    out = fmt::format("{} > {} and <= {}", noun, bound(low), bound(high));
  } else {
    out = fmt::format("{} from {} to {}", noun, bound(low), bound(high));
  }
  return word.empty() ? out : fmt::format("'{}' or {}", word, out);
}

const Parameter& parameter_named(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& parameter : parameters()) {
    if (parameter.name == name) return parameter;
    known.push_back(parameter.name);
  }
  throw unknown_name("parameter", name, known);
}

std::string text_of(const ParameterValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

void set_parameter(Config& config, const Parameter& parameter, const ParameterValue& value) {
  const auto usable = checked(parameter, value);
  try {
    parameter.put(config, usable);
  } catch (const Error& error) {  // of a text that has to be read
    const std::string_view what = error.what();
    if (what.starts_with(parameter.name)) throw;
    throw Error(error.kind(), fmt::format("{}: {}", parameter.name, what));
  }
}

void set_from_text(Config& config, const Parameter& parameter, std::string_view text) {
  const auto quoted = fmt::format("'{}'", text);
  if (!parameter.word.empty() && text == parameter.word) {
    return set_parameter(config, parameter, std::string(text));
  }
  switch (parameter.type) {
    case Parameter::Type::flag:
      if (text != "true" && text != "false") refuse(parameter, quoted);
      return set_parameter(config, parameter, text == "true");
    case Parameter::Type::integer: {
      const auto value = parse_integer(text);
      if (!value) refuse(parameter, quoted);
      return set_parameter(config, parameter, *value);
    }
    case Parameter::Type::number: {
      const auto value = parse_number(text);
      if (!value) refuse(parameter, quoted);
      return set_parameter(config, parameter, *value);
    }
    case Parameter::Type::text: break;
  }
  set_parameter(config, parameter, std::string(text));
}

void check_values(const Config& config) {
  Config copy = config;
  for (const auto& parameter : parameters()) {
    if (parameter.name == "domain" && config.own_problem) continue;  // it has a name of its own
    set_parameter(copy, parameter, parameter.get(config));
  }
}

std::string reason_without_effect(const Config& config, const Parameter& parameter) {
  for (const auto& condition : parameter.conditions) {
    if (!condition.holds(config)) return condition.otherwise(config);
  }
  return "";
}

}  // namespace rarefy
