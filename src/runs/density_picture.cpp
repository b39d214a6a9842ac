#include "rarefy/runs/density_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/runs/picture.hpp"

namespace rarefy {
namespace {

constexpr Index kRaster = 200;

std::vector<double> middles(const FeatureSpace& space, Index d) {
  std::vector<double> out;
  for (Index i = 0; i < kRaster; ++i) {
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(kRaster);
    out.push_back(space.lower[static_cast<std::size_t>(d)] + part * space.width(d));
  }
  return out;
}

}  // namespace

DensityRaster density_raster(DensityEstimate& density, const DomainInfo& domain, Workers& workers) {
  const auto& space = domain.feature_space;
  if (space.dim() > 2) {
    throw Error(ErrorKind::parameter, "density", fmt::format("a run with {} features", space.dim()),
                "one or two, which can be drawn");
  }
  DensityRaster raster;
  raster.x = middles(space, 0);
  if (space.dim() > 1) raster.y = middles(space, 1);
  const auto columns = static_cast<Index>(raster.x.size());
  const auto rows = std::max<Index>(1, static_cast<Index>(raster.y.size()));
  Batch spots(columns * rows, space.dim());
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < columns; ++column) {
      spots(row * columns + column, 0) = raster.x[static_cast<std::size_t>(column)];
      if (space.dim() > 1) {
        spots(row * columns + column, 1) = raster.y[static_cast<std::size_t>(row)];
      }
    }
  }
  raster.log_density.resize(rows, columns);
  density.log_density(spots, raster.log_density.values(), workers);
  return raster;
}

pictures::Heatmap density_map(const DensityRaster& raster, const DensityEstimate& density,
                              const DomainInfo& domain, const Config& config,
                              std::int64_t iteration) {
  const BatchView samples = density.samples();
  constexpr double kSpan = 1e-6;  // of the peak: what lies below all looks alike
  pictures::Heatmap map;
  map.columns = raster.log_density.cols();
  map.rows = raster.log_density.rows();
  for (const double value : raster.log_density.values()) map.values.push_back(maths::exp(value));
  const auto [low, high] = std::minmax_element(map.values.begin(), map.values.end());
  // A density that is the same everywhere needs no limits, and cannot have any.
  if (*high > 0 && *low < 0.99 * *high) {
    map.colour_limits = pictures::ColourLimits{std::max(*low, kSpan * *high), *high};
  }
  map.logarithmic = true;
  map.colour_label = "estimated density";
  add_axes(domain, map);
  if (domain.feature_dim() == 2) {
    add_landmarks(domain, map);
    for (Index i = 0; i < samples.rows(); ++i) map.dots.push_back({samples(i, 0), samples(i, 1)});
  } else {
    for (Index i = 0; i < samples.rows(); ++i) map.dots.push_back({samples(i, 0), 0.5});
  }
  map.title = fmt::format("{}: the density that is descended",
                          domain.title.empty() ? domain.name : domain.title);
  const auto shown = with_commas(samples.rows());
  const auto all = with_commas(density.sample_count());
  map.subtitle =
      fmt::format("{}, {} profile, seed {}, {} iterations; dots: {} features it is made of",
                  config.algorithm, name_of(config.profile), config.seed, with_commas(iteration),
                  shown == all ? "the " + all : shown + " of the " + all);
  return map;
}

}  // namespace rarefy
