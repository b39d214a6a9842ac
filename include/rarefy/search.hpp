// The one loop:  ask -> evaluate -> score -> observe -> record -> tell.
//
// The algorithms of the field are choices of parts in it. A Search owns the parts; the
// caller evaluates, and so owns the loop:
//
//   while (...) {
//     BatchView solutions = search.ask();
//     ... features and objectives of the solutions ...
//     search.tell(features, objectives);
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/evaluated.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/density.hpp"
#include "rarefy/emitters/emitter.hpp"
#include "rarefy/restarts/restart_point.hpp"
#include "rarefy/restarts/restart_trigger.hpp"

namespace rarefy {

struct SearchParts {
  std::vector<std::unique_ptr<Emitter>> emitters;
  std::vector<std::unique_ptr<RestartTrigger>> triggers;  ///< one for each emitter
  std::unique_ptr<RestartPoint> restart_point;
  std::unique_ptr<Density> density;
  std::unique_ptr<Archive> archive;
};

struct SearchOptions {
  std::uint64_t seed = 0;
  Index threads = 0;  ///< 0: one for each core; results do not depend on it
  /// Candidates are scored against what was known before their batch (the paper's
  /// algorithm 1), or with it (what its published figures seem to be made with).
  bool score_before_observing = true;
};

class Search {
 public:
  Search(SearchParts parts, const SearchOptions& options);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Candidates of all emitters, one row each. The view is good until the next ask().
  /// Asking again before telling gives the same candidates.
  BatchView ask();

  /// What the candidates turned out to be; objectives may be left out (all equal). NaN,
  /// infinite or missing values are refused with an Error that names the row; nothing has
  /// changed then, and the same batch can be told again.
  void tell(BatchView features, std::span<const double> objectives = {});

  [[nodiscard]] Index batch() const { return solutions_.rows(); }
  [[nodiscard]] Index solution_dim() const { return solutions_.cols(); }
  [[nodiscard]] Index feature_dim() const { return parts_.archive->feature_dim(); }
  /// Batches told so far.
  [[nodiscard]] std::int64_t iteration() const { return iteration_; }
  [[nodiscard]] std::int64_t evaluations() const { return iteration_ * batch(); }
  [[nodiscard]] std::int64_t restarts() const { return restarts_; }
  [[nodiscard]] const Archive& archive() const { return *parts_.archive; }
  [[nodiscard]] const Density& density() const { return *parts_.density; }
  // NOLINTNEXTLINE(readability-make-member-function-const): what it hands out can be changed
  [[nodiscard]] Density& density() { return *parts_.density; }
  [[nodiscard]] const Emitter& emitter(Index i) const {
    return *parts_.emitters[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Index emitters() const { return static_cast<Index>(parts_.emitters.size()); }
  /// Scores of the last batch told, in the order of its rows.
  [[nodiscard]] std::span<const double> scores() const { return scores_; }
  [[nodiscard]] Workers& workers() { return workers_; }

  /// The whole state. A search made of the same parts that loads it goes on to the same
  /// bits; candidates that were asked for but not told are asked for again, and are the same.
  /// After a failed load the search is not usable.
  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  void check(BatchView features, std::span<const double> objectives) const;
  void score(Evaluated& batch);
  void tell_emitter(Index emitter, const Evaluated& batch);
  void restart_emitters();

  SearchParts parts_;
  SearchOptions options_;
  Workers workers_;
  std::vector<Index> first_row_;  // of each emitter, and the end

  std::int64_t iteration_ = 0;
  std::int64_t restarts_ = 0;
  bool asked_ = false;
  bool half_told_ = false;  // tell() is under way, or ended in an error half way

  Batch solutions_;
  std::vector<double> scores_;
  bool informed_ = false;
  std::vector<Index> cells_;
  std::vector<Outcome> outcomes_;
  std::vector<Index> order_;
  std::vector<std::uint8_t> restart_;  // by emitter
  std::vector<double> equal_objectives_;
  Batch restart_at_;  // a row for each emitter
};

}  // namespace rarefy
