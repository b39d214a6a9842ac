#include "kernels/domains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

using rarefy::RandomStream;
using rarefy::kernels::clipped_sum;
using rarefy::kernels::shifted_rastrigin;
using rarefy::kernels::shifted_sphere;
using rarefy::kernels::sum_of_directions;

namespace {

constexpr long double kTurn = 2.0L * std::numbers::pi_v<long double>;
constexpr double kRounding = 0x1p-53;

struct Sum {
  long double value = 0;
  long double size = 0;  // of the terms' absolute values
  void add(long double term) { value += term, size += std::abs(term); }
};

// What rounding may do to a sum of `count` terms that are off by `ulps` each.
double sum_error(const Sum& sum, std::size_t count, double ulps = 0.5) {
  return (static_cast<double>(count) + 2.0 * ulps) * kRounding * static_cast<double>(sum.size);
}

std::vector<double> random_values(RandomStream& random, std::size_t count, double width) {
  std::vector<double> values(count);
  for (auto& value : values) value = width * (2.0 * random.uniform() - 1.0);
  return values;
}

std::ptrdiff_t size_of(const std::vector<double>& values) {
  return static_cast<std::ptrdiff_t>(values.size());
}

double clipped(double x, double range) { return clipped_sum(&x, 1, range); }

// The distance in units of the last place of the exact value.
double ulps_between(double found, long double exact) {
  const double place = std::nextafter(std::abs(static_cast<double>(exact)),
                                      std::numeric_limits<double>::infinity()) -
                       std::abs(static_cast<double>(exact));
  return static_cast<double>(std::abs(found - exact)) / place;
}

class DomainKernels : public WithInstructionSet {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, DomainKernels, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

TEST_P(DomainKernels, ClipIsTheIdentityInsideAndAReciprocalBeyond) {
  const double range = 5.12;
  const double above = std::nextafter(range, 6.0);
  const double below = std::nextafter(range, 5.0);
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(clipped(sign * 0.0, range), 0.0);
    EXPECT_EQ(clipped(sign * 1.25, range), sign * 1.25);
    EXPECT_EQ(clipped(sign * below, range), sign * below);
    EXPECT_EQ(clipped(sign * range, range), sign * range);  // the border belongs to the inside
    EXPECT_EQ(clipped(sign * above, range), sign * (range / above));
    EXPECT_EQ(clipped(sign * 10.24, range), sign * 0.5);
    EXPECT_EQ(clipped(sign * 1e300, range), sign * (range / 1e300));
    EXPECT_EQ(clipped(sign * 5e-324, range), sign * 5e-324);
    EXPECT_EQ(clipped(sign * std::numeric_limits<double>::infinity(), range), 0.0);
  }
  EXPECT_TRUE(std::isnan(clipped(std::numeric_limits<double>::quiet_NaN(), range)));
}

TEST_P(DomainKernels, ClippedSumIsThatOfItsTerms) {
  RandomStream random({.seed = 1});
  for (std::size_t count = 0; count < 70; ++count) {
    for (const double width : {1.0, 5.12, 20.0, 1e6}) {
      auto x = random_values(random, count, width);
      if (count > 2) x[count / 2] = 5.12;
      Sum exact;
      for (const double v : x) exact.add(std::abs(v) <= 5.12 ? v : 5.12L / v);
      EXPECT_NEAR(clipped_sum(x.data(), size_of(x), 5.12), static_cast<double>(exact.value),
                  sum_error(exact, count))
          << count << " values";
    }
  }
}

TEST_P(DomainKernels, SphereIsTheSumOfSquares) {
  RandomStream random({.seed = 2});
  for (std::size_t count = 0; count < 70; ++count) {
    for (const double shift : {0.0, 2.048, -1e3}) {
      const auto x = random_values(random, count, 10.0);
      Sum exact;
      for (const double v : x) {
        const long double t = static_cast<long double>(v) - shift;
        exact.add(t * t);
      }
      // The difference is rounded once, its square doubles that and is rounded again.
      EXPECT_NEAR(shifted_sphere(x.data(), size_of(x), shift), static_cast<double>(exact.value),
                  sum_error(exact, count, 1.5))
          << count << " values";
    }
  }
  const std::vector<double> least(13, 2.048);
  EXPECT_EQ(shifted_sphere(least.data(), 13, 2.048), 0.0);
}

// 10 (1 - cos 2 pi t) + t^2; the cosine is within 3 ulp of that of the rounded angle, which is off
// by 2^-52 of itself (pi and the product, each rounded).
TEST_P(DomainKernels, RastriginIsTheSumOfItsTerms) {
  RandomStream random({.seed = 3});
  for (std::size_t count = 0; count < 70; ++count) {
    for (const double shift : {0.0, 2.048}) {
      for (const double width : {0.01, 5.12, 1000.0, 5990.0}) {
        const auto x = random_values(random, count, width);
        Sum exact;
        double bound = 0.0;
        for (const double v : x) {
          const long double t = static_cast<long double>(v - shift);
          const long double c = std::cos(kTurn * (t - std::nearbyint(t)));
          exact.add(t * t + 10.0L * (1.0L - c));
          const auto angle = static_cast<double>(kTurn * std::abs(t));
          bound += 10.0 * (6.0 + 2.0 + angle * 2.0) * kRounding +
                   3.0 * static_cast<double>(t * t) * kRounding;
        }
        EXPECT_NEAR(shifted_rastrigin(x.data(), size_of(x), shift),
                    static_cast<double>(exact.value), bound + sum_error(exact, count, 1.0))
            << count << " values, width " << width;
      }
    }
  }
}

// Only the cosines of the values themselves may be off, by 3 ulp; nothing comes from the places
// that fill up the last vector.
TEST_P(DomainKernels, RastriginIsNearlyZeroAtItsLeast) {
  for (const double shift : {0.0, 2.048, -3.0}) {
    for (std::size_t count = 0; count < 20; ++count) {
      const std::vector<double> x(count, shift);
      EXPECT_NEAR(shifted_rastrigin(x.data(), size_of(x), shift), 0.0,
                  10.0 * 3.0 * kRounding * static_cast<double>(count))
          << count << " values";
    }
  }
}

// The header: beyond |t| = 6000 the quadratic term is a million times larger than the cosine. So
// whatever the cosine, the value is that of the sphere to within 20 / t^2.
TEST_P(DomainKernels, RastriginIsNearlyTheSphereFarOut) {
  for (double t = 6000.25; t < 1e150; t *= 3.7) {
    for (const double sign : {1.0, -1.0}) {
      const double x = sign * t;
      const double found = shifted_rastrigin(&x, 1, 0.0);
      ASSERT_GE(found, t * t * (1.0 - 1e-15)) << x;
      ASSERT_LE(found, t * t * (1.0 + 1e-15) + 20.000001) << x;
    }
  }
}

TEST_P(DomainKernels, DirectionsAreWithinThreeUlp) {
  RandomStream random({.seed = 4});
  std::vector<double> angles;
  for (const double width : {1e-9, 0.1, 3.2, 100.0, 39'000.0}) {
    const auto some = random_values(random, 4000, width);
    angles.insert(angles.end(), some.begin(), some.end());
  }
  for (int quarter = -16; quarter <= 16; ++quarter) {
    const double at = quarter * (std::numbers::pi / 2.0);
    angles.insert(angles.end(), {at, std::nextafter(at, 99.0), std::nextafter(at, -99.0)});
  }
  for (const double angle : angles) {
    double c = 0.0, s = 0.0;
    sum_of_directions(&angle, 1, &c, &s);
    const long double exact_c = std::cos(static_cast<long double>(angle));
    const long double exact_s = std::sin(static_cast<long double>(angle));
    ASSERT_LE(ulps_between(c, exact_c), 3.0) << "cos " << angle;
    ASSERT_LE(ulps_between(s, exact_s), 3.0) << "sin " << angle;
  }
}

TEST_P(DomainKernels, DirectionsAddUp) {
  RandomStream random({.seed = 5});
  for (std::size_t count = 0; count < 70; ++count) {
    const auto angles = random_values(random, count, 40.0);
    Sum c, s;
    for (const double angle : angles) {
      c.add(std::cos(static_cast<long double>(angle)));
      s.add(std::sin(static_cast<long double>(angle)));
    }
    double cosines = 0.0, sines = 0.0;
    sum_of_directions(angles.data(), size_of(angles), &cosines, &sines);
    EXPECT_NEAR(cosines, static_cast<double>(c.value), sum_error(c, count, 3.0)) << count;
    EXPECT_NEAR(sines, static_cast<double>(s.value), sum_error(s, count, 3.0)) << count;
  }
}

TEST_P(DomainKernels, DirectionsAddToWhatIsThere) {
  const std::vector<double> angles = {0.0, 0.0, 0.0};
  double cosines = 10.0, sines = 20.0;
  sum_of_directions(angles.data(), 3, &cosines, &sines);
  EXPECT_EQ(cosines, 13.0);
  EXPECT_EQ(sines, 20.0);
  sum_of_directions(nullptr, 0, &cosines, &sines);
  EXPECT_EQ(cosines, 13.0);
  EXPECT_EQ(sines, 20.0);
}

TEST_P(DomainKernels, ReadNothingPastTheEnd) {
  // What lies beyond would show in the sums, were it read.
  std::vector<double> x(24, std::numeric_limits<double>::quiet_NaN());
  for (std::ptrdiff_t count = 0; count <= 16; ++count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = 1.0;
    double c = 0.0, s = 0.0;
    sum_of_directions(x.data(), count, &c, &s);
    EXPECT_EQ(clipped_sum(x.data(), count, 5.12), static_cast<double>(count));
    EXPECT_EQ(shifted_sphere(x.data(), count, 3.0), 4.0 * static_cast<double>(count));
    EXPECT_NEAR(shifted_rastrigin(x.data(), count, 0.0), static_cast<double>(count), 1e-12);
    EXPECT_FALSE(std::isnan(c) || std::isnan(s));
  }
}
