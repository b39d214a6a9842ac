#include "rarefy/pictures/heatmap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>

#include "pictures/colour_scale.hpp"
#include "pictures/heatmap_layout.hpp"
#include "png_picture.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

const double kEmpty = std::numeric_limits<double>::quiet_NaN();

// The pixels that the cells fill.
Box cell_area(const Heatmap& map, const PictureSize& size = {}) {
  return lay_out(map, ColourScale(map), size).plot;
}

// The colour in the middle of cell (column, row).
std::uint32_t cell(const Picture& picture, const Heatmap& map, Index column, Index row,
                   const PictureSize& size = {}) {
  const Box area = cell_area(map, size);
  const double x = (static_cast<double>(column) + 0.5) / static_cast<double>(map.columns);
  const double y = (static_cast<double>(row) + 0.5) / static_cast<double>(map.rows);
  return picture.at(area.left + static_cast<int>(x * area.width),
                    area.top + area.height - 1 - static_cast<int>(y * area.height));
}

Heatmap small_map() {
  Heatmap map;
  map.columns = 3;
  map.rows = 2;
  map.values = {0.0, 25.0, kEmpty, 50.0, 75.0, 100.0};
  map.title = "Title";
  map.subtitle = "subtitle";
  map.x_label = "x";
  map.y_label = "y";
  map.colour_label = "value";
  return map;
}

TEST(HeatmapCells, ValuesThatAreAskedForGiveTheSamePicture) {
  for (const auto& [columns, rows] :
       {std::pair<Index, Index>{7, 5}, {3000, 40}, {1, 5000}, {2500, 2500}}) {
    Heatmap map;
    map.columns = columns;
    map.rows = rows;
    for (Index i = 0; i < columns * rows; ++i) {
      map.values.push_back(i % 11 == 3 ? kEmpty : static_cast<double>(i * 7919 % 1000 + 1));
    }
    map.logarithmic = true;
    const auto expected = render_png(map);
    Heatmap asked = map;
    asked.values.clear();
    Index most = 0;
    asked.fill = [&](const rarefy::pictures::CellTile& tile, std::span<double> values) {
      most = std::max(most, static_cast<Index>(values.size()));
      ASSERT_EQ(static_cast<Index>(values.size()), tile.rows * tile.columns);
      for (Index r = 0; r < tile.rows; ++r) {
        for (Index c = 0; c < tile.columns; ++c) {
          values[static_cast<std::size_t>(r * tile.columns + c)] =
              map.values[static_cast<std::size_t>((tile.first_row + r) * columns +
                                                  tile.first_column + c)];
        }
      }
    };
    EXPECT_TRUE(render_png(asked) == expected) << columns << " x " << rows;
    EXPECT_LE(most, 64 * 1024);
    asked.values = {1.0};
    EXPECT_THROW((void)render_png(asked), rarefy::Error) << "either of them";
  }
}

TEST(Heatmap, IsAPngOfTheAskedSize) {
  const auto bytes = render_png(small_map(), {.width = 640, .height = 480});
  EXPECT_EQ(text_of(bytes).substr(0, 8), "\x89PNG\r\n\x1a\n");
  const Picture picture(bytes);
  EXPECT_EQ(picture.width(), 640);
  EXPECT_EQ(picture.height(), 480);
}

TEST(Heatmap, IsAPdfOrSvgToo) {
  EXPECT_EQ(text_of(render_pdf(small_map())).substr(0, 5), "%PDF-");
  const std::string svg = text_of(render_svg(small_map()));
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("504"), std::string::npos);  // 1400 pixels at 200 an inch, in points
}

TEST(Heatmap, GivesTheSameBytesAgain) {
  const Heatmap map = small_map();
  const auto png = render_png(map);
  const auto pdf = render_pdf(map);
  const auto svg = render_svg(map);
  EXPECT_EQ(png, render_png(map));
  EXPECT_EQ(pdf, render_pdf(map));
  EXPECT_EQ(svg, render_svg(map));
  // A date would make tomorrow's file another one.
  EXPECT_EQ(text_of(pdf).find("CreationDate"), std::string::npos);
}

TEST(Heatmap, ColoursCellsByValue) {
  const Heatmap map = small_map();
  const Picture picture(render_png(map));
  EXPECT_EQ(cell(picture, map, 0, 0), rgb(viridis(0.0)));
  EXPECT_EQ(cell(picture, map, 1, 0), rgb(viridis(0.25)));
  EXPECT_EQ(cell(picture, map, 2, 0), rgb(kEmptyCell));
  EXPECT_EQ(cell(picture, map, 0, 1), rgb(viridis(0.5)));
  EXPECT_EQ(cell(picture, map, 1, 1), rgb(viridis(0.75)));
  EXPECT_EQ(cell(picture, map, 2, 1), rgb(viridis(1.0)));
  EXPECT_EQ(picture.at(2, 2), 0xffffffU);
}

TEST(Heatmap, HasNoSeams) {
  Heatmap map = small_map();
  map.columns = 97;
  map.rows = 61;
  map.values.assign(97 * 61, 3.0);
  const Picture picture(render_png(map));
  const Box area = cell_area(map);
  int others = 0;
  for (int y = area.top; y < area.top + area.height; ++y) {
    for (int x = area.left; x < area.left + area.width; ++x) {
      others += picture.at(x, y) != rgb(viridis(0.5)) ? 1 : 0;
    }
  }
  EXPECT_EQ(others, 0);
}

TEST(Heatmap, MakesCellsOfWholePixelsWhereItCan) {
  Heatmap map = small_map();
  map.columns = map.rows = 100;
  map.values.assign(10000, 1.0);
  map.equal_aspect = true;
  const Box area = cell_area(map);
  EXPECT_EQ(area.width, area.height);
  EXPECT_EQ(area.width % 100, 0);
}

TEST(Heatmap, KeepsTheAspect) {
  Heatmap map = small_map();
  map.equal_aspect = true;
  map.x_high = 4.0;  // y_high is 1
  const Box area = cell_area(map);
  EXPECT_NEAR(area.width, 4.0 * area.height, 4.0);
}

TEST(Heatmap, ColoursByLogarithm) {
  Heatmap map = small_map();
  map.logarithmic = true;
  map.values = {1.0, 10.0, 100.0, 0.0, -5.0, kEmpty};
  const Picture picture(render_png(map));
  EXPECT_EQ(cell(picture, map, 0, 0), rgb(viridis(0.0)));
  EXPECT_EQ(cell(picture, map, 1, 0), rgb(viridis(0.5)));
  EXPECT_EQ(cell(picture, map, 2, 0), rgb(viridis(1.0)));
  for (Index column = 0; column < 3; ++column) {
    EXPECT_EQ(cell(picture, map, column, 1), rgb(kEmptyCell));
  }
}

TEST(Heatmap, SpansHundredsOfDecades) {
  Heatmap map = small_map();
  map.logarithmic = true;
  map.values = {1e-200, 1e50, 1e300, kEmpty, kEmpty, kEmpty};
  const Picture picture(render_png(map));
  EXPECT_EQ(cell(picture, map, 1, 0), rgb(viridis(0.5)));
}

TEST(Heatmap, ClampsToFixedLimits) {
  Heatmap map = small_map();
  map.colour_limits = ColourLimits{50.0, 60.0};
  const Picture picture(render_png(map));
  EXPECT_EQ(cell(picture, map, 1, 0), rgb(viridis(0.0)));
  EXPECT_EQ(cell(picture, map, 2, 0), rgb(kEmptyCell));
  EXPECT_EQ(cell(picture, map, 2, 1), rgb(viridis(1.0)));
}

TEST(Heatmap, DrawsEqualValuesAndNone) {
  for (const bool logarithmic : {false, true}) {
    Heatmap map = small_map();
    map.logarithmic = logarithmic;
    map.values.assign(6, 7.0);
    EXPECT_EQ(cell(Picture(render_png(map)), map, 1, 1), rgb(viridis(0.5)));
    map.values[0] = std::nextafter(7.0, 8.0);  // too close to 7 for an axis
    EXPECT_EQ(cell(Picture(render_png(map)), map, 1, 1), rgb(viridis(0.5)));
    map.values.assign(6, kEmpty);
    EXPECT_EQ(cell(Picture(render_png(map)), map, 0, 0), rgb(kEmptyCell));
    map.colour_limits = ColourLimits{1.0, 2.0};
    EXPECT_EQ(cell(Picture(render_png(map)), map, 0, 0), rgb(kEmptyCell));
  }
}

TEST(Heatmap, ShowsMoreCellsThanPixels) {
  Heatmap map = small_map();
  map.columns = 5000;
  map.rows = 3;
  map.values.assign(15000, kEmpty);
  map.values[0] = 0.0;
  map.values[2500] = 1.0;  // row 0: a lone cell must not get lost
  const PictureSize size{.width = 500, .height = 400};
  const Picture picture(render_png(map, size));
  EXPECT_EQ(cell(picture, map, 2500, 0, size), rgb(viridis(1.0)));
  EXPECT_EQ(cell(picture, map, 2500, 1, size), rgb(kEmptyCell));
}

TEST(Heatmap, DrawsWallsAndMarkers) {
  Heatmap map = small_map();
  map.walls = {{0.1, 0.5, 0.9, 0.5}, {-50.0, -50.0, 50.0, -50.0}};
  map.markers = {{0.5, 0.25, {1.0, 0.0, 0.0}, "goal"}, {9.0, 9.0, {}, "not in sight"}};
  const Picture picture(render_png(map));
  const Box area = cell_area(map);
  EXPECT_EQ(picture.at(area.left + area.width / 3, area.top + area.height / 2), 0x000000U);
  EXPECT_EQ(picture.at(area.left + area.width / 2, area.top + 3 * area.height / 4), 0xff0000U);
}

TEST(Heatmap, DrawsDotsThatTheCellsShineThrough) {
  Heatmap map = small_map();
  const Picture without(render_png(map));
  map.dots = {{0.5, 0.25}, {9.0, 9.0}};
  const Picture with(render_png(map));
  const auto before = cell(without, map, 1, 0);
  const auto after = cell(with, map, 1, 0);
  for (const unsigned shift : {0U, 8U, 16U}) {
    const auto channel = [shift](std::uint32_t colour) {
      return static_cast<double>((colour >> shift) & 0xFFU);
    };
    EXPECT_NEAR(channel(after), 0.55 * channel(before), 2.0);
  }
  EXPECT_EQ(cell(with, map, 0, 0), cell(without, map, 0, 0));
}

TEST(Heatmap, DrawsAPathInTheColoursOfItsValues) {
  Heatmap map = small_map();
  map.values.assign(6, kEmpty);
  map.colour_limits = ColourLimits{0.0, 100.0};
  map.path = {{0.1, 0.25, 0.0}, {0.9, 0.25, 0.0}, {0.9, 0.75, 100.0}, {0.1, 0.75, 100.0}};
  const Picture picture(render_png(map));
  const Box area = cell_area(map);
  const int middle = area.left + area.width / 2;
  EXPECT_EQ(picture.at(middle, area.top + 3 * area.height / 4), rgb(viridis(0.0)));
  EXPECT_EQ(picture.at(middle, area.top + area.height / 4), rgb(viridis(1.0)));
  EXPECT_EQ(picture.at(middle, area.top + area.height / 2), rgb(kEmptyCell))
      << "no note of missing values on a path";
}

TEST(Heatmap, KeepsLongTextInside) {
  Heatmap map = small_map();
  std::string text;
  for (int i = 0; i < 60; ++i) text += "größer als das Bild ";
  map.title = map.subtitle = map.x_label = map.y_label = map.colour_label = text;
  map.markers = {{0.5, 0.5, {}, text}};
  map.title = std::string(500, 'W');  // nowhere to break a line
  for (const PictureSize size : {PictureSize{}, PictureSize{300, 300}, PictureSize{400, 1600}}) {
    const Picture picture(render_png(map, size));
    for (int x = 0; x < picture.width(); ++x) {
      ASSERT_EQ(picture.at(x, 0), 0xffffffU);
      ASSERT_EQ(picture.at(x, picture.height() - 1), 0xffffffU);
    }
    for (int y = 0; y < picture.height(); ++y) {
      ASSERT_EQ(picture.at(0, y), 0xffffffU);
      ASSERT_EQ(picture.at(picture.width() - 1, y), 0xffffffU);
    }
  }
}

struct BadCase {
  const char* name;
  std::function<void(Heatmap&, PictureSize&)> spoil;
  const char* mentions;
  ErrorKind kind = ErrorKind::parameter;
};

void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.name; }

class BadHeatmap : public testing::TestWithParam<BadCase> {};

TEST_P(BadHeatmap, IsRefusedByName) {
  Heatmap map = small_map();
  PictureSize size;
  GetParam().spoil(map, size);
  try {
    (void)render_png(map, size);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), GetParam().kind);
    EXPECT_NE(std::string(error.what()).find(GetParam().mentions), std::string::npos)
        << error.what();
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All, BadHeatmap,
    testing::Values(
        BadCase{"count", [](Heatmap& m, PictureSize&) { m.values.pop_back(); }, "5 values"},
        BadCase{"no_columns", [](Heatmap& m, PictureSize&) { m.columns = 0; }, "columns"},
        BadCase{"negative_rows", [](Heatmap& m, PictureSize&) { m.rows = -2; }, "rows"},
        BadCase{"empty_x", [](Heatmap& m, PictureSize&) { m.x_high = m.x_low; }, "x range"},
        BadCase{"reversed_y", [](Heatmap& m, PictureSize&) { m.y_low = 2.0; }, "y range"},
        BadCase{"infinite_x", [](Heatmap& m, PictureSize&) { m.x_low = -kInfinity; }, "x range"},
        BadCase{"nan_y", [](Heatmap& m, PictureSize&) { m.y_high = kEmpty; }, "y range"},
        BadCase{"equal_limits",
                [](Heatmap& m, PictureSize&) {
                  m.colour_limits = ColourLimits{1.0, 1.0};
                },
                "colour limits"},
        BadCase{"log_limit",
                [](Heatmap& m, PictureSize&) {
                  m.logarithmic = true;
                  m.colour_limits = ColourLimits{0.0, 1.0};
                },
                "positive"},
        BadCase{"wall",
                [](Heatmap& m, PictureSize&) {
                  m.walls = {{0, 0, kEmpty, 0}};
                },
                "wall"},
        BadCase{"dot",
                [](Heatmap& m, PictureSize&) {
                  m.dots = {{kInfinity, 0}};
                },
                "dot"},
        BadCase{"marker",
                [](Heatmap& m, PictureSize&) {
                  m.markers = {{kInfinity, 0, {}, ""}};
                },
                "marker"},
        BadCase{"path",
                [](Heatmap& m, PictureSize&) {
                  m.colour_limits = ColourLimits{0.0, 1.0};
                  m.path = {{0, 0, kInfinity}};
                },
                "path"},
        BadCase{"path_without_limits",
                [](Heatmap& m, PictureSize&) {
                  m.path = {{0, 0, 0}};
                },
                "limits"},
        BadCase{"tiny", [](Heatmap&, PictureSize& s) { s.width = 10; }, "10 x 1200"},
        BadCase{"huge", [](Heatmap&, PictureSize& s) { s.height = 100000; }, "1400 x 100000"},
        BadCase{"not_utf8", [](Heatmap& m, PictureSize&) { m.title = "caf\xe9 x"; }, "UTF-8"},
        BadCase{"infinite_value", [](Heatmap& m, PictureSize&) { m.values[1] = kInfinity; },
                "infinite", ErrorKind::data},
        BadCase{"too_far_apart",
                [](Heatmap& m, PictureSize&) {
                  m.values[0] = -1.7e308;
                  m.values[1] = 1.7e308;
                },
                "difference"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace rarefy::pictures
