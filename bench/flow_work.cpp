#include "flow_work.hpp"

#include <memory>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/reservoir.hpp"

namespace rarefy::bench {

FlowTraining::FlowTraining(const FlowOptions& options, FlowBatch batch)
    : batch_(std::move(batch)),
      rate_(options.training.rate),
      network_(options.space.dim(), options.network),
      loss_(network_, batch_.samples.rows(), options.training.smoothing),
      adam_(static_cast<Index>(network_.parameters().size())) {
  network_.initialise(options.seed);
}

void FlowTraining::set_parameters(std::span<const float> values) {
  network_.from_compact(values, network_.parameters());
}

double FlowTraining::loss_and_gradient(Workers& workers) {
  return loss_.evaluate(batch_.samples, batch_.noise, batch_.times, workers);
}

std::vector<float> FlowTraining::gradient() const {
  std::vector<float> values(static_cast<std::size_t>(network_.compact_size()));
  network_.to_compact(loss_.gradient(), values);
  return values;
}

void FlowTraining::step(Workers& workers) {
  loss_and_gradient(workers);
  if (!adam_.step(rate_, loss_.gradient(), network_.parameters(), workers)) {
    throw Error(ErrorKind::state, "training of the flow: its parameters are no longer finite");
  }
}

std::unique_ptr<FlowDensity> informed_flow(FlowOptions options, Workers& workers) {
  const Index dims = options.space.dim();
  options.training.steps = 1;
  Batch samples(options.training.batch, dims);
  fill_normals({.seed = 1, .purpose = Purpose::user}, samples.values());
  auto flow = std::make_unique<FlowDensity>(
      std::move(options),
      std::make_unique<Reservoir>(ReservoirOptions{.feature_dim = dims, .capacity = 0}));
  flow->observe({samples}, workers);
  return flow;
}

}  // namespace rarefy::bench
