// Sums of kernels each of which has a width of its own (Bandwidth::local).
//
// The pilot density is the usual one, which is kept up to date beside: it says how wide the kernel
// of a feature that comes is to be, and at intervals how wide all are. Which width a feature has is
// remembered, so that it leaves the sums as it came.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "density/kde/class_sums.hpp"
#include "density/kde/kde_sums.hpp"

namespace rarefy {

class LocalKdeSums : public KdeSums {
 public:
  /// `pilot` adds to the buffer, which must outlive this and have a capacity.
  LocalKdeSums(std::unique_ptr<KdeSums> pilot, std::unique_ptr<ClassSums> classes,
               KernelCoordinates coordinates, FeatureBuffer& buffer);

  void add(BatchView features, Workers& workers) override;
  [[nodiscard]] std::int64_t count() const override { return held_.rows(); }
  void prepare(Index queries, Index /*threads*/) override { sums_->prepare(queries); }
  void log_sums(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  [[nodiscard]] std::vector<double> multiples() const override;

 private:
  void fit(Workers& workers);
  void classify(Workers& workers);
  void ask_pilot(BatchView features, Workers& workers);
  void put(Index slot, Index number);
  void begin_change();
  void end_change(Index queries, Workers& workers);

  std::unique_ptr<KdeSums> pilot_;
  std::unique_ptr<ClassSums> sums_;
  KernelCoordinates coordinates_;
  FeatureBuffer& buffer_;
  std::int64_t seen_ = 0, next_fit_ = 0;  // as of KernelDensity
  double mean_ = 0.0;                     // ln g, in units of a single kernel's peak
  Batch held_;                            // what the sums are over, by slot
  ClassOfSlot classes_;
  // Scratch.
  std::array<Exchange, LocalClasses::kCount> exchanges_;
  Batch came_;
  std::vector<double> log_pilot_;
};

}  // namespace rarefy
