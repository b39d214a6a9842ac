// What programs are asked, and what they make of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/evaluators/program_evaluator.hpp"

namespace rarefy {

/// What is wrong with a program, in words that follow its name.
struct Complaint {
  ProgramFault fault = ProgramFault::died;
  std::string message;
};

/// Appends the number as few digits as read back as the same, whatever the locale.
void append_number(std::string& text, double value);
/// Appends a row as a line.
void append_line(std::string& text, std::span<const double> row);

/// Fills `values` from numbers with blanks between them.
[[nodiscard]] std::optional<Complaint> read_numbers(std::string_view text,
                                                    std::span<double> values);
/// Whether each of the values is finite, and what to say where not.
[[nodiscard]] std::optional<Complaint> check_finite(std::span<const double> values);

/// The header of an array of doubles, which then follow as they lie in memory.
void append_npy_header(std::string& bytes, Index rows, Index cols);

/// Reads an array that comes in pieces.
struct NpyAnswer {
  /// Looks at the bytes so far: how long the whole answer is once the header is there, and a
  /// complaint as soon as they cannot become an array of that shape.
  struct Progress {
    std::optional<Complaint> complaint;
    std::size_t values_at = 0;
    std::size_t total = 0;  ///< 0: unknown yet
  };
  [[nodiscard]] static Progress look(std::string_view bytes, Index rows, Index cols);
};

/// The beginning of a text in quotes, on one line and printable.
[[nodiscard]] std::string in_quotes(std::string_view text);
/// "1 number", "2 numbers".
[[nodiscard]] std::string numbers_text(std::size_t count);

}  // namespace rarefy
