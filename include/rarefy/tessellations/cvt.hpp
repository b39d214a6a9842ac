// Voronoi cells of evenly spread centroids, for spaces of many features.
//
// Vassiliades, Chatzilygeroudis, Mouret, "Using centroidal Voronoi tessellations to
// scale up the multidimensional archive of phenotypic elites algorithm", IEEE
// TEVC 2018: k-means on uniform samples of feature space.
#pragma once

#include <cstdint>
#include <memory>

#include "rarefy/core/stop.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

namespace kernels {
class PointTable;
}

struct CvtOptions {
  Index cells = 10'000;
  Index samples = 100'000;  ///< uniform points on which k-means runs
  Index iterations = 100;   ///< of Lloyd's algorithm, at most
  double tolerance = 1e-4;  ///< stop when the mean squared shift of centroids, summed over
                            ///< them, is below this part of the mean variance of a feature
  std::uint64_t seed = 1;

  bool operator==(const CvtOptions&) const = default;
};

class Cvt : public Tessellation {
 public:
  /// Makes centroids; the same options give the same centroids, whatever the workers. That may
  /// take long: `stop` ends it with an Error (interrupted).
  Cvt(FeatureSpace space, const CvtOptions& options, Workers& workers, StopFlag stop = nullptr);
  /// Takes centroids that were made before.
  Cvt(FeatureSpace space, Batch centroids);

  [[nodiscard]] std::string_view name() const override { return "cvt"; }
  [[nodiscard]] Index cells() const override { return centroids_.rows(); }
  [[nodiscard]] const FeatureSpace& space() const override { return space_; }
  using Tessellation::assign;
  void assign(BatchView features, std::span<Index> cells) const override;
  void cell_centre(Index cell, std::span<double> out) const override;
  [[nodiscard]] std::uint64_t fingerprint() const override;
  [[nodiscard]] std::vector<NamedArray> arrays() const override;
  [[nodiscard]] BatchView centroids() const override { return centroids_; }

 private:
  void prepare();
  void assign_unless_stopped(BatchView samples, std::span<Index> cells, Workers& workers,
                             StopFlag stop) const;

  FeatureSpace space_;
  Batch centroids_;
  std::shared_ptr<const kernels::PointTable> table_;  // the centroids, for the search
};

}  // namespace rarefy
