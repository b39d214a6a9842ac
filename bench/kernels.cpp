// The kernels and parts one by one, for profiling and for comparing changes.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "kernels/dense.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/tessellations/cvt.hpp"

namespace {

using namespace rarefy;

Batch uniform(Index rows, const FeatureSpace& space, std::uint32_t stream) {
  RandomStream random({.seed = 7, .purpose = Purpose::user, .index = stream});
  Batch batch(rows, space.dim());
  for (Index i = 0; i < rows; ++i) {
    for (Index d = 0; d < space.dim(); ++d) {
      batch(i, d) = space.lower[static_cast<std::size_t>(d)] + random.uniform() * space.width(d);
    }
  }
  return batch;
}

FeatureSpace box(Index dims) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, -1.0), std::vector<double>(count, 1.0)};
}

void normals(benchmark::State& state) {
  std::vector<double> out(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    fill_normals({.seed = 1}, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(normals)->Arg(1800)->Arg(100'000);

void kde_score(benchmark::State& state) {
  const auto space = box(state.range(0));
  const Index buffer = state.range(1);
  KernelDensity density(
      {.space = space, .kernel = Kernel::gaussian, .bandwidth = Bandwidth::normalised(0.1)},
      std::make_unique<Reservoir>(
          ReservoirOptions{.feature_dim = space.dim(), .capacity = buffer}));
  density.observe({uniform(buffer, space, 1)});
  const auto queries = uniform(540, space, 2);
  std::vector<double> scores(540);
  Workers workers(1);
  for (auto _ : state) density.score({queries}, scores, workers);
  state.SetItemsProcessed(state.iterations() * 540 * buffer);
}
BENCHMARK(kde_score)
    ->ArgNames({"dims", "buffer"})
    ->Args({1, 10'000})
    ->Args({2, 10'000})
    ->Args({10, 10'000})
    ->Args({2, 100'000})
    ->Unit(benchmark::kMicrosecond);

void cma_es_generation(benchmark::State& state) {
  CmaEsOptions options;
  options.dimension = state.range(0);
  options.batch = 36;
  options.factor = state.range(1) == 0 ? Factor::cholesky : Factor::eigen;
  CmaEs optimizer(options);
  Batch samples(options.batch, options.dimension);
  std::vector<Index> order(static_cast<std::size_t>(options.batch));
  std::uint64_t generation = 0;
  for (auto _ : state) {
    optimizer.ask({.seed = 1, .purpose = Purpose::sampling, .index = 0, .iteration = generation},
                  samples);
    RandomStream random(
        {.seed = 2, .purpose = Purpose::ranking, .index = 0, .iteration = generation++});
    random_permutation(random, order);
    optimizer.tell(samples, order);
  }
}
BENCHMARK(cma_es_generation)
    ->ArgNames({"n", "eigen"})
    ->Args({10, 0})
    ->Args({100, 0})
    ->Args({100, 1})
    ->Args({300, 0})
    ->Unit(benchmark::kMicrosecond);

void cvt_assign(benchmark::State& state) {
  const auto space = box(10);
  const Cvt cvt(space, uniform(10'000, space, 3));
  const auto points = uniform(540, space, 4);
  std::vector<Index> cells(540);
  for (auto _ : state) cvt.assign(points, cells);
}
BENCHMARK(cvt_assign)->Unit(benchmark::kMicrosecond);

void cvt_build(benchmark::State& state) {
  Workers workers;
  for (auto _ : state) {
    const Cvt cvt(box(10), CvtOptions{}, workers);
    benchmark::DoNotOptimize(cvt.cells());
  }
}
BENCHMARK(cvt_build)->Unit(benchmark::kMillisecond)->Iterations(1)->UseRealTime();

}  // namespace
