// What there is to choose about a flow: its network, its training, its integration.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/feature_space.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/density/network_options.hpp"

namespace rarefy {

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

template <>
struct EnumNames<FeatureScaling> {
  static constexpr std::string_view thing = "flow-scaling";
  static constexpr std::pair<FeatureScaling, std::string_view> all[] = {
      {FeatureScaling::bounds, "bounds"},
      {FeatureScaling::buffer, "buffer"},
      {FeatureScaling::none, "none"}};
};

template <>
struct EnumNames<Integrator> {
  static constexpr std::string_view thing = "flow-integrator";
  static constexpr std::pair<Integrator, std::string_view> all[] = {{Integrator::rk4, "rk4"},
                                                                    {Integrator::dopri5, "dopri5"}};
};

struct FlowNetworkOptions {
  std::vector<Index> layers = {64, 64};     ///< widths of the hidden layers
  Activation activation = Activation::elu;  ///< a smooth one: not relu
  /// Time enters as cos(k pi t) and sin(k pi t), k = 1 .. frequencies.
  Index frequencies = 3;

  bool operator==(const FlowNetworkOptions&) const = default;
};

struct FlowTrainingOptions {
  Index steps = 20;   ///< in every iteration
  Index batch = 256;  ///< samples a step
  double rate = 1e-3;
  /// Width of the Gaussian with which the learned density is convolved, in the network's
  /// coordinates: the sigma_min of Lipman et al.
  double smoothing = 1e-4;

  bool operator==(const FlowTrainingOptions&) const = default;
};

struct FlowIntegrationOptions {
  Integrator integrator = Integrator::rk4;
  Index steps = 10;              ///< rk4
  double relative_error = 1e-3;  ///< dopri5, of a step
  double absolute_error = 1e-4;  ///< dopri5, of a step

  bool operator==(const FlowIntegrationOptions&) const = default;
};

struct FlowOptions {
  FeatureSpace space;
  FeatureScaling scaling = FeatureScaling::bounds;
  FlowNetworkOptions network;
  FlowTrainingOptions training;
  FlowIntegrationOptions integration;
  std::uint64_t seed = 0;

  bool operator==(const FlowOptions&) const = default;
};

}  // namespace rarefy
