#include "rarefy/runs/summary.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/runs/warnings.hpp"

namespace rarefy {

namespace {

// The most memory this process has had, in bytes.
std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

// What the journal was good for, or will be.
std::string journal_of(const Run& run) {
  std::int64_t held = 0;
  try {
    held = run.journal_held();
  } catch (const Error& error) {  // of another version
    return error.what();
  }
  std::string text;
  if (run.journal_taken() > 0) {
    text = fmt::format("{} evaluations were taken from it", with_commas(run.journal_taken()));
  }
  if (held > 0) {
    fmt::format_to(std::back_inserter(text), "{}{} evaluations wait in it for the run to go on",
                   text.empty() ? "" : ", ", with_commas(held));
  }
  return text;
}

// How the user's own program did, since this process has had it.
std::string program_of(const Run& run) {
  const auto* const program = run.program();
  if (program == nullptr || program->counts().workers_started == 0) return {};
  const auto& counts = program->counts();
  auto text = fmt::format("{} answers", with_commas(counts.rows_done));
  if (counts.rows_retried > 0)
    text += fmt::format(", {} retries", with_commas(counts.rows_retried));
  for (std::size_t i = 0; i < counts.faults.size(); ++i) {
    const auto fault = EnumNames<ProgramFault>::all[i];
    if (const auto count = counts.count(fault.first); count > 0) {
      text += fmt::format(", {} x {}", with_commas(count), fault.second);
    }
  }
  if (run.folder().failures().exists()) text += "; see failures.log";
  return text;
}

std::string steps_found(const StepProbe& probe, std::int64_t left_out) {
  if (probe.probes(0)) return "still being tried";
  const auto [least, most] = probe.range();
  return fmt::format(
      "{:.2g} to {:.2g} to begin with (found by a probe{})", least, most,
      left_out > 0 ? fmt::format("; {} solutions of larger steps left out", with_commas(left_out))
                   : "");
}

}  // namespace

std::string summary_of(const Run& run, PeakMemory memory) {
  const auto& config = run.config();
  const auto& problem = run.domain().info();
  const auto& search = run.search();
  const auto& archive = search.archive();
  const auto line = run.now();
  const auto cells = archive.tessellation().cells();
  std::string out;
  const auto put = [&](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "  {:<15} {}\n", name, value);
  };
  fmt::format_to(std::back_inserter(out), "{}, {} ({} profile), seed {}\n",
                 problem.title.empty() ? problem.name : problem.title, config.algorithm,
                 name_of(config.profile), config.seed);
  put("iterations", fmt::format("{} of {} ({} solutions, {} restarts)", with_commas(line.iteration),
                                with_commas(config.iterations), with_commas(line.evaluations),
                                with_commas(line.restarts)));
  if (config.asynchronous) {
    put("order", "emitters did not wait for each other; order.bin repeats the run (--order)");
  }
  if (const auto* const probe = search.probe(); probe != nullptr) {
    put("step sizes", steps_found(*probe, line.left_out));
  }
  put("coverage", fmt::format("{:.2f} % ({} of {} cells)", 100.0 * line.coverage,
                              with_commas(archive.size()), with_commas(cells)));
  put("cross-entropy", fmt::format("{:.3f} (floor {:g}; {:.3f} if all cells were visited equally)",
                                   line.cross_entropy, config.output.entropy_floor,
                                   maths::log(static_cast<double>(cells))));
  if (!problem.constant_objective) {
    const auto floor = run.objective_floor();
    put("QD score", floor ? fmt::format("{:.6g} (objectives less {:g})", line.qd_score, *floor)
                          : "unknown: the problem does not say what its least objective is");
    put("best objective", fmt::format("{:.6g}", line.best_objective));
    put("mean objective", fmt::format("{:.6g} of the elites", line.mean_objective));
  }
  if (line.failed > 0) {
    put("failed", fmt::format("{} evaluations ({:.2f} %)", with_commas(line.failed),
                              100.0 * static_cast<double>(line.failed) /
                                  static_cast<double>(line.evaluations)));
  }
  if (line.outside > 0) {
    put("outside", fmt::format("{:.2f} % of the evaluations had features outside the box",
                               100.0 * line.outside));
  }
  if (line.seconds > 0) {
    const double rate = static_cast<double>(line.evaluations) / line.seconds;
    put("time", fmt::format("{:.1f} s ({} solutions/s)", line.seconds,
                            with_commas(static_cast<std::int64_t>(std::min(rate, 1e18)))));
  }
  if (const auto text = run.evaluated_by(); !text.empty()) put("evaluated by", text);
  if (const auto text = program_of(run); !text.empty()) put("program", text);
  if (const auto text = journal_of(run); !text.empty()) put("journal", text);
  if (memory == PeakMemory::included) {
    put("memory", fmt::format("{:.0f} MB at most", 1e-6 * static_cast<double>(peak_memory())));
  }
  if (const auto how = search.density().description(); !how.empty()) put("density", how);
  for (const auto& warning : warnings_of(search)) put("warning", warning.text);
  const double spread = line.best_objective - line.mean_objective;
  if (problem.constant_objective && spread > 1e-9 * std::abs(line.best_objective)) {
    put("warning", "objectives differ, though the problem says that they are constant");
  }
  const auto place = run.folder().place();
  put("folder", place.string());
  if (run.folder().heatmap().exists()) {
    put("picture", (place / run.folder().heatmap().name()).string());
  }
  return printable(out);
}

}  // namespace rarefy
