// The hot stages of an iteration, one at a time, for counting their instructions:
//
//   bench_stages                  lists them
//   bench_stages STAGE            prepares one and runs it once, in measured()
//
// bench/instructions runs each under callgrind and compares the counts with those on file.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/covariance.hpp"
#include "kernels/kernel_sums.hpp"
#include "kernels/nearest.hpp"
#include "rarefy/archives/archive.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Index;

using Work = std::function<void()>;

// What callgrind counts: everything from here on.
[[gnu::noinline]] void measured(const Work& work) {
  work();
  asm volatile("" ::: "memory");
}

Batch normals(Index rows, Index cols, std::uint64_t seed) {
  Batch batch(rows, cols);
  rarefy::fill_normals({.seed = seed}, batch.values());
  return batch;
}

constexpr Index kSolutions = 540;
constexpr Index kDimension = 100;
constexpr Index kBuffer = 10'000;

Work normal_numbers() {
  return [numbers = std::make_shared<Batch>(36, kDimension)] {
    rarefy::fill_normals({.seed = 1}, numbers->values());
  };
}

// One generation of one emitter.
Work cma_es() {
  const auto optimizer = std::make_shared<rarefy::CmaEs>(rarefy::CmaEsOptions{
      .dimension = kDimension, .batch = 36, .sigma0 = 0.5, .mirrored = true, .bounds = {}});
  const auto solutions = std::make_shared<Batch>(36, kDimension);
  std::vector<Index> order;
  for (Index i = 0; i < 36; ++i) order.push_back((7 * i) % 36);
  const auto generation = [=](std::uint64_t iteration) {
    optimizer->ask({.seed = 1, .iteration = iteration}, *solutions);
    optimizer->tell(*solutions, order);
  };
  for (std::uint64_t i = 0; i < 3; ++i) generation(i);
  return [=] { generation(3); };
}

std::shared_ptr<rarefy::KernelDensity> full_density(Index features) {
  const rarefy::FeatureSpace space{std::vector<double>(static_cast<std::size_t>(features), -5.0),
                                   std::vector<double>(static_cast<std::size_t>(features), 5.0)};
  auto density = std::make_shared<rarefy::KernelDensity>(
      rarefy::KdeOptions{.space = space},
      std::make_unique<rarefy::Reservoir>(
          rarefy::ReservoirOptions{.feature_dim = features, .capacity = kBuffer, .seed = 1}));
  for (std::uint64_t i = 0; i < 40; ++i) density->observe({normals(kSolutions, features, i)});
  return density;
}

Work score(Index features, Index rows) {
  const auto density = full_density(features);
  const auto candidates = std::make_shared<Batch>(normals(rows, features, 99));
  return [=] {
    rarefy::Workers alone(1);
    std::vector<double> scores(static_cast<std::size_t>(rows));
    density->score({*candidates}, scores, alone);
  };
}

// Two batches, so that the field is made at least once.
Work observe() {
  const auto density = full_density(2);
  const auto candidates = std::make_shared<Batch>(normals(kSolutions, 2, 99));
  return [=] {
    for (int i = 0; i < 4; ++i) density->observe({*candidates});
  };
}

Work nearest_centroid() {
  const auto centroids = normals(kBuffer, 10, 1);
  const auto table =
      std::make_shared<rarefy::kernels::PointTable>(centroids.data(), kBuffer, Index{10});
  const auto queries = std::make_shared<Batch>(normals(32, 10, 2));
  return [=] {
    std::vector<Index> cells(32);
    rarefy::kernels::nearest_points(*table, queries->data(), 32, cells.data());
  };
}

Work novelty() {
  rarefy::NoveltyOptions options;
  options.space = {{-5.0, -5.0}, {5.0, 5.0}};
  options.neighbours = 15;
  options.threshold = 0.0;
  const auto density = std::make_shared<rarefy::NoveltyDensity>(options);
  for (std::uint64_t i = 0; i < 20; ++i) density->observe({normals(kSolutions, 2, i)});
  const auto candidates = std::make_shared<Batch>(normals(36, 2, 99));
  return [=] {
    rarefy::Workers alone(1);
    std::vector<double> scores(36);
    density->score({*candidates}, scores, alone);
  };
}

Work evaluate(std::string_view name) {
  const std::shared_ptr<rarefy::Domain> domain =
      rarefy::make_domain(rarefy::default_config(std::string(name)));
  const Index rows = name == "maze" ? 36 : kSolutions;
  const auto solutions = std::make_shared<Batch>(normals(rows, domain->info().solution_dim, 1));
  return [=] {
    Batch features(rows, domain->info().feature_dim());
    std::vector<double> objectives(static_cast<std::size_t>(rows));
    domain->evaluate(*solutions, features, objectives);
  };
}

Work record() {
  const rarefy::FeatureSpace space{{-5.0, -5.0}, {5.0, 5.0}};
  const auto archive = std::make_shared<rarefy::Archive>(
      std::make_shared<rarefy::Grid>(space, std::vector<Index>{100, 100}), kDimension);
  const auto solutions = std::make_shared<Batch>(normals(kSolutions, kDimension, 1));
  const auto features = std::make_shared<Batch>(normals(kSolutions, 2, 2));
  return [=] {
    rarefy::Workers alone(1);
    const std::vector<double> objectives(static_cast<std::size_t>(kSolutions), 1.0);
    std::vector<rarefy::Outcome> outcomes(static_cast<std::size_t>(kSolutions));
    archive->record(*solutions, {*features, objectives}, alone, outcomes);
  };
}

// A whole iteration on the linear projection, with the buffer full.
Work iteration(std::string algorithm) {
  const auto config = rarefy::default_config("lp", algorithm);
  const std::shared_ptr<rarefy::Domain> domain = rarefy::make_domain(config);
  const std::shared_ptr<rarefy::Search> search = rarefy::make_search(config, domain->info(), 1);
  const auto iterate = [=] {
    Batch features(search->candidates(), search->feature_dim());
    std::vector<double> objectives(static_cast<std::size_t>(search->candidates()));
    domain->evaluate(search->ask(), features, objectives);
    search->tell(features, objectives);
  };
  for (int i = 0; i < 25; ++i) iterate();
  return [=] {
    for (int i = 0; i < 4; ++i) iterate();
  };
}

const std::map<std::string, std::function<Work()>>& stages() {
  static const std::map<std::string, std::function<Work()>> all = {
      {"arm", [] { return evaluate("arm"); }},
      {"cma-es", cma_es},
      {"iteration-cma-mae", [] { return iteration("cma-mae"); }},
      {"iteration-dds-kde", [] { return iteration("dds-kde"); }},
      {"lp", [] { return evaluate("lp"); }},
      {"maze", [] { return evaluate("maze"); }},
      {"nearest-centroid", nearest_centroid},
      {"normals", normal_numbers},
      {"novelty", novelty},
      {"observe", observe},
      {"record", record},
      {"score-10d", [] { return score(10, 36); }},
      {"score-2d", [] { return score(2, kSolutions); }},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const auto& [name, make] : stages()) fmt::print("{}\n", name);
    return 0;
  }
  const auto found = stages().find(argv[1]);
  if (found == stages().end()) {
    fmt::print(stderr, "bench_stages: there is no stage '{}'\n", argv[1]);
    return 2;
  }
  measured(found->second());
  return 0;
}
