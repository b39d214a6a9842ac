// Sums over blocks of neighbouring features, most of which are too far from a candidate to matter:
// Gaussian kernels, any number of features; the fewer of those, the faster.
#pragma once

#include <vector>

#include "density/kde/kde_sums.hpp"
#include "kernels/block_sums.hpp"
#include "kernels/kernel_sums.hpp"
#include "rarefy/density/feature_buffer.hpp"

namespace rarefy {

class BlockKdeSums : public KdeSums {
 public:
  /// What may be left out of a sum, relative to it.
  static constexpr double kTolerance = 5e-4;

  /// The buffer must outlive this.
  BlockKdeSums(KernelCoordinates coordinates, FeatureBuffer& buffer);

  void add(BatchView features, Workers& workers) override;
  [[nodiscard]] std::int64_t count() const override { return static_cast<Index>(place_.size()); }
  void prepare(Index queries, Index threads) override;
  void log_sums(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

 private:
  // Where the feature of a slot of the buffer is: at a place of the blocks, or, where it came
  // after those were made, at one of `fresh_`; the latter as -1 - place.
  [[nodiscard]] static Index fresh_place(Index at) { return -1 - at; }

  void coordinates_of(std::span<const double> features, float* out) const;
  void take_over(Index slot);
  void put_into_blocks(Index slot, Index at);
  void put_into_fresh(Index slot, Index at);
  void make_blocks();

  KernelCoordinates coordinates_;
  FeatureBuffer& buffer_;
  Index dims_;
  kernels::PointBlocks blocks_;
  kernels::PointColumns fresh_;  // summed over by all candidates
  std::vector<Index> place_;     // by slot
  std::int64_t spent_ = 0;       // terms of fresh features since the blocks were made
  // Scratch.
  std::vector<Index> order_;
  std::vector<float> point_, points_;
  std::vector<float> queries_;  // one row a candidate
  std::vector<double> sums_;
  std::vector<kernels::BlockScratch> scratch_;  // one for each piece of the queries
};

}  // namespace rarefy
