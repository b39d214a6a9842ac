// A multilayer perceptron: its layers and parameters in memory, and as they are saved.
//
// In memory every layer is padded with units whose weights are 0 and stay 0 (all activations are
// 0 at 0, so neither their values nor their gradients ever differ from 0).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned_floats.hpp"
#include "rarefy/density/network_options.hpp"

namespace rarefy {

/// Columns of matrices come in multiples of this: Eigen has other code for what is left over,
/// which rounds differently, and a sample's result would depend on its place among the others.
inline constexpr Index kColumnMultiple = 4;

[[nodiscard]] constexpr Index padded(Index count, Index multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

class Network {
 public:
  /// The activation stands behind every layer but the last.
  Network(Index inputs, const std::vector<Index>& hidden, Index outputs, Activation activation);

  /// A layer; weights are a column-major outputs x inputs matrix.
  struct Layer {
    Index inputs, outputs;                // as asked for
    Index padded_inputs, padded_outputs;  // as in memory
    Index weights, bias;                  // where they begin among the parameters
  };

  /// Uniform within +-1 / sqrt(inputs of the layer), biases too.
  void initialise(std::uint64_t seed);

  [[nodiscard]] Activation activation() const { return activation_; }
  [[nodiscard]] std::span<const Layer> layers() const { return layers_; }
  [[nodiscard]] Index widest() const { return widest_; }
  [[nodiscard]] std::span<float> parameters() { return parameters_; }
  [[nodiscard]] std::span<const float> parameters() const { return parameters_; }
  [[nodiscard]] const float* weights(const Layer& layer) const {
    return parameters_.data() + layer.weights;
  }
  [[nodiscard]] const float* bias(const Layer& layer) const {
    return parameters_.data() + layer.bias;
  }

  /// Parameters (or gradients, or moments, of the same layout) without the padding: layer by
  /// layer the weights, row by row, and then the biases.
  [[nodiscard]] Index compact_size() const { return compact_size_; }
  void to_compact(std::span<const float> padded_values, std::span<float> compact) const;
  void from_compact(std::span<const float> compact, std::span<float> padded_values) const;

 private:
  template <typename Visit>
  void for_each_parameter(Visit visit) const;

  Activation activation_;
  std::vector<Layer> layers_;
  Index widest_ = 0;
  Index compact_size_ = 0;
  AlignedFloats parameters_;
};

}  // namespace rarefy
