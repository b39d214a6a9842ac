// Novelty: how far the nearest things found so far are. The density of novelty search.
#pragma once

#include <memory>
#include <string_view>

#include "rarefy/core/feature_space.hpp"
#include "rarefy/density/density.hpp"
#include "rarefy/density/feature_length.hpp"

namespace rarefy {

struct NoveltyOptions {
  FeatureSpace space;
  Index neighbours = 100;  ///< k
  /// What is at least so novel enters the archive; 0: everything.
  FeatureLength threshold = FeatureLength::of_width(0.042);
  /// The other members of a batch count as neighbours too, as if they were in the archive.
  bool count_batch = false;

  bool operator==(const NoveltyOptions&) const = default;
};

/// The novelty of features y under an archive A of features (the paper's equation 1):
///
///   rho(y) = 1/k sum of |y - a| over the k members a of A nearest to y
///
/// with all of A where it has fewer than k members. Scores are -rho, so that the most novel comes
/// first. The archive has no structure and no limit: every row of a batch enters whose novelty,
/// under the archive as it was before the batch, is at least the threshold; and every row while
/// the archive is empty. Nothing ever leaves it.
///
/// With `count_batch`, the neighbours of row i are looked for among the archive and the rows
/// j != i of the batch together, and whether a row enters is decided by that novelty. While the
/// archive is empty there are no scores all the same (informed() is false), and every row enters.
///
/// Exact: neighbours are those of a plain loop over the archive, distances are rounded as that
/// loop would round them, and the sum does not depend on the order of its terms. So a score is
/// the same to the bit whatever the number of threads, the instruction set and the order in
/// which the archive came together. Rounding: at most (m/2 + 4) 2^-53 of rho for m features,
/// plus k 2^-60 of the distance to the k-th neighbour. Features may be as large as
/// doubles are; differences below 1e-150 may count as 0.
///
/// Costs: a query in 2-D looks at a few hundred of 10,000 members, in 10-D at a few per cent of
/// millions. Memory for a member: 8 m + 4 bytes, and about as much again at most for places not
/// yet taken and for boxes (133 bytes in all for m = 10). A saved state has 8 m bytes a member.
class NoveltyDensity : public Density {
 public:
  explicit NoveltyDensity(NoveltyOptions options);
  ~NoveltyDensity() override;
  NoveltyDensity(const NoveltyDensity&) = delete;
  NoveltyDensity& operator=(const NoveltyDensity&) = delete;

  [[nodiscard]] std::string_view name() const override { return "novelty"; }
  [[nodiscard]] Index feature_dim() const override { return options_.space.dim(); }
  [[nodiscard]] bool informed() const override { return members() > 0; }
  /// A score below it says that the novelty is at least the threshold.
  [[nodiscard]] double accepts_below() const override;
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  using Density::observe;
  /// Does not compute again what the batch has as scores.
  void observe(const Evaluated& batch, Workers& workers) override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  [[nodiscard]] const NoveltyOptions& options() const { return options_; }
  /// In the unit of the features.
  [[nodiscard]] double threshold() const { return threshold_; }
  /// How many features the archive holds.
  [[nodiscard]] Index members() const;
  /// A copy of them, in the order in which they entered.
  [[nodiscard]] Batch archive() const;

 private:
  struct State;
  std::span<const double> novelty(BatchView features, Workers& workers);

  NoveltyOptions options_;
  double threshold_;
  std::unique_ptr<State> state_;
};

}  // namespace rarefy
