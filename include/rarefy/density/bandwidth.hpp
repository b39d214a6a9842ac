// How wide the kernels of a density estimate are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/feature_space.hpp"

namespace rarefy {

/// A rule that gives one bandwidth for each feature.
///
/// Stretching feature space by a factor stretches an optimal bandwidth by the same
/// (the paper's affine rule, its appendix C): that is what `normalised` is for.
class Bandwidth {
 public:
  /// The same h for every feature, in the unit of the features.
  static Bandwidth absolute(double h) { return {Rule::absolute, h}; }
  /// h = h0 * width of the feature space, for each feature.
  static Bandwidth normalised(double h0) { return {Rule::normalised, h0}; }
  /// h = width * sqrt(1/12) * b^(-1/(m+4)): Scott's rule (D. W. Scott, "Multivariate
  /// density estimation", 1992, eq. 6.42) for b samples spread evenly over the box,
  /// whose standard deviation is width / sqrt(12). It does not look at the data.
  static Bandwidth scott() { return {Rule::scott, 0.0}; }
  /// That of scott, with three features or more times (m/6)^(1/4), at most 1.1: narrower with few
  /// of them, wider with many. Found by sweeps over linear projections (docs/reproduction.md).
  static Bandwidth automatic() { return {Rule::automatic, 0.0}; }
  /// h = s * n^(-1/(m+4)) for each feature, by Scott's rule for the n features that are buffered,
  /// with s the lesser of their deviation and their interquartile range / 1.349, which a few that
  /// are far from the others do not stretch (B. W. Silverman, "Density estimation for statistics
  /// and data analysis", 1986, eq. 3.30). Fitted anew whenever half as many features more have been
  /// seen; before the first, and within a factor of kNarrowest below it at most, that of scott.
  static Bandwidth spread() { return {Rule::spread, 0.0}; }
  static constexpr double kNarrowest = 20.0;
  /// The multiple c of what spread gives under which buffered features are likeliest, each by the
  /// kernels of all others: the greatest sum of
  ///
  ///   log sum_{j != i} exp(-d_ij^2 / (2 c^2)) - m log c,   d_ij in bandwidths of spread
  ///
  /// over kLikelihoodRows features i (fewer of a buffer above 16,384) that lie evenly in the buffer
  /// (P. Hall, "On Kullback-Leibler loss and density estimation", Annals of Statistics 15, 1987,
  /// describes the method and where it fails). c is a power of sqrt(2), found by going up or down
  /// as long as that helps: a buffer that repeats itself would have it go to 0, so it ends where
  /// spread does, and at kWidest times it. Fitted when spread is.
  static Bandwidth likelihood() { return {Rule::likelihood, 0.0}; }
  static constexpr Index kLikelihoodRows = 128;
  static constexpr double kWidest = 4.0;
  /// That of automatic times a multiple of its own for each feature x that is buffered, by the
  /// square-root law
  ///
  ///   lambda = (p(x) / g)^(-1/2),   within 1 / kWidestMultiple and kWidestMultiple
  ///
  /// with p the density that automatic gives and g its geometric mean over the buffer: narrow where
  /// features are crowded, wide where they are few (I. S. Abramson, "On bandwidth variation in
  /// kernel estimates: a square root law", Annals of Statistics 10, 1982). lambda is rounded to a
  /// power of sqrt(2). A feature has it from when it comes into the buffer; whenever half as many
  /// features more have been seen, g and all lambdas are determined anew. Gaussian kernels and
  /// limited buffers only; KernelDensity::multiples() says which lambda each feature has.
  static Bandwidth local() { return {Rule::local, 0.0}; }
  static constexpr double kWidestMultiple = 2.0;
  /// Reads "auto", "scott", "spread", "likelihood", "local", "25.6" (absolute) or "0.05 width"
  /// (normalised).
  static Bandwidth parse(std::string_view text);

  /// The bandwidths for a space and a buffer of `samples`.
  [[nodiscard]] std::vector<double> resolve(const FeatureSpace& space, Index samples) const;
  /// Whether it changes with what is in the buffer: by fit().
  [[nodiscard]] bool follows_data() const {
    return rule_ == Rule::spread || rule_ == Rule::likelihood;
  }
  /// Whether each feature has a multiple of it that is its own.
  [[nodiscard]] bool is_local() const { return rule_ == Rule::local; }
  /// The bandwidths for what is in the buffer.
  [[nodiscard]] std::vector<double> fit(const FeatureSpace& space, BatchView features) const;
  [[nodiscard]] std::string text() const;
  bool operator==(const Bandwidth&) const = default;

 private:
  enum class Rule { absolute, normalised, scott, automatic, spread, likelihood, local };
  Bandwidth(Rule rule, double value) : rule_(rule), value_(value) {}
  Rule rule_;
  double value_;
};

}  // namespace rarefy
