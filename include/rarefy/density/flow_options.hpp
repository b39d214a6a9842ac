// What there is to choose about a flow: its network, its training, its integration.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rarefy/core/feature_space.hpp"

namespace rarefy {

/// All are 0 at 0 and smooth enough for a density to be:
///   elu   x for x > 0, e^x - 1 else     silu  x / (1 + e^-x)     tanh
enum class Activation : std::uint8_t { elu, silu, tanh };

/// How features become the coordinates the network works in.
enum class FeatureScaling : std::uint8_t {
  bounds,  ///< the domain's bounds become -1 and 1
  buffer,  ///< mean 0 and deviation 1 over the buffer, anew in every iteration
  none,    ///< as they are
};

enum class Integrator : std::uint8_t {
  rk4,     ///< the classical Runge-Kutta method, in equal steps
  dopri5,  ///< Dormand and Prince's pair of orders 5 and 4, in steps that suit each query
};

[[nodiscard]] std::string_view name_of(Activation activation);
[[nodiscard]] std::string_view name_of(FeatureScaling scaling);
[[nodiscard]] std::string_view name_of(Integrator integrator);
[[nodiscard]] Activation activation_named(std::string_view name);
[[nodiscard]] FeatureScaling feature_scaling_named(std::string_view name);
[[nodiscard]] Integrator integrator_named(std::string_view name);

struct FlowNetworkOptions {
  std::vector<Index> layers = {256, 256, 256};  ///< widths of the hidden layers
  Activation activation = Activation::elu;
  /// Time enters as cos(k pi t) and sin(k pi t), k = 1 .. frequencies.
  Index frequencies = 3;
};

struct FlowTrainingOptions {
  Index steps = 20;   ///< in every iteration
  Index batch = 256;  ///< samples a step
  double rate = 1e-3;
  /// Width of the Gaussian with which the learned density is convolved, in the network's
  /// coordinates: the sigma_min of Lipman et al.
  double smoothing = 1e-4;
};

struct FlowIntegrationOptions {
  Integrator integrator = Integrator::rk4;
  Index steps = 10;              ///< rk4
  double relative_error = 1e-3;  ///< dopri5, of a step
  double absolute_error = 1e-4;  ///< dopri5, of a step
};

struct FlowOptions {
  FeatureSpace space;
  FeatureScaling scaling = FeatureScaling::bounds;
  FlowNetworkOptions network;
  FlowTrainingOptions training;
  FlowIntegrationOptions integration;
  std::uint64_t seed = 0;
};

}  // namespace rarefy
