// Searches small enough to run many of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/runs/drive.hpp"

/// As a user would, by name.
inline void set(rarefy::Config& config, std::string_view parameter, std::string_view value) {
  rarefy::set_from_text(config, rarefy::parameter_named(parameter), value);
}

inline rarefy::Config small_config(std::string_view domain = "lp",
                                   rarefy::Profile profile = rarefy::Profile::standard) {
  auto config = rarefy::default_config(domain, "dds-kde", profile);
  config.problem.n = domain == "multi-lp" ? 20 : 6;
  config.emitters.count = 3;
  config.emitters.batch = 8;
  // Few rows at a time would be spent on the probe of step sizes, which has tests of its own.
  if (!config.emitters.sigma0) config.emitters.sigma0 = 1.5;
  if (!config.emitters.iso_sigma) config.emitters.iso_sigma = 0.1;
  config.density.buffer = 100;
  config.archive.intervals = 20;
  config.archive.cvt.cells = 30;
  config.archive.cvt.samples = 300;
  config.restarts.stagnation.patience = 3;  // so that there are restarts
  config.iterations = 60;
  config.output.metrics_every = 10;
  return config;
}

/// The whole state, to compare.
inline std::vector<std::byte> state_of(const rarefy::Search& search) {
  rarefy::StateWriter out;
  search.save(out);
  return out.bytes();
}

/// Evaluates on the calling thread.
class PlainEvaluator : public rarefy::Evaluator {
 public:
  explicit PlainEvaluator(const rarefy::Domain& domain) : domain_(domain) {}
  void evaluate(rarefy::BatchView solutions, const rarefy::EvaluationSpan& out) override {
    domain_.evaluate(solutions, out.features, out.objectives);
  }

 private:
  const rarefy::Domain& domain_;
};
