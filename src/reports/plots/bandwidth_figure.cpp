#include "rarefy/reports/bandwidth_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/maths.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"

namespace rarefy {
namespace {

// Two groups, as a mixture of two Gaussians would give them.
const std::vector<double> kSamples = {-3.1, -2.4, -2.1, -1.9, -1.6, -1.3,
                                      -0.7, 1.2,  1.7,  2.0,  2.3,  2.9};
constexpr double kReach = 6.0;
constexpr Index kPlaces = 481;

std::vector<double> estimate(double bandwidth, const std::vector<double>& places) {
  const auto samples = static_cast<Index>(kSamples.size());
  KernelDensity density(
      {.space = {{-kReach}, {kReach}}, .bandwidth = Bandwidth::absolute(bandwidth)},
      std::make_unique<Reservoir>(ReservoirOptions{.feature_dim = 1, .capacity = samples}));
  Workers alone(1);
  density.observe({BatchView(kSamples.data(), samples, 1)}, alone);
  std::vector<double> values(places.size());
  density.log_density(BatchView(places.data(), static_cast<Index>(places.size()), 1), values,
                      alone);
  std::transform(values.begin(), values.end(), values.begin(), maths::exp);
  return values;
}

}  // namespace

pictures::Chart bandwidth_figure() {
  std::vector<double> places;
  for (Index i = 0; i < kPlaces; ++i) {
    places.push_back(kReach * (2.0 * static_cast<double>(i) / (kPlaces - 1) - 1.0));
  }
  pictures::Chart chart;
  chart.columns = 3;
  chart.panel_width = 420;
  chart.panel_height = 300;
  constexpr pictures::Colour kRed = {213 / 255.0, 94 / 255.0, 0.0};
  chart.legend = {{"estimate", {pictures::Colour{}, {}}}, {"samples", {kRed, {}}}};
  struct Choice {
    double bandwidth;
    const char* what;
  };
  for (const auto& [bandwidth, what] :
       {Choice{0.12, "too small"}, {0.6, "fitting"}, {2.5, "too large"}}) {
    pictures::ChartPanel panel;
    panel.title = fmt::format("h = {}: {}", bandwidth, what);
    panel.x = {.label = "feature", .low = -kReach, .high = kReach};
    panel.y = {.label = "density"};
    // One scale for all: what is lost in height has gone into width. The samples stand on the
    // ground.
    panel.y.low = -0.03;
    panel.y.high = 0.43;
    panel.lines = {{.entry = 0, .x = places, .y = estimate(bandwidth, places)},
                   {.entry = 1,
                    .shape = pictures::ChartLine::Shape::dots,
                    .x = kSamples,
                    .y = std::vector<double>(kSamples.size(), 0.0)}};
    chart.panels.push_back(std::move(panel));
  }
  return chart;
}

}  // namespace rarefy
