#include "rarefy/restarts/restart_trigger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "rarefy/core/error.hpp"

namespace rarefy {

StagnationTrigger::StagnationTrigger(const StagnationOptions& options) : options_(options) {
  if (options.patience < 1 || !(options.patience_rate >= 0)) {
    throw Error(ErrorKind::parameter, "restart patience",
                fmt::format("{} iterations, rate {}", options.patience, options.patience_rate),
                "at least 1 iteration and a rate of at least 0");
  }
  reset();
}

void StagnationTrigger::reset() {
  age_ = record_age_ = 0;
  record_ = std::numeric_limits<double>::max();
}

bool StagnationTrigger::tell(const Feedback& feedback, bool stopped) {
  ++age_;
  // `order` is sorted, so the lower median is at hand.
  const Index middle = (feedback.ranked - 1) / 2;
  if (feedback.ranked == 0 || middle >= feedback.ranked - feedback.outside) {
    // Nothing could be evaluated, or half of it lies outside of the feature space: no progress.
  } else if (feedback.informed) {
    const Index row = feedback.order[static_cast<std::size_t>(middle)];
    const double median = feedback.scores[static_cast<std::size_t>(row)];
    if (median < record_) {
      record_ = median;
      record_age_ = age_;
    }
  } else {
    record_age_ = age_;
  }
  const double granted = std::max(static_cast<double>(options_.patience),
                                  options_.patience_rate * static_cast<double>(age_));
  return stopped || static_cast<double>(age_ - record_age_) >= granted;
}

void StagnationTrigger::save(StateWriter& out) const {
  out.integer("stagnation.age", age_);
  out.integer("stagnation.record_age", record_age_);
  out.real("stagnation.record", record_);
}

void StagnationTrigger::load(StateReader& in) {
  age_ = in.integer("stagnation.age", 0, std::int64_t{1} << 62);
  record_age_ = in.integer("stagnation.record_age", 0, age_);
  record_ = in.finite("stagnation.record");
}

}  // namespace rarefy
