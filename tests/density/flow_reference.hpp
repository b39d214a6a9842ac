// Flow matching as its papers have it: slow, obvious, in double precision.
//
//   [FM]   Lipman, Chen, Ben-Hamu, Nickel, Le, "Flow matching for generative modeling", ICLR 2023
//          (arXiv 2210.02747)
//   [DP]   Dormand, Prince, "A family of embedded Runge-Kutta formulae", 1980, table 2
//   [ODE]  Chen, Rubanova, Bettencourt, Duvenaud, "Neural ordinary differential equations",
//          NeurIPS 2018
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "density/flow/flow_network.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/density/flow_options.hpp"
#include "support/naive_matrix.hpp"

namespace flow_reference {

using naive::Matrix;
using naive::Vector;
using rarefy::Activation;
using rarefy::BatchView;
using rarefy::Index;

constexpr Activation kActivations[] = {Activation::elu, Activation::silu, Activation::tanh};

inline double bend(Activation activation, double x) {
  switch (activation) {
    case Activation::elu: return x > 0 ? x : std::expm1(x);
    case Activation::silu: return x / (1.0 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::relu: return x > 0 ? x : 0.0;
  }
  return std::nan("");
}

inline double slope(Activation activation, double x) {
  switch (activation) {
    case Activation::elu: return x > 0 ? 1.0 : std::exp(x);
    case Activation::silu: {
      const double sigmoid = 1.0 / (1.0 + std::exp(-x));
      return sigmoid + x * std::exp(-x) * sigmoid * sigmoid;  // the product rule
    }
    case Activation::tanh: return 1.0 / (std::cosh(x) * std::cosh(x));
    case Activation::relu: return x > 0 ? 1.0 : 0.0;
  }
  return std::nan("");
}

/// A multilayer perceptron on [x, cos(k pi t), sin(k pi t)], with everything that comes up on
/// the way through it.
struct Network {
  struct Layer {
    Matrix weights;  // a row an output
    Vector bias;
  };
  Activation activation = Activation::elu;
  Index features = 0, frequencies = 0;
  std::vector<Layer> layers;

  /// Of parameters in the order of VelocityNetwork::to_compact.
  Network(Index features_, const rarefy::FlowNetworkOptions& options,
          std::span<const double> parameters)
      : activation(options.activation), features(features_), frequencies(options.frequencies) {
    auto next = parameters.begin();
    auto inputs = static_cast<std::size_t>(features + 2 * frequencies);
    const auto add = [&](Index width) {
      const auto outputs = static_cast<std::size_t>(width);
      Layer layer{Matrix(outputs, Vector(inputs)), Vector(outputs)};
      for (auto& row : layer.weights) {
        for (double& weight : row) weight = *next++;
      }
      for (double& value : layer.bias) value = *next++;
      layers.push_back(layer);
      inputs = outputs;
    };
    for (const Index width : options.layers) add(width);
    add(features);
  }

  [[nodiscard]] Vector input(std::span<const double> place, double time) const {
    Vector values(place.begin(), place.end());
    for (Index k = 1; k <= frequencies; ++k) {
      values.push_back(std::cos(static_cast<double>(k) * std::numbers::pi * time));
    }
    for (Index k = 1; k <= frequencies; ++k) {
      values.push_back(std::sin(static_cast<double>(k) * std::numbers::pi * time));
    }
    return values;
  }

  /// What each layer is given, and what it makes of it before the activation.
  struct Passage {
    std::vector<Vector> inputs, sums;
  };
  [[nodiscard]] Passage pass(std::span<const double> place, double time) const {
    Passage passage;
    Vector values = input(place, time);
    for (const auto& layer : layers) {
      passage.inputs.push_back(values);
      Vector sums = naive::times(layer.weights, values);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += layer.bias[i];
      passage.sums.push_back(sums);
      for (double& value : sums) value = bend(activation, value);
      values = sums;
    }
    return passage;
  }

  [[nodiscard]] Vector velocity(std::span<const double> place, double time) const {
    return pass(place, time).sums.back();  // there is no activation behind the last layer
  }

  /// The trace of dv/dx, by the chain rule: W_L diag(f') W_(L-1) ... diag(f') W_1.
  [[nodiscard]] double divergence(std::span<const double> place, double time) const {
    const auto passage = pass(place, time);
    Matrix jacobian = layers.front().weights;
    for (auto& row : jacobian) row.resize(static_cast<std::size_t>(features));  // by x alone
    for (std::size_t l = 1; l < layers.size(); ++l) {
      for (std::size_t i = 0; i < jacobian.size(); ++i) {
        for (double& value : jacobian[i]) value *= slope(activation, passage.sums[l - 1][i]);
      }
      jacobian = naive::times(layers[l].weights, jacobian);
    }
    double trace = 0.0;
    for (std::size_t d = 0; d < jacobian.size(); ++d) trace += jacobian[d][d];
    return trace;
  }
};

/// The network with its present parameters.
inline Network network_of(const rarefy::VelocityNetwork& network) {
  std::vector<float> values(static_cast<std::size_t>(network.compact_size()));
  network.to_compact(network.parameters(), values);
  return {network.features(), network.options(), Vector(values.begin(), values.end())};
}

/// The conditional path from the noise x0 to the sample x1: where it is at a time, and what
/// velocity it has there.
struct PathPoint {
  Vector place, velocity;
};
inline PathPoint path(std::span<const double> sample, std::span<const double> noise, double time,
                      double sigma_min) {
  PathPoint point;
  for (std::size_t d = 0; d < sample.size(); ++d) {
    // [FM] equation 20: mu_t = t x1 and sigma_t = 1 - (1 - sigma_min) t
    const double mu = time * sample[d], sigma = 1.0 - (1.0 - sigma_min) * time;
    const double mu_change = sample[d], sigma_change = -(1.0 - sigma_min);
    // [FM] equation 11: psi_t(x0) = sigma_t x0 + mu_t
    const double place = sigma * noise[d] + mu;
    // [FM] theorem 3, equation 15: u_t(x | x1) = sigma_t' / sigma_t (x - mu_t) + mu_t'
    point.place.push_back(place);
    point.velocity.push_back(sigma_change / sigma * (place - mu) + mu_change);
  }
  return point;
}

struct Loss {
  double value = 0.0;
  Vector gradient;  // in the order of the parameters
};

/// [FM] equation 14: the mean of |v(psi_t(x0), t) - u_t(psi_t(x0) | x1)|^2, here divided by the
/// number of features too; and its gradient by backpropagation.
inline Loss flow_matching_loss(const Network& network, BatchView samples, BatchView noise,
                               std::span<const double> times, double sigma_min) {
  Loss loss;
  auto by = network.layers;  // the gradient, in the shape of the network
  for (auto& layer : by) {
    for (auto& row : layer.weights) row.assign(row.size(), 0.0);
    layer.bias.assign(layer.bias.size(), 0.0);
  }
  const double share = 1.0 / static_cast<double>(samples.rows() * network.features);
  for (Index i = 0; i < samples.rows(); ++i) {
    const double time = times[static_cast<std::size_t>(i)];
    const auto point = path(samples.row(i), noise.row(i), time, sigma_min);
    const auto passage = network.pass(point.place, time);
    Vector delta(point.place.size());  // the loss by what a layer gives, before its activation
    for (std::size_t d = 0; d < delta.size(); ++d) {
      const double error = passage.sums.back()[d] - point.velocity[d];
      loss.value += share * error * error;
      delta[d] = 2.0 * share * error;
    }
    for (std::size_t l = network.layers.size(); l-- > 0;) {
      const auto& inputs = passage.inputs[l];
      Vector before(inputs.size(), 0.0);
      for (std::size_t row = 0; row < delta.size(); ++row) {
        for (std::size_t column = 0; column < inputs.size(); ++column) {
          by[l].weights[row][column] += delta[row] * inputs[column];
          before[column] += network.layers[l].weights[row][column] * delta[row];
        }
        by[l].bias[row] += delta[row];
      }
      if (l == 0) break;
      for (std::size_t j = 0; j < before.size(); ++j) {
        before[j] *= slope(network.activation, passage.sums[l - 1][j]);
      }
      delta = before;
    }
  }
  for (const auto& layer : by) {
    for (const auto& row : layer.weights) {
      loss.gradient.insert(loss.gradient.end(), row.begin(), row.end());
    }
    loss.gradient.insert(loss.gradient.end(), layer.bias.begin(), layer.bias.end());
  }
  return loss;
}

/// Where a path ends, and the integral of the divergence along it.
struct Arrival {
  Vector place;
  double divergence_integral = 0.0;
};

/// The derivative of (x, integral of div v).
inline Vector derivative(const Network& network, const Vector& state, double time) {
  const std::span place(state.data(), state.size() - 1);
  Vector result = network.velocity(place, time);
  result.push_back(network.divergence(place, time));
  return result;
}

inline Vector starting_state(std::span<const double> place) {
  Vector state(place.begin(), place.end());
  state.push_back(0.0);
  return state;
}

inline Arrival arrival_of(Vector state) {
  const double integral = state.back();
  state.pop_back();
  return {state, integral};
}

/// The classical method of Runge and Kutta.
inline Arrival runge_kutta(const Network& network, std::span<const double> start, double from,
                           double to, Index steps) {
  const auto ahead = [](Vector state, double h, const Vector& k) {
    for (std::size_t v = 0; v < state.size(); ++v) state[v] += h * k[v];
    return state;
  };
  Vector state = starting_state(start);
  const double h = (to - from) / static_cast<double>(steps);
  for (Index s = 0; s < steps; ++s) {
    const double t = from + h * static_cast<double>(s);
    const Vector k1 = derivative(network, state, t);
    const Vector k2 = derivative(network, ahead(state, 0.5 * h, k1), t + 0.5 * h);
    const Vector k3 = derivative(network, ahead(state, 0.5 * h, k2), t + 0.5 * h);
    const Vector k4 = derivative(network, ahead(state, h, k3), t + h);
    for (std::size_t v = 0; v < state.size(); ++v) {
      state[v] += h / 6.0 * (k1[v] + 2.0 * k2[v] + 2.0 * k3[v] + k4[v]);
    }
  }
  return arrival_of(state);
}

/// [DP]'s RK5(4)7M in steps of controlled error: the first is a twentieth of the way, and the
/// next ones 0.9 (tolerance / error)^(1/5) times as long as the last, between 0.2 and 10.
inline Arrival dormand_prince(const Network& network, std::span<const double> start, double from,
                              double to, double tolerance) {
  const Vector c = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
  const Matrix a = {
      {},
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
      {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
  };
  const Vector order_4 = {5179.0 / 57600, 0,       7571.0 / 16695, 393.0 / 640, -92097.0 / 339200,
                          187.0 / 2100,   1.0 / 40};
  Vector state = starting_state(start);
  double time = from, h = (to - from) / 20.0;
  while (std::abs(to - time) > 1e-12) {
    if (std::abs(h) > std::abs(to - time)) h = to - time;
    std::vector<Vector> k;
    Vector stage;
    for (std::size_t s = 0; s < c.size(); ++s) {
      stage = state;
      for (std::size_t v = 0; v < state.size(); ++v) {
        for (std::size_t r = 0; r < s; ++r) stage[v] += h * a[s][r] * k[r][v];
      }
      k.push_back(derivative(network, stage, time + c[s] * h));
    }
    double squares = 0.0;  // stage is the result of order 5
    for (std::size_t v = 0; v < state.size(); ++v) {
      double other = state[v];
      for (std::size_t s = 0; s < c.size(); ++s) other += h * order_4[s] * k[s][v];
      const double size = std::max(std::abs(state[v]), std::abs(stage[v]));
      squares += std::pow((stage[v] - other) / (tolerance + tolerance * size), 2.0);
    }
    const double error = std::sqrt(squares / static_cast<double>(state.size()));
    if (error <= 1.0) {
      state = stage;
      time += h;
    }
    h *= std::clamp(0.9 * std::pow(error, -0.2), 0.2, 10.0);
  }
  return arrival_of(state);
}

inline double log_standard_normal(std::span<const double> z) {
  double sum = 0.0;
  for (const double value : z) sum -= 0.5 * (value * value + std::log(2.0 * std::numbers::pi));
  return sum;
}

/// [ODE] theorem 1: ln p(y) = ln N(z(0)) - the integral of div v from 0 to 1, z(1) = y.
inline double log_density(const Network& network, std::span<const double> place, Index steps) {
  const auto start = runge_kutta(network, place, 1.0, 0.0, steps);
  return log_standard_normal(start.place) + start.divergence_integral;  // that from 1 to 0
}

}  // namespace flow_reference
