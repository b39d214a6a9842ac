#include "rarefy/pictures/chart.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>

#include "pictures/chart_layout.hpp"
#include "png_picture.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

const double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Colour kRed{1.0, 0.0, 0.0};
constexpr Colour kGreen{0.0, 1.0, 0.0};

Chart one_line(std::vector<double> x, std::vector<double> y) {
  Chart chart;
  chart.legend = {{"line", {kRed, {}}}};
  chart.panels = {{.title = "panel",
                   .x = {.label = "x"},
                   .y = {.label = "y", .low = 0.0, .high = 10.0},
                   .lines = {{.entry = 0, .x = std::move(x), .y = std::move(y)}}}};
  return chart;
}

// The pixel of a value in a panel.
std::uint32_t at(const Picture& picture, const PanelLayout& panel, double x, double y) {
  return picture.at(
      panel.plot.left + static_cast<int>(panel.x.place(x) * panel.plot.width),
      panel.plot.bottom() - 1 - static_cast<int>(panel.y.place(y) * panel.plot.height));
}

TEST(Chart, DrawsALineWhereItsValuesAre) {
  const auto chart = one_line({0.0, 10.0}, {2.3, 7.3});
  const Picture picture(render_png(chart));
  const auto layout = lay_out(chart);
  EXPECT_EQ(picture.width(), layout.width);
  EXPECT_EQ(picture.height(), layout.height);
  EXPECT_EQ(at(picture, layout.panels[0], 5.0, 4.8), rgb(kRed));
  EXPECT_EQ(at(picture, layout.panels[0], 2.0, 3.3), rgb(kRed));
  EXPECT_EQ(at(picture, layout.panels[0], 5.0, 7.0), 0xffffffU);
  EXPECT_EQ(at(picture, layout.panels[0], 5.0, 3.0), 0xffffffU);
}

TEST(Chart, LeavesGapsWhereValuesAreNone) {
  const auto chart = one_line({0.0, 2.0, 4.0, 6.0, 8.0}, {5.1, 5.1, kGap, 5.1, 5.1});
  const Picture picture(render_png(chart));
  const auto layout = lay_out(chart);
  EXPECT_EQ(at(picture, layout.panels[0], 1.0, 5.1), rgb(kRed));
  EXPECT_EQ(at(picture, layout.panels[0], 7.0, 5.1), rgb(kRed));
  EXPECT_EQ(at(picture, layout.panels[0], 4.0, 5.1), 0xffffffU);
}

TEST(Chart, ShadesBandsInThePaleColourOfTheirLine) {
  auto chart = one_line({0.0, 10.0}, {5.1, 5.1});
  chart.panels[0].lines[0].low = {3.1, 3.1};
  chart.panels[0].lines[0].high = {8.1, 8.1};
  const Picture picture(render_png(chart));
  const auto layout = lay_out(chart);
  for (const double inside : {3.5, 4.5, 6.5, 7.5}) {
    const auto pixel = at(picture, layout.panels[0], 5.0, inside);
    EXPECT_EQ(pixel >> 16U, 0xffU);
    EXPECT_NEAR(static_cast<double>(pixel & 0xffU), 255.0 * 0.82, 3.0);
  }
  for (const double outside : {2.5, 8.6}) {
    EXPECT_EQ(at(picture, layout.panels[0], 5.0, outside), 0xffffffU);
  }
}

TEST(Chart, DrawsErrorBarsAndDots) {
  auto chart = one_line({2.0, 8.0}, {5.1, 5.1});
  auto& line = chart.panels[0].lines[0];
  chart.panels[0].x.low = 0.0;
  chart.panels[0].x.high = 10.0;
  line.shape = ChartLine::Shape::bars;
  line.low = {3.1, 3.1};
  line.high = {8.1, 8.1};
  const auto layout = lay_out(chart);
  const Picture bars(render_png(chart));
  EXPECT_EQ(at(bars, layout.panels[0], 2.0, 7.0), rgb(kRed));
  EXPECT_EQ(at(bars, layout.panels[0], 5.0, 5.1), rgb(kRed)) << "the line between dots";
  EXPECT_EQ(at(bars, layout.panels[0], 5.0, 7.0), 0xffffffU);
  line.shape = ChartLine::Shape::dots;
  const Picture dots(render_png(chart));
  EXPECT_EQ(at(dots, layout.panels[0], 2.0, 5.1), rgb(kRed));
  EXPECT_EQ(at(dots, layout.panels[0], 5.0, 5.1), 0xffffffU);
}

TEST(Chart, PutsEqualFactorsAtEqualDistancesOnALogarithmicAxis) {
  auto chart = one_line({0.001, 0.1, 10.0}, {1.0, 5.1, 9.0});
  chart.panels[0].x.logarithmic = true;
  const auto layout = lay_out(chart);
  const auto& place = layout.panels[0].x.place;
  EXPECT_NEAR(place(0.1), 0.5 * (place(0.001) + place(10.0)), 1e-12);
  const Picture picture(render_png(chart));
  EXPECT_EQ(at(picture, layout.panels[0], 0.1, 5.1), rgb(kRed));
  // What cannot be on such an axis is left out.
  auto zero = chart;
  zero.panels[0].lines[0].x[0] = 0.0;
  EXPECT_NO_THROW((void)render_png(zero));
}

TEST(Chart, SpansWhatThereIsToShow) {
  auto chart = one_line({3.0, 50.0}, {2.0, 4.0});
  chart.panels[0].y = {.label = "y"};
  chart.panels[0].lines[0].low = {1.0, 3.5};
  chart.panels[0].lines[0].high = {2.5, 6.0};
  const auto panel = lay_out(chart).panels[0];
  EXPECT_EQ(panel.x.low, 3.0);
  EXPECT_EQ(panel.x.high, 50.0);
  EXPECT_LT(panel.y.low, 1.0);
  EXPECT_GT(panel.y.low, 0.5);
  EXPECT_GT(panel.y.high, 6.0);
  EXPECT_LT(panel.y.high, 6.5);
}

TEST(Chart, DrawsOneValueOrNone) {
  for (const bool logarithmic : {false, true}) {
    for (const auto& values : {std::vector<double>{}, {7.0}, {0.0}}) {
      auto chart = one_line(values, values);
      chart.panels[0].x.logarithmic = logarithmic;
      chart.panels[0].y = {.label = "y", .logarithmic = logarithmic};
      EXPECT_NO_THROW((void)render_png(chart)) << values.size();
    }
  }
}

Chart four_panels() {
  Chart chart;
  chart.title = "Title";
  chart.subtitle = "subtitle";
  chart.columns = 2;
  chart.panel_width = 200;
  chart.panel_height = 150;
  chart.legend = {{"first", {kRed, {}}}, {"second", {kGreen, {3.0, 2.0}}}};
  for (int i = 0; i < 4; ++i) {
    chart.panels.push_back({.title = "panel",
                            .x = {.label = "x"},
                            .y = {.label = i < 2 ? "y" : "z"},
                            .lines = {{.entry = 0, .x = {0.0, 1.0}, .y = {0.0, 1000.0 * i + 1.0}},
                                      {.entry = 1, .x = {0.0, 1.0}, .y = {1.0, 0.0}}}});
  }
  return chart;
}

TEST(Chart, PutsPanelsInRowsAndColumnsThatDoNotOverlap) {
  const auto layout = lay_out(four_panels());
  const auto& panels = layout.panels;
  EXPECT_EQ(panels[0].plot.left, panels[2].plot.left);
  EXPECT_EQ(panels[1].plot.left, panels[3].plot.left);
  EXPECT_EQ(panels[0].plot.top, panels[1].plot.top);
  EXPECT_EQ(panels[2].plot.top, panels[3].plot.top);
  // Room for the numbers of the axes.
  EXPECT_GT(panels[1].plot.left - panels[0].plot.right(),
            static_cast<int>(std::max(panels[1].y_numbers_width, panels[3].y_numbers_width)));
  EXPECT_GT(panels[2].plot.top, panels[0].plot.bottom() + 40);
  EXPECT_GT(layout.height, panels[2].plot.bottom() + 60);
}

TEST(Chart, DoesNotRepeatLabelsOfNeighbours) {
  auto chart = four_panels();
  auto layout = lay_out(chart);
  EXPECT_TRUE(layout.panels[0].shows_y_label);
  EXPECT_FALSE(layout.panels[1].shows_y_label);
  EXPECT_FALSE(layout.panels[0].shows_x_label);
  EXPECT_TRUE(layout.panels[2].shows_x_label);
  chart.panels[1].y.label = "another";
  layout = lay_out(chart);
  EXPECT_TRUE(layout.panels[1].shows_y_label);
}

TEST(Chart, HasASampleOfEveryLineInItsLegend) {
  auto chart = four_panels();
  const auto layout = lay_out(chart);
  ASSERT_EQ(layout.legend.size(), 2U);
  const Picture picture(render_png(chart));
  const auto& first = layout.legend[0];
  EXPECT_EQ(picture.at(static_cast<int>(first.x) + 10, static_cast<int>(first.baseline) - 7),
            rgb(kRed));
  chart.legend[1].label.clear();
  EXPECT_EQ(lay_out(chart).legend.size(), 1U) << "an entry without a label is not mentioned";
}

TEST(Chart, LegendsOfManyEntriesHaveRowsOfEqualLength) {
  Chart chart = four_panels();
  for (int i = 0; i < 7; ++i) chart.legend.push_back({"a rather long name", {kRed, {}}});
  const auto layout = lay_out(chart);
  ASSERT_EQ(layout.legend.size(), 9U);
  EXPECT_GT(layout.legend.back().baseline, layout.legend.front().baseline);
  const Picture picture(render_png(chart));
  EXPECT_TRUE(rim_is_white(picture));
}

TEST(Chart, KeepsLongTextInside) {
  Chart chart = four_panels();
  const std::string text(400, 'W');
  chart.title = chart.subtitle = text;
  chart.legend[0].label = text;
  for (auto& panel : chart.panels) panel.title = panel.x.label = panel.y.label = text;
  EXPECT_TRUE(rim_is_white(Picture(render_png(chart))));
}

TEST(Chart, IsAnSvgOfPathsThatGivesTheSameBytesAgain) {
  const auto chart = four_panels();
  const auto svg = text_of(render_svg(chart));
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_EQ(svg.find("<image"), std::string::npos) << "lines stay lines";
  EXPECT_EQ(svg.find("<text"), std::string::npos) << "text must not depend on the reader's fonts";
  // Four lines that are dashed, and their sample in the legend.
  EXPECT_EQ(count_of(svg, "stroke-dasharray:"), 5);
  EXPECT_EQ(count_of(svg, "stroke:rgb(100%,0%,0%)"), 5);
  (void)render_svg(one_line({0.0, 1.0}, {1.0, 2.0}));
  EXPECT_EQ(text_of(render_svg(chart)), svg) << "another picture came between";
  EXPECT_EQ(render_png(chart), render_png(chart));
  EXPECT_EQ(text_of(render_pdf(chart)).substr(0, 5), "%PDF-");
}

struct BadChart {
  const char* name;
  std::function<void(Chart&)> spoil;
  const char* mentions;
};

void PrintTo(const BadChart& bad, std::ostream* out) { *out << bad.name; }

class BadCharts : public testing::TestWithParam<BadChart> {};

TEST_P(BadCharts, AreRefusedByName) {
  Chart chart = four_panels();
  GetParam().spoil(chart);
  try {
    (void)render_png(chart);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    EXPECT_NE(std::string(error.what()).find(GetParam().mentions), std::string::npos)
        << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCharts,
    testing::Values(
        BadChart{"none", [](Chart& c) { c.panels.clear(); }, "panels"},
        BadChart{"no_columns", [](Chart& c) { c.columns = 0; }, "columns"},
        BadChart{"tiny", [](Chart& c) { c.panel_width = 3; }, "3 x 150"},
        BadChart{"entry", [](Chart& c) { c.panels[1].lines[0].entry = 2; }, "entry 2"},
        BadChart{"counts", [](Chart& c) { c.panels[1].lines[0].y.pop_back(); }, "2 x and 1 y"},
        BadChart{"half_a_band",
                 [](Chart& c) {
                   c.panels[0].lines[0].low = {1.0, 2.0};
                 },
                 "2 lower and 0 upper"},
        BadChart{"infinite_x", [](Chart& c) { c.panels[0].lines[0].x[0] = kInfinity; }, "inf"},
        BadChart{"limit", [](Chart& c) { c.panels[0].y.low = kInfinity; }, "limit of an axis"},
        BadChart{"log_limit",
                 [](Chart& c) {
                   c.panels[0].x.logarithmic = true;
                   c.panels[0].x.low = 0.0;
                 },
                 "above 0"},
        BadChart{"limits",
                 [](Chart& c) {
                   c.panels[0].x.low = 2.0;
                   c.panels[0].x.high = 1.0;
                 },
                 "[2, 1]"},
        BadChart{"not_utf8", [](Chart& c) { c.panels[0].title = "caf\xe9 x"; }, "UTF-8"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace rarefy::pictures
