// Every value of a Config by name: what the command line, configuration files and
// `rarefy list` are made of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rarefy/experiment/config.hpp"

namespace rarefy {

using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;

struct Parameter {
  std::string_view section;  ///< the table it stands in, in a file
  std::string_view name;     ///< unique over all sections
  std::variant<bool Config::*, std::int64_t Config::*, double Config::*, std::string Config::*>
      member;
  std::string_view meaning;
  std::vector<std::string_view> choices = {};  ///< of a text; empty: free
  double low = 0.0, high = 0.0;                ///< of a number; equal: unlimited
  bool low_open = false;                       ///< the low end itself is excluded
  bool number_serves = false;                  ///< a text that may also be given as a number
  bool list_serves = false;                    ///< and, in a file, as a list of numbers
  std::string_view zero = {};                  ///< a word for 0, which serves as well

  /// "integer", "number", "true or false", "text".
  [[nodiscard]] std::string_view type() const;
  /// What values it takes, in words.
  [[nodiscard]] std::string expected() const;
};

/// All of them, by section.
[[nodiscard]] std::span<const Parameter> parameters();
/// Throws an Error with the nearest name where there is none of that name.
[[nodiscard]] const Parameter& parameter_named(std::string_view name);

[[nodiscard]] ParameterValue value_of(const Config& config, const Parameter& parameter);
/// The value as it would be written in a file.
[[nodiscard]] std::string text_of(const ParameterValue& value);

/// Sets a value after checking its type and range. An integer serves for a number.
void set_parameter(Config& config, const Parameter& parameter, const ParameterValue& value);
/// The same from the text of a command line.
void set_from_text(Config& config, const Parameter& parameter, std::string_view text);

}  // namespace rarefy
