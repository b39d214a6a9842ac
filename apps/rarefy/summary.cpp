#include "summary.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "progress.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy::command {

namespace {

// The most memory this process has had, in bytes.
std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

}  // namespace

std::string summary_of(const Run& run, Memory memory) {
  const auto& config = run.config();
  const auto& search = run.search();
  const auto& archive = search.archive();
  const auto line = run.now();
  const auto cells = archive.tessellation().cells();
  std::string out;
  const auto put = [&](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "  {:<15} {}\n", name, value);
  };
  fmt::format_to(std::back_inserter(out), "{}, {} ({} profile), seed {}\n",
                 run.domain().info().title, config.algorithm, config.profile, config.seed);
  put("iterations", fmt::format("{} of {} ({} solutions, {} restarts)", with_commas(line.iteration),
                                with_commas(config.iterations), with_commas(line.evaluations),
                                with_commas(line.restarts)));
  put("coverage", fmt::format("{:.2f} % ({} of {} cells)", 100.0 * line.coverage,
                              with_commas(archive.size()), with_commas(cells)));
  put("cross-entropy",
      fmt::format("{:.3f} (floor {:g}; {:.3f} if all cells were visited equally)",
                  line.cross_entropy, config.entropy_floor, std::log(static_cast<double>(cells))));
  if (!run.domain().info().constant_objective) {
    put("QD score",
        fmt::format("{:.6g} (objectives less {:g})", line.qd_score, config.objective_floor));
    put("best objective", fmt::format("{:.6g}", line.best_objective));
  }
  if (line.seconds > 0) {
    put("time", fmt::format("{:.1f} s ({} solutions/s)", line.seconds,
                            with_commas(static_cast<std::int64_t>(
                                static_cast<double>(line.evaluations) / line.seconds))));
  }
  if (memory == Memory::told) {
    put("memory", fmt::format("{:.0f} MB at most", 1e-6 * static_cast<double>(peak_memory())));
  }
  if (const auto how = search.density().description(); !how.empty()) put("density", how);
  if (const auto trouble = search.density().warning(); !trouble.empty()) put("trouble", trouble);
  put("folder", run.folder().path().string());
  put("picture", run.folder().heatmap().string());
  return out;
}

std::string json_of(const Run& run) {
  const auto line = run.now();
  nlohmann::ordered_json json;
  json["rarefy"] = kVersion;
  json["folder"] = run.folder().path().string();
  json["finished"] = line.iteration >= run.config().iterations;
  json["iteration"] = line.iteration;
  json["evaluations"] = line.evaluations;
  json["coverage"] = line.coverage;
  json["occupied_cells"] = run.search().archive().size();
  json["cells"] = run.search().archive().tessellation().cells();
  json["cross_entropy"] = line.cross_entropy;
  json["cross_entropy_floor"] = run.config().entropy_floor;
  json["qd_score"] = line.qd_score;
  json["best_objective"] = line.best_objective;
  json["restarts"] = line.restarts;
  json["seconds"] = line.seconds;
  json["density"] = run.search().density().description();
  json["trouble"] = run.search().density().warning();
  json["instruction_set"] = run.recorded_instruction_set();
  auto& config = json["config"];
  for (const auto& parameter : parameters()) {
    std::visit([&](const auto& value) { config[parameter.section][parameter.name] = value; },
               value_of(run.config(), parameter));
  }
  return json.dump(2) + "\n";
}

}  // namespace rarefy::command
