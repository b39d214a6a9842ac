#include "trials/read_trial.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/storage/run_folder.hpp"
#include "trials/text_file.hpp"

namespace rarefy {
namespace {

std::optional<Trial> read_in(const RunFolder& run) {
  constexpr std::uintmax_t kMostMetrics = std::uintmax_t{1} << 30;
  Trial trial;
  trial.folder = run.path();
  const auto config = text_of_file(run.config());
  trial.config = resolve(parse_settings(config, run.config().string()));
  auto maker = maker_of(config);
  trial.version = std::move(maker.version);
  trial.instruction_set = std::move(maker.instruction_set);
  // There from its first checkpoint on, which is older than the configuration.
  if (run.metrics().exists()) {
    try {
      trial.metrics = parse_metrics(text_of_file(run.metrics(), kMostMetrics));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      throw Error(error.kind(), fmt::format("{}: {}", run.metrics().string(), error.what()));
    }
  }
  if (run.warnings().exists()) {
    const auto text = text_of_file(run.warnings());
    for (const auto line : split(text, '\n')) {
      if (!line.empty()) trial.warnings.emplace_back(line);
    }
  }
  const bool finished =
      !trial.metrics.empty() && trial.metrics.back().iteration >= trial.config.iterations;
  trial.state = finished ? TrialState::finished : TrialState::begun;
  return trial;
}

}  // namespace

std::optional<Trial> read_trial(const std::filesystem::path& folder) {
  try {
    return read_in(RunFolder::peek(folder));
  } catch (const Error&) {
    // It may have been removed or begun anew while we read; otherwise there is something to tell.
    if (!RunFolder::holds_run(folder)) return std::nullopt;
    throw;
  }
}

}  // namespace rarefy
