// Sums read from tables, at a cost that does not depend on how many features there are: Gaussian
// kernels, one or two features.
#pragma once

#include <vector>

#include "density/kde/kde_sums.hpp"
#include "density/panels/panel_sums.hpp"
#include "rarefy/density/feature_buffer.hpp"

namespace rarefy {

class PanelKdeSums : public KdeSums {
 public:
  /// The size of feature space in bandwidths; height 0 where there is one feature.
  struct Box {
    Box(const FeatureSpace& space, std::span<const double> bandwidths);
    double width, height;
  };

  /// The buffer must outlive this.
  PanelKdeSums(Box box, KernelCoordinates coordinates, FeatureBuffer& buffer);

  void add(BatchView features, Workers& workers) override;
  [[nodiscard]] std::int64_t count() const override { return sums_.count(); }
  void prepare(Index queries, Index threads) override;
  void log_sums(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// In bandwidths, from the middle of feature space.
  [[nodiscard]] static PlanePoint place_of(std::span<const double> features,
                                           const KernelCoordinates& coordinates);

 private:
  [[nodiscard]] PlanePoint plane_point(std::span<const double> features) const {
    return place_of(features, coordinates_);
  }

  KernelCoordinates coordinates_;
  FeatureBuffer& buffer_;
  PanelSums sums_;
  // Scratch.
  Exchange exchange_;
  std::vector<PlanePoint> came_, went_, queries_;
};

}  // namespace rarefy
