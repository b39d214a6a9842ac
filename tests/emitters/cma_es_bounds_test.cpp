// Boxes: drawn again, then reflected or clipped, and never forever.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "support/minimise.hpp"

namespace rarefy {
namespace {

using minimise::sampling_key;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Factor kFactors[] = {Factor::cholesky, Factor::eigen};
constexpr Repair kRepairs[] = {Repair::reflect, Repair::clip};

double at(const std::vector<double>& side, Index d) {
  return side.size() == 1 ? side[0] : side[static_cast<std::size_t>(d)];
}

void expect_inside(BatchView solutions, const Bounds& bounds) {
  for (Index i = 0; i < solutions.rows(); ++i) {
    for (Index d = 0; d < solutions.cols(); ++d) {
      ASSERT_TRUE(std::isfinite(solutions(i, d))) << i << ", " << d;
      ASSERT_GE(solutions(i, d), at(bounds.lower, d)) << i << ", " << d;
      ASSERT_LE(solutions(i, d), at(bounds.upper, d)) << i << ", " << d;
    }
  }
}

CmaEsOptions boxed(Index n, Index batch, double sigma0, Factor factor, Bounds bounds) {
  return {.dimension = n,
          .batch = batch,
          .sigma0 = sigma0,
          .factor = factor,
          .bounds = std::move(bounds)};
}

TEST(CmaEsBounds, EverySampleLiesInsideThroughoutARun) {
  const std::vector<Bounds> boxes = {
      {.lower = {-std::numbers::pi}, .upper = {std::numbers::pi}},  // an arm's angles
      {.lower = {-1, 0, -3, 2}, .upper = {1, 0.01, kInf, 5}},
      {.lower = {0}, .upper = {kInf}},
      {.lower = {-kInf}, .upper = {0}},
      {.lower = {-kInf}, .upper = {kInf}},
      {.lower = {-1}, .upper = {1}, .resamples = 0},
  };
  for (const auto factor : kFactors) {
    for (const auto repair : kRepairs) {
      for (auto bounds : boxes) {
        bounds.repair = repair;
        CmaEs optimizer(boxed(4, 12, 2.0, factor, bounds));
        Batch solutions(12, 4);
        for (std::uint64_t g = 0; g < 60; ++g) {
          optimizer.ask(sampling_key(4, g), solutions);
          ASSERT_NO_FATAL_FAILURE(expect_inside(solutions, bounds)) << g;
          std::vector<double> values;  // a slope that pushes against the walls
          for (Index i = 0; i < 12; ++i) {
            values.push_back(-solutions(i, 0) - solutions(i, 1) + solutions(i, 2));
          }
          optimizer.tell(solutions, minimise::ranked(values));
        }
      }
    }
  }
}

TEST(CmaEsBounds, AMeanFarOutsideEndsInTheBoxAndNotInAnEndlessLoop) {
  for (const auto repair : kRepairs) {
    for (const double where : {1e3, -1e6, 1e12, 1e200}) {
      for (const Index resamples : {0, 1, 10, 1000}) {
        const Bounds bounds = {
            .lower = {-1}, .upper = {2}, .resamples = resamples, .repair = repair};
        CmaEs optimizer(boxed(3, 6, 0.1, Factor::cholesky, bounds));
        optimizer.reset(std::vector<double>(3, where));
        Batch solutions(6, 3);
        optimizer.ask(sampling_key(1, 0), solutions);
        expect_inside(solutions, bounds);
        if (repair == Repair::clip) {
          EXPECT_TRUE(std::ranges::all_of(solutions.values(),
                                          [&](double x) { return x == (where > 0 ? 2.0 : -1.0); }));
        }
      }
    }
  }
}

// Without drawing again, the repaired batch is the free one reflected wall by wall, or clipped.
TEST(CmaEsBounds, RepairReflectsOrClipsTheFreeSample) {
  for (const auto factor : kFactors) {
    for (const auto repair : kRepairs) {
      const Bounds bounds = {
          .lower = {-0.5, -kInf, 0}, .upper = {1, 0.25, kInf}, .resamples = 0, .repair = repair};
      CmaEs free(boxed(3, 50, 1.5, factor, {}));
      CmaEs fenced(boxed(3, 50, 1.5, factor, bounds));
      Batch a(50, 3), b(50, 3);
      free.ask(sampling_key(8, 3), a);
      fenced.ask(sampling_key(8, 3), b);
      int outside = 0;
      for (Index i = 0; i < 50; ++i) {
        for (Index d = 0; d < 3; ++d) {
          const double low = at(bounds.lower, d), high = at(bounds.upper, d);
          double x = a(i, d);
          outside += x < low || x > high ? 1 : 0;
          while (x < low || x > high) {
            if (x < low) x = repair == Repair::clip ? low : 2 * low - x;
            if (x > high) x = repair == Repair::clip ? high : 2 * high - x;
          }
          ASSERT_NEAR(b(i, d), x, 1e-14) << i << ", " << d;
        }
      }
      EXPECT_GT(outside, 40);
    }
  }
}

// A row that lies inside is not touched; one that does not is drawn anew as a whole, from the
// normal distribution cut off at the box: 3,000 of them, symmetric about the mean (5 standard
// errors, false alarms 6e-7), none at the wall, where clipping would have put a third.
TEST(CmaEsBounds, OutsidersAreDrawnAgainAndInsidersKept) {
  const Bounds bounds = {.lower = {-1}, .upper = {1}, .resamples = 100, .repair = Repair::clip};
  CmaEs free(boxed(1, 10, 1.0, Factor::cholesky, {}));
  CmaEs fenced(boxed(1, 10, 1.0, Factor::cholesky, bounds));
  Batch a(10, 1), b(10, 1);
  double again = 0, positive = 0;
  for (std::uint64_t g = 0; g < 1000; ++g) {
    free.ask(sampling_key(6, g), a);
    fenced.ask(sampling_key(6, g), b);
    for (Index i = 0; i < 10; ++i) {
      if (std::abs(a(i, 0)) <= 1) {
        ASSERT_EQ(a(i, 0), b(i, 0));
        continue;
      }
      ASSERT_LT(std::abs(b(i, 0)), 1);
      again += 1;
      positive += b(i, 0) > 0 ? 1 : 0;
    }
  }
  EXPECT_NEAR(again, 3173, 5 * std::sqrt(10000 * 0.3173 * 0.6827));
  EXPECT_NEAR(positive / again, 0.5, 5 * std::sqrt(0.25 / again));
}

// Two rows that are drawn again in one generation, and one row in two, get different numbers.
TEST(CmaEsBounds, EveryDrawAgainIsAnotherOne) {
  const Bounds bounds = {.lower = {10}, .upper = {kInf}, .resamples = 3};
  CmaEs fenced(boxed(2, 8, 1.0, Factor::eigen, bounds));
  std::vector<double> seen;
  Batch solutions(8, 2);
  for (std::uint64_t g = 0; g < 20; ++g) {
    fenced.ask(sampling_key(2, g), solutions);
    seen.insert(seen.end(), solutions.values().begin(), solutions.values().end());
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(CmaEsBounds, ARunWithBoundsFindsAnOptimumAtTheWall) {
  for (const auto repair : kRepairs) {
    const Bounds bounds = {.lower = {1}, .upper = {3}, .repair = repair};
    CmaEs optimizer(boxed(5, 12, 0.5, Factor::cholesky, bounds));
    optimizer.reset(std::vector<double>(5, 2.0));
    Batch solutions(12, 5);
    double best = kInf;
    for (std::uint64_t g = 0; g < 400; ++g) {
      optimizer.ask(sampling_key(3, g), solutions);
      std::vector<double> values;
      for (Index i = 0; i < 12; ++i) values.push_back(minimise::sphere(solutions.view().row(i)));
      best = std::min(best, *std::min_element(values.begin(), values.end()));
      optimizer.tell(solutions, minimise::ranked(values));
    }
    EXPECT_GE(best, 5.0);
    EXPECT_LT(best, 5.01);  // the least of the sphere on the box is 5
  }
}

TEST(CmaEsBounds, ImpossibleBoxesAreRefused) {
  const auto refused = [](const Bounds& bounds) {
    try {
      const CmaEs optimizer(boxed(3, 6, 1.0, Factor::cholesky, bounds));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::parameter &&
             std::string(error.what()).find("bounds") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused({.lower = {1}, .upper = {1}}));
  EXPECT_TRUE(refused({.lower = {2}, .upper = {1}}));
  EXPECT_TRUE(refused({.lower = {0}, .upper = {}}));
  EXPECT_TRUE(refused({.lower = {}, .upper = {0}}));
  EXPECT_TRUE(refused({.lower = {0, 0}, .upper = {1, 1}}));
  EXPECT_TRUE(refused({.lower = {0, 0, 0}, .upper = {1, 1}}));
  EXPECT_TRUE(refused({.lower = {NAN}, .upper = {1}}));
  EXPECT_TRUE(refused({.lower = {0}, .upper = {NAN}}));
  EXPECT_TRUE(refused({.lower = {0, 0, 3}, .upper = {1}}));
  EXPECT_TRUE(refused({.lower = {0}, .upper = {1}, .resamples = -1}));
  EXPECT_TRUE(refused({.lower = {kInf}, .upper = {kInf}}));
  EXPECT_FALSE(refused({.lower = {-kInf, 0, 0}, .upper = {1}}));
  EXPECT_FALSE(refused({.lower = {}, .upper = {}}));
}

}  // namespace
}  // namespace rarefy
