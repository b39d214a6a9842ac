// Every value of a Config by a flat name: what the command line, configuration files, `rarefy
// list` and other languages are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rarefy/experiment/config.hpp"

namespace rarefy {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

/// What must hold for a parameter to have an effect.
struct Condition {
  std::function<bool(const Config&)> holds;
  /// Where it does not: what is the case instead, and what would have to be.
  std::function<std::string(const Config&)> otherwise;
};

struct Parameter {
  enum class Type { flag, integer, number, text };

  std::string_view section;  ///< the table it stands in, in a file
  std::string_view name;     ///< unique over all sections
  Type type = Type::text;
  std::string_view meaning;
  std::vector<std::string_view> choices;  ///< of a text; empty: free
  double low = 0.0, high = 0.0;           ///< of a number; equal: unlimited
  bool low_open = false;                  ///< the low end itself is excluded
  bool number_serves = false;             ///< a text that may also be given as a number
  bool list_serves = false;               ///< and, in a file, as a list of numbers
  std::string_view word;                  ///< serves instead of a number
  bool decides_results = true;            ///< another value may give another result
  std::vector<Condition> conditions;      ///< without which it has no effect

  std::function<ParameterValue(const Config&)> get;
  /// Takes a value whose type, range and choice have been checked.
  std::function<void(Config&, const ParameterValue&)> put;

  /// "integer", "number", "true or false", "text".
  [[nodiscard]] std::string_view type_name() const;
  /// What values it takes, in words.
  [[nodiscard]] std::string expected() const;
};

/// All of them, by section.
[[nodiscard]] std::span<const Parameter> parameters();
/// Throws an Error with the nearest name where there is none of that name.
[[nodiscard]] const Parameter& parameter_named(std::string_view name);

/// The value as it would be written in a file.
[[nodiscard]] std::string text_of(const ParameterValue& value);

/// Sets a value after checking its type and range. An integer serves for a number.
void set_parameter(Config& config, const Parameter& parameter, const ParameterValue& value);
/// The same from the text of a command line.
void set_from_text(Config& config, const Parameter& parameter, std::string_view text);

/// Throws where a value of `config`, however it came there, is none that its parameter takes.
void check_values(const Config& config);

/// Why a parameter has no effect on the run that `config` describes; empty where it has one. What
/// a user asks for by name must do something, so such requests are refused.
[[nodiscard]] std::string reason_without_effect(const Config& config, const Parameter& parameter);

}  // namespace rarefy
