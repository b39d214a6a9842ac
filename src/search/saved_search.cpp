// Search: its state, saved and loaded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/search.hpp"
#include "search/outside_box.hpp"
#include "search/usable_rows.hpp"

namespace rarefy {

void Search::identify(StateOptions& options) const {
  options.word("search.seed", options_.seed);
  options.integers("search.first_rows",
                   std::vector<std::int64_t>(first_row_.begin(), first_row_.end()));
  options.flag("search.score_before_observing", options_.score_before_observing);
  options.flag("search.nan_means_failed", options_.nan_means_failed);
  options.text("search.outside", name_of(options_.outside));
  options.word("search.initial_solutions", initial_solutions_fingerprint_);
  parts_.archive->identify(options);
  options.text("search.density", parts_.density->name());
  parts_.density->identify(options);
  for (const auto& emitter : parts_.emitters) emitter->identify(options);
  for (const auto& trigger : parts_.triggers) trigger->identify(options);
  parts_.restart_point->identify(options);
  options.text("search.restart_from", parts_.memory ? "memory" : "archive");
  if (parts_.memory) parts_.memory->identify(options);
  options.text("search.steps", parts_.probe ? "probed" : "given");
  if (parts_.probe) parts_.probe->identify(options);
  options.text("search.shape", parts_.common_shape ? "common" : "round");
  if (parts_.common_shape) parts_.common_shape->identify(options);
}

void Search::save(StateWriter& out) const {
  if (half_told_) {
    throw Error(ErrorKind::state,
                "search: an error in the middle of tell() has left no state "
                "that could be saved");
  }
  StateOptions options(out);
  identify(options);
  out.integers("search.generations", generations_);
  out.integer("search.restarts", restarts_);
  out.integer("search.failed", failed_);
  out.integer("search.outside_rows", outside_);
  out.integer("search.left_out", left_out_);
  for (const auto& emitter : parts_.emitters) emitter->save(out);
  for (const auto& trigger : parts_.triggers) trigger->save(out);
  parts_.restart_point->save(out);
  if (parts_.probe) parts_.probe->save(out);
  if (parts_.common_shape) parts_.common_shape->save(out);
  parts_.density->save(out);
  parts_.archive->save(out);
  if (parts_.memory) parts_.memory->save(out);
  save_candidates(out);
}

// Those under way: an emitter that reads the archive might propose others by now.
void Search::save_candidates(StateWriter& out) const {
  out.integers("search.asked", std::vector<std::int64_t>(asked_.begin(), asked_.end()));
  auto values = loaded_candidates_;
  for (Index e = 0; e < emitters() && loaded_candidates_.empty(); ++e) {
    if (!awaits(e)) continue;
    const auto [first, count] = rows_of(e);
    const auto rows = batches_.front()->view().rows(first, count).values();
    values.insert(values.end(), rows.begin(), rows.end());
  }
  out.reals("search.candidates", values);
}

// They stay as the file has them until somebody asks: see make_room().
void Search::load_candidates(StateReader& in) {
  std::vector<std::int64_t> asked(asked_.size());
  in.integers("search.asked", asked);
  std::size_t expected = 0;
  for (Index e = 0; e < emitters(); ++e) {
    const bool waits = asked[static_cast<std::size_t>(e)] != 0;
    asked_[static_cast<std::size_t>(e)] = waits ? 1 : 0;
    if (waits) expected += static_cast<std::size_t>(rows_of(e).count * solution_dim());
  }
  loaded_candidates_ = in.reals_up_to("search.candidates", expected);
  if (loaded_candidates_.size() != expected) {
    throw Error(ErrorKind::corrupt, "saved state: values of candidates under way",
                fmt::format("{}", loaded_candidates_.size()), fmt::format("{}", expected));
  }
  if (!std::all_of(loaded_candidates_.begin(), loaded_candidates_.end(),
                   [](double value) { return std::isfinite(value); })) {
    throw Error(ErrorKind::corrupt, "saved state: candidates under way", "one that is not finite",
                "finite numbers");
  }
}

// The emitters themselves are asked again, for they may remember what they have proposed.
void Search::take_loaded_candidates() {
  if (loaded_candidates_.empty()) return;
  const auto values = std::exchange(loaded_candidates_, {});
  const auto awaited = std::exchange(asked_, std::vector<std::uint8_t>(asked_.size()));
  auto next = values.begin();
  for (Index e = 0; e < emitters(); ++e) {
    if (awaited[static_cast<std::size_t>(e)] == 0) continue;
    ask(only(e));
    const auto [first, count] = rows_of(e);
    const auto end = next + count * solution_dim();
    std::copy(next, end, solutions().span().rows(first, count).data());
    next = end;
  }
}

void Search::check_visits(const Archive& archive) const {
  const auto used = evaluations() - failed_ - left_out_;
  if (archive.total_visits() == used) return;
  throw Error(
      ErrorKind::corrupt, "saved state: visits of all cells",
      fmt::format("{}", archive.total_visits()),
      fmt::format("{}, one for each evaluation that did not fail or was for the probe alone",
                  used));
}

void Search::load(StateReader& in) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  StateOptions options(in);
  identify(options);  // before anything changes
  in.integers("search.generations", generations_);
  evaluations_ = 0;
  for (Index e = 0; e < emitters(); ++e) {
    const auto most = std::min(kMost, (kMost << 22) / candidates());  // so that all can be counted
    if (generation(e) < 0 || generation(e) > most) {
      throw Error(ErrorKind::corrupt, "saved state: field 'search.generations'",
                  fmt::format("{}", generation(e)), fmt::format("0 to {}", most));
    }
    evaluations_ += generation(e) * rows_of(e).count;
  }
  restarts_ = in.integer("search.restarts", 0, kMost);
  failed_ = in.integer("search.failed", 0, evaluations());
  outside_ = in.integer("search.outside_rows", 0, evaluations() - failed_);
  left_out_ = in.integer("search.left_out", 0, evaluations() - failed_ - outside_);
  for (auto& emitter : parts_.emitters) emitter->load(in);
  for (auto& trigger : parts_.triggers) trigger->load(in);
  parts_.restart_point->load(in);
  if (parts_.probe) parts_.probe->load(in);
  if (parts_.common_shape) parts_.common_shape->load(in);
  parts_.density->load(in);
  parts_.archive->load(in);
  check_visits(*parts_.archive);
  if (parts_.memory) {
    parts_.memory->load(in);
    check_visits(*parts_.memory);
  }
  load_candidates(in);
  box_->forget();
  told_ = {};
  half_told_ = false;
}

}  // namespace rarefy
