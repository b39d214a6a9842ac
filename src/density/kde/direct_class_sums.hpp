// One list of points for each class: any number of features.
#pragma once

#include <array>
#include <vector>

#include "density/kde/class_sums.hpp"
#include "kernels/kernel_sums.hpp"

namespace rarefy {

class DirectClassSums : public ClassSums {
 public:
  /// For that many features at the most.
  DirectClassSums(KernelCoordinates coordinates, Index capacity);

  void change(const Change& change, Index queries, Workers& workers) override;
  void prepare(Index queries) override;
  void log_sums(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in, BatchView contents, const ClassOfSlot& classes) override;

 private:
  [[nodiscard]] float coordinate(double feature, std::size_t d, Index number) const;
  void make(BatchView contents, const ClassOfSlot& classes);

  KernelCoordinates coordinates_;
  Index dims_, capacity_;
  std::vector<kernels::PointColumns> points_;  // by class, in the order of the buffer
  // Scratch.
  std::vector<float> queries_;  // one row a candidate
  std::vector<double> sums_;
};

}  // namespace rarefy
