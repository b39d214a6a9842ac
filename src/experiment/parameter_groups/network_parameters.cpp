// Parameters of the densities that a network learns.
#include "experiment/parameter_groups/parameter_groups.hpp"

namespace rarefy {

using std::vector;

vector<ParameterBuilder> discount_parameters() {
  const auto in = [](auto... members) { return at(&Config::density, members...); };
  const auto network = [&](auto member) {
    return in(&DensityOptions::discount, &DiscountModelOptions::network, member);
  };
  const auto training = [&](auto member) {
    return in(&DensityOptions::discount, &DiscountModelOptions::training, member);
  };
  const auto model = density_is({&kDiscountModel});
  return {
      number_or("auto", "discount-range", in(&DensityOptions::discount_range),
                "greatest objective less threshold-min, the network's unit; auto: of the domain "
                "(dms)")
          .above(0, 1e50)
          .when(model),
      parsed(
          "discount-layers", network(&DiscountNetworkOptions::layers), parse_layers,
          [](const vector<Index>& layers) { return text_of(layers); },
          "widths of the hidden layers of the network of thresholds (dms)")
          .or_number()
          .or_list()
          .when(model),
      choice("discount-activation", network(&DiscountNetworkOptions::activation),
             "what a unit makes of its sum (dms)")
          .when(model),
      integer("discount-epochs", training(&DiscountTrainingOptions::epochs),
              "times it learns from the samples of an iteration, at most (dms)")
          .range(1, 1e6)
          .when(model),
      number("discount-enough", training(&DiscountTrainingOptions::enough),
             "mean squared error at which that ends, in squares of discount-range (dms)")
          .range(0, 1e6)
          .when(model),
      integer("discount-batch", training(&DiscountTrainingOptions::batch),
              "samples in a step of training (dms)")
          .range(1, 1e6)
          .when(model),
      number("discount-rate", training(&DiscountTrainingOptions::rate),
             "learning rate of the network (dms)")
          .above(0, 1e6)
          .when(model),
      integer("discount-empty", training(&DiscountTrainingOptions::empty),
              "empty cells among those samples, where threshold-min is learned (dms)")
          .range(0, 1e6)
          .when(model),
      integer("discount-initial", training(&DiscountTrainingOptions::initial),
              "cells where it is learned before the first iteration (dms)")
          .range(0, 1e6)
          .when(model),
  };
}

vector<ParameterBuilder> flow_parameters() {
  const auto in = [](auto... members) {
    return at(&Config::density, &DensityOptions::flow, members...);
  };
  const auto network = [&](auto member) { return in(&FlowOptions::network, member); };
  const auto training = [&](auto member) { return in(&FlowOptions::training, member); };
  const auto integration = [&](auto member) { return in(&FlowOptions::integration, member); };
  const auto flow = density_is({&kFlowDensity});
  return {
      parsed(
          "flow-layers", network(&FlowNetworkOptions::layers), parse_layers,
          [](const vector<Index>& layers) { return text_of(layers); },
          "widths of the network's hidden layers, such as 256,256,256 (dds-cnf)")
          .or_number()
          .or_list()
          .when(flow),
      choice("flow-activation", network(&FlowNetworkOptions::activation),
             "what a unit makes of its sum (dds-cnf)")
          .one_of({"elu", "silu", "tanh"})  // those that are smooth
          .when(flow),
      integer("flow-frequencies", network(&FlowNetworkOptions::frequencies),
              "sines and cosines of time given to the network, each (dds-cnf)")
          .range(1, 1000)
          .when(flow),
      integer("flow-steps", training(&FlowTrainingOptions::steps),
              "steps of training in an iteration (dds-cnf)")
          .range(1, 1e6)
          .when(flow),
      integer("flow-batch", training(&FlowTrainingOptions::batch),
              "buffered features in a step of training (dds-cnf)")
          .range(1, 1e6)
          .when(flow),
      number("flow-rate", training(&FlowTrainingOptions::rate), "learning rate (dds-cnf)")
          .above(0, 1e6)
          .when(flow),
      number("flow-smoothing", training(&FlowTrainingOptions::smoothing),
             "deviation of the Gaussian that blurs the density, in halves of a feature's width "
             "(dds-cnf)")
          .range(0, 0.99)
          .when(flow),
      choice("flow-scaling", in(&FlowOptions::scaling),
             "what becomes -1 to 1: the domain's bounds, or one deviation of the buffer (dds-cnf)")
          .when(flow),
      choice("flow-integrator", integration(&FlowIntegrationOptions::integrator),
             "rk4, in equal steps; dopri5, in steps that keep to an error (dds-cnf)")
          .when(flow),
      integer("flow-integration-steps", integration(&FlowIntegrationOptions::steps),
              "steps from features to noise (dds-cnf, rk4)")
          .range(1, 1e5)
          .when(flow)
          .when(integrates_by(Integrator::rk4)),
      number("flow-relative-error", integration(&FlowIntegrationOptions::relative_error),
             "error allowed to a step, relative (dds-cnf, dopri5)")
          .above(0, 1)
          .when(flow)
          .when(integrates_by(Integrator::dopri5)),
      number("flow-absolute-error", integration(&FlowIntegrationOptions::absolute_error),
             "error allowed to a step, absolute (dds-cnf, dopri5)")
          .above(0, 1)
          .when(flow)
          .when(integrates_by(Integrator::dopri5)),
  };
}

}  // namespace rarefy
