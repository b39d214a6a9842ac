// How large the steps are that emitters begin with: found out from the domain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/feature_space.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/state_options.hpp"
#include "rarefy/emitters/bounds.hpp"

namespace rarefy {

/// Step sizes from which to which emitters begin.
struct StepRange {
  double least = 0;
  double most = 0;

  /// One of them, uniform in the logarithm.
  [[nodiscard]] double draw(RandomStream& random) const;
  [[nodiscard]] double middle() const;  ///< of the logarithms
};

/// Which of the steps that a probe finds emitters begin with.
struct StepChoice {
  double least_spread = 0.5;  ///< parts of the widest spread of features: where they begin, ...
  double most_spread = 0.9;   ///< ... and where they end, unless spreads creep
  double part = 1.0;          ///< of those, for emitters that want smaller ones in any case
};

struct StepProbeOptions {
  Batch starts;  ///< where each emitter begins, a row each
  FeatureSpace space;
  Index candidates = 0;  ///< of all emitters, in one iteration
  Bounds bounds{};       ///< in which solutions must lie
  std::uint64_t seed = 0;
  StepChoice choice{};
  double creeping_spread = 0.7;  ///< where the range of steps begins if spreads creep
};

/// The first candidates of every emitter are samples around its start, with steps of all sizes on
/// a ladder of three rungs a decade. How far the features of a rung spread, in widths of the box,
///
///   s(sigma) = sqrt( mean over features d of Var[y_d] / w_d^2 ),   y = f(x0 + sigma z), z ~ N(0,
///   I)
///
/// grows in proportion to sigma as long as features follow solutions, and then no more: steps
/// beyond that fold back on themselves (joints that turn full circle, values that are clipped) or
/// change nothing (outputs that saturate). Emitters begin with steps between the size at which s is
/// `least_spread` of its maximum for the first time and the size at which it is `most_spread`.
/// Neither the unit of solutions nor that of features has a part in it.
///
/// Where s takes more than `kCreeping` times the step to get from half of its maximum to nine
/// tenths, or more than eight times from three tenths, it creeps: there is no one right scale, and
/// the few rows on a rung decide by chance where s is half of its maximum, for over a decade of
/// steps it may hardly change (robots that cover one room). So there the range goes from
/// `creeping_spread` of the maximum to nine tenths, a decade at most. And the rungs in question are
/// sampled once more, by another iteration of candidates. Those are of use in any case: no step of
/// them is larger than what emitters begin with.
///
/// The first ladder has seven decades below 10, or below the width of the bounds. Where s still
/// rises at the top, or is not small at the bottom, three decades more are tried, and again. (Not
/// all at once: who wrote a simulator for values near 1 does not want to see a million.) Features
/// outside of the box count where they meet it. Rows that could not be evaluated do not count, nor
/// does a rung of which more than half could not.
class StepProbe {
 public:
  explicit StepProbe(StepProbeOptions options);

  static constexpr std::int64_t kRungsInDecade = 3;
  static constexpr std::int64_t kFirst = 7 * kRungsInDecade + 1;  ///< rungs of the first ladder
  static constexpr std::int64_t kMore = 3 * kRungsInDecade;       ///< of any other
  static constexpr std::int64_t kBelow = 2, kAbove = 2;           ///< others at most, either way
  static constexpr double kCreeping = 3.0;
  static constexpr std::int64_t kRungs = kBelow * kMore + kFirst + kAbove * kMore;

  /// Whether the next candidates of an emitter are for the probe, not its own.
  [[nodiscard]] bool probes(Index emitter) const;
  /// Fills an emitter's rows; `first_row` is their place in the batch of all.
  void ask(Index emitter, std::uint64_t iteration, Index first_row, BatchSpan out);
  /// What they turned out to be, without the first `not_its_own`; `usable` is 0 for rows that
  /// failed, and empty where none did.
  void tell(Index emitter, std::uint64_t iteration, Index first_row, Index not_its_own,
            BatchView features, std::span<const std::uint8_t> usable);
  /// After all that are told together were.
  void learn() { range_ = range_known(); }
  /// After that: 1 for each of its rows whose step is larger, by all that is known so far, than any
  /// that emitters would begin with. What came of it is of no use to a search: where features fold
  /// back, solutions far out have the same features as others near by, and would be kept as elites.
  void too_large(Index emitter, std::uint64_t iteration, Index first_row,
                 std::span<std::uint8_t> out) const;
  /// And for each of them: whether it begins now.
  [[nodiscard]] bool concludes(Index emitter);
  [[nodiscard]] std::span<const double> start(Index emitter) const {
    return options_.starts.view().row(emitter);
  }

  /// By all that was learned so far.
  [[nodiscard]] StepRange range() const { return range_; }

  /// Names the options that a state must have been made with to be loaded.
  void identify(StateOptions& options) const;
  void save(StateWriter& out) const;
  void load(StateReader& in);

 private:
  /// Where one emitter is.
  struct Turn {
    std::int64_t ladder = 0;  // which one it samples
    bool done = false;
  };
  /// Rungs are numbered from the lowest that is ever tried: those of the first ladder are
  static constexpr std::int64_t kBottom = kBelow * kMore;
  static constexpr std::int64_t kTop = kBottom + kFirst - 1;
  struct Ladder {
    std::int64_t from = 0, to = 0;
  };
  enum class Verdict { known, look_above, look_below, look_closer };

  [[nodiscard]] double step_of(std::int64_t rung) const;
  [[nodiscard]] std::int64_t rung_of(Index emitter, std::uint64_t iteration, Index row) const;
  [[nodiscard]] double told_on(const Ladder& ladder) const;
  [[nodiscard]] bool enough_told() const;
  [[nodiscard]] Ladder rungs_in_question() const;
  void open(Ladder ladder);
  [[nodiscard]] std::vector<double> spreads() const;
  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] bool creeps(std::span<const double> spreads, double widest) const;
  [[nodiscard]] StepRange range_known() const;
  [[nodiscard]] double where(std::span<const double> spreads, double wanted) const;

  StepProbeOptions options_;
  double unit_;  // the step of the first ladder's top
  std::int64_t highest_;
  std::vector<Turn> turns_;
  std::vector<Ladder> ladders_;  // those opened so far
  std::int64_t from_, to_;       // all rungs of them
  bool closer_ = false;          // whether the last of them is one that was sampled before
  double told_before_ = 0;       // rows on the rungs of the last, when it was opened
  // For each rung: rows asked for, rows that counted, and Welford's sums of each feature.
  std::vector<double> tried_, count_;
  Batch mean_, squares_;
  StepRange range_;
};

}  // namespace rarefy
