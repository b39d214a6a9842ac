// Many different throws of a ball: where does it land, and how high does it fly?
#include <rarefy/experiment/metrics.hpp>
#include <rarefy/experiment/presets.hpp>

#include <cmath>
#include <cstdio>

int main() {
  rarefy::DomainInfo throws;  // the problem: two values in a solution, two features
  throws.name = "throws";
  throws.solution_dim = 2;
  throws.feature_space = {{-40, 0}, {40, 20}};  // distance and height in metres: low, high

  rarefy::Config config;  // the default profile; every parameter is a member
  config.grid = 50;       // 50 x 50 cells
  const auto search = rarefy::make_search(config, throws);

  rarefy::Batch features(search->batch(), 2);
  while (search->iteration() < 300) {
    const auto solutions = search->ask();  // one row a solution
    for (rarefy::Index i = 0; i < solutions.rows(); ++i) {
      const double across = 10 * std::tanh(solutions(i, 0));  // metres per second
      const double up = 10 * (1 + std::tanh(solutions(i, 1)));
      features(i, 0) = across * 2 * up / 9.81;
      features(i, 1) = up * up / (2 * 9.81);
    }
    search->tell(features);
  }
  std::printf("coverage: %.1f %% of the cells\n", 100 * rarefy::coverage(search->archive()));
}
