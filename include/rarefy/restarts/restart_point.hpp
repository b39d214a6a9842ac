// Where an emitter starts anew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/density.hpp"

namespace rarefy {

/// What a choice of a new starting point may look at.
struct RestartContext {
  const Archive& archive;  ///< never empty: the batch just told is in it
  Density& density;
  Workers& workers;
  RandomStream& random;
};

class RestartPoint {
 public:
  virtual ~RestartPoint() = default;

  /// Called once before the first choice, to make room for what choices need.
  virtual void prepare(Index /*solution_dim*/, Index /*feature_dim*/) {}

  /// Writes the point from which emitter number `emitter` goes on.
  virtual void choose(const RestartContext& context, Index emitter, std::span<double> out) = 0;

  /// After every iteration: how many new cells each emitter found in it.
  virtual void credit(std::span<const Index> /*new_cells*/) {}

  virtual void save(StateWriter& /*out*/) const {}
  virtual void load(StateReader& /*in*/) {}
};

/// Always the same point: the initial solution.
class RestartAtOrigin : public RestartPoint {
 public:
  explicit RestartAtOrigin(std::vector<double> origin) : origin_(std::move(origin)) {}
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;

 private:
  std::vector<double> origin_;
};

/// A solution drawn uniformly from the archive.
class RestartAtElite : public RestartPoint {
 public:
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
};

/// The average of `count` solutions drawn uniformly, with replacement, from the archive.
class RestartAtAverage : public RestartPoint {
 public:
  explicit RestartAtAverage(Index count);
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;

 private:
  Index count_;
};

/// The sparsest (least crowded by the density) of `count` elites drawn uniformly.
class RestartAtSparsest : public RestartPoint {
 public:
  explicit RestartAtSparsest(Index count);
  void prepare(Index solution_dim, Index feature_dim) override;
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;

 private:
  std::vector<Index> drawn_;
  Batch features_;
  std::vector<double> objectives_, scores_;
};

/// A point drawn uniformly from the line between a sparse elite and an average.
class RestartBetween : public RestartPoint {
 public:
  RestartBetween(Index average_of, Index sparsest_of);
  void prepare(Index solution_dim, Index feature_dim) override;
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;

 private:
  RestartAtAverage average_;
  RestartAtSparsest sparsest_;
  std::vector<double> other_;
};

struct MixedRestartOptions {
  Index emitters = 0;
  Index average_of = 18;
  Index sparsest_of = 64;
  double decay = 0.98;     ///< of both sides' credit, at every restart
  double sharpness = 4.0;  ///< odds are the fourth power of the ratio of the two rates
  double least = 0.05;     ///< neither side is ever chosen less often than this
  double evidence = 20.0;  ///< iterations that both sides need before rates count
};

/// Chooses between the average and the sparsest by what each has lately earned: new cells
/// found for each iteration of the emitters it started. Averages suit smooth domains, sparse
/// elites those in which the middle of two solutions is no solution at all.
class MixedRestart : public RestartPoint {
 public:
  explicit MixedRestart(const MixedRestartOptions& options);
  void prepare(Index solution_dim, Index feature_dim) override;
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void credit(std::span<const Index> new_cells) override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// The chance that the next choice is the sparsest.
  [[nodiscard]] double chance_of_sparsest() const;

 private:
  enum Side : std::int64_t { none = -1, average = 0, sparsest = 1 };
  MixedRestartOptions options_;
  RestartAtAverage average_;
  RestartAtSparsest sparsest_;
  std::vector<std::int64_t> started_by_;  // Side, for each emitter; none: from the initial solution
  std::vector<double> found_, spent_;     // for each side
};

}  // namespace rarefy
