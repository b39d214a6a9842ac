// Many different throws of a ball: how far and how high can it fly?
#include <rarefy/archives/metrics.hpp>
#include <rarefy/experiment/make_search.hpp>

#include <cmath>
#include <cstdio>

int main() {
  rarefy::DomainInfo throws;
  throws.solution_dim = 2;
  throws.feature_space = {{-40, 0}, {40, 20}};  // metres across and up: low, high
  const auto search = rarefy::make_search(rarefy::Config{}, throws);
  rarefy::Batch features(search->candidates(), 2);
  while (search->iteration() < 300) {
    const auto x = search->ask();  // one row a solution
    for (rarefy::Index i = 0; i < x.rows(); ++i) {
      const double across = 10 * std::tanh(x(i, 0)), up = 10 + 10 * std::tanh(x(i, 1));
      features(i, 0) = across * 2 * up / 9.81;
      features(i, 1) = up * up / (2 * 9.81);
    }
    search->tell(features);
  }
  std::printf("coverage: %.1f %%\n", 100 * rarefy::coverage(search->archive()));
}
