#include "rarefy/density/flow_options.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "rarefy/core/nearest_name.hpp"

namespace rarefy {
namespace {

constexpr std::array kActivations = {
    std::pair{Activation::elu, std::string_view("elu")},
    std::pair{Activation::silu, std::string_view("silu")},
    std::pair{Activation::tanh, std::string_view("tanh")},
};
constexpr std::array kScalings = {
    std::pair{FeatureScaling::bounds, std::string_view("bounds")},
    std::pair{FeatureScaling::buffer, std::string_view("buffer")},
    std::pair{FeatureScaling::none, std::string_view("none")},
};
constexpr std::array kIntegrators = {
    std::pair{Integrator::rk4, std::string_view("rk4")},
    std::pair{Integrator::dopri5, std::string_view("dopri5")},
};

template <typename Table, typename Value>
std::string_view find_name(const Table& table, Value value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return "unknown";
}

template <typename Table>
auto find_value(const Table& table, std::string_view thing, std::string_view given) {
  std::vector<std::string_view> names;
  for (const auto& [value, name] : table) {
    if (name == given) return value;
    names.push_back(name);
  }
  throw unknown_name(thing, given, names);
}

}  // namespace

std::string_view name_of(Activation activation) { return find_name(kActivations, activation); }
std::string_view name_of(FeatureScaling scaling) { return find_name(kScalings, scaling); }
std::string_view name_of(Integrator integrator) { return find_name(kIntegrators, integrator); }

Activation activation_named(std::string_view name) {
  return find_value(kActivations, "flow-activation", name);
}
FeatureScaling feature_scaling_named(std::string_view name) {
  return find_value(kScalings, "flow-scaling", name);
}
Integrator integrator_named(std::string_view name) {
  return find_value(kIntegrators, "flow-integrator", name);
}

}  // namespace rarefy
