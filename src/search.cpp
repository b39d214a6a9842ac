#include "rarefy/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {
namespace {

void require(bool condition, std::string_view thing, std::string_view given,
             std::string_view expected) {
  if (!condition) throw Error(ErrorKind::parameter, thing, given, expected);
}

void check_parts(const SearchParts& parts) {
  require(!parts.emitters.empty(), "search: emitters", "none", "at least one");
  require(parts.triggers.size() == parts.emitters.size(), "search: restart triggers",
          fmt::format("{}", parts.triggers.size()),
          fmt::format("{}, one for each emitter", parts.emitters.size()));
  require(parts.restart_point && parts.density && parts.archive, "search: parts",
          "a missing restart point, density or archive", "one of each");
  require(parts.density->feature_dim() == parts.archive->feature_dim(), "search: features",
          fmt::format("{} in the density, {} in the archive", parts.density->feature_dim(),
                      parts.archive->feature_dim()),
          "the same number");
  for (const auto& trigger : parts.triggers) {
    require(trigger != nullptr, "search: restart triggers", "an empty one", "none empty");
  }
  for (const auto& emitter : parts.emitters) {
    require(emitter != nullptr, "search: emitters", "an empty one", "none empty");
    require(emitter->dimension() == parts.archive->solution_dim(), "search: solution dimension",
            fmt::format("{} in an emitter, {} in the archive", emitter->dimension(),
                        parts.archive->solution_dim()),
            "the same number");
  }
}

// A stable sort that allocates nothing, for the few dozen rows of one emitter.
template <typename Before>
void stable_sort_in_place(std::span<Index> values, Before before) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto value = values[i];
    const auto place =
        std::upper_bound(values.begin(), values.begin() + static_cast<Index>(i), value, before);
    std::move_backward(place, values.begin() + static_cast<Index>(i),
                       values.begin() + static_cast<Index>(i) + 1);
    *place = value;
  }
}

std::span<const double> part(std::span<const double> values, Index first, Index count) {
  return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

}  // namespace

Search::Search(SearchParts parts, const SearchOptions& options)
    : parts_(std::move(parts)), options_(options), workers_(options.threads) {
  check_parts(parts_);
  Index rows = 0;
  for (const auto& emitter : parts_.emitters) {
    first_row_.push_back(rows);
    rows += emitter->batch();
  }
  first_row_.push_back(rows);
  const Index dimension = parts_.archive->solution_dim();
  solutions_.resize(rows, dimension);
  const auto count = static_cast<std::size_t>(rows);
  scores_.resize(count);
  cells_.resize(count);
  outcomes_.resize(count);
  order_.resize(count);
  equal_objectives_.assign(count, 1.0);
  restart_.resize(parts_.emitters.size());
  restart_at_.resize(static_cast<Index>(parts_.emitters.size()), dimension);
  parts_.restart_point->prepare(dimension, feature_dim());
}

Search::~Search() = default;

BatchView Search::ask() {
  if (!asked_) {
    workers_.for_each(emitters(), [&](Index e) {
      const auto at = static_cast<std::size_t>(e);
      parts_.emitters[at]->ask(
          *parts_.archive, static_cast<std::uint64_t>(iteration_),
          solutions_.span().rows(first_row_[at], first_row_[at + 1] - first_row_[at]));
    });
    asked_ = true;
  }
  return solutions_;
}

void Search::tell(BatchView features, std::span<const double> objectives) {
  if (objectives.empty()) objectives = equal_objectives_;
  check(features, objectives);

  parts_.archive->tessellation().assign(features, cells_, workers_);  // once, for all parts
  Evaluated batch = {.features = features, .objectives = objectives, .cells = cells_};
  if (options_.score_before_observing) score(batch);
  half_told_ = true;
  parts_.density->observe(batch, workers_);
  if (!options_.score_before_observing) score(batch);

  parts_.archive->record(solutions_, batch, workers_, outcomes_);

  workers_.for_each(emitters(), [&](Index e) { tell_emitter(e, batch); });
  for (Index e = 0; e < emitters(); ++e) {
    const Index first = first_row_[static_cast<std::size_t>(e)];
    const Index count = first_row_[static_cast<std::size_t>(e) + 1] - first;
    parts_.restart_point->observe(e, features.rows(first, count));
  }
  restart_emitters();

  ++iteration_;
  asked_ = false;
  half_told_ = false;
}

void Search::check(BatchView features, std::span<const double> objectives) const {
  if (!asked_) {
    throw Error(ErrorKind::state, "search: tell() without candidates; call ask() first");
  }
  if (features.rows() != batch() || features.cols() != feature_dim()) {
    throw Error(ErrorKind::data, "features",
                fmt::format("{} x {}", features.rows(), features.cols()),
                fmt::format("{} x {}, a row for each candidate", batch(), feature_dim()));
  }
  if (static_cast<Index>(objectives.size()) != batch()) {
    throw Error(ErrorKind::data, "objectives", fmt::format("{}", objectives.size()),
                fmt::format("{}, one for each candidate", batch()));
  }
  for (Index i = 0; i < batch(); ++i) {
    for (Index d = 0; d < features.cols(); ++d) {
      if (!std::isfinite(features(i, d))) {
        throw Error(ErrorKind::data, fmt::format("features: row {}, feature {}", i, d),
                    fmt::format("{}", features(i, d)), "a finite number");
      }
    }
    const double objective = objectives[static_cast<std::size_t>(i)];
    if (!std::isfinite(objective)) {
      throw Error(ErrorKind::data, fmt::format("objectives: row {}", i),
                  fmt::format("{}", objective), "a finite number");
    }
  }
}

void Search::score(Evaluated& batch) {
  informed_ = parts_.density->informed();
  if (informed_) {
    parts_.density->score(batch, scores_, workers_);
    batch.scores = scores_;
  } else {
    std::fill(scores_.begin(), scores_.end(), 0.0);
  }
}

void Search::tell_emitter(Index e, const Evaluated& batch) {
  const auto at = static_cast<std::size_t>(e);
  const Index first = first_row_[at];
  const Index count = first_row_[at + 1] - first;
  const auto scores = part(scores_, first, count);
  const auto order =
      std::span(order_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  const auto outcomes = std::span<const Outcome>(outcomes_).subspan(
      static_cast<std::size_t>(first), static_cast<std::size_t>(count));

  // Best first. Equal scores in random order: the order of rows is no reason to prefer one.
  RandomStream random({.seed = options_.seed,
                       .purpose = Purpose::ranking,
                       .index = static_cast<std::uint32_t>(e),
                       .iteration = static_cast<std::uint64_t>(iteration_)});
  random_permutation(random, order);
  const auto before = [&](Index a, Index b) {
    return scores[static_cast<std::size_t>(a)] < scores[static_cast<std::size_t>(b)];
  };
  stable_sort_in_place(order, before);

  const double line = parts_.density->accepts_below();
  const auto accepted =
      std::count_if(scores.begin(), scores.end(), [line](double score) { return score < line; });
  const Feedback feedback = {
      .solutions = solutions_.view().rows(first, count),
      .features = batch.features.rows(first, count),
      .objectives = part(batch.objectives, first, count),
      .scores = scores,
      .order = order,
      .outcomes = outcomes,
      .accepted = informed_ ? accepted : count,
      .informed = informed_,
  };
  const bool stopped = parts_.emitters[at]->tell(feedback);
  restart_[at] = parts_.triggers[at]->tell(feedback, stopped) ? 1 : 0;
}

// Points are chosen one after the other, for a RestartPoint may remember; then each emitter is by
// itself.
void Search::restart_emitters() {
  bool some = false;
  for (std::size_t e = 0; e < parts_.emitters.size(); ++e) {
    if (restart_[e] == 0) continue;
    RandomStream random({.seed = options_.seed,
                         .purpose = Purpose::restart,
                         .index = static_cast<std::uint32_t>(e),
                         .iteration = static_cast<std::uint64_t>(iteration_)});
    parts_.restart_point->choose({*parts_.archive, *parts_.density, workers_, random},
                                 static_cast<Index>(e), restart_at_.row(static_cast<Index>(e)));
    ++restarts_;
    some = true;
  }
  if (!some) return;
  // A new covariance matrix is written by the thread that will have it.
  workers_.for_each(static_cast<Index>(parts_.emitters.size()), [&](Index e) {
    const auto i = static_cast<std::size_t>(e);
    if (restart_[i] == 0) return;
    parts_.emitters[i]->restart(restart_at_.view().row(e));
    parts_.triggers[i]->reset();
  });
}

void Search::save(StateWriter& out) const {
  if (half_told_) {
    throw Error(ErrorKind::state,
                "search: an error in the middle of tell() has left no state "
                "that could be saved");
  }
  out.integer("search.seed", static_cast<std::int64_t>(options_.seed));
  out.integers("search.first_rows",
               std::vector<std::int64_t>(first_row_.begin(), first_row_.end()));
  out.integer("search.iteration", iteration_);
  out.integer("search.restarts", restarts_);
  for (const auto& emitter : parts_.emitters) emitter->save(out);
  for (const auto& trigger : parts_.triggers) trigger->save(out);
  parts_.restart_point->save(out);
  parts_.density->save(out);
  parts_.archive->save(out);
}

void Search::load(StateReader& in) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const auto seed = static_cast<std::uint64_t>(in.integer("search.seed"));
  std::vector<std::int64_t> first_rows(first_row_.size());
  in.integers("search.first_rows", first_rows);
  if (seed != options_.seed ||
      !std::equal(first_rows.begin(), first_rows.end(), first_row_.begin())) {
    throw Error(ErrorKind::data,
                "saved state: it is that of a search with another seed or with "
                "emitters of other batches");
  }
  iteration_ = in.integer("search.iteration", 0, kMost);
  restarts_ = in.integer("search.restarts", 0, kMost);
  for (auto& emitter : parts_.emitters) emitter->load(in);
  for (auto& trigger : parts_.triggers) trigger->load(in);
  parts_.restart_point->load(in);
  parts_.density->load(in);
  parts_.archive->load(in);
  if (parts_.archive->total_visits() != evaluations()) {
    throw Error(ErrorKind::corrupt, "saved state: visits of all cells",
                fmt::format("{}", parts_.archive->total_visits()),
                fmt::format("{}, one for each evaluation", evaluations()));
  }
  asked_ = half_told_ = false;
}

}  // namespace rarefy
