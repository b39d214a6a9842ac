// Search: how emitters begin, by what a probe has found, and begin anew.
#include <algorithm>

#include "rarefy/core/random.hpp"
#include "rarefy/search.hpp"
#include "search/part.hpp"
#include "search/usable_rows.hpp"

namespace rarefy {
namespace {

void share_shape(CommonShape& common, Emitter& emitter) {
  common.learn(emitter.learned_shape());
  if (!common.values().empty()) emitter.begin_with(common.values());
}

}  // namespace

bool Search::all_probe(Emitters some) const {
  for (Index e = some.first; e < some.end; ++e) {
    if (!probes(e)) return false;
  }
  return true;
}

// Returns how many rows are left out. What all have seen counts before any row is judged by it.
Index Search::inform_probe(Emitters some, BatchView features) {
  if (!parts_.probe) return 0;
  auto& probe = *parts_.probe;
  const auto for_each_probing = [&](auto visit) {
    for (Index e = some.first; e < some.end; ++e) {
      const auto [row, count] = rows_of(e);
      if (probe.probes(e) && rows_given(e) < count) visit(e, row, count);
    }
  };
  too_large_.resize(static_cast<std::size_t>(candidates()));
  for_each_probing([&](Index e, Index row, Index count) {
    half_told_ = true;
    const Index first = row - told_.first;
    probe.tell(e, static_cast<std::uint64_t>(generation(e)), row, rows_given(e),
               features.rows(first, count), usable_->flags(first, count));
  });
  if (!half_told_) return 0;
  probe.learn();
  const Index before = usable_->count();
  for_each_probing([&](Index e, Index row, Index count) {
    const auto too_large = part(too_large_, 0, count);
    probe.too_large(e, static_cast<std::uint64_t>(generation(e)), row, too_large);
    for (Index i = rows_given(e); i < count; ++i) {
      if (too_large[static_cast<std::size_t>(i)] != 0) usable_->leave_out(row - told_.first + i);
    }
  });
  return before - usable_->count();
}

// Those for which the probe has found out enough.
void Search::begin_emitters(Emitters some) {
  for (Index e = some.first; e < some.end; ++e) {
    if (!probes(e) || rows_given(e) == rows_of(e).count || !parts_.probe->concludes(e)) continue;
    RandomStream random({.seed = options_.seed,
                         .purpose = Purpose::restart,
                         .index = static_cast<std::uint32_t>(e),
                         .iteration = static_cast<std::uint64_t>(generation(e))});
    const auto at = static_cast<std::size_t>(e);
    parts_.emitters[at]->set_step(parts_.probe->range().draw(random));
    parts_.emitters[at]->restart(parts_.probe->start(e));
  }
}

// Points are chosen one after the other, for a RestartPoint may remember; then each emitter is by
// itself. As long as nothing was found there is no point to choose, and all go on as they are.
void Search::restart(Emitters some) {
  if (restart_source().empty()) return;
  bool any = false;
  for (Index e = some.first; e < some.end; ++e) {
    if (restart_[static_cast<std::size_t>(e)] == 0) continue;
    RandomStream random({.seed = options_.seed,
                         .purpose = Purpose::restart,
                         .index = static_cast<std::uint32_t>(e),
                         .iteration = static_cast<std::uint64_t>(generation(e))});
    parts_.restart_point->choose(
        {restart_source(), *parts_.density, *workers_, random, options_.outside}, e,
        restart_at_.row(e));
    auto& emitter = *parts_.emitters[static_cast<std::size_t>(e)];
    if (parts_.probe) emitter.set_step(parts_.probe->range().draw(random));
    if (parts_.common_shape) share_shape(*parts_.common_shape, emitter);
    ++restarts_;
    any = true;
  }
  if (!any) return;
  // A new covariance matrix is written by the thread that will have it.
  workers_->for_each(some.end - some.first, [&](Index i) {
    const auto at = static_cast<std::size_t>(some.first + i);
    if (restart_[at] == 0) return;
    parts_.emitters[at]->restart(restart_at_.view().row(some.first + i));
    parts_.triggers[at]->reset();
  });
}

}  // namespace rarefy
