// The rows of a batch whose features lie outside of the feature space, and what the density is
// shown of them.
#pragma once

#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/feature_space.hpp"
#include "rarefy/core/outside.hpp"

namespace rarefy {

class OutsideBox {
 public:
  OutsideBox(FeatureSpace space, Outside treatment);

  /// Looks through a batch, and returns the features as the density is to see them: its own
  /// unless some lie outside and are treated otherwise. Good until the next call.
  [[nodiscard]] BatchView show(BatchView features);

  /// Rows of that batch outside.
  [[nodiscard]] Index count() const { return count_; }
  void forget() { count_ = 0; }
  /// Whether some of them are ranked by how far out they are.
  [[nodiscard]] bool ranks_last() const { return treatment_ == Outside::last && count_ > 0; }
  /// Where that is so: how far out each row is, in widths of the box, 0 inside.
  [[nodiscard]] std::span<const double> distances() const { return distances_; }

 private:
  FeatureSpace space_;
  Outside treatment_;
  Index count_ = 0;
  // Made the first time something lies outside.
  Batch shown_;
  std::vector<double> distances_;
};

}  // namespace rarefy
