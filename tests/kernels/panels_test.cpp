#include "kernels/panels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using rarefy::RandomStream;
using rarefy::kernels::kPanelBlock;
using rarefy::kernels::kPanelNodes;
using rarefy::kernels::kProductRows;
using rarefy::kernels::panel_nodes;
using rarefy::kernels::PanelPoint;

using Panels = WithInstructionSet;

constexpr std::ptrdiff_t kBlocks = 5;  // of which the points are on some

std::size_t at(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

RandomStream numbers(std::uint64_t seed) {
  return RandomStream({.seed = seed, .purpose = rarefy::Purpose::user});
}

// A polynomial of degree 15 in x and in y, of moderate size on the square.
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

// Inside, on the edges, in the corners, at nodes and next to them; on three panels, by turns and
// one after the other.
std::vector<PanelPoint> places() {
  auto random = numbers(3);
  std::vector<PanelPoint> points;
  std::ptrdiff_t panel = 1;
  for (const double x : {-1.0, 1.0, 0.0, panel_nodes()[0], panel_nodes()[6], panel_nodes()[15],
                         std::nextafter(panel_nodes()[3], 1.0), panel_nodes()[9] + 1e-12}) {
    for (const double y :
         {-1.0, 0.3, 1.0, panel_nodes()[15], std::nextafter(panel_nodes()[0], 0)}) {
      points.push_back({x, y, panel * kPanelBlock, 1.0});
      panel = 4 - panel;
    }
  }
  for (int i = 0; i < 150; ++i) {
    points.push_back({2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0,
                      i < 100 ? 2 * kPanelBlock : 3 * kPanelBlock, random.uniform() - 0.3});
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
  std::vector<double> values(at(kBlocks * kPanelBlock), 1e30);
  std::vector<Polynomial> polynomials;
  for (std::ptrdiff_t panel = 0; panel < kBlocks; ++panel) {
    const Polynomial& f = polynomials.emplace_back(static_cast<std::uint64_t>(panel));
    if (panel == 0 || panel == 4) continue;  // what is not the points' panels must not matter
    for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
      for (std::ptrdiff_t k = 0; k < kPanelNodes; ++k) {
        values[at(panel * kPanelBlock + j * kPanelNodes + k)] =
            f(panel_nodes()[at(j)], panel_nodes()[at(k)]);
      }
    }
  }
  const auto points = places();
  std::vector<double> out(points.size());
  rarefy::kernels::panel_values(points.data(), static_cast<std::ptrdiff_t>(points.size()),
                                values.data(), out.data());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Polynomial& f = polynomials[at(points[i].offset / kPanelBlock)];
    EXPECT_NEAR(out[i], f(points[i].x, points[i].y), 1e-12) << points[i].x << ' ' << points[i].y;
  }
}

TEST_P(Panels, DepositsStandForThePointsInSumsOfPolynomials) {
  const auto points = places();
  std::vector<double> values(at(kBlocks * kPanelBlock), 0.0);
  rarefy::kernels::panel_deposits(points.data(), static_cast<std::ptrdiff_t>(points.size()),
                                  values.data());
  for (std::ptrdiff_t panel = 0; panel < kBlocks; ++panel) {
    const Polynomial f(static_cast<std::uint64_t>(10 + panel));
    double sum = 0.0;
    for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
      for (std::ptrdiff_t k = 0; k < kPanelNodes; ++k) {
        sum += values[at(panel * kPanelBlock + j * kPanelNodes + k)] *
               f(panel_nodes()[at(j)], panel_nodes()[at(k)]);
      }
    }
    double expected = 0.0;
    for (const auto& point : points) {
      if (point.offset == panel * kPanelBlock) expected += point.weight * f(point.x, point.y);
    }
    EXPECT_NEAR(sum, expected, 1e-11);
  }
  // On panels without points nothing has changed.
  for (const std::ptrdiff_t panel : {0, 4}) {
    for (std::ptrdiff_t i = 0; i < kPanelBlock; ++i) {
      ASSERT_EQ(values[at(panel * kPanelBlock + i)], 0.0);
    }
  }
}

TEST_P(Panels, DepositsOfNoPointsChangeNothing) {
  std::vector<double> values(at(kPanelBlock), 3.0);
  rarefy::kernels::panel_deposits(nullptr, 0, values.data());
  EXPECT_EQ(values, std::vector<double>(at(kPanelBlock), 3.0));
}

TEST_P(Panels, ProductIsTheMatrixProduct) {
  auto random = numbers(5);
  for (const std::ptrdiff_t inner : {0, 1, 13, 126}) {
    for (const std::ptrdiff_t columns : {kPanelNodes, 3 * kPanelNodes}) {
      const std::ptrdiff_t a_stride = inner + 3;
      const std::ptrdiff_t b_stride = columns + 5;
      std::vector<double> a(at(kProductRows * a_stride));
      std::vector<double> b(at((inner + 1) * b_stride));
      for (double& v : a) v = random.uniform() - 0.5;
      for (double& v : b) v = random.uniform() - 0.5;
      std::vector<double> c(at(kProductRows * b_stride), -7.0);
      rarefy::kernels::panel_product(a.data(), a_stride, inner, b.data(), b_stride, columns,
                                     c.data(), b_stride);
      for (std::ptrdiff_t i = 0; i < kProductRows; ++i) {
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

// A function on a panel and its three mirror images, as the definition says it.
TEST_P(Panels, FoldingGivesTheEvenAndOddParts) {
  auto random = numbers(7);
  std::vector<double> values(at(4 * kPanelBlock));
  for (double& v : values) v = random.uniform() - 0.5;
  const std::ptrdiff_t stride = 2 * kPanelNodes;
  std::vector<double> out(at(4 * kPanelNodes * stride), -7.0);
  const auto block = [&](std::ptrdiff_t i) { return values.data() + i * kPanelBlock; };
  const auto part = [&](std::ptrdiff_t i) { return out.data() + i * kPanelNodes * stride; };
  rarefy::kernels::fold_panels({block(0), block(1), block(2), block(3)},
                               {part(0), part(1), part(2), part(3)}, stride);
  const auto last = kPanelNodes - 1;
  const auto value = [&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
    return values[at(i * kPanelBlock + j * kPanelNodes + k)];
  };
  for (std::ptrdiff_t j = 0; j < kPanelNodes; ++j) {
    for (std::ptrdiff_t k = 0; k < kPanelNodes; ++k) {
      const double f = value(0, j, k);
      const double y = value(1, j, last - k);
      const double x = value(2, last - j, k);
      const double xy = value(3, last - j, last - k);
      const auto to = j * stride + k;
      EXPECT_NEAR(part(0)[to], f + y + x + xy, 1e-15);
      EXPECT_NEAR(part(1)[to], f - y + x - xy, 1e-15);
      EXPECT_NEAR(part(2)[to], f + y - x - xy, 1e-15);
      EXPECT_NEAR(part(3)[to], f - y - x + xy, 1e-15);
      EXPECT_EQ(part(0)[to + kPanelNodes], -7.0);
    }
  }
}

TEST_P(Panels, UnfoldingIsTheWayBack) {
  auto random = numbers(8);
  std::vector<double> values(at(4 * kPanelBlock));
  for (double& v : values) v = random.uniform() - 0.5;
  std::vector<double> parts(values.size());
  std::vector<double> back(values.size());
  const auto in = [](auto& vector) {
    return std::array{vector.data(), vector.data() + kPanelBlock, vector.data() + 2 * kPanelBlock,
                      vector.data() + 3 * kPanelBlock};
  };
  const auto& constant = values;
  rarefy::kernels::fold_panels(in(constant), in(parts), kPanelNodes);
  double greatest = 0.0;
  for (std::ptrdiff_t row = 0; row < kPanelNodes; row += kProductRows) {
    const double* first = parts.data() + row * kPanelNodes;
    greatest = std::max(
        greatest, rarefy::kernels::unfold_panels({first, first + kPanelBlock,
                                                  first + 2 * kPanelBlock, first + 3 * kPanelBlock},
                                                 row, in(back)));
  }
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(back[i], 4.0 * values[i], 1e-14) << i;
  EXPECT_EQ(greatest, *std::max_element(back.begin(), back.end()));
}

INSTANTIATE_TEST_SUITE_P(All, Panels, testing::ValuesIn(available_instruction_sets()),
                         instruction_set_of_test);

}  // namespace
