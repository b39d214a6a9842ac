#include <gtest/gtest.h>

#include "rarefy/experiment/parameters.hpp"
#include "support/small_config.hpp"

namespace rarefy {
namespace {

// What a parameter that is said to be idle may change is nothing: a run with another value of
// it is the same run.
std::vector<double> solutions_of(const Config& config) {
  const auto domain = make_domain(config);
  const auto search = make_search(config, domain->info(), 1);
  Batch features(search->candidates(), search->feature_dim());
  std::vector<double> objectives(static_cast<std::size_t>(search->candidates()));
  for (int i = 0; i < 6; ++i) {
    domain->evaluate(search->ask(), features, objectives);
    search->tell(features, objectives);
  }
  const auto values = search->archive().solutions().values();
  return {values.begin(), values.end()};
}

ParameterValue another_value(const Config& config, const Parameter& parameter) {
  const auto now = parameter.get(config);
  if (const auto* flag = std::get_if<bool>(&now)) return !*flag;
  if (const auto* integer = std::get_if<std::int64_t>(&now)) return *integer + 1;
  if (parameter.type == Parameter::Type::number) return 0.3;
  for (const auto choice : parameter.choices) {
    if (choice != std::get<std::string>(now)) return std::string(choice);
  }
  if (parameter.name == "bounds") return std::string("-7,7");
  if (parameter.name == "walls") return std::string("0.5,0.5,0.6,0.6");
  if (parameter.name == "flow-layers" || parameter.name == "discount-layers")
    return std::string("5,3");
  if (parameter.name == "start") return std::string("0.1,0.1,0");
  return std::string("0.3");
}

TEST(Relevance, IdleParametersChangeNothing) {
  for (const auto* domain : {"lp", "maze"}) {
    for (const auto& algorithm : algorithms()) {
      auto config = default_config(domain, algorithm.name);
      config.emitters.count = 2;
      config.emitters.batch = 6;
      config.density.buffer = 50;
      set(config, "flow-layers", "8");
      set(config, "discount-layers", "8");
      config.density.flow.training.batch = 8;
      const auto expected = solutions_of(config);
      for (const auto& parameter : parameters()) {
        if (reason_without_effect(config, parameter).empty()) continue;
        SCOPED_TRACE(std::string(algorithm.name) + ", " + std::string(parameter.name));
        auto other = config;
        set_parameter(other, parameter, another_value(config, parameter));
        EXPECT_EQ(solutions_of(other), expected);
      }
    }
  }
}

TEST(Relevance, WhatMakesTheAlgorithmIsNeverIdle) {
  const std::vector<std::pair<std::string_view, std::string_view>> essential = {
      {"dds-kde", "bandwidth"},    {"dds-cnf", "flow-layers"}, {"ns", "novelty-threshold"},
      {"cma-mae", "alpha"},        {"cma-me", "selection"},    {"map-elites-line", "line-sigma"},
      {"map-elites", "iso-sigma"}, {"dms", "discount-layers"}, {"dds-qd", "quality-weight"},
      {"dds-gmm", "mixture-rate"},
  };
  for (const auto& [algorithm, parameter] : essential) {
    EXPECT_EQ(reason_without_effect(default_config("lp", algorithm), parameter_named(parameter)),
              "")
        << parameter;
    for (const auto& other : algorithms()) {
      if (parameter == "selection" || parameter == "iso-sigma") continue;  // have several
      if (parameter == "alpha" && other.name == "dms") continue;
      if (parameter == "bandwidth" && other.name == "dds-qd") continue;
      if (other.name == algorithm) continue;
      EXPECT_NE(reason_without_effect(default_config("lp", other.name), parameter_named(parameter)),
                "")
          << parameter << " with " << other.name;
    }
  }
}

TEST(Relevance, EveryParameterMattersToSomething) {
  for (const auto& parameter : parameters()) {
    bool matters = false;
    for (const auto& domain : domain_rows()) {
      for (const auto& algorithm : algorithms()) {
        auto config = default_config(domain.name, algorithm.name);
        set(config, "bounds", "-5,5");
        matters |= reason_without_effect(config, parameter).empty();
        set(config, "flow-integrator", "dopri5");
        set(config, "command", "simulate");
        set(config, "asynchronous", "true");
        matters |= reason_without_effect(config, parameter).empty();
      }
    }
    EXPECT_TRUE(matters) << parameter.name;
  }
}

}  // namespace
}  // namespace rarefy
