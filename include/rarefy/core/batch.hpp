// The memory contract of the whole library, said once, here:
//
//   A batch is a row-major matrix of doubles. One row is one solution (or the
//   features of one solution). Rows are contiguous, and row i starts at
//   data() + i * cols().
//
// What passes between the parts of the loop is always a batch. Linear-algebra
// types stay out of the public headers: their layout changes with a consumer's
// compiler flags, a pointer and two sizes do not.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace rarefy {

using Index = std::ptrdiff_t;

/// A batch that somebody else owns, to read.
class BatchView {
 public:
  BatchView() = default;
  BatchView(const double* data, Index rows, Index cols) : data_(data), rows_(rows), cols_(cols) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index size() const { return rows_ * cols_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const double* data() const { return data_; }

  [[nodiscard]] std::span<const double> row(Index i) const {
    assert(i >= 0 && i < rows_);
    return {data_ + i * cols_, static_cast<std::size_t>(cols_)};
  }
  /// The `count` rows that start at row `first`.
  [[nodiscard]] BatchView rows(Index first, Index count) const {
    assert(first >= 0 && count >= 0 && first + count <= rows_);
    return {data_ + first * cols_, count, cols_};
  }
  [[nodiscard]] std::span<const double> values() const {
    return {data_, static_cast<std::size_t>(size())};
  }
  double operator()(Index i, Index j) const {
    assert(i >= 0 && i < rows_ && j >= 0 && j < cols_);
    return data_[i * cols_ + j];
  }

 private:
  const double* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
};

/// A batch that somebody else owns, to write.
class BatchSpan {
 public:
  BatchSpan() = default;
  BatchSpan(double* data, Index rows, Index cols) : data_(data), rows_(rows), cols_(cols) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index size() const { return rows_ * cols_; }
  [[nodiscard]] double* data() const { return data_; }

  [[nodiscard]] std::span<double> row(Index i) const {
    assert(i >= 0 && i < rows_);
    return {data_ + i * cols_, static_cast<std::size_t>(cols_)};
  }
  [[nodiscard]] BatchSpan rows(Index first, Index count) const {
    assert(first >= 0 && count >= 0 && first + count <= rows_);
    return {data_ + first * cols_, count, cols_};
  }
  [[nodiscard]] std::span<double> values() const {
    return {data_, static_cast<std::size_t>(size())};
  }
  double& operator()(Index i, Index j) const {
    assert(i >= 0 && i < rows_ && j >= 0 && j < cols_);
    return data_[i * cols_ + j];
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a writable batch is also a readable one.
  operator BatchView() const { return {data_, rows_, cols_}; }

 private:
  double* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
};

/// A batch that owns its memory.
class Batch {
 public:
  Batch() = default;
  Batch(Index rows, Index cols) { resize(rows, cols); }
  /// Of values that lie row by row, rows x cols of them.
  Batch(std::vector<double> values, Index rows, Index cols)
      : values_(std::move(values)), rows_(rows), cols_(cols) {
    assert(static_cast<Index>(values_.size()) == rows * cols);
  }

  /// Sets the shape; values are unspecified where the number of columns changed.
  void resize(Index rows, Index cols) {
    assert(rows >= 0 && cols >= 0);
    values_.resize(static_cast<std::size_t>(rows * cols));
    rows_ = rows;
    cols_ = cols;
  }
  void reserve(Index rows) { values_.reserve(static_cast<std::size_t>(rows * cols_)); }
  /// Adds one row at the end; `row` must have cols() values, and not be one of this batch's own.
  void append(std::span<const double> row) {
    assert(static_cast<Index>(row.size()) == cols_);
    values_.insert(values_.end(), row.begin(), row.end());
    ++rows_;
  }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] double* data() { return values_.data(); }
  [[nodiscard]] const double* data() const { return values_.data(); }
  [[nodiscard]] std::span<double> row(Index i) { return span().row(i); }
  [[nodiscard]] std::span<const double> row(Index i) const { return view().row(i); }
  [[nodiscard]] std::span<double> values() { return values_; }
  [[nodiscard]] std::span<const double> values() const { return values_; }
  double& operator()(Index i, Index j) { return span()(i, j); }
  double operator()(Index i, Index j) const { return view()(i, j); }

  [[nodiscard]] BatchView view() const { return {values_.data(), rows_, cols_}; }
  [[nodiscard]] BatchSpan span() { return {values_.data(), rows_, cols_}; }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator BatchView() const { return view(); }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator BatchSpan() { return span(); }

 private:
  std::vector<double> values_;
  Index rows_ = 0;
  Index cols_ = 0;
};

}  // namespace rarefy
