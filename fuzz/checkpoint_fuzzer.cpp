// Whatever a checkpoint holds, it is loaded or refused with an Error; and a search that
// loaded it can go on. The first byte says whether the file as a whole is tried (even) or, as
// its checksum keeps a fuzzer from ever getting further, the state inside, and of which
// algorithm.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "rarefy/core/error.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/storage/checkpoint.hpp"

namespace {

rarefy::Config small_config(std::string_view algorithm) {
  auto config = rarefy::default_config("lp", algorithm);
  config.problem.n = 4;
  config.emitters.count = 2;
  config.emitters.batch = 4;
  config.density.buffer = 8;
  // Panels have more of a state than direct sums, and few of them will do.
  config.density.kde.method = rarefy::KdeMethod::panels;
  config.density.kde.bandwidth = rarefy::Bandwidth::normalised(4);
  config.archive.intervals = 4;
  config.density.novelty.neighbours = 3;
  config.density.flow.network.layers = {4};
  config.density.flow.training.steps = 2;
  config.density.flow.training.batch = 4;
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const auto algorithms = rarefy::algorithms();
  const auto config = small_config(algorithms[data[0] / 2 % algorithms.size()].name);
  static const auto domain = rarefy::make_domain(config);
  static const auto team = std::make_shared<rarefy::Workers>(1);
  static const auto cells = rarefy::make_tessellation(config, domain->info(), *team);
  try {
    if (data[0] % 2 == 0) {
      (void)rarefy::decode_checkpoint(bytes, "fuzzed.bin");
      return 0;
    }
    const auto search = rarefy::make_search(config, domain->info(), team, cells);
    rarefy::StateReader in(bytes);
    search->load(in);
    rarefy::ThreadsEvaluator evaluator(*domain, search->workers());
    rarefy::Batch features(search->candidates(), search->feature_dim());
    std::vector<double> objectives(static_cast<std::size_t>(search->candidates()));
    for (int i = 0; i < 3; ++i) {
      evaluator.evaluate(search->ask(), {features, objectives});
      search->tell(features, objectives);
    }
  } catch (const rarefy::Error&) {  // NOLINT(bugprone-empty-catch): the expected outcome
  }
  return 0;
}
