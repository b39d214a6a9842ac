// What ranks write to each other: numbers, and texts among them.
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/evaluators/program_evaluator.hpp"

namespace rarefy {

/// Counts are numbers as well: all of them are far below 2^53.
using Letter = std::vector<double>;

enum class LetterKind {
  // from rank 0
  greet,
  evaluate,
  abandon,
  works,  // the program has worked, somewhere
  trial,  // of an experiment, to run
  stop_trials,
  leave,
  // to rank 0
  ready,
  rows,
  hopeless,  // the program has never worked here
  error,
  trial_news,
  trial_end,
};

class LetterWriter {
 public:
  /// `epoch`: what is said of an epoch that is over is not listened to.
  LetterWriter(LetterKind kind, Index epoch);
  LetterWriter& number(double value);
  LetterWriter& count(Index value) { return number(static_cast<double>(value)); }
  LetterWriter& values(std::span<const double> values);
  LetterWriter& text(std::string_view text);
  LetterWriter& counts(const ProgramCounts& counts);
  /// Of any kind; thrown again by LetterReader::exception().
  LetterWriter& exception(const std::exception_ptr& exception);
  [[nodiscard]] Letter take() { return std::move(letter_); }

 private:
  Letter letter_;
};

class LetterReader {
 public:
  explicit LetterReader(const Letter& letter) : letter_(letter) {}
  [[nodiscard]] LetterKind kind() const { return static_cast<LetterKind>(letter_.at(0)); }
  [[nodiscard]] Index epoch() const { return static_cast<Index>(letter_.at(1)); }

  double number() { return letter_.at(next_++); }
  Index count() { return static_cast<Index>(number()); }
  std::span<const double> values(Index count);
  std::string text();
  ProgramCounts counts();
  std::exception_ptr exception();

 private:
  const Letter& letter_;
  std::size_t next_ = 2;
};

}  // namespace rarefy
