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
//
// Or, where evaluations take unlike times, each emitter goes round by itself: ask_emitter(e), then
// tell_emitter(e, ...) whenever its own rows are back, in any order of emitters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/evaluated.hpp"
#include "rarefy/core/outside.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/state_options.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/density.hpp"
#include "rarefy/emitters/emitter.hpp"
#include "rarefy/restarts/common_shape.hpp"
#include "rarefy/restarts/restart_point.hpp"
#include "rarefy/restarts/restart_trigger.hpp"
#include "rarefy/restarts/step_probe.hpp"

namespace rarefy {

/// Rows of a batch.
struct RowRange {
  Index first = 0;
  Index count = 0;
};

class OutsideBox;
class UsableRows;

struct SearchParts {
  std::vector<std::unique_ptr<Emitter>> emitters;
  std::vector<std::unique_ptr<RestartTrigger>> triggers;  ///< one for each emitter
  std::unique_ptr<RestartPoint> restart_point;
  /// Finds out how large steps are to be; none: emitters begin with what their options say.
  std::unique_ptr<StepProbe> probe;
  /// What emitters that start anew begin with; none: spheres.
  std::unique_ptr<CommonShape> common_shape;
  std::unique_ptr<Density> density;
  std::unique_ptr<Archive> archive;
  /// What restarts choose from, in cells of its own; none: the archive.
  std::unique_ptr<Archive> memory;
};

struct SearchOptions {
  std::uint64_t seed = 0;
  Index threads = 0;  ///< 0: one for each core; results do not depend on it
  /// A team to share with other searches, in place of one of its own with `threads`. Searches
  /// that share one may run at the same time, each driven by a thread of its own.
  std::shared_ptr<Workers> workers = nullptr;
  /// Candidates are scored against what was known before their batch, as the paper's text has it
  /// (its algorithm 1, read literally, is one batch later still), or with it (what its published
  /// figures seem to be made with).
  bool score_before_observing = true;
  /// A row with a NaN among its features, or as its objective, counts as one that could not be
  /// evaluated (see Search::tell). Otherwise the batch is refused.
  bool nan_means_failed = false;
  /// What the density makes of features outside of the archive's feature space.
  Outside outside = Outside::as_is;
  /// Solutions to evaluate first, a row each: in iteration t the rows from t * batch() on stand in
  /// for the first candidates of the batch, as long as there are any. They are scored, observed
  /// and recorded as all others, but emitters do not learn from what they have not proposed; one
  /// none of whose candidates is its own is not told of the batch at all. (Where the emitters
  /// themselves begin is for whoever makes them.)
  Batch initial_solutions{};
};

class Search {
 public:
  Search(SearchParts parts, SearchOptions options);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Candidates of all emitters, one row each. The view is good until the next ask().
  /// Asking again before telling gives the same candidates. An emitter whose own were asked for
  /// already (ask_emitter) has those.
  BatchView ask();
  /// The same candidates, to keep: they are not written over as long as anybody holds them.
  std::shared_ptr<const Batch> ask_shared();

  /// What the candidates turned out to be; objectives may be left out (all equal).
  ///
  /// A row whose `valid` is 0 could not be evaluated, and its other values are not looked at. It
  /// ranks last, no emitter learns from it, and neither density nor archive ever see it. All
  /// rows of a batch may fail. Left out, `valid` says that all are.
  ///
  /// NaN, infinite or missing values of any other row are refused with an Error that names the
  /// row; nothing has changed then, and the same batch can be told again.
  void tell(BatchView features, std::span<const double> objectives = {},
            std::span<const std::uint8_t> valid = {});

  /// The loop of one emitter: its candidates, and what they turned out to be, while those of others
  /// are still evaluated. Scores, density and archive take them in as a batch of their own. The
  /// view is good until anybody is asked again.
  ///
  /// Results depend on the order in which emitters are told (and, for emitters that read the
  /// archive, asked), and on nothing else.
  BatchView ask_emitter(Index emitter);
  void tell_emitter(Index emitter, BatchView features, std::span<const double> objectives = {},
                    std::span<const std::uint8_t> valid = {});
  /// Whether its candidates were asked for and not told yet.
  [[nodiscard]] bool awaits(Index emitter) const {
    return asked_[static_cast<std::size_t>(emitter)] != 0;
  }
  /// How often it was told.
  [[nodiscard]] std::int64_t generation(Index emitter) const {
    return generations_[static_cast<std::size_t>(emitter)];
  }
  /// Its rows in a batch of all.
  [[nodiscard]] RowRange rows_of(Index emitter) const;
  [[nodiscard]] Index emitter_of_row(Index row) const;

  /// Rows of an iteration, those of all emitters.
  [[nodiscard]] Index candidates() const { return first_row_.back(); }
  [[nodiscard]] Index solution_dim() const { return parts_.archive->solution_dim(); }
  [[nodiscard]] Index feature_dim() const { return parts_.archive->feature_dim(); }
  /// Batches told so far; as many as their rows make up, where emitters are told one by one.
  [[nodiscard]] std::int64_t iteration() const { return evaluations_ / candidates(); }
  /// Rows told so far, those that failed among them.
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }
  /// Rows that could not be evaluated.
  [[nodiscard]] std::int64_t failed() const { return failed_; }
  /// Rows that told the probe how large steps are to be, and were of no other use: larger steps
  /// than any that a search begins with. Neither density nor archive have seen them.
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }
  /// Rows whose features lay outside of the archive's feature space.
  [[nodiscard]] std::int64_t outside() const { return outside_; }
  /// The same of the last batch told; 0 after a state was loaded.
  [[nodiscard]] Index outside_of_last_batch() const;
  [[nodiscard]] std::int64_t restarts() const { return restarts_; }
  /// What was found out about step sizes; none: nobody looks (SearchParts::probe).
  [[nodiscard]] const StepProbe* probe() const { return parts_.probe.get(); }
  [[nodiscard]] const Archive& archive() const { return *parts_.archive; }
  /// What restarts choose from: a memory of their own, or the archive.
  [[nodiscard]] const Archive& restart_source() const {
    return parts_.memory ? *parts_.memory : *parts_.archive;
  }
  /// What emitters have learned of the shape of steps; none: they do not share it.
  [[nodiscard]] const CommonShape* common_shape() const { return parts_.common_shape.get(); }
  [[nodiscard]] const Density& density() const { return *parts_.density; }
  // NOLINTNEXTLINE(readability-make-member-function-const): what it hands out can be changed
  [[nodiscard]] Density& density() { return *parts_.density; }
  [[nodiscard]] const Emitter& emitter(Index i) const {
    return *parts_.emitters[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Index emitters() const { return static_cast<Index>(parts_.emitters.size()); }
  /// Those that were given to begin with.
  [[nodiscard]] BatchView initial_solutions() const { return options_.initial_solutions; }
  /// Scores of the last batch told, in the order of its rows; NaN for a row that failed or was left
  /// out.
  [[nodiscard]] std::span<const double> scores() const {
    return std::span(scores_).first(static_cast<std::size_t>(told_.count));
  }
  [[nodiscard]] Workers& workers() { return *workers_; }

  /// The whole state. A search made of the same parts that loads it goes on to the same
  /// bits; candidates that were asked for but not told are part of it, and asking gives the same.
  /// A state that was made with other options, another box or other cells is refused with an
  /// Error (data) that names the option and has both values; nothing has changed then. After any
  /// other failed load the search is not usable.
  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  /// Emitters that are asked or told together, one after the other.
  struct Emitters {
    Index first = 0;
    Index end = 0;
  };
  [[nodiscard]] Emitters all() const { return {0, emitters()}; }
  [[nodiscard]] Emitters only(Index emitter) const;
  [[nodiscard]] RowRange rows_of(Emitters some) const;

  void make_room();
  void take_batch();
  [[nodiscard]] Batch& solutions() { return *batches_.front(); }
  void ask(Emitters some);
  [[nodiscard]] Index rows_given(Index emitter) const;

  void tell(Emitters some, BatchView features, std::span<const double> objectives,
            std::span<const std::uint8_t> valid);
  void check(Emitters some, BatchView features, std::span<const double> objectives,
             std::span<const std::uint8_t> valid) const;
  void take_in(Evaluated batch);
  void score(Evaluated& batch);
  void inform(Index emitter, BatchView features, std::span<const double> objectives);
  void inform_restart_point(Emitters some, BatchView usable_features);
  [[nodiscard]] bool probes(Index emitter) const {
    return parts_.probe != nullptr && parts_.probe->probes(emitter);
  }
  [[nodiscard]] bool all_probe(Emitters some) const;
  [[nodiscard]] Index inform_probe(Emitters some, BatchView features);
  void begin_emitters(Emitters some);
  void restart(Emitters some);
  void check_visits(const Archive& archive) const;
  void save_candidates(StateWriter& out) const;
  void load_candidates(StateReader& in);
  void take_loaded_candidates();
  void identify(StateOptions& options) const;

  SearchParts parts_;
  SearchOptions options_;
  std::shared_ptr<Workers> workers_;
  std::vector<Index> first_row_;  // of each emitter, and the end
  std::uint64_t initial_solutions_fingerprint_ = 0;

  std::int64_t evaluations_ = 0;
  std::int64_t restarts_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t outside_ = 0;
  std::int64_t left_out_ = 0;
  std::vector<std::int64_t> generations_;  // by emitter
  std::vector<std::uint8_t> asked_;        // by emitter
  std::vector<double> loaded_candidates_;  // of those that were asked, until anybody wants them
  RowRange told_;           // of the last batch; what follows has an entry for each of these rows
  bool half_told_ = false;  // tell() is under way, or ended in an error half way

  std::vector<std::shared_ptr<Batch>> batches_;  // the candidates, and others to reuse
  std::unique_ptr<UsableRows> usable_;
  std::unique_ptr<OutsideBox> box_;
  std::vector<double> distances_;  // outside the box, where that ranks
  std::vector<double> scores_;
  bool informed_ = false;
  std::vector<Index> cells_;  // of the usable rows
  std::vector<Outcome> outcomes_;
  std::vector<Outcome> remembered_;  // what the memory made of the rows, of which nobody asks
  std::vector<Index> order_;
  std::vector<std::uint8_t> restart_;    // by emitter
  std::vector<std::uint8_t> too_large_;  // of an emitter's rows that probe
  std::vector<double> equal_objectives_;
  Batch restart_at_;  // a row for each emitter
};

}  // namespace rarefy
