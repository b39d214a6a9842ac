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
#include "search/part.hpp"
#include "search/ranking.hpp"
#include "search/usable_rows.hpp"

namespace rarefy {

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

}  // namespace rarefy
