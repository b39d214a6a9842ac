#include "evaluators/mpi/letters.hpp"

#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Beside the kinds of Error.
constexpr int kOutOfMemory = -1;
constexpr int kSomethingElse = -2;

std::pair<int, std::string> described(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return {static_cast<int>(error.kind()), error.what()};
  } catch (const std::bad_alloc&) {
    return {kOutOfMemory, {}};
  } catch (const std::exception& error) {
    return {kSomethingElse, error.what()};
  } catch (...) {
    return {kSomethingElse, "something unforeseen"};
  }
}

}  // namespace

LetterWriter::LetterWriter(LetterKind kind, Index epoch) {
  number(static_cast<double>(kind));
  count(epoch);
}

LetterWriter& LetterWriter::number(double value) {
  letter_.push_back(value);
  return *this;
}

LetterWriter& LetterWriter::values(std::span<const double> values) {
  letter_.insert(letter_.end(), values.begin(), values.end());
  return *this;
}

LetterWriter& LetterWriter::text(std::string_view text) {
  count(static_cast<Index>(text.size()));
  const auto at = letter_.size();
  letter_.resize(at + (text.size() + sizeof(double) - 1) / sizeof(double));
  if (!text.empty()) std::memcpy(letter_.data() + at, text.data(), text.size());
  return *this;
}

LetterWriter& LetterWriter::counts(const ProgramCounts& counts) {
  count(counts.rows_done).count(counts.rows_failed).count(counts.rows_retried);
  count(counts.workers_started);
  for (const auto faults : counts.faults) count(faults);
  return *this;
}

LetterWriter& LetterWriter::exception(const std::exception_ptr& exception) {
  const auto [kind, words] = described(exception);
  return count(kind).text(words);
}

std::span<const double> LetterReader::values(Index count) {
  const auto size = static_cast<std::size_t>(count);
  if (size > letter_.size() - next_) throw std::out_of_range("a letter is cut short");
  const std::span<const double> values(letter_.data() + next_, size);
  next_ += size;
  return values;
}

std::string LetterReader::text() {
  std::string text(static_cast<std::size_t>(count()), '\0');
  const auto packed =
      values(static_cast<Index>((text.size() + sizeof(double) - 1) / sizeof(double)));
  if (!text.empty()) std::memcpy(text.data(), packed.data(), text.size());
  return text;
}

ProgramCounts LetterReader::counts() {
  ProgramCounts counts;
  counts.rows_done = count();
  counts.rows_failed = count();
  counts.rows_retried = count();
  counts.workers_started = count();
  for (auto& faults : counts.faults) faults = count();
  return counts;
}

std::exception_ptr LetterReader::exception() {
  const auto kind = static_cast<int>(count());
  const auto words = text();
  if (kind == kOutOfMemory) return std::make_exception_ptr(std::bad_alloc());
  if (kind == kSomethingElse) return std::make_exception_ptr(std::runtime_error(words));
  return std::make_exception_ptr(Error(static_cast<ErrorKind>(kind), words));
}

}  // namespace rarefy
