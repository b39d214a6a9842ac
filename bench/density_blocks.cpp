// Sums over blocks beside direct ones, on features as a search finds them: a buffer of 100,000 by
// Scott's rule, and the candidates that come next. Items a second are candidates; `ratio` is the
// time of direct sums over that of blocks, what keeps them up to date included; in time of the
// processor, on one thread.
#include <benchmark/benchmark.h>

#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"

namespace {

using namespace rarefy;

// The features of a search on the multi-feature linear projection, batch by batch. Searched with a
// small buffer, which takes less time and spreads features no less.
std::vector<Batch> found(Index features, Index batches) {
  Config config = default_config("multi-lp");
  config.problem.m = features;
  config.problem.n = features * (100 / features);
  config.density.buffer = 2'000;
  config.archive.cvt.cells = 500;
  config.archive.cvt.samples = 5'000;
  const auto domain = make_domain(config);
  Workers workers(1);
  auto parts =
      make_parts(config, domain->info(), make_tessellation(config, domain->info(), workers));
  auto options = make_search_options(config);
  options.threads = 1;
  Search search(std::move(parts), options);
  ThreadsEvaluator evaluator(*domain, search.workers());
  std::vector<double> objectives(static_cast<std::size_t>(search.candidates()));
  std::vector<Batch> all;
  for (Index i = 0; i < batches; ++i) {
    Batch batch(search.candidates(), search.feature_dim());
    evaluator.evaluate(search.ask(), {batch, objectives});
    search.tell(batch, objectives);
    all.push_back(std::move(batch));
  }
  return all;
}

std::unique_ptr<KernelDensity> density(const FeatureSpace& space, KdeMethod method, Index buffer) {
  return std::make_unique<KernelDensity>(KdeOptions{.space = space, .method = method},
                                         std::make_unique<Reservoir>(ReservoirOptions{
                                             .feature_dim = space.dim(), .capacity = buffer}));
}

void kde_blocks(benchmark::State& state) {
  constexpr Index kMeasured = 40;
  const Index buffer = state.range(1);
  const Index seen = state.range(2) * buffer / 540;  // batches before the measurement
  const auto batches = found(state.range(0), seen + kMeasured);
  Config config = default_config("multi-lp");
  config.problem.m = state.range(0);
  config.problem.n = config.problem.m * (100 / config.problem.m);
  const auto space = make_domain(config)->info().feature_space;
  std::vector<double> scores(540);
  Workers alone(1);
  const auto seconds = [&](KdeMethod method) {
    const auto kde = density(space, method, buffer);
    for (Index i = 0; i < seen; ++i) kde->observe({batches[static_cast<std::size_t>(i)]}, alone);
    const auto start = std::clock();
    for (Index i = seen; i < seen + kMeasured; ++i) {
      const auto& batch = batches[static_cast<std::size_t>(i)];
      kde->score({batch}, scores, alone);
      kde->observe({batch}, alone);
    }
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  double direct = 0, blocks = 0;
  for (auto _ : state) {
    direct += seconds(KdeMethod::direct);
    const double time = seconds(KdeMethod::blocks);
    blocks += time;
    state.SetIterationTime(time / kMeasured);
  }
  state.counters["direct_ms"] = 1e3 * direct / kMeasured / static_cast<double>(state.iterations());
  state.counters["ratio"] = direct / blocks;
}
BENCHMARK(kde_blocks)
    ->ArgNames({"features", "buffer", "seen"})  // seen: so many times the buffer
    ->Args({3, 10'000, 10})
    ->Args({4, 10'000, 10})
    ->Args({6, 10'000, 10})
    ->Args({3, 100'000, 1})
    ->Args({3, 100'000, 10})
    ->Args({4, 100'000, 1})
    ->Args({4, 100'000, 10})
    ->Args({5, 100'000, 10})
    ->Args({6, 100'000, 10})
    ->Args({10, 100'000, 10})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
