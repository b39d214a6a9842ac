// A model of acceptance thresholds: the density of Discount Model Search.
//
// Tjanaka, Chen, Fontaine, Nikolaidis, "Discount model search for quality diversity optimization
// in high-dimensional measure spaces", ICLR 2026 (arXiv 2601.01082). Defaults are those of the
// authors' experiments with linear projections (github.com/icaros-usc/discount-models).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/density/density.hpp"
#include "rarefy/density/network_options.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

struct DiscountNetworkOptions {
  std::vector<Index> layers = {128, 128};  ///< widths of the hidden layers
  Activation activation = Activation::relu;

  bool operator==(const DiscountNetworkOptions&) const = default;
};

struct DiscountTrainingOptions {
  Index epochs = 5;  ///< in an iteration, at most
  /// An epoch with this mean squared error is the last of its iteration. In squares of `range`.
  double enough = 0.05;
  Index batch = 32;  ///< samples a step
  double rate = 1e-3;
  Index empty = 100;      ///< empty cells among the samples of an iteration
  Index initial = 1'000;  ///< cells on which the model learns the minimum, before all else

  bool operator==(const DiscountTrainingOptions&) const = default;
};

struct DiscountModelOptions {
  double learning_rate = 0.1;  ///< alpha, as of AnnealedThresholds
  double minimum = 0.0;        ///< the discount where nothing was found: below every objective
  double range = 1.0;          ///< by how much objectives exceed it: the network's unit
  DiscountNetworkOptions network;
  DiscountTrainingOptions training;
  std::uint64_t seed = 0;

  bool operator==(const DiscountModelOptions&) const = default;
};

/// What CMA-MAE keeps for every cell, an acceptance threshold (a discount), is here a function of
/// the features, D(y), which a network learns. A candidate with features y and objective f is
/// accepted when f > D(y), and its score is D(y) - f. After every iteration the network is trained
/// some more, by Adam on squared errors, on two kinds of samples:
///
///   of each candidate   y, with (1 - alpha) D(y) + alpha f if f > D(y), else D(y)
///   of empty cells      the middle of the cell, with the minimum
///
/// so that D follows the objective where candidates are, and falls back elsewhere. Before the first
/// iteration it is trained on cells with the minimum alone.
///
/// The network sees features scaled such that the bounds of feature space become -1 and 1, and
/// discounts as parts of `range` above the minimum. Features farther than kReach from the middle
/// count as being there, and so, in training, do objectives and discounts farther than kReach
/// ranges from the minimum. Neither discounts nor training depend on the number of threads.
///
/// Training that turns non-finite is taken back, as that of a flow (density/flow.hpp).
class DiscountModel : public Density {
 public:
  /// The cells are those of `tessellation`; batches that name theirs must mean the same.
  DiscountModel(DiscountModelOptions options, std::shared_ptr<const Tessellation> tessellation);
  ~DiscountModel() override;
  DiscountModel(const DiscountModel&) = delete;
  DiscountModel& operator=(const DiscountModel&) = delete;

  static constexpr double kReach = 8.0;

  [[nodiscard]] std::string_view name() const override { return "discount-model"; }
  [[nodiscard]] Index feature_dim() const override { return tessellation_->feature_dim(); }
  [[nodiscard]] bool informed() const override { return true; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  [[nodiscard]] double accepts_below() const override { return 0.0; }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override;
  [[nodiscard]] std::string warning() const override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// D of every row.
  void discounts(BatchView features, std::span<double> out, Workers& workers);

  [[nodiscard]] const DiscountModelOptions& options() const { return options_; }
  /// Of the last training: its epochs, and the mean squared error of the last of them.
  [[nodiscard]] Index epochs() const { return epochs_; }
  [[nodiscard]] double loss() const { return loss_; }
  [[nodiscard]] Index empty_cells() const;
  [[nodiscard]] std::int64_t rollbacks() const;
  /// Weights and biases, layer by layer: weights row by row (a row an output), then biases.
  [[nodiscard]] std::vector<float> parameters() const;

 private:
  struct Parts;
  void begin(Workers& workers);
  void add_samples(const Evaluated& batch, Workers& workers);
  void add_empty_cells(Index count);
  void fit(Workers& workers);
  [[nodiscard]] double coordinate(double feature, Index d) const;

  DiscountModelOptions options_;
  std::shared_ptr<const Tessellation> tessellation_;
  std::int64_t fits_ = 0;  // names the random numbers of the next
  Index epochs_ = 0;
  double loss_ = 0.0;
  /// What to train on next, row by row: coordinates, and the discount that is wanted.
  std::vector<double> samples_;
  std::vector<Index> assigned_, drawn_, order_;  // scratch: cells; cells; samples
  std::vector<double> discounts_, centre_;       // scratch
  std::unique_ptr<Parts> parts_;
};

}  // namespace rarefy
