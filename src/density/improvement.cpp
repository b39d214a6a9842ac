#include "rarefy/density/improvement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

}  // namespace

Improvement::Improvement(std::shared_ptr<const Tessellation> tessellation)
    : tessellation_(std::move(tessellation)),
      best_(static_cast<std::size_t>(tessellation_->cells()), kNothing) {}

void Improvement::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  const auto cells = cells_of(batch, *tessellation_, assigned_, workers);
  const auto objectives = batch.objectives;
  ranking_.resize(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double best = best_[static_cast<std::size_t>(cells[i])];
    const auto row = static_cast<Index>(i);
    if (best == kNothing) {
      ranking_[i] = {Stage::new_cell, objectives[i], row};
    } else {
      ranking_[i] = {objectives[i] > best ? Stage::improves : Stage::falls_short,
                     objectives[i] - best, row};
    }
  }
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.stage != b.stage ? a.stage < b.stage : a.value > b.value;
  };
  std::sort(ranking_.begin(), ranking_.end(), before);

  double place = 0.0, accepted_places = 0.0;
  for (std::size_t i = 0; i < ranking_.size(); ++i) {
    if (i > 0 && before(ranking_[i - 1], ranking_[i])) place += 1.0;
    scores[static_cast<std::size_t>(ranking_[i].row)] = place;
    if (ranking_[i].stage != Stage::falls_short) accepted_places = place + 1.0;
  }
  for (double& score : scores) score -= accepted_places;
}

void Improvement::observe(const Evaluated& batch, Workers& workers) {
  const auto cells = cells_of(batch, *tessellation_, assigned_, workers);
  const auto objectives = batch.objectives;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double& best = best_[static_cast<std::size_t>(cells[i])];
    best = std::max(best, objectives[i]);
  }
}

void Improvement::identify(StateOptions& options) const {
  options.word("improvement.tessellation_fingerprint", tessellation_->fingerprint());
}

void Improvement::save(StateWriter& out) const { out.reals("improvement.best", best_); }

void Improvement::load(StateReader& in) {
  in.reals("improvement.best", best_);
  for (const double best : best_) {
    if (best != kNothing && !std::isfinite(best)) {
      throw Error(ErrorKind::corrupt, "saved state: the best objective of a cell",
                  fmt::format("{}", best), "a finite number, or minus infinity");
    }
  }
}

}  // namespace rarefy
