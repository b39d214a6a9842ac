#include "rarefy/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/fingerprint.hpp"
#include "rarefy/core/random.hpp"
#include "search/checks.hpp"
#include "search/outside_box.hpp"
#include "search/ranking.hpp"
#include "search/usable_rows.hpp"

namespace rarefy {
namespace {

template <typename Value>
std::span<Value> part(std::span<Value> values, Index first, Index count) {
  return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}
template <typename Value>
std::span<Value> part(std::vector<Value>& values, Index first, Index count) {
  return part(std::span(values), first, count);
}

}  // namespace

Search::Search(SearchParts parts, SearchOptions options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      workers_(options_.workers ? options_.workers : std::make_shared<Workers>(options_.threads)) {
  check_parts(parts_);
  Index rows = 0;
  for (const auto& emitter : parts_.emitters) {
    first_row_.push_back(rows);
    rows += emitter->batch();
  }
  first_row_.push_back(rows);
  const Index dimension = parts_.archive->solution_dim();
  check_initial_solutions(options_.initial_solutions, dimension);
  initial_solutions_fingerprint_ = Fingerprint()
                                       .add(options_.initial_solutions.rows())
                                       .add(options_.initial_solutions.view().values())
                                       .value();
  usable_ = std::make_unique<UsableRows>();
  box_ = std::make_unique<OutsideBox>(parts_.archive->tessellation().space(), options_.outside);
  restart_.resize(parts_.emitters.size());
  generations_.resize(parts_.emitters.size());
  asked_.resize(parts_.emitters.size());
  restart_at_.resize(static_cast<Index>(parts_.emitters.size()), dimension);
  parts_.restart_point->prepare(dimension, feature_dim());
}

Search::~Search() = default;

Index Search::outside_of_last_batch() const { return box_->count(); }

Search::Emitters Search::only(Index emitter) const {
  if (emitter < 0 || emitter >= emitters()) {
    throw Error(ErrorKind::parameter, "search: emitter", fmt::format("{}", emitter),
                fmt::format("0 to {}", emitters() - 1));
  }
  return {emitter, emitter + 1};
}

RowRange Search::rows_of(Emitters some) const {
  const Index first = first_row_[static_cast<std::size_t>(some.first)];
  return {first, first_row_[static_cast<std::size_t>(some.end)] - first};
}

RowRange Search::rows_of(Index emitter) const { return rows_of(only(emitter)); }

Index Search::emitter_of_row(Index row) const {
  return std::upper_bound(first_row_.begin(), first_row_.end(), row) - first_row_.begin() - 1;
}

// Memory for a batch is taken when the first one is asked for: a search that is only looked at
// needs none, and a forged state must not make it take any.
void Search::make_room() {
  const auto count = static_cast<std::size_t>(candidates());
  take_batch();
  scores_.resize(count);
  cells_.resize(count);
  outcomes_.resize(count);
  if (parts_.memory) remembered_.resize(count);
  order_.resize(count);
  equal_objectives_.resize(count, 1.0);
}

// One that nobody else holds. Whoever keeps the last ones (ask_shared) keeps them as they are.
void Search::take_batch() {
  if (!batches_.empty() && batches_.front().use_count() == 1) return;
  const auto last = batches_.empty() ? nullptr : batches_.front();
  const auto free = std::find_if(batches_.begin(), batches_.end(),
                                 [](const auto& batch) { return batch.use_count() == 1; });
  if (free != batches_.end()) {
    std::iter_swap(free, batches_.begin());
  } else {
    constexpr std::size_t kMostKept = 3;
    if (batches_.size() == kMostKept) batches_.pop_back();
    batches_.insert(batches_.begin(), std::make_shared<Batch>());
  }
  solutions().resize(candidates(), solution_dim());
  for (Index e = 0; e < emitters(); ++e) {
    if (!awaits(e)) continue;
    const auto [first, count] = rows_of(e);
    const auto kept = last->view().rows(first, count).values();
    std::copy(kept.begin(), kept.end(), solutions().span().rows(first, count).data());
  }
}

void Search::ask(Emitters some) {
  take_loaded_candidates();
  bool all_wait = true;
  for (Index e = some.first; e < some.end; ++e) all_wait = all_wait && awaits(e);
  if (all_wait) return;
  make_room();
  workers_->for_each(some.end - some.first, [&](Index i) {
    const Index e = some.first + i;
    if (awaits(e)) return;
    const auto [first, count] = rows_of(e);
    const auto iteration = static_cast<std::uint64_t>(generation(e));
    const auto out = solutions().span().rows(first, count);
    if (probes(e)) {
      parts_.probe->ask(e, iteration, first, out);
    } else {
      parts_.emitters[static_cast<std::size_t>(e)]->ask(*parts_.archive, iteration, out);
    }
    if (const Index given = rows_given(e); given > 0) {
      const auto from = static_cast<Index>(generation(e)) * candidates() + first;
      const auto rows = options_.initial_solutions.view().rows(from, given).values();
      std::copy(rows.begin(), rows.end(), out.data());
    }
  });
  std::fill(asked_.begin() + some.first, asked_.begin() + some.end, std::uint8_t{1});
}

BatchView Search::ask() {
  ask(all());
  return solutions();
}

BatchView Search::ask_emitter(Index emitter) {
  ask(only(emitter));
  const auto [first, count] = rows_of(emitter);
  return solutions().view().rows(first, count);
}

std::shared_ptr<const Batch> Search::ask_shared() {
  (void)ask();
  return batches_.front();
}

// The first so many of its rows are given ones.
Index Search::rows_given(Index emitter) const {
  const auto [first, count] = rows_of(emitter);
  const auto before = generation(emitter) * candidates() + first;
  return static_cast<Index>(
      std::clamp<std::int64_t>(options_.initial_solutions.rows() - before, 0, count));
}

void Search::tell(BatchView features, std::span<const double> objectives,
                  std::span<const std::uint8_t> valid) {
  tell(all(), features, objectives, valid);
}

void Search::tell_emitter(Index emitter, BatchView features, std::span<const double> objectives,
                          std::span<const std::uint8_t> valid) {
  tell(only(emitter), features, objectives, valid);
}

void Search::tell(Emitters some, BatchView features, std::span<const double> objectives,
                  std::span<const std::uint8_t> valid) {
  take_loaded_candidates();
  const RowRange rows = rows_of(some);
  if (objectives.empty() && !equal_objectives_.empty()) {
    objectives = part(equal_objectives_, 0, rows.count);
  }
  check(some, features, objectives, valid);
  usable_->find(features, objectives, valid,
                {.nan = options_.nan_means_failed, .not_finite = all_probe(some)});

  told_ = rows;
  const Index failed = rows.count - usable_->count();
  const Index left_out = inform_probe(some, features);
  const Evaluated batch = usable_->gather(features, objectives);
  take_in(batch);
  usable_->scatter(part(scores_, 0, rows.count), std::numeric_limits<double>::quiet_NaN());
  usable_->scatter(part(outcomes_, 0, rows.count), Outcome::failed);
  if (box_->ranks_last()) {
    distances_.resize(scores_.size());
    std::copy(box_->distances().begin(), box_->distances().end(), distances_.begin());
    usable_->scatter(part(distances_, 0, rows.count), 0.0);
  }
  failed_ += failed;
  left_out_ += left_out;

  workers_->for_each(some.end - some.first,
                     [&](Index i) { inform(some.first + i, features, objectives); });
  inform_restart_point(some, batch.features);
  restart(some);
  begin_emitters(some);

  for (Index e = some.first; e < some.end; ++e) {
    ++generations_[static_cast<std::size_t>(e)];
    asked_[static_cast<std::size_t>(e)] = 0;
  }
  evaluations_ += rows.count;
  half_told_ = false;
}

// The density and the archive see the rows that are usable; their scores and outcomes are the
// first so many.
void Search::take_in(Evaluated batch) {
  const Index count = batch.features.rows();
  if (told_.count < candidates()) batch.rows_of_an_iteration = candidates();
  Evaluated shown = batch;  // to the density
  shown.features = box_->show(batch.features);
  if (count == 0) {
    informed_ = parts_.density->informed();
    half_told_ = true;
    return;
  }
  const auto cells = part(cells_, 0, count);
  parts_.archive->tessellation().assign(batch.features, cells, *workers_);  // once, for all parts
  batch.cells = shown.cells = cells;
  if (options_.score_before_observing) score(shown);
  half_told_ = true;
  parts_.density->observe(shown, *workers_);
  if (!options_.score_before_observing) score(shown);
  const BatchView solutions_told = solutions().view().rows(told_.first, told_.count);
  const BatchView usable_solutions = usable_->gather_solutions(solutions_told);
  parts_.archive->record(usable_solutions, batch, *workers_, part(outcomes_, 0, count));
  if (parts_.memory) {
    batch.cells = {};  // those of the archive
    parts_.memory->record(usable_solutions, batch, *workers_, part(remembered_, 0, count));
  }
  outside_ += box_->count();
}

void Search::check(Emitters some, BatchView features, std::span<const double> objectives,
                   std::span<const std::uint8_t> valid) const {
  for (Index e = some.first; e < some.end; ++e) {
    if (awaits(e)) continue;
    throw Error(ErrorKind::state, "search: tell() without candidates; call ask() first");
  }
  const Index rows = rows_of(some).count;
  if (features.rows() != rows || features.cols() != feature_dim()) {
    throw Error(ErrorKind::data, "features",
                fmt::format("{} x {}", features.rows(), features.cols()),
                fmt::format("{} x {}, a row for each candidate", rows, feature_dim()));
  }
  const auto check_count = [&](std::string_view thing, std::size_t given) {
    if (static_cast<Index>(given) == rows) return;
    throw Error(ErrorKind::data, thing, fmt::format("{}", given),
                fmt::format("{}, one for each candidate", rows));
  };
  check_count("objectives", objectives.size());
  if (!valid.empty()) check_count("valid", valid.size());
}

void Search::score(Evaluated& batch) {
  informed_ = parts_.density->informed();
  const auto scores = part(scores_, 0, batch.features.rows());
  if (informed_) {
    parts_.density->score(batch, scores, *workers_);
    batch.scores = scores;
  } else {
    std::fill(scores.begin(), scores.end(), 0.0);
  }
}

// `features` and all that was made of them begin with the first row that is told.
void Search::inform(Index e, BatchView features, std::span<const double> objectives) {
  const auto at = static_cast<std::size_t>(e);
  const auto [first_row, count] = rows_of(e);
  const Index first = first_row - told_.first;
  restart_[at] = 0;
  if (rows_given(e) == count || probes(e)) return;  // it has proposed nothing
  const std::span<const double> scores = part(scores_, first, count);
  const auto order = part(order_, first, count);
  RandomStream random({.seed = options_.seed,
                       .purpose = Purpose::ranking,
                       .index = static_cast<std::uint32_t>(e),
                       .iteration = static_cast<std::uint64_t>(generation(e))});
  const auto distances =
      box_->ranks_last() ? part(distances_, first, count) : std::span<const double>();
  const auto [ranked, outside] = rank_rows({.scores = scores,
                                            .distances = distances,
                                            .usable = usable_->flags(first, count),
                                            .not_its_own = rows_given(e)},
                                           random, order);
  const auto inside = part(order, 0, ranked - outside);

  const double line = parts_.density->accepts_below();
  const auto accepted = std::count_if(inside.begin(), inside.end(), [&](Index row) {
    return scores[static_cast<std::size_t>(row)] < line;
  });
  const Feedback feedback = {
      .solutions = solutions().view().rows(first_row, count),
      .features = features.rows(first, count),
      .objectives = part(objectives, first, count),
      .scores = scores,
      .order = order,
      .outcomes = part(outcomes_, first, count),
      .ranked = ranked,
      .accepted = informed_ ? accepted : ranked - outside,
      .outside = outside,
      .distances = outside > 0 ? distances : std::span<const double>(),
      .informed = informed_,
  };
  const bool stopped = parts_.emitters[at]->tell(feedback);
  restart_[at] = parts_.triggers[at]->tell(feedback, stopped) ? 1 : 0;
}

void Search::inform_restart_point(Emitters some, BatchView usable_features) {
  for (Index e = some.first; e < some.end; ++e) {
    const auto [row, count] = rows_of(e);
    const Index first = row - told_.first;
    const Index begin = usable_->before(first + rows_given(e));
    const Index rows = usable_->before(first + count) - begin;
    if (rows > 0) parts_.restart_point->observe(e, usable_features.rows(begin, rows));
  }
}

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
    if (parts_.common_shape) share_shape(emitter);
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

void Search::share_shape(Emitter& emitter) {
  auto& common = *parts_.common_shape;
  common.learn(emitter.learned_shape());
  if (!common.values().empty()) emitter.begin_with(common.values());
}

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
