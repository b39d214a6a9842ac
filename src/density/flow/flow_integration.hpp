// Moving along a flow from one time to another.
#pragma once

#include <span>

#include "density/flow/velocity_field.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/density/flow_options.hpp"

namespace rarefy {

/// Moves `places` from time `from` to time `to`, either way, and gives the integral of the
/// divergence along each one's path, from `from` to `to`. At most field.most() places. A place
/// whose path cannot be followed (the network overflows) ends at NaN.
void integrate(VelocityField& field, const FlowIntegrationOptions& options, double from, double to,
               BatchSpan places, std::span<double> divergence_integrals);

}  // namespace rarefy
