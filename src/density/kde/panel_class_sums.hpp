// One set of tables for each class, at a cost that does not depend on how many features there are:
// one or two features.
#pragma once

#include <vector>

#include "density/kde/class_sums.hpp"
#include "density/kde/panel_kde_sums.hpp"
#include "density/panels/panel_sums.hpp"

namespace rarefy {

class PanelClassSums : public ClassSums {
 public:
  /// For a box of that size in bandwidths.
  PanelClassSums(PanelKdeSums::Box box, KernelCoordinates coordinates);

  /// Whether the narrowest class has a reasonable number of panels.
  [[nodiscard]] static bool fits(PanelKdeSums::Box box);

  void change(const Change& change, Index queries, Workers& workers) override;
  void prepare(Index /*queries*/) override {}
  void log_sums(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in, BatchView contents, const ClassOfSlot& classes) override;

 private:
  [[nodiscard]] PlanePoint place_of(std::span<const double> features, Index number) const;
  [[nodiscard]] double log_sum_in_tail(std::span<const double> features) const;

  KernelCoordinates coordinates_;
  Index dims_;
  std::vector<PanelSums> sums_;          // by class
  std::vector<PlanePoint> came_, went_;  // scratch
};

}  // namespace rarefy
