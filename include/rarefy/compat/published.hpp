// What it takes to come near the paper's numbers: the published profile.
//
// The paper's experiments were written in pyribs; their code is not public. The parts below
// do what pyribs did around that time, as far as it can be inferred from its releases and
// from the figures. Each departs from the paper's text, or from CMA-ES, in the ways listed
// beside it. Only src/experiment/make_emitter.cpp and make_density.cpp use them, where the profile
// is the published one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rarefy/density/flow.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/emitters/cma_es.hpp"

namespace rarefy::compat {

/// Departures from Hansen's CMA-ES, all on by design:
///  1. p_c accumulates mean steps that are not divided by sigma;
///  2. the rank-one term is weighted by c1 squared instead of c1;
///  3. the step size follows |p_sigma|^2 / n - 1, halved, instead of |p_sigma| / E|N| - 1;
///  4. h_sigma compares |p_sigma|^2 / n with 2 + 4 / (n + 1);
///  5. the matrix is decomposed when 0.5 lambda / (n (c1 + cmu)) evaluations have passed;
///  6. weights are ln(mu + 1/2) - ln i for odd batches, too.
class PublishedCmaEs : public CmaEs {
 public:
  explicit PublishedCmaEs(CmaEsOptions options);
  void identify(StateOptions& options) const override {
    options.text("published.emitter", "CMA-ES");
    CmaEs::identify(options);
  }

 protected:
  void adapt_covariance(const Adaptation& now) override;
  [[nodiscard]] bool path_is_short(double length) const override;
  [[nodiscard]] double step_change(double length) const override;
};

struct PublishedBufferOptions {
  Index feature_dim = 0;
  Index capacity = 10'000;
  std::uint64_t seed = 0;
};

/// Departures from reservoir sampling (Algorithm L), after which the buffer is no uniform
/// sample of what was seen:
///  1. within a batch, the row to insert is not moved on by the skips already made, so every
///     insertion but the first takes the batch's first row;
///  2. a row that was inserted is not counted as passed, nor are the rows skipped before the
///     first insertion of a batch, so more rows are inserted than should be;
///  3. all slots count from the start: those not yet filled hold the origin.
class PublishedBuffer : public FeatureBuffer {
 public:
  explicit PublishedBuffer(const PublishedBufferOptions& options);

  [[nodiscard]] BatchView contents() const override { return rows_; }
  [[nodiscard]] Index capacity() const override { return options_.capacity; }
  using FeatureBuffer::add;
  void add(BatchView features, std::vector<Index>& changed, Exchange* exchange) override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

 private:
  void draw_skip();

  PublishedBufferOptions options_;
  Batch rows_;
  Index filled_ = 0;
  std::int64_t skip_ = 0;
  std::int64_t draws_ = 0;
  double w_ = 1.0;
  Index slot_ = 0;
};

/// Departures from the density of kde.hpp:
///  1. in the published profile scores are densities, not their logarithms (`log-scores`), so that
///     the flat test (a range of scores below 1e-12) finds emitters far away from everything flat;
///  2. the constant is 1 / (N h sqrt(2 pi)) in every number of dimensions.
class PublishedDensity : public DensityEstimate {
 public:
  explicit PublishedDensity(std::unique_ptr<KernelDensity> kde, bool log_scores = false);

  [[nodiscard]] std::string_view name() const override { return "kde"; }
  [[nodiscard]] Index feature_dim() const override { return kde_->feature_dim(); }
  [[nodiscard]] bool informed() const override { return kde_->informed(); }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  void log_density(BatchView features, std::span<double> out, Workers& workers) override {
    kde_->log_density(features, out, workers);
  }
  [[nodiscard]] BatchView samples() const override { return kde_->samples(); }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override { kde_->observe(batch, workers); }
  void identify(StateOptions& options) const override {
    options.text("published.density", log_scores_ ? "kde, logarithms" : "kde");
    kde_->identify(options);
  }
  void save(StateWriter& out) const override { kde_->save(out); }
  void load(StateReader& in) override { kde_->load(in); }

 private:
  std::unique_ptr<KernelDensity> kde_;
  bool log_scores_;
  double log_factor_ = 0.0;  // from our constant to theirs
};

/// Departure from the density of flow.hpp: scores are densities, as those of PublishedDensity; of
/// more than two features in the flow's own coordinates, from -1 to 1. (Otherwise those of ten
/// features would be so small that all were flat.)
class PublishedFlow : public FlowDensity {
 public:
  using FlowDensity::FlowDensity;
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  void identify(StateOptions& options) const override {
    options.text("published.density", "flow");
    FlowDensity::identify(options);
  }
};

/// Departure from the novelty of novelty.hpp: under an empty archive every candidate has a novelty
/// equal to the threshold. So the first batch, all of which enters, has flat scores, and every
/// emitter restarts at one of its solutions.
class PublishedNovelty : public NoveltyDensity {
 public:
  using NoveltyDensity::NoveltyDensity;

  [[nodiscard]] bool informed() const override { return true; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  void identify(StateOptions& options) const override {
    options.text("published.density", "novelty");
    NoveltyDensity::identify(options);
  }
};

}  // namespace rarefy::compat
