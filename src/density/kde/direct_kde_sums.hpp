// Sums with one term for each feature in the buffer: any kernel, any number of features.
//
// In single precision, but for candidates so far out that single precision would not do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "density/kde/kde_sums.hpp"
#include "kernels/kernel_sums.hpp"
#include "rarefy/density/feature_buffer.hpp"

namespace rarefy {

class DirectKdeSums : public KdeSums {
 public:
  /// The buffer must outlive this.
  DirectKdeSums(Kernel kernel, KernelCoordinates coordinates, FeatureBuffer& buffer);

  void add(BatchView features, Workers& workers) override;
  [[nodiscard]] std::int64_t count() const override { return points_.count(); }
  void prepare(Index queries, Index threads) override;
  void log_sums(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

 protected:
  /// A sum of Gaussians below this, in parts of a single one's peak, may consist of terms that
  /// single precision cannot hold, and counts as 2^-126.
  static constexpr double kFarTail = 0x1p-60;

  /// The buffer's contents in kernel coordinates.
  [[nodiscard]] const kernels::PointColumns& points() const { return points_; }
  /// Where the coordinates of the candidates from `first` on are, and their sums are to be.
  [[nodiscard]] float* queries(Index first) { return queries_.data() + first * points_.dims(); }
  [[nodiscard]] double* sums(Index first) { return sums_.data() + first; }

  /// The first points of `out` become those of some slots.
  void copy_points(std::span<const std::int32_t> slots, kernels::PointColumns& out) const;
  void place_queries(BatchView features, Index first);
  void sum(const float* queries, Index count, double* sums) const;
  /// From sums to what log_sums() promises.
  void take_logarithms(BatchView features, Index first, std::span<double> out) const;

 private:
  [[nodiscard]] float coordinate(double feature, Index d) const;
  void take_over(Index slot);

  Kernel kernel_;
  KernelCoordinates coordinates_;
  FeatureBuffer& buffer_;
  kernels::PointColumns points_;
  // Scratch.
  std::vector<float> queries_;  // one row a candidate
  std::vector<double> sums_;
};

}  // namespace rarefy
