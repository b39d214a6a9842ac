#include "kernels/panels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using rarefy::RandomStream;
using rarefy::kernels::kPanelNodes;
using rarefy::kernels::kPanelWidth;
using rarefy::kernels::panel_nodes;
using rarefy::kernels::PanelPoint;

using Panels = WithInstructionSet;

constexpr std::ptrdiff_t kStride = 40;  // wider than a panel

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

RandomStream numbers(std::uint64_t seed) {
  return RandomStream({.seed = seed, .purpose = rarefy::Purpose::user});
}

// A polynomial of degree 13 in x and in y, of moderate size on the square.
class Polynomial {
 public:
  explicit Polynomial(std::uint64_t seed) : factors_(at(kPanelNodes * kPanelNodes)) {
    auto random = numbers(seed);
    for (double& factor : factors_) factor = random.uniform() - 0.5;
  }
  [[nodiscard]] double operator()(double x, double y) const {
    double sum = 0.0;
    for (std::ptrdiff_t i = 0; i < kPanelNodes; ++i) {
      for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
        sum += factors_[at(i * kPanelNodes + j)] * std::pow(x, i) * std::pow(y, j);
      }
    }
    return sum;
  }

 private:
  std::vector<double> factors_;
};

// Inside, on the edges, in the corners, at nodes and next to them.
std::vector<PanelPoint> places() {
  auto random = numbers(3);
  std::vector<PanelPoint> points;
  for (const double x : {-1.0, 1.0, 0.0, panel_nodes()[0], panel_nodes()[6], panel_nodes()[13],
                         std::nextafter(panel_nodes()[3], 1.0), panel_nodes()[9] + 1e-12}) {
    for (const double y :
         {-1.0, 0.3, 1.0, panel_nodes()[13], std::nextafter(panel_nodes()[0], 0)}) {
      points.push_back({x, y, 3 * kStride + 5, 1.0});
    }
  }
  for (int i = 0; i < 50; ++i) {
    points.push_back({2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0, 3 * kStride + 5,
                      random.uniform() - 0.3});
  }
  return points;
}

TEST(PanelNodes, AreTheZerosOfAChebyshevPolynomial) {
  for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
    EXPECT_NEAR(std::cos(kPanelNodes * std::acos(panel_nodes()[at(j)])), 0.0, 1e-13);
    if (j > 0) {
      EXPECT_GT(panel_nodes()[at(j)], panel_nodes()[at(j - 1)]);
    }
  }
}

TEST_P(Panels, ValuesAreThoseOfThePolynomialThroughTheNodes) {
  const Polynomial f(1);
  std::vector<double> values(at(30 * kStride), 1e30);  // what is not the panel's must not matter
  for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
    for (std::ptrdiff_t k = 0; k < kPanelNodes; ++k) {
      values[at((3 + j) * kStride + 5 + k)] = f(panel_nodes()[at(j)], panel_nodes()[at(k)]);
    }
  }
  const auto points = places();
  std::vector<double> out(points.size());
  rarefy::kernels::panel_values(points.data(), static_cast<std::ptrdiff_t>(points.size()),
                                values.data(), kStride, out.data());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(out[i], f(points[i].x, points[i].y), 1e-12) << points[i].x << ' ' << points[i].y;
  }
}

TEST_P(Panels, DepositsStandForThePointsInSumsOfPolynomials) {
  const auto points = places();
  std::vector<double> values(at(30 * kStride), 0.0);
  rarefy::kernels::panel_deposits(points.data(), static_cast<std::ptrdiff_t>(points.size()),
                                  values.data(), kStride);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Polynomial f(seed);
    double sum = 0.0;
    for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
      for (std::ptrdiff_t k = 0; k < kPanelNodes; ++k) {
        sum +=
            values[at((3 + j) * kStride + 5 + k)] * f(panel_nodes()[at(j)], panel_nodes()[at(k)]);
      }
    }
    double expected = 0.0;
    for (const auto& point : points) expected += point.weight * f(point.x, point.y);
    EXPECT_NEAR(sum, expected, 1e-11);
  }
  // Beside the panel's own values nothing has changed.
  for (std::ptrdiff_t j = 0; j < 30; ++j) {
    for (std::ptrdiff_t k = 0; k < kStride; ++k) {
      const bool own = j >= 3 && j < 3 + kPanelNodes && k >= 5 && k < 5 + kPanelNodes;
      if (!own) {
        ASSERT_EQ(values[at(j * kStride + k)], 0.0) << j << ' ' << k;
      }
    }
  }
}

TEST_P(Panels, ProductIsTheMatrixProduct) {
  auto random = numbers(5);
  for (const std::ptrdiff_t inner : {0, 1, 13, 126}) {
    for (const std::ptrdiff_t columns : {kPanelWidth, 3 * kPanelWidth}) {
      const std::ptrdiff_t a_stride = inner + 3;
      const std::ptrdiff_t b_stride = columns + 5;
      std::vector<double> a(at(kPanelNodes * a_stride));
      std::vector<double> b(at((inner + 1) * b_stride));
      for (double& v : a) v = random.uniform() - 0.5;
      for (double& v : b) v = random.uniform() - 0.5;
      std::vector<double> c(at(kPanelNodes * b_stride), -7.0);
      rarefy::kernels::panel_product(a.data(), a_stride, inner, b.data(), b_stride, columns,
                                     c.data(), b_stride);
      for (std::ptrdiff_t i = 0; i < kPanelNodes; ++i) {
        for (std::ptrdiff_t j = 0; j < b_stride; ++j) {
          double sum = j < columns ? 0.0 : -7.0;
          for (std::ptrdiff_t k = 0; j < columns && k < inner; ++k) {
            sum += a[at(i * a_stride + k)] * b[at(k * b_stride + j)];
          }
          ASSERT_NEAR(c[at(i * b_stride + j)], sum, 1e-13) << i << ' ' << j;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Panels, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

}  // namespace
