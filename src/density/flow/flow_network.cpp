#include "density/flow/flow_network.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

const FlowNetworkOptions& checked(Index features, const FlowNetworkOptions& options) {
  if (features < 1 || options.frequencies < 1) {
    throw Error(ErrorKind::parameter, "flow",
                fmt::format("{} features, {} frequencies", features, options.frequencies),
                "at least one of each");
  }
  if (options.activation == Activation::relu) {
    throw Error(ErrorKind::parameter, "activation of the flow", "relu",
                "elu, silu or tanh: a flow must be smooth");
  }
  return options;
}

}  // namespace

VelocityNetwork::VelocityNetwork(Index features, FlowNetworkOptions options)
    : Network(features + 2 * checked(features, options).frequencies, options.layers, features,
              options.activation),
      features_(features),
      options_(std::move(options)) {}

void VelocityNetwork::write_input(const double* place, double time, float* column) const {
  for (Index d = 0; d < features_; ++d) column[d] = static_cast<float>(place[d]);
  float* const times = column + features_;
  for (Index k = 0; k < options_.frequencies; ++k) {
    const double half_turns = static_cast<double>(k + 1) * time;
    times[k] = static_cast<float>(maths::cos_pi(half_turns));
    times[options_.frequencies + k] = static_cast<float>(maths::sin_pi(half_turns));
  }
}

}  // namespace rarefy
