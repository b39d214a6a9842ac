// Densities of three features and more: blocks and samples beside direct sums, on features as a
// search finds them: a buffer by Scott's rule, and the candidates that come next. The time is that
// of samples, for an iteration of 540 candidates; `blocks` and `sampled` are the time of direct
// sums over theirs, what keeps them up to date included; in time of the processor, on one thread.
// `tau` is Kendall's between the scores of samples and direct sums, within an emitter's 36; `off`
// how far the former are off in 99 of 100 cases.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <memory>
#include <span>
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

// Of the pairs of an emitter's candidates, how many more are in the same order than are not.
double kendall(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t kBatch = 36;
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i / kBatch * kBatch; j < i; ++j) {
      agree += (a[i] < a[j]) == (b[i] < b[j]) ? 1 : -1;
      ++pairs;
    }
  }
  return agree / pairs;
}

void kde_many_features(benchmark::State& state) {
  constexpr Index kMeasured = 40;
  const Index buffer = state.range(1);
  const Index seen = state.range(2) * buffer / 540;  // batches before the measurement
  const auto batches = found(state.range(0), seen + kMeasured);
  Config config = default_config("multi-lp");
  config.problem.m = state.range(0);
  config.problem.n = config.problem.m * (100 / config.problem.m);
  const auto space = make_domain(config)->info().feature_space;
  Workers alone(1);
  struct Scored {
    double seconds = 0;
    std::vector<double> scores;
  };
  const auto scored = [&](KdeMethod method) {
    Scored result;
    std::vector<double> scores(540);
    const auto kde = density(space, method, buffer);
    for (Index i = 0; i < seen; ++i) kde->observe({batches[static_cast<std::size_t>(i)]}, alone);
    const auto start = std::clock();
    for (Index i = seen; i < seen + kMeasured; ++i) {
      const auto& batch = batches[static_cast<std::size_t>(i)];
      kde->score({batch}, scores, alone);
      kde->observe({batch}, alone);
      result.scores.insert(result.scores.end(), scores.begin(), scores.end());
    }
    result.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    return result;
  };
  for (auto _ : state) {
    const auto direct = scored(KdeMethod::direct);
    const auto blocks = scored(KdeMethod::blocks);
    const auto sampled = scored(KdeMethod::sampled);
    state.SetIterationTime(sampled.seconds / kMeasured);
    state.counters["direct_ms"] = 1e3 * direct.seconds / kMeasured;
    state.counters["blocks"] = direct.seconds / blocks.seconds;
    state.counters["sampled"] = direct.seconds / sampled.seconds;
    state.counters["tau"] = kendall(direct.scores, sampled.scores);
    std::vector<double> off;
    for (std::size_t i = 0; i < direct.scores.size(); ++i) {
      off.push_back(std::abs(direct.scores[i] - sampled.scores[i]));
    }
    const auto nearly_all = static_cast<std::ptrdiff_t>(off.size() * 99 / 100);
    std::nth_element(off.begin(), off.begin() + nearly_all, off.end());
    state.counters["off"] = off[static_cast<std::size_t>(nearly_all)];
  }
}
BENCHMARK(kde_many_features)
    ->ArgNames({"features", "buffer", "seen"})  // seen: so many times the buffer
    ->Args({3, 10'000, 10})
    ->Args({4, 10'000, 10})
    ->Args({6, 10'000, 10})
    ->Args({10, 10'000, 10})
    ->Args({3, 100'000, 1})
    ->Args({3, 100'000, 10})
    ->Args({4, 100'000, 1})
    ->Args({4, 100'000, 10})
    ->Args({5, 100'000, 10})
    ->Args({6, 100'000, 10})
    ->Args({8, 100'000, 10})
    ->Args({10, 100'000, 1})
    ->Args({10, 100'000, 10})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
