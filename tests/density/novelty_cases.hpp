// What the tests of novelty share: archives made of given rows, and the definition to compare with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/novelty.hpp"

namespace novelty_cases {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::NoveltyDensity;
using rarefy::NoveltyOptions;
using rarefy::Workers;
using Values = std::vector<double>;

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

inline FeatureSpace box(Index dims) { return {Values(at(dims), -5.0), Values(at(dims), 5.0)}; }

inline Values scores_of(NoveltyDensity& density, BatchView features, Index threads = 1) {
  Workers workers(threads);
  Values scores(at(features.rows()), -7.0);
  density.score({features}, scores, workers);
  return scores;
}

struct Settings {
  Index neighbours = 100;
  double threshold = 0.0;
  bool count_batch = false;
};

inline NoveltyOptions options_of(const Settings& settings, Index dims) {
  return {.space = box(dims),
          .neighbours = settings.neighbours,
          .threshold = settings.threshold,
          .count_batch = settings.count_batch};
}

/// A novelty whose archive holds exactly these rows.
inline std::unique_ptr<NoveltyDensity> with_archive(BatchView members, const Settings& settings) {
  auto density = std::make_unique<NoveltyDensity>(options_of(settings, members.cols()));
  density->observe({members});  // into an empty archive goes everything
  EXPECT_EQ(density->members(), members.rows());
  return density;
}

inline long double distance(std::span<const double> a, std::span<const double> b) {
  long double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const long double difference = static_cast<long double>(a[d]) - b[d];
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

/// The definition: distances to all, sorted, the mean of the first k. `skip` is left out.
struct Reference {
  double novelty;
  double farthest;  // of the k neighbours
};
inline Reference reference(BatchView neighbours, std::span<const double> query, Index k,
                           Index skip = -1) {
  std::vector<long double> all;
  for (Index i = 0; i < neighbours.rows(); ++i) {
    if (i != skip) all.push_back(distance(query, neighbours.row(i)));
  }
  std::sort(all.begin(), all.end());
  all.resize(std::min(at(k), all.size()));
  long double sum = 0;
  for (const auto one : all) sum += one;
  return {static_cast<double>(sum / static_cast<long double>(all.size())),
          static_cast<double>(all.back())};
}

/// The error that the header states.
inline double documented_error(const Reference& exact, Index dims, Index k) {
  return (0.5 * static_cast<double>(dims) + 4.0) * 0x1p-53 * exact.novelty +
         static_cast<double>(k) * 0x1p-60 * exact.farthest;
}

inline Batch joined(BatchView a, BatchView b) {
  Batch all(0, a.cols());
  for (Index i = 0; i < a.rows(); ++i) all.append(a.row(i));
  for (Index i = 0; i < b.rows(); ++i) all.append(b.row(i));
  return all;
}

inline Batch column(const Values& values) {
  Batch batch(static_cast<Index>(values.size()), 1);
  std::copy(values.begin(), values.end(), batch.data());
  return batch;
}

inline Values archive_of(const NoveltyDensity& density) {
  const Batch members = density.archive();
  return {members.values().begin(), members.values().end()};
}

}  // namespace novelty_cases
