// Networks and flows that the tests of the flow share.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "density/flow/flow_network.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/flow.hpp"
#include "rarefy/density/reservoir.hpp"

namespace flow_cases {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::FlowDensity;
using rarefy::FlowOptions;
using rarefy::Index;

/// A network with random weights, `strength` times as large as those training begins with.
inline rarefy::VelocityNetwork random_network(Index features, rarefy::FlowNetworkOptions options,
                                              std::uint64_t seed, double strength = 1.0) {
  rarefy::VelocityNetwork network(features, std::move(options));
  network.initialise(seed);
  for (float& value : network.parameters()) value *= static_cast<float>(strength);
  return network;
}

inline Batch normal_batch(Index rows, Index cols, std::uint64_t seed, double width = 1.0) {
  Batch batch(rows, cols);
  rarefy::fill_normals({.seed = seed, .purpose = rarefy::Purpose::user}, batch.values());
  for (double& value : batch.values()) value *= width;
  return batch;
}

inline std::vector<double> random_times(Index count, std::uint64_t seed) {
  rarefy::RandomStream random({.seed = seed, .index = 1});
  std::vector<double> times(static_cast<std::size_t>(count));
  for (double& time : times) time = random.uniform();
  return times;
}

inline std::unique_ptr<rarefy::Reservoir> reservoir(Index dims, Index capacity = 1000) {
  return std::make_unique<rarefy::Reservoir>(
      rarefy::ReservoirOptions{.feature_dim = dims, .capacity = capacity, .seed = 1});
}

/// A flow that is quickly trained, with sizes that are no multiples of anything.
inline FlowOptions small_flow(Index dims = 2) {
  FlowOptions options;
  options.space.lower.assign(static_cast<std::size_t>(dims), -1.0);
  options.space.upper.assign(static_cast<std::size_t>(dims), 1.0);
  options.network.layers = {21, 18};
  options.training.steps = 3;
  options.training.batch = 70;
  options.seed = 5;
  return options;
}

/// A flow whose buffer holds `rows`, trained on them once.
inline std::unique_ptr<FlowDensity> flow_over(const FlowOptions& options, BatchView rows) {
  auto flow = std::make_unique<FlowDensity>(options, reservoir(options.space.dim(), rows.rows()));
  flow->observe({rows});
  return flow;
}

inline std::vector<double> scores_of(FlowDensity& flow, BatchView queries,
                                     rarefy::Workers& workers) {
  std::vector<double> scores(static_cast<std::size_t>(queries.rows()), -7.0);
  flow.score({queries}, scores, workers);
  return scores;
}

inline std::vector<double> scores_of(FlowDensity& flow, BatchView queries) {
  rarefy::Workers alone(1);
  return scores_of(flow, queries, alone);
}

/// The middles of `steps` x `steps` equal pieces of a rectangle.
inline Batch grid_over(const rarefy::FeatureSpace& box, Index steps) {
  Batch places(steps * steps, 2);
  const auto middle = [&](Index d, Index i) {
    return box.lower[static_cast<std::size_t>(d)] +
           box.width(d) * (static_cast<double>(i) + 0.5) / static_cast<double>(steps);
  };
  for (Index i = 0; i < steps; ++i) {
    for (Index j = 0; j < steps; ++j) {
      places(i * steps + j, 0) = middle(0, i);
      places(i * steps + j, 1) = middle(1, j);
    }
  }
  return places;
}

/// A network that is linear, where x is not far out: its units sit on the straight side of the
/// ELU, so that in the plane, taken for the complex numbers,
///
///   v(x, t) = alpha x + push cos(pi t)
///
/// carries x0 to x1 = e^alpha x0 + push alpha (1 + e^alpha) / (alpha^2 + pi^2), and the
/// divergence is 2 Re alpha everywhere.
struct LinearFlow {
  std::complex<double> alpha, push;

  static rarefy::FlowNetworkOptions network() {
    return {.layers = {3}, .activation = rarefy::Activation::elu, .frequencies = 1};
  }
  /// For such a network.
  [[nodiscard]] std::vector<float> parameters() const {
    constexpr float kLift = 16.0F;  // keeps all units positive for |x| < 16
    const auto a = static_cast<float>(alpha.real()), w = static_cast<float>(alpha.imag());
    const auto p = static_cast<float>(push.real()), q = static_cast<float>(push.imag());
    return {             // inputs x, y, cos(pi t), sin(pi t)
            1, 0, 0, 0,  //
            0, 1, 0, 0,  //
            0, 0, 1, 0,  //
            kLift, kLift, kLift,
            // and back down
            a, -w, p,  //
            w, a, q,   //
            -kLift * (a - w + p), -kLift * (w + a + q)};
  }
  [[nodiscard]] std::complex<double> forward(std::complex<double> x) const {
    return std::exp(alpha) * x + pushed();
  }
  [[nodiscard]] std::complex<double> back(std::complex<double> x) const {
    return (x - pushed()) / std::exp(alpha);
  }
  [[nodiscard]] std::complex<double> pushed() const {
    constexpr double kPi = std::numbers::pi;
    return push * alpha * (1.0 + std::exp(alpha)) / (alpha * alpha + kPi * kPi);
  }
  [[nodiscard]] double divergence() const { return 2.0 * alpha.real(); }
};

}  // namespace flow_cases
