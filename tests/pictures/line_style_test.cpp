#include "rarefy/pictures/line_style.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace rarefy::pictures {
namespace {

double channel_distance(const Colour& a, const Colour& b) {
  return std::max(
      {std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

TEST(LineStyle, FewLinesDifferByColourAndByDashes) {
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = line_style(i, 8), b = line_style(j, 8);
      EXPECT_GT(channel_distance(a.colour, b.colour), 0.2) << i << " and " << j;
      EXPECT_NE(a.dashes, b.dashes) << i << " and " << j;
    }
  }
}

TEST(LineStyle, AColourStaysWhenLinesAreAdded) {
  for (std::size_t count = 1; count <= 8; ++count) {
    EXPECT_EQ(line_style(0, count).colour, line_style(0, 1).colour);
  }
}

TEST(LineStyle, ManyLinesAreStepsOfOneScaleAndVisibleOnWhite) {
  for (std::size_t count : {9U, 13U, 40U}) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto style = line_style(i, count);
      EXPECT_LT(std::min({style.colour.red, style.colour.green, style.colour.blue}), 0.5);
      if (i == 0) continue;
      EXPECT_NE(style.colour, line_style(i - 1, count).colour);
    }
  }
}

}  // namespace
}  // namespace rarefy::pictures
