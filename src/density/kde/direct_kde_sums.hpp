// Sums with one term for each feature in the buffer: any kernel, any number of features.
//
// In single precision, but for candidates so far out that single precision would not do.
#pragma once

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
  void prepare(Index queries) override;
  void log_sums(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

 private:
  [[nodiscard]] float coordinate(double feature, Index d) const;
  void take_over(Index slot);

  Kernel kernel_;
  KernelCoordinates coordinates_;
  FeatureBuffer& buffer_;
  kernels::PointColumns points_;  // the buffer's contents in kernel coordinates
  // Scratch.
  std::vector<float> queries_;  // one row a candidate
  std::vector<double> sums_;
};

}  // namespace rarefy
