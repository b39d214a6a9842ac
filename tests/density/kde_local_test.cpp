// Kernel density estimation with a bandwidth for each feature: that it is the sum that it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "density/kde_reference.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"

namespace {

using kde_reference::distance;
using kde_reference::scores_of;
using rarefy::Bandwidth;
using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FeatureSpace;
using rarefy::Index;
using rarefy::KdeMethod;
using rarefy::Kernel;
using rarefy::KernelDensity;

constexpr Index kCapacity = 2500;

FeatureSpace box(Index dims) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, -1.0), std::vector<double>(count, 1.0)};
}

std::unique_ptr<KernelDensity> estimate(Index dims, KdeMethod method = KdeMethod::automatic,
                                        Index capacity = kCapacity) {
  return std::make_unique<KernelDensity>(
      rarefy::KdeOptions{.space = box(dims), .bandwidth = Bandwidth::local(), .method = method},
      std::make_unique<rarefy::Reservoir>(
          rarefy::ReservoirOptions{.feature_dim = dims, .capacity = capacity, .seed = 1}));
}

// A crowd about the middle that grows from one iteration to the next; every seventh is far out.
Batch crowd(Index dims, std::uint64_t iteration, Index rows = 300) {
  Batch batch(rows, dims);
  rarefy::fill_normals({.seed = 5, .iteration = iteration}, batch.values());
  for (Index i = 0; i < rows; ++i) {
    const double size = i % 7 == 0 ? 0.6 : 0.05 + 0.01 * static_cast<double>(iteration);
    for (double& value : batch.row(i)) value *= size;
  }
  return batch;
}

// ln of the mean of K(u_i / lambda_i) / lambda_i^m, over the integral of a kernel.
double exact(const KernelDensity& kde, std::span<const double> query) {
  const auto samples = kde.samples();
  const auto multiples = kde.multiples();
  const auto dims = static_cast<double>(samples.cols());
  std::vector<double> terms;
  for (Index i = 0; i < samples.rows(); ++i) {
    const double multiple = multiples[static_cast<std::size_t>(i)];
    const double u = distance(query, samples.row(i), kde.bandwidths()) / multiple;
    terms.push_back(-0.5 * u * u - dims * std::log(multiple));
  }
  const double greatest = *std::max_element(terms.begin(), terms.end());
  double sum = 0.0;
  for (const double term : terms) sum += std::exp(term - greatest);
  double log_rest =
      std::log(static_cast<double>(samples.rows())) + 0.5 * dims * std::log(2.0 * std::numbers::pi);
  for (const double h : kde.bandwidths()) log_rest += std::log(h);
  return std::log(sum) + greatest - log_rest;
}

double stated_error(const KernelDensity& kde, Index dims) {
  if (kde.method() == KdeMethod::panels) return 1e-5;
  return 2e-6 * (1.0 + 2.0 * kde_reference::radius(box(dims), kde.bandwidths()));
}

const auto kCases = {std::tuple{1, KdeMethod::panels}, std::tuple{2, KdeMethod::panels},
                     std::tuple{2, KdeMethod::direct}, std::tuple{3, KdeMethod::automatic},
                     std::tuple{10, KdeMethod::direct}};

// While the buffer fills, while features go, and where nothing is near.
TEST(KdeLocal, IsTheEstimateWithTheWidthsThatItSays) {
  for (const auto& [dims, method] : kCases) {
    const auto kde = estimate(dims, method);
    for (std::uint64_t i = 0; i < 30; ++i) {
      kde->observe({crowd(dims, i)});
      ASSERT_EQ(static_cast<Index>(kde->multiples().size()), kde->samples().rows());
      for (const double size : {1.0, 4.0, 30.0}) {
        Batch queries = crowd(dims, 100 + i, 21);
        for (double& value : queries.values()) value *= size;
        const auto scores = scores_of(*kde, queries);
        for (Index k = 0; k < queries.rows(); ++k) {
          const double expected = exact(*kde, queries.view().row(k));
          ASSERT_NEAR(scores[static_cast<std::size_t>(k)], expected,
                      stated_error(*kde, dims) + 1e-12 * std::abs(expected))
              << dims << " features, " << rarefy::name_of(kde->method()) << ", " << i << ", "
              << size;
        }
      }
    }
  }
}

TEST(KdeLocal, FollowsTheSquareRootLaw) {
  for (const auto& [dims, method] : kCases) {
    const auto kde = estimate(dims, method);
    kde->observe({crowd(dims, 7, 800)});  // the first are fitted at once
    const auto samples = kde->samples();
    std::vector<double> log_pilot;
    double mean = 0.0;
    for (Index i = 0; i < samples.rows(); ++i) {
      log_pilot.push_back(
          kde_reference::log_density(Kernel::gaussian, samples, kde->bandwidths(), samples.row(i)));
      mean += log_pilot.back() / static_cast<double>(samples.rows());
    }
    const auto multiples = kde->multiples();
    int different = 0;
    for (std::size_t i = 0; i < multiples.size(); ++i) {
      const double lambda = std::clamp(std::exp(-0.5 * (log_pilot[i] - mean)), 0.5, 2.0);
      // Rounded to a power of sqrt(2), on the scale of logarithms.
      ASSERT_LE(std::abs(std::log2(multiples[i] / lambda)), 0.25 + 1e-4);
      if (multiples[i] != 1.0) ++different;
    }
    EXPECT_GT(different, dims < 10 ? 400 : -1);
    EXPECT_EQ(kde->bandwidths()[0], Bandwidth::automatic().resolve(box(dims), kCapacity)[0]);
  }
}

TEST(KdeLocal, FitsAnewWheneverHalfAsManyHaveBeenSeen) {
  const auto kde = estimate(2);
  int fits = 0;
  for (std::uint64_t i = 0; i < 8; ++i) {  // the buffer only fills: widths change by fits alone
    const auto before = kde->multiples();
    kde->observe({crowd(2, 30 + i)});  // as wide as kernels are, so that each fit tells
    const auto now = kde->multiples();
    if (!std::equal(before.begin(), before.end(), now.begin())) ++fits;
  }
  EXPECT_EQ(fits, 3);  // with 600, 1200 and 2100 seen; the first one had nothing to change
}

TEST(KdeLocal, IntegratesToOne) {
  const auto kde = estimate(1, KdeMethod::panels);
  for (std::uint64_t i = 0; i < 12; ++i) kde->observe({crowd(1, i)});
  constexpr Index kSteps = 20'000;
  Batch places(kSteps, 1);
  for (Index i = 0; i < kSteps; ++i) {
    places(i, 0) = -10.0 + 20.0 * (static_cast<double>(i) + 0.5) / kSteps;
  }
  double integral = 0.0;
  for (const double score : scores_of(*kde, places)) integral += std::exp(score) * 20.0 / kSteps;
  EXPECT_NEAR(integral, 1.0, 1e-5);
}

TEST(KdeLocal, NumberOfThreadsChangesNoBit) {
  rarefy::Workers alone(1), three(3);
  for (const auto& [dims, method] : kCases) {
    const auto one = estimate(dims, method), other = estimate(dims, method);
    for (std::uint64_t i = 0; i < 14; ++i) {
      const Batch batch = crowd(dims, i);
      EXPECT_EQ(scores_of(*one, batch, alone), scores_of(*other, batch, three));
      one->observe({batch}, alone);
      other->observe({batch}, three);
      EXPECT_EQ(one->multiples(), other->multiples());
    }
  }
}

std::vector<std::byte> state_of(const KernelDensity& kde) {
  rarefy::StateWriter out;
  kde.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

// After every batch, those with fits and those between them.
TEST(KdeLocal, GoesOnToTheSameBitsFromASavedState) {
  for (const auto& [dims, method] : kCases) {
    const auto kde = estimate(dims, method);
    for (std::uint64_t i = 0; i < 14; ++i) {
      const auto state = state_of(*kde);
      const auto other = estimate(dims, method);
      if (i % 2 == 1) other->observe({crowd(dims, 50)});  // which loading forgets
      rarefy::StateReader in(state);
      other->load(in);
      EXPECT_TRUE(in.at_end());
      EXPECT_EQ(state_of(*other), state);
      const Batch batch = crowd(dims, i);
      EXPECT_EQ(scores_of(*other, batch), scores_of(*kde, batch));
      kde->observe({batch});
      other->observe({batch});
      EXPECT_EQ(state_of(*other), state_of(*kde));
    }
  }
}

// Values that are well-formed, and cannot be.
TEST(KdeLocal, ForgedStatesAreRefused) {
  const auto kde = estimate(2, KdeMethod::panels);
  kde->observe({crowd(2, 1)});
  const auto state = state_of(*kde);
  const std::string name = "kde.local.classes";
  const auto* const letters = reinterpret_cast<const std::byte*>(name.data());
  const auto found = std::search(state.begin(), state.end(), letters, letters + name.size());
  ASSERT_NE(found, state.end());
  const auto first = static_cast<std::size_t>(found - state.begin());
  // Each byte behind the name, which changes the type, the count or a class.
  int refused = 0;
  for (std::size_t k = 0; k < 60; ++k) {
    for (const int value : {0, 3, 5, 255}) {
      auto forged = state;
      auto& byte = forged[first + name.size() + k];
      if (byte == static_cast<std::byte>(value)) continue;
      byte = static_cast<std::byte>(value);
      const auto other = estimate(2, KdeMethod::panels);
      rarefy::StateReader in(forged);
      try {
        other->load(in);
        ADD_FAILURE() << "byte " << k << " as " << value << " was taken";
      } catch (const rarefy::Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(KdeLocal, RepeatedAndDistantFeaturesAreNoTrouble) {
  for (const auto method : {KdeMethod::panels, KdeMethod::direct}) {
    const auto kde = estimate(2, method, 50);
    Batch batch(120, 2);
    for (Index i = 0; i < batch.rows(); ++i) {
      const double far = i % 10 == 0 ? 1e200 * static_cast<double>(i) : 0.0;
      batch(i, 0) = i % 3 == 0 ? 3.0 : 0.25 + far;
      batch(i, 1) = 0.25;
    }
    for (int i = 0; i < 5; ++i) {
      kde->observe({batch});
      for (const double score : scores_of(*kde, batch)) EXPECT_TRUE(std::isfinite(score));
      const auto query = batch.view().row(1);
      EXPECT_NEAR(scores_of(*kde, batch)[1], exact(*kde, query), 1e-4);
    }
  }
}

TEST(KdeLocal, TakesABufferThatIsFull) {
  const Batch points = crowd(2, 9, kCapacity);
  auto kde = kde_reference::estimate_over(
      points, {.space = box(2), .bandwidth = Bandwidth::local(), .method = KdeMethod::panels});
  const auto once = estimate(2, KdeMethod::panels);
  once->observe({points});
  EXPECT_EQ(kde.multiples(), once->multiples());
  const auto query = points.view().rows(0, 1);
  EXPECT_NEAR(scores_of(kde, query)[0], exact(kde, query.row(0)), 1e-5);
}

TEST(KdeLocal, IsRefusedWhereItCannotWork) {
  const auto method = [](rarefy::KdeOptions options, Index capacity) {
    options.bandwidth = Bandwidth::local();
    return KernelDensity::method_for(options, capacity);
  };
  EXPECT_EQ(method({.space = box(2)}, 10'000), KdeMethod::panels);
  EXPECT_EQ(method({.space = box(2)}, 100), KdeMethod::direct);
  EXPECT_EQ(method({.space = box(3)}, 100'000), KdeMethod::direct);  // where others have blocks
  EXPECT_THROW((void)method({.space = box(2)}, 0), rarefy::Error);
  EXPECT_THROW((void)method({.space = box(3), .method = KdeMethod::blocks}, 100), rarefy::Error);
  EXPECT_THROW((void)method({.space = box(3), .method = KdeMethod::panels}, 100), rarefy::Error);
  try {
    (void)method({.space = box(2), .kernel = Kernel::triangular}, 100);
    FAIL();
  } catch (const rarefy::Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("bandwidth"), std::string::npos) << what;
    EXPECT_NE(what.find("triangular"), std::string::npos) << what;
    EXPECT_NE(what.find("gaussian"), std::string::npos) << what;
  }
  EXPECT_TRUE(estimate(2)->multiples().empty());
}

}  // namespace
