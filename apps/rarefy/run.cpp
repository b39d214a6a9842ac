// rarefy run, rarefy resume
#include "rarefy/experiment/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "commands.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/presets.hpp"
#include "summary.hpp"

namespace rarefy::command {
namespace {

int go_on(Run& run, const std::atomic<bool>& stop, bool quiet) {
  Progress progress(run, quiet);
  Observer* const observers[] = {&progress};
  const auto end = run.go(observers, &stop);
  progress.finish();
  if (!quiet) print_out(summary_of(run, Memory::told));
  if (end == DriveEnd::finished) return kDone;
  fmt::print(stderr, "rarefy: stopped after {} iterations; go on with: rarefy resume {}\n",
             with_commas(run.search().iteration()), run.folder().path().string());
  return kInterrupted;
}

struct RunVerb {
  explicit RunVerb(CLI::App& verb) : parameters(verb) {}
  ParameterOptions parameters;
  MachineOptions machine;
  std::string domain, config_file, out;
  bool overwrite = false, quiet = false;

  int run() {
    machine.apply();
    Settings settings;
    if (!config_file.empty()) settings = read_settings(config_file);
    const auto& domain_parameter = parameter_named("domain");
    if (!domain.empty()) settings.emplace_back(&domain_parameter, domain);
    const auto given = parameters.settings();
    settings.insert(settings.end(), given.begin(), given.end());
    const bool named = std::any_of(settings.begin(), settings.end(), [&](const auto& setting) {
      return setting.first == &domain_parameter;
    });
    if (!named) {
      throw Error(ErrorKind::parameter,
                  fmt::format("no domain: name one ({}), or give a --config that does",
                              domain_parameter.expected()));
    }
    const auto config = resolve(settings);
    if (out.empty()) {
      out = fmt::format("runs/{}-{}-{}-seed{}", config.domain, config.algorithm, config.profile,
                        config.seed);
    }
    const bool grid = uses_grid(config, make_domain(config)->info());
    parameters.refuse_idle(config);
    const auto& stop = stop_on_interrupt();
    auto run_folder = RunFolder::create(out, overwrite);
    if (!quiet && !grid && config.centroids.empty()) {
      fmt::print(stderr, "rarefy: making {} cells ...\n", with_commas(config.cells));
    }
    const auto run = Run::start(config, std::move(run_folder), machine.threads);
    return go_on(*run, stop, quiet);
  }
};

struct ResumeVerb {
  MachineOptions machine;
  std::string folder;
  std::optional<std::int64_t> iterations;
  bool quiet = false;

  int run() {
    machine.apply();
    const auto& stop = stop_on_interrupt();
    auto run = Run::resume(RunFolder::open(folder), machine.threads);
    if (follow_instruction_set(*run)) {
      // The domain was made with other instructions, and its constants may differ: once more.
      run.reset();  // lets go of the folder
      run = Run::resume(RunFolder::open(folder), machine.threads);
    }
    if (run->recorded_version() != kVersion) {
      fmt::print(stderr,
                 "rarefy: the run was begun with rarefy {}, and goes on with {}: results may "
                 "differ from those of one version alone\n",
                 run->recorded_version(), kVersion);
    }
    if (iterations) run->set_iterations(checked(*iterations));
    if (run->search().iteration() >= run->config().iterations) {
      fmt::print(stderr,
                 "rarefy: this run is finished ({} iterations); --iterations N takes it further\n",
                 with_commas(run->search().iteration()));
    }
    return go_on(*run, stop, quiet);
  }

  static std::int64_t checked(std::int64_t iterations) {
    Config scratch;
    set_parameter(scratch, parameter_named("iterations"), ParameterValue(iterations));
    return iterations;
  }

  // The same bits need the same vector instructions as before. True when they were changed.
  [[nodiscard]] bool follow_instruction_set(const Run& run) const {
    const auto& recorded = run.recorded_instruction_set();
    if (recorded == name_of(instruction_set())) return false;
    if (machine.instruction_set == "auto") {
      try {
        pin_instruction_set(instruction_set_named(recorded));
        return true;
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): told below
      }
    }
    fmt::print(
        stderr,
        "rarefy: the run was begun with the instruction set {}, and goes on with {}: results "
        "may differ in the last bits\n",
        recorded, name_of(instruction_set()));
    return false;
  }
};

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto* verb = app.add_subcommand("run", "start a run in a folder of its own");
  verb->allow_extras();
  auto options = std::make_shared<RunVerb>(*verb);
  verb->add_option("DOMAIN", options->domain, "lp, multi-lp, arm or maze; 'rarefy list' tells more")
      ->type_name("");
  verb->add_option("--config", options->config_file,
                   "a TOML file of parameters; options win over it")
      ->type_name("");
  verb->add_option("--out", options->out, "the folder [runs/DOMAIN-ALGORITHM-PROFILE-seedSEED]")
      ->type_name("");
  verb->add_flag("--overwrite", options->overwrite, "replace a run that is in the folder already");
  verb->add_flag("--quiet", options->quiet, "no progress, no summary");
  options->machine.add_to(*verb);
  verb->footer(
      "Example: rarefy run lp --iterations 1000 --seed 3 --out runs/first\n"
      "Defaults in brackets are those of density descent on lp in the default profile;\n"
      "'rarefy list DOMAIN --algorithm NAME' shows others.");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

void add_resume(CLI::App& app, Action& chosen) {
  auto* verb = app.add_subcommand("resume", "go on with a run that was stopped or killed");
  verb->allow_extras();
  auto options = std::make_shared<ResumeVerb>();
  verb->add_option("DIR", options->folder, "the folder of the run")->required()->type_name("");
  verb->add_option("--iterations", options->iterations, "go on until this many in all")
      ->type_name("");
  verb->add_flag("--quiet", options->quiet, "no progress, no summary");
  options->machine.add_to(*verb);
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
