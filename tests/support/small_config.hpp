// Searches small enough to run many of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/runs/drive.hpp"
#include "rarefy/experiment/make_search.hpp"

inline rarefy::Config small_config(std::string_view domain = "lp",
                                   std::string_view profile = "default") {
  auto config = rarefy::default_config(domain, "dds-kde", profile);
  config.n = domain == "multi-lp" ? 20 : 6;
  config.emitters = 3;
  config.batch = 8;
  config.buffer = 100;
  config.grid = 20;
  config.cells = 30;
  config.cvt_samples = 300;
  config.patience = 3;  // so that there are restarts
  config.iterations = 60;
  config.metrics_every = 10;
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
  void evaluate(rarefy::BatchView solutions, rarefy::BatchSpan features,
                std::span<double> objectives) override {
    domain_.evaluate(solutions, features, objectives);
  }

 private:
  const rarefy::Domain& domain_;
};
