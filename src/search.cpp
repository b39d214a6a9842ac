#include "rarefy/search.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  restart_at_.resize(static_cast<Index>(parts_.emitters.size()), dimension);
  parts_.restart_point->prepare(dimension, feature_dim());
}

Search::~Search() = default;

Index Search::outside_of_last_batch() const { return box_->count(); }

// Memory for a batch is taken when the first one is asked for: a search that is only looked at
// needs none, and a forged state must not make it take any.
void Search::make_room() {
  const auto count = static_cast<std::size_t>(candidates());
  take_batch();
  scores_.resize(count);
  cells_.resize(count);
  outcomes_.resize(count);
  order_.resize(count);
  equal_objectives_.resize(count, 1.0);
}

// One that nobody else holds. Whoever keeps the last ones (ask_shared) keeps them as they are.
void Search::take_batch() {
  const auto free = std::find_if(batches_.begin(), batches_.end(),
                                 [](const auto& batch) { return batch.use_count() == 1; });
  if (free != batches_.end()) {
    std::iter_swap(free, batches_.begin());
  } else {
    constexpr std::size_t kMostKept = 3;
    if (batches_.size() == kMostKept) batches_.pop_back();
    batches_.insert(batches_.begin(), std::make_shared<Batch>());
  }
  batches_.front()->resize(candidates(), solution_dim());
}

BatchView Search::ask() {
  if (!asked_) {
    make_room();
    workers_->for_each(emitters(), [&](Index e) {
      const auto at = static_cast<std::size_t>(e);
      parts_.emitters[at]->ask(
          *parts_.archive, static_cast<std::uint64_t>(iteration_),
          solutions().span().rows(first_row_[at], first_row_[at + 1] - first_row_[at]));
    });
    const auto given = options_.initial_solutions.view().rows(
        rows_given() > 0 ? static_cast<Index>(iteration_) * candidates() : 0, rows_given());
    std::copy(given.values().begin(), given.values().end(), solutions().data());
    asked_ = true;
  }
  return solutions();
}

std::shared_ptr<const Batch> Search::ask_shared() {
  (void)ask();
  return batches_.front();
}

// The first so many rows of this iteration's batch are given ones.
Index Search::rows_given() const {
  return std::clamp<Index>(options_.initial_solutions.rows() - evaluations(), 0, candidates());
}

void Search::tell(BatchView features, std::span<const double> objectives,
                  std::span<const std::uint8_t> valid) {
  if (objectives.empty()) objectives = equal_objectives_;
  check(features, objectives, valid);
  usable_->find(features, objectives, valid, options_.nan_means_failed);

  const Evaluated batch = usable_->gather(features, objectives);
  take_in(batch);
  usable_->scatter(std::span(scores_), std::numeric_limits<double>::quiet_NaN());
  usable_->scatter(std::span(outcomes_), Outcome::failed);
  if (box_->ranks_last()) {
    distances_.resize(scores_.size());
    std::copy(box_->distances().begin(), box_->distances().end(), distances_.begin());
    usable_->scatter(std::span(distances_), 0.0);
  }
  failed_ += candidates() - usable_->count();

  workers_->for_each(emitters(), [&](Index e) { tell_emitter(e, features, objectives); });
  for (Index e = 0; e < emitters(); ++e) {
    const auto at = static_cast<std::size_t>(e);
    const Index first = usable_->before(std::max(first_row_[at], rows_given()));
    const Index count = usable_->before(first_row_[at + 1]) - first;
    if (count > 0) parts_.restart_point->observe(e, batch.features.rows(first, count));
  }
  restart_emitters();

  ++iteration_;
  asked_ = false;
  half_told_ = false;
}

// The density and the archive see the rows that are usable; their scores and outcomes are the
// first so many.
void Search::take_in(Evaluated batch) {
  const Index count = batch.features.rows();
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
  parts_.archive->record(usable_->gather_solutions(solutions()), batch, *workers_,
                         part(outcomes_, 0, count));
  outside_ += box_->count();
}

void Search::check(BatchView features, std::span<const double> objectives,
                   std::span<const std::uint8_t> valid) const {
  if (!asked_) {
    throw Error(ErrorKind::state, "search: tell() without candidates; call ask() first");
  }
  if (features.rows() != candidates() || features.cols() != feature_dim()) {
    throw Error(ErrorKind::data, "features",
                fmt::format("{} x {}", features.rows(), features.cols()),
                fmt::format("{} x {}, a row for each candidate", candidates(), feature_dim()));
  }
  const auto check_count = [&](std::string_view thing, std::size_t given) {
    if (static_cast<Index>(given) == candidates()) return;
    throw Error(ErrorKind::data, thing, fmt::format("{}", given),
                fmt::format("{}, one for each candidate", candidates()));
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

Index Search::rows_of(Index emitter) const {
  const auto at = static_cast<std::size_t>(emitter);
  return first_row_[at + 1] - first_row_[at];
}

void Search::tell_emitter(Index e, BatchView features, std::span<const double> objectives) {
  const auto at = static_cast<std::size_t>(e);
  const Index first = first_row_[at];
  const Index count = rows_of(e);
  restart_[at] = 0;
  if (first_row_[at + 1] <= rows_given()) return;  // it has proposed nothing
  const std::span<const double> scores = part(scores_, first, count);
  const auto order = part(order_, first, count);
  RandomStream random({.seed = options_.seed,
                       .purpose = Purpose::ranking,
                       .index = static_cast<std::uint32_t>(e),
                       .iteration = static_cast<std::uint64_t>(iteration_)});
  const auto distances =
      box_->ranks_last() ? part(distances_, first, count) : std::span<const double>();
  const auto [ranked, outside] = rank_rows({.scores = scores,
                                            .distances = distances,
                                            .usable = usable_->flags(first, count),
                                            .not_its_own = rows_given() - first},
                                           random, order);
  const auto inside = part(order, 0, ranked - outside);

  const double line = parts_.density->accepts_below();
  const auto accepted = std::count_if(inside.begin(), inside.end(), [&](Index row) {
    return scores[static_cast<std::size_t>(row)] < line;
  });
  const Feedback feedback = {
      .solutions = solutions().view().rows(first, count),
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

// Points are chosen one after the other, for a RestartPoint may remember; then each emitter is by
// itself. As long as nothing was found there is no point to choose, and all go on as they are.
void Search::restart_emitters() {
  if (parts_.archive->empty()) return;
  bool some = false;
  for (std::size_t e = 0; e < parts_.emitters.size(); ++e) {
    if (restart_[e] == 0) continue;
    RandomStream random({.seed = options_.seed,
                         .purpose = Purpose::restart,
                         .index = static_cast<std::uint32_t>(e),
                         .iteration = static_cast<std::uint64_t>(iteration_)});
    parts_.restart_point->choose(
        {*parts_.archive, *parts_.density, *workers_, random, options_.outside},
        static_cast<Index>(e), restart_at_.row(static_cast<Index>(e)));
    ++restarts_;
    some = true;
  }
  if (!some) return;
  // A new covariance matrix is written by the thread that will have it.
  workers_->for_each(static_cast<Index>(parts_.emitters.size()), [&](Index e) {
    const auto i = static_cast<std::size_t>(e);
    if (restart_[i] == 0) return;
    parts_.emitters[i]->restart(restart_at_.view().row(e));
    parts_.triggers[i]->reset();
  });
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
}

void Search::save(StateWriter& out) const {
  if (half_told_) {
    throw Error(ErrorKind::state,
                "search: an error in the middle of tell() has left no state "
                "that could be saved");
  }
  StateOptions options(out);
  identify(options);
  out.integer("search.iteration", iteration_);
  out.integer("search.restarts", restarts_);
  out.integer("search.failed", failed_);
  out.integer("search.outside_rows", outside_);
  for (const auto& emitter : parts_.emitters) emitter->save(out);
  for (const auto& trigger : parts_.triggers) trigger->save(out);
  parts_.restart_point->save(out);
  parts_.density->save(out);
  parts_.archive->save(out);
}

void Search::load(StateReader& in) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  StateOptions options(in);
  identify(options);  // before anything changes
  // All evaluations can be counted.
  iteration_ = in.integer("search.iteration", 0, std::min(kMost, (kMost << 22) / candidates()));
  restarts_ = in.integer("search.restarts", 0, kMost);
  failed_ = in.integer("search.failed", 0, evaluations());
  outside_ = in.integer("search.outside_rows", 0, evaluations() - failed_);
  for (auto& emitter : parts_.emitters) emitter->load(in);
  for (auto& trigger : parts_.triggers) trigger->load(in);
  parts_.restart_point->load(in);
  parts_.density->load(in);
  parts_.archive->load(in);
  if (parts_.archive->total_visits() != evaluations() - failed_) {
    throw Error(
        ErrorKind::corrupt, "saved state: visits of all cells",
        fmt::format("{}", parts_.archive->total_visits()),
        fmt::format("{}, one for each evaluation that did not fail", evaluations() - failed_));
  }
  box_->forget();
  asked_ = half_told_ = false;
}

}  // namespace rarefy
