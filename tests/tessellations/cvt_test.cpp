#include "rarefy/tessellations/cvt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/workers.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Cvt;
using rarefy::CvtOptions;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::FeatureSpace;
using rarefy::Index;

std::vector<Index> cells_of(const Cvt& cvt, BatchView features) {
  std::vector<Index> cells(static_cast<std::size_t>(features.rows()), -1);
  cvt.assign(features, cells);
  return cells;
}

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

std::vector<double> values_of(BatchView batch) {
  return {batch.values().begin(), batch.values().end()};
}

/// Mean squared distance to the nearest centroid.
double quantisation_error(const Cvt& cvt, BatchView features) {
  const auto cells = cells_of(cvt, features);
  double sum = 0.0;
  for (Index i = 0; i < features.rows(); ++i) {
    sum +=
        squared_distance(features.row(i), cvt.centroids().row(cells[static_cast<std::size_t>(i)]));
  }
  return sum / static_cast<double>(features.rows());
}

const FeatureSpace kSquare{{0, 0}, {1, 1}};

TEST(Cvt, TheSameSeedGivesTheSameCentroidsWhateverTheThreads) {
  rarefy::Workers one(1), two(2), five(5);
  const CvtOptions options{.cells = 60, .samples = 3001, .seed = 4};
  const Cvt cvt(kSquare, options, one);
  EXPECT_EQ(values_of(Cvt(kSquare, options, two).centroids()), values_of(cvt.centroids()));
  EXPECT_EQ(values_of(Cvt(kSquare, options, five).centroids()), values_of(cvt.centroids()));
  auto other = options;
  other.seed = 5;
  EXPECT_NE(values_of(Cvt(kSquare, other, one).centroids()), values_of(cvt.centroids()));
}

TEST(Cvt, MakingThemCanBeStopped) {
  rarefy::Workers workers(2);
  std::atomic<bool> stop{false};
  const FeatureSpace space{{0, 0}, {1, 1}};
  const CvtOptions options{.cells = 20, .samples = 500};
  EXPECT_NO_THROW(Cvt(space, options, workers, &stop));
  stop = true;
  try {
    const Cvt cvt(space, options, workers, &stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    EXPECT_NE(std::string(error.what()).find("the cells were made"), std::string::npos);
  }
}

TEST(Cvt, CentroidsLieInsideTheSpaceAndApart) {
  rarefy::Workers workers(1);
  const FeatureSpace space{{-3, 100, 0}, {-1, 101, 0.001}};
  const Cvt cvt(space, {.cells = 80, .samples = 4000}, workers);
  ASSERT_EQ(cvt.cells(), 80);
  ASSERT_EQ(cvt.feature_dim(), 3);
  std::set<std::vector<double>> places;
  for (Index i = 0; i < cvt.cells(); ++i) {
    const auto row = cvt.centroids().row(i);
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_GT(row[d], space.lower[d]);
      EXPECT_LT(row[d], space.upper[d]);
    }
    places.emplace(row.begin(), row.end());
  }
  EXPECT_EQ(places.size(), 80U);
}

TEST(Cvt, AssignsToTheNearestCentroid) {
  rarefy::Workers workers(1);
  for (const Index dims : {1, 2, 3, 7, 10}) {
    std::vector<double> lower, upper;
    for (Index d = 0; d < dims; ++d) {
      lower.push_back(1000.0 * static_cast<double>(d) - 1.0);  // far from the origin
      upper.push_back(1000.0 * static_cast<double>(d) + 2.0);
    }
    const Cvt cvt({lower, upper}, {.cells = 101, .samples = 1000, .iterations = 5}, workers);
    for (std::size_t d = 0; d < lower.size(); ++d) {
      lower[d] -= 5.0;  // also from outside
      upper[d] += 5.0;
    }
    for (const Index rows : {1, 8, 37, 600}) {
      const Batch features = uniform_batch(rows, lower, upper, 9);
      const auto cells = cells_of(cvt, features);
      for (Index i = 0; i < rows; ++i) {
        double nearest = std::numeric_limits<double>::max();
        Index expected = -1;
        for (Index c = 0; c < cvt.cells(); ++c) {
          const double squared = squared_distance(features.row(i), cvt.centroids().row(c));
          if (squared < nearest) {
            nearest = squared;
            expected = c;
          }
        }
        const Index found = cells[static_cast<std::size_t>(i)];
        if (found == expected) continue;
        // Only a tie by the documented accuracy, 2^-50 of the largest squared norm, may differ.
        EXPECT_LE(squared_distance(features.row(i), cvt.centroids().row(found)) - nearest,
                  0x1p-50 * 64.0 * static_cast<double>(dims))
            << dims << " features, row " << i;
      }
    }
  }
}

TEST(Cvt, WorkersAssignTheSame) {
  rarefy::Workers three(3);
  const Cvt cvt(kSquare, {.cells = 50, .samples = 500, .iterations = 3}, three);
  const Batch features = uniform_batch(777, 2, -0.5, 1.5, 10);
  std::vector<Index> cells(777, -1);
  cvt.assign(features, cells, three);
  EXPECT_EQ(cells, cells_of(cvt, features));
}

TEST(Cvt, EqualDistancesGoToTheLowestNumber) {
  Batch centroids(40, 1);
  for (Index i = 0; i < 40; ++i) centroids(i, 0) = i % 2 == 0 ? -1.0 : 1.0;
  const Cvt cvt({{-2}, {2}}, centroids);
  Batch features(3, 1);
  features(0, 0) = 0.0;   // between all of them
  features(1, 0) = 1.5;   // nearest: 1, 3, 5, ...
  features(2, 0) = -1.5;  // nearest: 0, 2, 4, ...
  EXPECT_EQ(cells_of(cvt, features), (std::vector<Index>{0, 1, 0}));
}

// Cells of random centroids vary in size with a coefficient of 0.53 (planar Poisson-Voronoi);
// evenly spread ones must do much better. The seed is fixed: no false alarms once it passes.
TEST(Cvt, CellsAreRoughlyEqualInVolume) {
  rarefy::Workers workers(2);
  constexpr Index kCells = 100, kProbes = 100'000;
  const Cvt cvt(kSquare, {.cells = kCells, .samples = 20'000}, workers);
  std::vector<double> volumes(kCells);
  for (const Index cell : cells_of(cvt, uniform_batch(kProbes, 2, 0, 1, 11))) {
    ++volumes[static_cast<std::size_t>(cell)];
  }
  double variance = 0.0;
  constexpr double kMean = static_cast<double>(kProbes) / kCells;
  for (const double volume : volumes) {
    variance += (volume / kMean - 1.0) * (volume / kMean - 1.0) / kCells;
    EXPECT_GT(volume, 0.4 * kMean);
    EXPECT_LT(volume, 1.8 * kMean);
  }
  EXPECT_LT(std::sqrt(variance), 0.25);
}

// In the plane random centroids are 1/pi a cell away (squared, mean), and no arrangement at
// all is nearer than the hexagonal lattice, 5 / (18 sqrt 3); a CVT comes close to the latter.
TEST(Cvt, CentroidsAreMuchNearerThanRandomOnes) {
  rarefy::Workers workers(2);
  constexpr Index kCells = 200;
  const Batch probes = uniform_batch(40'000, 2, 0, 1, 12);
  const Cvt cvt(kSquare, {.cells = kCells, .samples = 20'000}, workers);
  const Cvt random(kSquare, uniform_batch(kCells, 2, 0, 1, 13));
  const double error = quantisation_error(cvt, probes);
  EXPECT_LT(error, 0.6 * quantisation_error(random, probes));
  EXPECT_LT(error * kCells, 1.15 * 5.0 / (18.0 * std::sqrt(3.0)));
}

TEST(Cvt, MoreIterationsNeverMakeItMuchWorse) {
  rarefy::Workers workers(2);
  const Batch probes = uniform_batch(20'000, 2, 0, 1, 14);
  double last = std::numeric_limits<double>::max();
  for (const Index iterations : {1, 3, 10, 50}) {
    const Cvt cvt(kSquare, {.cells = 100, .samples = 10'000, .iterations = iterations}, workers);
    const double error = quantisation_error(cvt, probes);
    EXPECT_LT(error, last);
    last = error;
  }
}

// A fixed point of Lloyd's algorithm: every centroid is the mean of its cell, up to the
// sampling error of both.
TEST(Cvt, CentroidsAreTheMeansOfTheirCells) {
  rarefy::Workers workers(2);
  constexpr Index kCells = 25;
  const Cvt cvt(kSquare, {.cells = kCells, .samples = 40'000, .iterations = 300}, workers);
  const Batch probes = uniform_batch(100'000, 2, 0, 1, 15);
  const auto cells = cells_of(cvt, probes);
  Batch sums(kCells, 2);
  std::vector<double> members(kCells);
  for (Index i = 0; i < probes.rows(); ++i) {
    const Index cell = cells[static_cast<std::size_t>(i)];
    ++members[static_cast<std::size_t>(cell)];
    for (Index d = 0; d < 2; ++d) sums(cell, d) += probes(i, d);
  }
  for (Index cell = 0; cell < kCells; ++cell) {
    for (Index d = 0; d < 2; ++d) {
      // A cell is 0.2 wide: deviation 0.06, and 1,600 samples of k-means in each.
      EXPECT_NEAR(sums(cell, d) / members[static_cast<std::size_t>(cell)], cvt.centroids()(cell, d),
                  0.012);
    }
  }
}

TEST(Cvt, TakesCentroidsThatWereMadeBefore) {
  rarefy::Workers workers(1);
  const Cvt made(kSquare, {.cells = 70, .samples = 2000, .iterations = 10}, workers);
  Batch centroids(70, 2);
  std::copy(made.centroids().values().begin(), made.centroids().values().end(), centroids.data());
  const Cvt taken(kSquare, centroids);
  EXPECT_EQ(values_of(taken.centroids()), values_of(made.centroids()));
  const Batch features = uniform_batch(500, 2, 0, 1, 16);
  EXPECT_EQ(cells_of(taken, features), cells_of(made, features));
  EXPECT_EQ(taken.name(), "cvt");
}

TEST(Cvt, OneCellTakesEverything) {
  rarefy::Workers workers(1);
  const Cvt cvt(kSquare, {.cells = 1, .samples = 1000}, workers);
  for (const Index cell : cells_of(cvt, uniform_batch(50, 2, -1, 2, 17))) EXPECT_EQ(cell, 0);
  EXPECT_NEAR(cvt.centroids()(0, 0), 0.5, 0.05);
}

TEST(Cvt, AsManyCellsAsSamplesAreTheSamples) {
  rarefy::Workers workers(1);
  const Cvt cvt(kSquare, {.cells = 64, .samples = 64}, workers);
  std::set<Index> reached;
  for (const Index cell : cells_of(cvt, cvt.centroids())) reached.insert(cell);
  EXPECT_EQ(reached.size(), 64U);
}

TEST(Cvt, ImpossibleOptionsAreRefused) {
  rarefy::Workers workers(1);
  const auto kind = [&](const FeatureSpace& space, const CvtOptions& options) {
    try {
      const Cvt cvt(space, options, workers);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::state;
  };
  EXPECT_EQ(kind(kSquare, {.cells = 0}), ErrorKind::parameter);
  EXPECT_EQ(kind(kSquare, {.cells = -1}), ErrorKind::parameter);
  EXPECT_EQ(kind(kSquare, {.cells = 100, .samples = 99}), ErrorKind::parameter);
  EXPECT_EQ(kind(kSquare, {.cells = 10, .samples = 100, .iterations = 0}), ErrorKind::parameter);
  EXPECT_EQ(kind({{0, 0}, {1}}, {.cells = 10, .samples = 100}), ErrorKind::parameter);
  EXPECT_EQ(kind({{0}, {0}}, {.cells = 10, .samples = 100}), ErrorKind::parameter);
}

TEST(Cvt, CentroidsThatCannotBeAreRefused) {
  const auto kind = [](Batch centroids) {
    try {
      const Cvt cvt(kSquare, std::move(centroids));
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::state;
  };
  EXPECT_EQ(kind(Batch(0, 2)), ErrorKind::data);
  EXPECT_EQ(kind(Batch(5, 3)), ErrorKind::data);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Batch centroids = uniform_batch(5, 2, 0, 1, 18);
    centroids(3, 1) = bad;
    EXPECT_EQ(kind(centroids), ErrorKind::data);
  }
}

// A space that no query can be assigned in must be refused when it is made, not when a search
// has already begun.
TEST(Cvt, TooManyFeaturesAreRefusedAtOnce) {
  const std::vector<double> zeros(600, 0.0), ones(600, 1.0);
  EXPECT_THROW(Cvt({zeros, ones}, Batch(2, 600)), Error);
}

// The size of the paper's multi-feature experiment. (How long it takes: cvt_build of `make bench`.)
TEST(SlowCvt, TenThousandCellsInTenDimensionsAreAsGoodAsThoseOfOthers) {
  const std::vector<double> lower(10, -51.2), upper(10, 51.2);
  rarefy::Workers workers(0);
  const Cvt cvt({lower, upper}, {}, workers);
  ASSERT_EQ(cvt.cells(), 10'000);
  for (Index i = 0; i < cvt.cells(); ++i) {
    for (const double value : cvt.centroids().row(i)) {
      ASSERT_GE(value, -51.2);
      ASSERT_LE(value, 51.2);
    }
  }
  // What k-means minimises, on the points it ran on. Other software (scikit-learn, the same
  // box, numbers of cells and samples, its own random points) comes to rest at 1,053.8; two
  // local optima of this size differ by far less than one per cent.
  rarefy::RandomStream random({.seed = 1, .purpose = rarefy::Purpose::centroids});
  Batch samples(100'000, 10);
  for (double& value : samples.values()) value = -51.2 + 102.4 * random.uniform();
  std::vector<Index> cells(100'000);
  cvt.assign(samples, cells, workers);
  double inertia = 0.0;
  std::vector<int> members(10'000);
  for (Index i = 0; i < samples.rows(); ++i) {
    const Index cell = cells[static_cast<std::size_t>(i)];
    inertia += squared_distance(samples.row(i), cvt.centroids().row(cell)) / 1e5;
    ++members[static_cast<std::size_t>(cell)];
  }
  EXPECT_NEAR(inertia, 1053.8, 10.5);
  EXPECT_GE(*std::min_element(members.begin(), members.end()), 1);
  EXPECT_LE(*std::max_element(members.begin(), members.end()), 40);
}

}  // namespace
