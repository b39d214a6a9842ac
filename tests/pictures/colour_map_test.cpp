#include "rarefy/pictures/colour_map.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rarefy::pictures {
namespace {

struct Sample {
  int index;  // t = index / 255
  Colour colour;
};

// matplotlib 3: matplotlib.colormaps["viridis"].colors[index]. Indices 243 to 248
// are where the interpolated table is furthest off.
constexpr Sample kSamples[] = {
    {0, {0.267004, 0.004874, 0.329415}},   {1, {0.268510, 0.009605, 0.335427}},
    {2, {0.269944, 0.014625, 0.341379}},   {3, {0.271305, 0.019942, 0.347269}},
    {37, {0.274128, 0.199721, 0.498911}},  {64, {0.229739, 0.322361, 0.545706}},
    {101, {0.165117, 0.467423, 0.558141}}, {128, {0.127568, 0.566949, 0.550556}},
    {153, {0.134692, 0.658636, 0.517649}}, {192, {0.369214, 0.788888, 0.382914}},
    {222, {0.657642, 0.860219, 0.203082}}, {243, {0.876168, 0.891125, 0.095250}},
    {246, {0.906311, 0.894855, 0.098125}}, {247, {0.916242, 0.896091, 0.100717}},
    {248, {0.926106, 0.897330, 0.104071}}, {254, {0.983868, 0.904867, 0.136897}},
    {255, {0.993248, 0.906157, 0.143936}},
};

TEST(Viridis, StaysWithinTheStatedDistanceOfTheOriginal) {
  for (const Sample& sample : kSamples) {
    const Colour colour = viridis(sample.index / 255.0);
    EXPECT_NEAR(colour.red, sample.colour.red, 0.0036) << sample.index;
    EXPECT_NEAR(colour.green, sample.colour.green, 0.0036) << sample.index;
    EXPECT_NEAR(colour.blue, sample.colour.blue, 0.0036) << sample.index;
  }
}

TEST(Viridis, BecomesLighterAllTheWay) {
  const auto luma = [](const Colour& c) {
    return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
  };
  for (int i = 1; i <= 1000; ++i) {
    EXPECT_GT(luma(viridis(i / 1000.0)), luma(viridis((i - 1) / 1000.0))) << i;
  }
}

TEST(Viridis, ClampsWhatIsOutside) {
  EXPECT_EQ(viridis(-3.0), viridis(0.0));
  EXPECT_EQ(viridis(7.0), viridis(1.0));
  EXPECT_EQ(viridis(std::numeric_limits<double>::infinity()), viridis(1.0));
  EXPECT_EQ(viridis(std::numeric_limits<double>::quiet_NaN()), viridis(0.0));
}

}  // namespace
}  // namespace rarefy::pictures
