// The features a density is estimated from.
#pragma once

#include <cstdint>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/state_options.hpp"

namespace rarefy {

/// The features that came into a buffer with a batch, and those that had to make room. One that
/// came and went with the same batch is named twice.
struct Exchange {
  void begin(Index feature_dim) {
    came.resize(0, feature_dim);
    went.resize(0, feature_dim);
  }
  Batch came, went;
};

class FeatureBuffer {
 public:
  virtual ~FeatureBuffer() = default;

  /// What the buffer holds; slot i is row i.
  [[nodiscard]] virtual BatchView contents() const = 0;
  /// The most it will ever hold; 0 means no limit.
  [[nodiscard]] virtual Index capacity() const = 0;
  /// How many features a density is estimated from.
  [[nodiscard]] virtual std::int64_t count() const { return contents().rows(); }

  /// Takes in a batch. The slots that now hold other features are appended to
  /// `changed` (a slot may be named more than once), so that whoever keeps
  /// something derived from the contents need not look at all of them. Where
  /// `exchange` is given, its rows become those that came and went.
  virtual void add(BatchView features, std::vector<Index>& changed, Exchange* exchange) = 0;
  void add(BatchView features, std::vector<Index>& changed) { add(features, changed, nullptr); }

  /// Names the options that a state must have been made with to be loaded.
  virtual void identify(StateOptions& /*options*/) const {}
  virtual void save(StateWriter& out) const = 0;
  virtual void load(StateReader& in) = 0;
};

}  // namespace rarefy
