// When an emitter starts anew.
#pragma once

#include <memory>

#include "rarefy/core/state.hpp"
#include "rarefy/emitters/emitter.hpp"

namespace rarefy {

/// Watches one emitter.
class RestartTrigger {
 public:
  virtual ~RestartTrigger() = default;

  /// Called once an iteration; `stopped` is what the emitter's own tell() returned.
  /// Returns whether to restart it.
  virtual bool tell(const Feedback& feedback, bool stopped) = 0;
  /// The emitter was restarted.
  virtual void reset() {}

  virtual void save(StateWriter& /*out*/) const {}
  virtual void load(StateReader& /*in*/) {}
};

/// Restarts an emitter when it says itself that it cannot go on, and only then.
class BasicTrigger : public RestartTrigger {
 public:
  bool tell(const Feedback& /*feedback*/, bool stopped) override { return stopped; }
};

/// Also restarts an emitter none of whose candidates was accepted. Where none could be evaluated,
/// that says nothing.
class NoImprovementTrigger : public RestartTrigger {
 public:
  bool tell(const Feedback& feedback, bool stopped) override {
    return stopped || (feedback.ranked > 0 && feedback.accepted == 0);
  }
};

struct StagnationOptions {
  Index patience = 25;         ///< iterations without progress that are always granted
  double patience_rate = 0.2;  ///< and this part of the emitter's age, where that is more

  bool operator==(const StagnationOptions&) const = default;
};

/// Also restarts an emitter that finds nothing sparser any more: the lower median of its
/// scores has set no new record for max(patience, patience_rate * age) iterations. The median
/// rather than the best, because a single lucky candidate is not progress of the distribution.
/// An iteration in which none could be evaluated is one without a record, and so is one whose
/// median lies outside of the feature space, where that ranks last.
class StagnationTrigger : public RestartTrigger {
 public:
  explicit StagnationTrigger(const StagnationOptions& options = {});

  bool tell(const Feedback& feedback, bool stopped) override;
  void reset() override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

 private:
  StagnationOptions options_;
  std::int64_t age_ = 0;
  std::int64_t record_age_ = 0;
  double record_ = 0;
};

}  // namespace rarefy
