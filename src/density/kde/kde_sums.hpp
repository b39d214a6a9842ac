// The sums of kernels that a density is made of, and the one thing in which its methods differ.
//
// Whoever makes them keeps something derived from the contents of the buffer, and so is told what
// comes into it; the buffer itself belongs to KernelDensity.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/kde.hpp"

namespace rarefy {

/// From features to the coordinates in which kernels are evaluated.
struct KernelCoordinates {
  KernelCoordinates(const KdeOptions& options, std::vector<double> bandwidths_of_features);

  std::vector<double> centre;  ///< of feature space
  std::vector<double> bandwidths;
  /// What (feature - centre) is multiplied by: 1 / bandwidth, and for the Gaussian a constant
  /// more, so that the kernel is 2^(-d^2).
  std::vector<double> scale;
};

/// Queries that are answered by one task: enough to be worth handing out, few enough to share.
constexpr Index kQueriesAPiece = 36;

class KdeSums {
 public:
  KdeSums() = default;
  virtual ~KdeSums() = default;
  KdeSums(const KdeSums&) = delete;
  KdeSums& operator=(const KdeSums&) = delete;

  /// Adds a batch to the buffer, and to the sums what that changed.
  virtual void add(BatchView features, Workers& workers) = 0;
  /// The slots of the buffer that this changed; one may be named more than once.
  [[nodiscard]] std::span<const Index> changed() const { return changed_; }

  /// How many features are summed over.
  [[nodiscard]] virtual std::int64_t count() const = 0;

  /// Makes room for so many queries at a time, which so many threads share.
  virtual void prepare(Index queries, Index threads) = 0;
  /// How many of them a task is to answer.
  [[nodiscard]] virtual Index queries_a_task() const { return kQueriesAPiece; }
  /// The logarithm of the sum at each row, or what exact_log_sum() says where no feature is in
  /// reach. `first` is the number of the first row among all queries of this time: threads with
  /// different rows do not get into each other's way.
  virtual void log_sums(BatchView features, Index first, std::span<double> out) = 0;
  /// The same to rank candidates by, which may be less exact; those of an emitter stand together.
  virtual void log_scores(BatchView features, Index first, std::span<double> out) {
    log_sums(features, first, out);
  }

  /// The method, in words for the user.
  [[nodiscard]] virtual std::string description() const = 0;

  /// What cannot be made again from the buffer; it is saved and loaded before.
  virtual void save(StateWriter& out) const = 0;
  virtual void load(StateReader& in) = 0;

  /// By slot, what the bandwidths are multiplied by for its kernel; empty where that is 1 for all.
  [[nodiscard]] virtual std::vector<double> multiples() const { return {}; }

 protected:
  std::vector<Index> changed_;  // by the last add
};

}  // namespace rarefy
