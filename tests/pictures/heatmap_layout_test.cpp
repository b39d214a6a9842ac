#include "pictures/heatmap_layout.hpp"

#include <gtest/gtest.h>

namespace rarefy::pictures {
namespace {

Heatmap small_map() {
  Heatmap map;
  map.columns = 3;
  map.rows = 2;
  map.values = {0.0, 20.0, 40.0, 60.0, 80.0, 100.0};
  map.title = "Title";
  map.x_label = "x";
  map.y_label = "y";
  map.colour_label = "value";
  return map;
}

HeatmapLayout layout_of(const Heatmap& map, const PictureSize& size = {}) {
  return lay_out(map, ColourScale(map), size);
}

TEST(HeatmapLayout, KeepsThePartsApart) {
  for (const PictureSize size : {PictureSize{}, PictureSize{300, 300}, PictureSize{400, 1600}}) {
    const HeatmapLayout layout = layout_of(small_map(), size);
    EXPECT_GT(layout.plot.left, layout.y_numbers_width);
    EXPECT_GT(layout.bar.left, layout.plot.right());
    EXPECT_LT(layout.bar.right() + layout.bar_numbers_width, size.width);
    EXPECT_LT(layout.lower_end, size.height);
    ASSERT_EQ(layout.heading.size(), 1U);
    EXPECT_LT(layout.heading.front().baseline, layout.upper_end);
  }
}

TEST(HeatmapLayout, BreaksALongTitleOnce) {
  Heatmap map = small_map();
  for (int i = 0; i < 12; ++i) map.title += " and more";
  const HeatmapLayout layout = layout_of(map);
  ASSERT_EQ(layout.heading.size(), 2U);
  EXPECT_EQ(layout.heading[0].text.font.size, layout.heading[1].text.font.size);
  EXPECT_LT(layout.heading[0].baseline, layout.heading[1].baseline);
}

TEST(HeatmapLayout, MakesRoomForTheTipsOfTheBar) {
  Heatmap map = small_map();
  map.colour_limits = ColourLimits{0.0, 100.0};
  const Box whole = layout_of(map).bar;
  map.colour_limits = ColourLimits{10.0, 90.0};
  const Box tipped = layout_of(map).bar;
  EXPECT_GT(tipped.top, whole.top);
  EXPECT_LT(tipped.bottom(), whole.bottom());
}

TEST(HeatmapLayout, HasFewerTicksWhereThereIsLessRoom) {
  Heatmap map = small_map();
  map.x_high = 1e5;  // text shrinks with the picture: only long numbers get in each other's way
  const HeatmapLayout wide = layout_of(map);
  const HeatmapLayout narrow = layout_of(map, {.width = 300, .height = 1600});
  EXPECT_LT(narrow.x_ticks.size(), wide.x_ticks.size());
}

}  // namespace
}  // namespace rarefy::pictures
