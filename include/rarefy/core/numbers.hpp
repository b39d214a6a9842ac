// Numbers from text. Whatever reads a number that a person has written reads it here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rarefy {

/// The whole text as a finite number in decimal notation; nothing where it is anything else.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
/// The whole text as an integer in decimal digits.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
/// Numbers with `separator` and perhaps spaces between them; at least one.
[[nodiscard]] std::optional<std::vector<double>> parse_numbers(std::string_view text,
                                                               char separator = ',');
/// A number, and what follows it: "0.05 width" is 0.05 and "width".
struct NumberWithUnit {
  double value = 0;
  std::size_t length = 0;  ///< characters of the number itself
  std::string_view unit;
};
[[nodiscard]] std::optional<NumberWithUnit> parse_number_with_unit(std::string_view text);

/// Without spaces at either end.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The pieces between separators; one more than there are separators.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The fewest digits that read back as the same number.
[[nodiscard]] std::string text_of(double value);
/// Those of several numbers, with `separator` between them.
[[nodiscard]] std::string text_of(const std::vector<double>& values, std::string_view separator);

}  // namespace rarefy
