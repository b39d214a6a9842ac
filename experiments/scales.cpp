// Whether results depend on the unit of solutions: coverage of a domain whose solutions are
// multiplied by 10^k. Built with the benchmarks:
//
//   cmake --preset bench && cmake --build --preset bench --target experiment_scales
//   build/bench/experiment_scales ALGORITHM DOMAIN N ITERATIONS SEED [SIGMA0]
//
// N 0: the domain's own. With SIGMA0, that step size in place of the one that a probe finds.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/drive.hpp"

namespace {

/// Solutions are `unit` times those of another domain.
class InUnits : public rarefy::Domain {
 public:
  InUnits(const rarefy::Domain& domain, double unit)
      : Domain(domain.info()), domain_(domain), unit_(unit) {}

  void evaluate(rarefy::BatchView solutions, rarefy::BatchSpan features,
                std::span<double> objectives) const override {
    rarefy::Batch own(solutions.rows(), solutions.cols());
    for (std::size_t i = 0; i < own.values().size(); ++i) {
      own.values()[i] = solutions.values()[i] / unit_;
    }
    domain_.evaluate(own, features, objectives);
  }

 private:
  const rarefy::Domain& domain_;
  double unit_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: {} ALGORITHM DOMAIN N ITERATIONS SEED [SIGMA0]\n", argv[0]);
    return 2;
  }
  auto config = rarefy::default_config(argv[2], argv[1]);
  if (std::strtoll(argv[3], nullptr, 10) > 0) config.problem.n = std::strtoll(argv[3], nullptr, 10);
  config.seed = std::strtoll(argv[5], nullptr, 10);
  if (argc > 6) {
    config.emitters.*rarefy::algorithm_of(config).emitter->step = std::strtod(argv[6], nullptr);
  }
  const auto domain = rarefy::make_domain(config);
  const auto team = std::make_shared<rarefy::Workers>(0);
  const auto cells = rarefy::make_tessellation(config, domain->info(), *team);
  for (int k = -3; k <= 3; ++k) {
    const InUnits scaled(*domain, std::pow(10.0, k));
    const auto search = rarefy::make_search(config, scaled.info(), team, cells);
    rarefy::ThreadsEvaluator evaluator(scaled, *team);
    rarefy::drive(*search, evaluator, std::strtoll(argv[4], nullptr, 10));
    const auto* const probe = search->probe();
    fmt::print("10^{:<2}  coverage {:6.2f} %", k, 100 * rarefy::coverage(search->archive()));
    if (probe != nullptr) {
      fmt::print("  steps from {:.3g} to {:.3g}", probe->range().least, probe->range().most);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
}
