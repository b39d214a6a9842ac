// Sums over features whose kernels have the widths of LocalClasses, by one of two methods.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "density/kde/kde_sums.hpp"
#include "density/kde/local_classes.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/feature_buffer.hpp"

namespace rarefy {

class ClassSums {
 public:
  ClassSums() = default;
  virtual ~ClassSums() = default;
  ClassSums(const ClassSums&) = delete;
  ClassSums& operator=(const ClassSums&) = delete;

  /// What came into each class and what left it; and what is in the buffer now.
  struct Change {
    std::span<const Exchange> of_class;
    BatchView contents;
    const ClassOfSlot& classes;
  };
  /// Before so many queries.
  virtual void change(const Change& change, Index queries, Workers& workers) = 0;

  /// As those of KdeSums.
  virtual void prepare(Index queries) = 0;
  /// The logarithm of the sum over all features i of lambda_i^-m exp(-u_i^2 / (2 lambda_i^2)) at
  /// each row; NaN where it is too small for the method.
  virtual void log_sums(BatchView features, Index first, std::span<double> out) = 0;

  [[nodiscard]] virtual std::string description() const = 0;
  virtual void save(StateWriter& out) const = 0;
  /// What is in the buffer has been loaded before.
  virtual void load(StateReader& in, BatchView contents, const ClassOfSlot& classes) = 0;
};

}  // namespace rarefy
