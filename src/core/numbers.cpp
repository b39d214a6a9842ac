#include "rarefy/core/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace rarefy {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const auto end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::optional<NumberWithUnit> parse_number_with_unit(std::string_view text) {
  NumberWithUnit number;
  const auto [rest, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (problem != std::errc() || !std::isfinite(number.value)) return {};
  number.length = static_cast<std::size_t>(rest - text.data());
  number.unit = trimmed(text.substr(number.length));
  return number;
}

std::optional<double> parse_number(std::string_view text) {
  const auto number = parse_number_with_unit(text);
  if (!number || number->length != text.size()) return {};
  return number->value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto* const last = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), last, value);
  if (problem != std::errc() || rest != last) return {};
  return value;
}

std::optional<std::vector<double>> parse_numbers(std::string_view text, char separator) {
  std::vector<double> values;
  for (const auto piece : split(text, separator)) {
    const auto value = parse_number(trimmed(piece));
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

std::string text_of(double value) { return fmt::format("{}", value); }

std::string text_of(const std::vector<double>& values, std::string_view separator) {
  return fmt::format("{}", fmt::join(values, separator));
}

}  // namespace rarefy
