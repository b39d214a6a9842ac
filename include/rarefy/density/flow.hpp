// A continuous normalizing flow: the density of DDS-CNF.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/density/density_estimate.hpp"
#include "rarefy/density/feature_buffer.hpp"
#include "rarefy/density/flow_options.hpp"

namespace rarefy {

/// A network learns the velocity v(x, t) of a flow that carries standard normal noise (t = 0)
/// to the buffered features (t = 1), by flow matching (Lipman et al., "Flow matching for
/// generative modeling", ICLR 2023). After every batch it is trained some more. The density
/// follows from the change of variables along the flow (Chen et al., "Neural ordinary
/// differential equations", NeurIPS 2018, theorem 1): with z(1) = y followed back to z(0),
///
///   ln p(y) = ln N(z(0); 0, I) - integral over t from 0 to 1 of div v(z(t), t)
///
/// Scores are these logarithms, in the units of the features. They do not depend on the other
/// candidates of a batch, nor on the number of threads.
///
/// Features farther than kReach from the middle, in the network's coordinates (8 times half the
/// width of feature space, or 8 standard deviations), count as being there: a single stray
/// feature must not spoil the training. (With scaling `none` there is no such limit: there the
/// features are the caller's to keep small.) A candidate whose density cannot be computed
/// scores kUnknown and is ranked last.
///
/// A step of training that turns non-finite is taken back together with the other steps of its
/// iteration, and the learning rate is halved from there on; warning() says so. What a rate that
/// is far too large does to the network while all numbers stay finite is not taken back.
class FlowDensity : public DensityEstimate {
 public:
  FlowDensity(FlowOptions options, std::unique_ptr<FeatureBuffer> buffer);
  ~FlowDensity() override;
  FlowDensity(const FlowDensity&) = delete;
  FlowDensity& operator=(const FlowDensity&) = delete;

  static constexpr double kReach = 8.0;
  static constexpr double kUnknown = 1e6;

  [[nodiscard]] std::string_view name() const override { return "flow"; }
  [[nodiscard]] Index feature_dim() const override { return options_.space.dim(); }
  [[nodiscard]] bool informed() const override;
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override;
  void log_density(BatchView features, std::span<double> out, Workers& workers) override;
  [[nodiscard]] BatchView samples() const override { return buffer_->contents(); }
  using Density::observe;
  void observe(const Evaluated& batch, Workers& workers) override;
  [[nodiscard]] std::string warning() const override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  [[nodiscard]] const FlowOptions& options() const { return options_; }
  /// The mean loss of the last iteration's steps.
  [[nodiscard]] double loss() const { return loss_; }
  /// Iterations whose training was taken back.
  [[nodiscard]] std::int64_t rollbacks() const;
  [[nodiscard]] double rate() const;
  /// Weights and biases, layer by layer: weights row by row (a row an output), then biases.
  [[nodiscard]] std::vector<float> parameters() const;
  void set_parameters(std::span<const float> values);

 protected:
  /// log of the density of features over that of the flow's own coordinates.
  [[nodiscard]] double log_scale() const { return log_scale_; }

 private:
  struct Parts;
  void set_scaling();
  [[nodiscard]] double coordinate(double feature, Index d) const;
  void fit(Workers& workers);
  bool train_step(Index step, Workers& workers);
  void evaluate_piece(BatchView features, std::span<double> out, Index workspace);

  FlowOptions options_;
  std::unique_ptr<FeatureBuffer> buffer_;
  std::vector<double> centre_, scale_;  // coordinate = (feature - centre) * scale
  double log_scale_ = 0.0;              // of the change from features to coordinates
  std::int64_t fits_ = 0;               // names the random numbers of the next
  std::int64_t not_learned_ = 0;        // rows since the last
  double loss_ = 0.0;
  std::vector<Index> changed_;  // scratch of observe()
  std::unique_ptr<Parts> parts_;
};

}  // namespace rarefy
