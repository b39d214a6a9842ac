// Sums over features that are chosen by chance, those that matter more often: Gaussian kernels, any
// number of features, large buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "density/kde/direct_kde_sums.hpp"
#include "kernels/sampled_sums.hpp"

namespace rarefy {

/// Importance sampling, for the candidates of an emitter together, which lie near each other.
///
/// What a feature x is worth to any of them is told well enough by a Gaussian around their mean
/// that is wider than the kernel, the lure q(x) = 2^(-breadth d^2). A feature is chosen with a
/// chance of p = min(1, r q(x)), so that at most some kSample of them are, and counts 1/p fold:
///
///   S(y) = sum over chosen x of w K(y - x),   w = 1 where p = 1, and C / p elsewhere
///
/// with C how many features of p < 1 were to be expected over how many were chosen (a ratio
/// estimate). All candidates of a group have the same features, so what error there is mostly
/// moves them together, and their ranking less than their densities.
///
/// Two conditions hold for every sum that is made so, and the others are made of all features:
///   - the sample's own estimate of the standard error is at most kError of the sum;
///   - a feature that was left out is worth at most kHeaviest of the sum. No sample can tell
///     that, but the lure can: since K(y - x) <= q(x) 2^(g e^2) with e the distance of y from the
///     mean and g = breadth / (1 - breadth), such a feature has K < 2^(g e^2) / r.
/// Candidates that lie too far apart to be served together (of several emitters, or scattered) are
/// parted, in halves by their order, before they are given up.
class SampledKdeSums : public DirectKdeSums {
 public:
  static constexpr Index kGroup = 36;
  static constexpr Index kSample = 6000;     ///< features chosen at most, on average
  static constexpr double kError = 0.02;     ///< standard error of a sum, relative
  static constexpr double kHeaviest = 0.05;  ///< part of a sum that a feature left out may be
  /// From so many features on there is a sample; below, all of them are summed over.
  static constexpr Index kWorth = 10'000;
  /// What it needs to write on for so many queries at a time, in bytes.
  [[nodiscard]] static double scratch_bytes(Index dims, Index queries);

  /// The buffer must outlive this.
  SampledKdeSums(KernelCoordinates coordinates, FeatureBuffer& buffer);

  void prepare(Index queries, Index threads) override;
  [[nodiscard]] Index queries_a_task() const override { return groups_a_task_ * kGroup; }
  void log_scores(BatchView features, Index first, std::span<double> out) override;
  [[nodiscard]] std::string description() const override;

 private:
  // Candidates whose coordinates and sums stand one after the other.
  struct Group {
    const float* queries = nullptr;
    double* sums = nullptr;
    Index count = 0;
  };
  // What the groups that look at the features together write on.
  struct Scratch {
    std::vector<Group> waiting, tried;
    std::vector<float> places;             // of the lures, a row each
    std::vector<std::int32_t> chosen;      // by each lure
    std::vector<float> chances;            // as many
    std::vector<kernels::Chosen> choices;  // one for each lure
    std::vector<float> weights;            // of one choice
    std::vector<double> variances;         // of one group's sums
    kernels::PointColumns points{0};       // of one choice
  };

  [[nodiscard]] Group part(const Group& group, Index first, Index count) const;
  [[nodiscard]] Scratch make_scratch() const;
  void try_some(Scratch& scratch) const;
  void part_or_sum(const Group& group, Scratch& scratch) const;
  void find_place(const Group& group, float* place) const;
  [[nodiscard]] double exponent(const float* query, const float* place) const;
  [[nodiscard]] bool near_each_other(const Group& group, const float* place) const;
  void choose(Scratch& scratch) const;
  void gather(const kernels::Chosen& choice, Scratch& scratch) const;
  [[nodiscard]] bool sum_chosen(const Group& group, const float* place,
                                const kernels::Chosen& choice, Scratch& scratch) const;

  Index groups_a_task_ = 1;
  std::vector<Scratch> scratch_;  // one for each task
};

}  // namespace rarefy
