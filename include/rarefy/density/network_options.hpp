// What there is to choose about a network, whatever it is for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/names.hpp"

namespace rarefy {

/// What a unit makes of its sum. All are 0 at 0, which the padding of networks relies on:
///   elu   x for x > 0, e^x - 1 else     silu  x / (1 + e^-x)     tanh
///   relu  x for x > 0, 0 else: has a kink, and is nothing for what must be smooth
enum class Activation : std::uint8_t { elu, silu, tanh, relu };

template <>
struct EnumNames<Activation> {
  static constexpr std::string_view thing = "activation";
  static constexpr std::pair<Activation, std::string_view> all[] = {{Activation::elu, "elu"},
                                                                    {Activation::silu, "silu"},
                                                                    {Activation::tanh, "tanh"},
                                                                    {Activation::relu, "relu"}};
};

/// Widths of hidden layers as text: "256,256,256". Throws where it is anything else.
[[nodiscard]] std::vector<Index> parse_layers(std::string_view text);
[[nodiscard]] std::string text_of(const std::vector<Index>& layers);

}  // namespace rarefy
