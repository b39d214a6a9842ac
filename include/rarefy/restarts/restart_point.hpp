// Where an emitter starts anew.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rarefy/archives/archive.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/outside.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/state_options.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/density.hpp"

namespace rarefy {

/// What a choice of a new starting point may look at.
struct RestartContext {
  const Archive& archive;  ///< never empty: while it is, nothing restarts
  Density& density;
  Workers& workers;
  RandomStream& random;
  Outside outside = Outside::as_is;  ///< what the density may be shown
};

class RestartPoint {
 public:
  virtual ~RestartPoint() = default;

  /// Called once before the first choice, to make room for what choices need.
  virtual void prepare(Index /*solution_dim*/, Index /*feature_dim*/) {}

  /// Writes the point from which emitter number `emitter` goes on.
  virtual void choose(const RestartContext& context, Index emitter, std::span<double> out) = 0;

  /// After every iteration, for every emitter in turn: the features of its own candidates that
  /// could be evaluated. Not called for an emitter without any.
  virtual void observe(Index /*emitter*/, BatchView /*features*/) {}

  /// Names the options that a state must have been made with to be loaded.
  virtual void identify(StateOptions& /*options*/) const {}
  virtual void save(StateWriter& /*out*/) const {}
  virtual void load(StateReader& /*in*/) {}
};

/// Always the same point: the initial solution.
class RestartAtOrigin : public RestartPoint {
 public:
  explicit RestartAtOrigin(std::vector<double> origin) : origin_(std::move(origin)) {}
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void identify(StateOptions& options) const override;

 private:
  std::vector<double> origin_;
};

/// A solution drawn uniformly from the archive.
class RestartAtElite : public RestartPoint {
 public:
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void identify(StateOptions& options) const override;
};

/// The average of `count` solutions drawn uniformly, with replacement, from the archive.
class RestartAtAverage : public RestartPoint {
 public:
  explicit RestartAtAverage(Index count);
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void identify(StateOptions& options) const override;

 private:
  Index count_;
};

/// The sparsest (least crowded by the density) of `count` elites drawn uniformly.
class RestartAtSparsest : public RestartPoint {
 public:
  explicit RestartAtSparsest(Index count);
  void prepare(Index solution_dim, Index feature_dim) override;
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void identify(StateOptions& options) const override;

 private:
  std::vector<Index> drawn_, cells_;
  Batch features_;
  std::vector<double> objectives_, scores_;
};

/// The elite of the least visited cell among `count` drawn uniformly from an archive that is not
/// empty.
[[nodiscard]] Index draw_rarest(const Archive& archive, Index count, RandomStream& random);

/// The elite of the least visited cell among `count` elites drawn uniformly. Visits tell apart
/// cells that lie close together. A density does not, because it must be smooth for the search.
/// Rarely visited cells are at the edge of what was found, or beside a hole in it.
class RestartAtRarest : public RestartPoint {
 public:
  explicit RestartAtRarest(Index count);
  void choose(const RestartContext& context, Index emitter, std::span<double> out) override;
  void identify(StateOptions& options) const override;

 private:
  Index count_;
};

}  // namespace rarefy
