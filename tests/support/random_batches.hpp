// Batches of random numbers for tests that need some, the same on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/random.hpp"

/// Rows spread evenly over the box [lower, upper).
inline rarefy::Batch uniform_batch(rarefy::Index rows, std::span<const double> lower,
                                   std::span<const double> upper, std::uint64_t seed) {
  rarefy::RandomStream random({.seed = seed, .purpose = rarefy::Purpose::user});
  rarefy::Batch batch(rows, static_cast<rarefy::Index>(lower.size()));
  for (rarefy::Index i = 0; i < rows; ++i) {
    for (std::size_t d = 0; d < lower.size(); ++d) {
      batch.row(i)[d] = lower[d] + random.uniform() * (upper[d] - lower[d]);
    }
  }
  return batch;
}

inline rarefy::Batch uniform_batch(rarefy::Index rows, rarefy::Index cols, double low, double high,
                                   std::uint64_t seed) {
  const std::vector<double> lower(static_cast<std::size_t>(cols), low);
  const std::vector<double> upper(static_cast<std::size_t>(cols), high);
  return uniform_batch(rows, lower, upper, seed);
}

/// One column: first, first + 1, ...
inline rarefy::Batch counting_batch(rarefy::Index rows, double first = 0.0) {
  rarefy::Batch batch(rows, 1);
  for (rarefy::Index i = 0; i < rows; ++i) batch(i, 0) = first + static_cast<double>(i);
  return batch;
}
