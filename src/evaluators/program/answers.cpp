#include "evaluators/program/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "rarefy/core/error.hpp"
#include "rarefy/core/text.hpp"
#include "storage/npy_source.hpp"

namespace rarefy {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const auto word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

bool read_number(std::string_view word, double& value) {
  if (word.size() > 1 && word.front() == '+' && word[1] != '-') word.remove_prefix(1);
  const auto* const end = word.data() + word.size();
  const auto [rest, problem] = std::from_chars(word.data(), end, value);
  // What is too large or too small for a double is a number none the less.
  if (problem == std::errc::result_out_of_range) {
    const bool small =
        word.find("e-") != std::string_view::npos || word.find("E-") != std::string_view::npos;
    value = small ? 0.0 : HUGE_VAL;
  }
  return problem != std::errc::invalid_argument && rest == end;
}

Complaint no_array(std::string_view bytes) {
  return {ProgramFault::text, fmt::format("answered no .npy array: {}", in_quotes(bytes))};
}

}  // namespace

void append_number(std::string& text, double value) {
  std::array<char, 32> digits{};
  const auto [end, problem] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

void append_line(std::string& text, std::span<const double> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text.push_back(' ');
    append_number(text, row[i]);
  }
  text.push_back('\n');
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 60;
  const bool cut = text.size() > kMost;
  std::string line;
  for (const char c : text.substr(0, kMost)) {
    if (c == '\n') {
      line += "\\n";
    } else {
      line.push_back(c);
    }
  }
  return fmt::format("\"{}{}\"", printable(line), cut ? "..." : "");
}

std::string numbers_text(std::size_t count) {
  return fmt::format("{} number{}", count, count == 1 ? "" : "s");
}

std::optional<Complaint> read_numbers(std::string_view text, std::span<double> values) {
  const auto line = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  auto rest = line;
  std::size_t count = 0;
  std::string_view not_finite;
  for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
    double value = 0;
    if (!read_number(word, value)) {
      return Complaint{ProgramFault::text,
                       fmt::format("answered {} where a number was expected: {}", in_quotes(word),
                                   in_quotes(line))};
    }
    if (!std::isfinite(value) && not_finite.empty()) not_finite = word;
    if (count < values.size()) values[count] = value;
    ++count;
  }
  if (count == 0) {
    return Complaint{ProgramFault::count,
                     fmt::format("answered nothing, expected {}", numbers_text(values.size()))};
  }
  if (count != values.size()) {
    return Complaint{ProgramFault::count,
                     fmt::format("answered {}, expected {}: {}", numbers_text(count), values.size(),
                                 in_quotes(line))};
  }
  if (!not_finite.empty()) {
    return Complaint{
        ProgramFault::not_finite,
        fmt::format("answered {}, expected finite numbers: {}", not_finite, in_quotes(line))};
  }
  return {};
}

std::optional<Complaint> check_finite(std::span<const double> values) {
  const auto bad = std::ranges::find_if(values, [](double x) { return !std::isfinite(x); });
  if (bad == values.end()) return {};
  return Complaint{ProgramFault::not_finite,
                   fmt::format("answered {}, expected finite numbers", *bad)};
}

void append_npy_header(std::string& bytes, Index rows, Index cols) {
  const std::array shape{rows, cols};
  const auto header = encode_npy_header(NpyArray::Type::float64, shape);
  bytes.append(reinterpret_cast<const char*>(header.data()), header.size());
}

NpyAnswer::Progress NpyAnswer::look(std::string_view bytes, Index rows, Index cols) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr std::size_t kPrefix = 10;
  if (!bytes.starts_with(kMagic.substr(0, bytes.size()))) return {.complaint = no_array(bytes)};
  if (bytes.size() < kPrefix) return {};
  if (bytes[6] != 1 || bytes[7] != 0) {
    return {.complaint = Complaint{ProgramFault::text,
                                   fmt::format("answered version {}.{} of .npy, expected 1.0",
                                               static_cast<unsigned char>(bytes[6]),
                                               static_cast<unsigned char>(bytes[7]))}};
  }
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[8])) +
                      256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[9]));
  if (bytes.size() < kPrefix + length) return {};
  NpyHeader header;
  try {
    header = parse_npy_header(bytes.substr(kPrefix, length), "array");
  } catch (const Error& error) {
    return {.complaint =
                Complaint{ProgramFault::text, fmt::format("answered a broken {}", error.what())}};
  }
  const std::array expected{rows, cols};
  if (!std::ranges::equal(header.shape, expected)) {
    return {.complaint = Complaint{ProgramFault::count,
                                   fmt::format("answered an array of shape {}, expected {}",
                                               shape_text(header.shape), shape_text(expected))}};
  }
  if (header.descr != "<f8" || header.fortran_order) {
    return {.complaint = Complaint{
                ProgramFault::text,
                fmt::format("answered an array of {} in {} order, expected '<f8' in C order",
                            in_quotes(header.descr), header.fortran_order ? "Fortran" : "C")}};
  }
  const auto values = static_cast<std::size_t>(rows * cols) * sizeof(double);
  return {.complaint = {}, .values_at = kPrefix + length, .total = kPrefix + length + values};
}

}  // namespace rarefy
