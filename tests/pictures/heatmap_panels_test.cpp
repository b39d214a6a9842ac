#include "rarefy/pictures/heatmap_panels.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "png_picture.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

const double kEmpty = std::numeric_limits<double>::quiet_NaN();

Heatmap map_of(double value) {
  Heatmap map;
  map.columns = map.rows = 1;
  map.values = {value};
  map.colour_label = "value";
  map.subtitle = "some";
  map.equal_aspect = true;
  return map;
}

HeatmapPanels small_panels() {
  HeatmapPanels panels;
  panels.title = "Title";
  panels.columns = {"first", "second", "third"};
  panels.side = 120;
  panels.rows = {{"one", {map_of(0.0), map_of(50.0), map_of(100.0)}},
                 {"two", {map_of(1.0), std::nullopt, map_of(2.0)}}};
  return panels;
}

constexpr int kCells = 120 * 120;

TEST(HeatmapPanels, MapsOfARowShareOneColourScale) {
  const Picture picture(render_png(small_panels()));
  // The ends of the scale are in both rows, its middle in the first.
  EXPECT_GE(pixels_of(picture, viridis(0.0)), 2 * kCells);
  EXPECT_GE(pixels_of(picture, viridis(1.0)), 2 * kCells);
  EXPECT_LT(pixels_of(picture, viridis(1.0)), 2 * kCells + kCells / 2);
  EXPECT_GE(pixels_of(picture, viridis(0.5)), kCells);
  EXPECT_LT(pixels_of(picture, viridis(0.5)), kCells + kCells / 2);
  EXPECT_TRUE(rim_is_white(picture));
}

TEST(HeatmapPanels, AMapWithoutValuesIsEmptyAndOneThatIsMissingBlank) {
  auto panels = small_panels();
  panels.rows[0].maps[1] = map_of(kEmpty);
  const Picture picture(render_png(panels));
  const int empty = pixels_of(picture, kEmptyCell);
  EXPECT_GE(empty, kCells);
  EXPECT_LT(empty, 2 * kCells);
  panels.rows[1].maps = {std::nullopt, std::nullopt, std::nullopt};
  EXPECT_NO_THROW((void)render_png(panels));
}

TEST(HeatmapPanels, ScalesByLogarithmWhereMapsDo) {
  auto panels = small_panels();
  panels.rows.resize(1);
  double value = 1.0;
  for (auto& map : panels.rows[0].maps) {
    map->logarithmic = true;
    map->values = {value};
    value *= 100.0;
  }
  EXPECT_GE(pixels_of(Picture(render_png(panels)), viridis(0.5)), kCells);
}

TEST(HeatmapPanels, DrawsWallsAndKeepsLongTextInside) {
  auto panels = small_panels();
  const std::string text(300, 'W');
  panels.title = panels.subtitle = panels.columns[0] = panels.rows[0].title = text;
  auto& map = *panels.rows[0].maps[0];
  map.subtitle = map.colour_label = text;
  map.walls = {{0.0, 0.5, 1.0, 0.5}};
  map.markers = {{.x = 0.5, .y = 0.2, .colour = {1.0, 0.0, 0.0}, .label = text}};
  const Picture picture(render_png(panels));
  EXPECT_TRUE(rim_is_white(picture));
  EXPECT_GT(pixels_of(picture, {1.0, 0.0, 0.0}), 20);
}

TEST(HeatmapPanels, IsAnSvgThatGivesTheSameBytesAgain) {
  const auto svg = text_of(render_svg(small_panels()));
  EXPECT_EQ(count_of(svg, "<image"), 5 + 2) << "the cells of each map, and two colour bars";
  EXPECT_EQ(svg.find("<text"), std::string::npos);
  (void)render_svg(map_of(3.0));
  EXPECT_EQ(text_of(render_svg(small_panels())), svg);
  EXPECT_EQ(text_of(render_pdf(small_panels())).substr(0, 5), "%PDF-");
}

TEST(HeatmapPanels, RefusesWhatCannotBeDrawn) {
  const auto refused = [](const std::function<void(HeatmapPanels&)>& spoil, const char* mentions) {
    auto panels = small_panels();
    spoil(panels);
    try {
      (void)render_png(panels);
      FAIL() << "no error: " << mentions;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(mentions), std::string::npos) << error.what();
    }
  };
  refused([](HeatmapPanels& p) { p.rows.clear(); }, "0 rows, 3 columns");
  refused([](HeatmapPanels& p) { p.rows[1].maps.pop_back(); }, "2 maps");
  refused([](HeatmapPanels& p) { p.side = 2; }, "60 to 4096");
  refused([](HeatmapPanels& p) { p.rows[0].maps[2]->values.clear(); }, "values of a heatmap");
}

}  // namespace
}  // namespace rarefy::pictures
