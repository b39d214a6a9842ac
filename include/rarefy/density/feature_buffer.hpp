// The features a density is estimated from.
#pragma once

#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"

namespace rarefy {

class FeatureBuffer {
 public:
  virtual ~FeatureBuffer() = default;

  /// What the buffer holds; slot i is row i.
  [[nodiscard]] virtual BatchView contents() const = 0;
  /// The most it will ever hold; 0 means no limit.
  [[nodiscard]] virtual Index capacity() const = 0;

  /// Takes in a batch. The slots that now hold other features are appended to
  /// `changed` (a slot may be named more than once), so that whoever keeps
  /// something derived from the contents need not look at all of them.
  virtual void add(BatchView features, std::vector<Index>& changed) = 0;

  virtual void save(StateWriter& out) const = 0;
  virtual void load(StateReader& in) = 0;
};

}  // namespace rarefy
