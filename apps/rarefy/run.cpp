// rarefy run, rarefy resume
#include "rarefy/runs/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "commands.hpp"
#include "folder_name.hpp"
#include "options.hpp"
#include "output.hpp"
#include "own_problem.hpp"
#include "ranks.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/say.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/interrupt.hpp"
#include "rarefy/runs/progress.hpp"
#include "rarefy/runs/summary.hpp"

namespace rarefy::command {
namespace {

// What is true of an interrupt, moment by moment.
constexpr InterruptMessages kWhilePreparing = {
    .first = "\nrarefy: stopping (interrupt again to leave at once)\n",
    .second = "\nrarefy: left at once, while the run was being prepared\n"};
constexpr InterruptMessages kWhileLoading = {
    .first = "\nrarefy: stopping (interrupt again to leave at once)\n",
    .second = "\nrarefy: left at once; the run is as it was\n"};
constexpr InterruptMessages kWhileRunning = {
    .first = "\nrarefy: finishing this iteration and saving (interrupt again to leave at once)\n",
    .second = "\nrarefy: left at once; 'rarefy resume' goes on from the last checkpoint\n"};
// What programs have under way, or emitters that do not wait for each other, is left as it is: the
// journal has what is finished of it.
constexpr InterruptMessages kWhileRowsComeBack = {
    .first = "\nrarefy: stopping and saving (interrupt again to leave at once)\n",
    .second = kWhileRunning.second};
constexpr InterruptMessages kWhenSaved = {.first = "\nrarefy: all is saved already\n",
                                          .second = "\nrarefy: left at once; all was saved\n"};

int go_on(Run& run, StopFlag stop, bool quiet, Ranks* ranks, Index threads) {
  if (ranks != nullptr) run.evaluate_with(ranks->evaluator(run, threads));
  const bool at_once = run.program() != nullptr || run.config().asynchronous;
  set_interrupt_messages(at_once ? kWhileRowsComeBack : kWhileRunning);
  Progress progress(run, quiet);
  Observer* const observers[] = {&progress};
  const auto end = run.go(observers, stop);
  set_interrupt_messages(kWhenSaved);
  if (end != DriveEnd::finished) {
    say(fmt::format("rarefy: stopped after {} iterations; go on with: rarefy resume {}\n",
                    with_commas(run.search().iteration()), run.folder().place().string()));
  }
  int code = end == DriveEnd::finished ? kDone : kInterrupted;
  try {
    if (!quiet) print_out(summary_of(run, PeakMemory::included));
  } catch (const Error& error) {  // the run itself is well
    say(fmt::format("rarefy: {}; the run is whole in {}\n", error.what(),
                    run.folder().place().string()));
    if (code == kDone) code = kSystem;
  }
  return code;
}

RunFolder create_folder(const std::string& path, bool overwrite) {
  if (!overwrite && RunFolder::holds_run(path)) {
    throw Error(ErrorKind::parameter,
                fmt::format("the folder '{0}' holds a run already: go on with it by "
                            "'rarefy resume {0}', or replace it with --overwrite",
                            path));
  }
  try {
    return RunFolder::create(path, overwrite);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::parameter) throw;
    throw Error(error.kind(), std::string(error.what()) + " (--overwrite, --out)");
  }
}

struct RunVerb {
  explicit RunVerb(CLI::App& verb) : parameters(verb) {}
  ParameterOptions parameters;
  OwnProblemOptions own_problem;
  MachineOptions machine;
  std::string domain, config_file, out;
  bool overwrite = false, quiet = false;
  Seat seat;

  int run() {
    const auto ranks = join_ranks(seat);
    machine.apply();
    Settings settings;
    if (!config_file.empty()) settings = read_settings(config_file);
    if (!domain.empty()) {
      settings.own_problem.reset();
      settings.set("domain", domain);
    }
    settings.add(parameters.settings());
    own_problem.describe(settings);
    if (settings.find("domain") == nullptr) {
      throw Error(
          ErrorKind::parameter,
          fmt::format("no domain: name one ({}), or give a --config that does, or a program "
                      "with --command",
                      parameter_named("domain").expected()));
    }
    auto config = resolve(settings);
    // What a relative name of the program means when the run is resumed.
    if (config.program.any() && config.program.folder.empty()) {
      config.program.folder = std::filesystem::current_path().string();
    }
    const auto problem = config.program.any() ? *config.own_problem : make_domain(config)->info();
    parameters.refuse_idle(config);
    if (out.empty()) out = (std::filesystem::path("runs") / folder_name(config)).string();
    const StopFlag stop = &stop_on_interrupt(kWhilePreparing);
    auto run_folder = create_folder(out, overwrite);
    if (!quiet && !uses_grid(config, problem) && config.archive.centroids.empty()) {
      say(fmt::format("rarefy: making {} cells ...\n", with_commas(config.archive.cvt.cells)));
    }
    const auto run = Run::start(config, std::move(run_folder),
                                RunTeam{.threads = machine.threads, .stop = stop});
    return go_on(*run, stop, quiet, ranks.get(), machine.threads);
  }
};

struct ResumeVerb {
  explicit ResumeVerb(CLI::App& verb) : program(verb, {"program"}) {}
  ParameterOptions program;  // it may have moved, and may have other workers now
  MachineOptions machine;
  std::string folder;
  std::optional<std::int64_t> iterations;
  bool quiet = false;
  Seat seat;

  int run() {
    const auto ranks = join_ranks(seat);
    machine.apply();
    const StopFlag stop = &stop_on_interrupt(kWhileLoading);
    auto run = Run::resume(RunFolder::open(folder), machine.threads);
    if (!run->can_go_on()) {
      throw Error(ErrorKind::parameter,
                  fmt::format("'{}' is a run on '{}', which belongs to the program that began it: "
                              "go on with that program ('rarefy show' works here)",
                              folder, run->config().domain));
    }
    if (follow_instruction_set(*run)) {
      // The domain was made with other instructions, and its constants may differ: once more.
      run.reset();  // lets go of the folder
      run = Run::resume(RunFolder::open(folder), machine.threads);
    }
    if (run->recorded_version() != kVersion) {
      say(fmt::format(
          "rarefy: the run was begun with rarefy {}, and goes on with {}: results may differ from "
          "those of one version alone\n",
          run->recorded_version(), kVersion));
    }
    if (iterations) run->set_iterations(checked(*iterations));
    if (const auto settings = program.settings(); !settings.values.empty()) {
      run->set_program(settings);
    }
    if (run->search().iteration() >= run->config().iterations) {
      say(fmt::format(
          "rarefy: this run is finished ({} iterations); --iterations N takes it further\n",
          with_commas(run->search().iteration())));
    }
    return go_on(*run, stop, quiet, ranks.get(), machine.threads);
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
    say(fmt::format(
        "rarefy: the run was begun with the instruction set {}, and goes on with {}: results may "
        "differ in the last bits\n",
        recorded, name_of(instruction_set())));
    return false;
  }
};

}  // namespace

void add_run(CLI::App& app, const Seat& seat, Action& chosen) {
  auto* verb = app.add_subcommand("run", "start a run in a folder of its own");
  verb->allow_extras();
  auto options = std::make_shared<RunVerb>(*verb);
  options->seat = seat;
  verb->add_option("DOMAIN", options->domain, domain_help() + "; 'rarefy list' tells more")
      ->type_name("");
  verb->add_option("--config", options->config_file,
                   "a TOML file of parameters; options win over it")
      ->type_name("");
  verb->add_option("--out", options->out,
                   "the folder [runs/DOMAIN-ALGORITHM-PROFILE-seedSEED, and what differs from the "
                   "defaults]")
      ->type_name("");
  verb->add_flag("--overwrite", options->overwrite, "replace a run that is in the folder already");
  verb->add_flag("--quiet", options->quiet, "no progress, no summary");
  options->own_problem.add_to(*verb);
  options->machine.add_to(*verb);
  verb->footer(
      "Example: rarefy run lp --iterations 1000 --seed 3 --out runs/first\n"
      "A program of your own, a line of numbers in, a line of features out:\n"
      "  rarefy run --command './simulate' --n 12 --low -400,0 --high 400,60\n"
      "Defaults in brackets are those of density descent on lp in the default profile;\n"
      "'rarefy list DOMAIN --algorithm NAME' shows others.");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

void add_resume(CLI::App& app, const Seat& seat, Action& chosen) {
  auto* verb = app.add_subcommand("resume", "go on with a run that was stopped or killed");
  verb->allow_extras();
  auto options = std::make_shared<ResumeVerb>(*verb);
  options->seat = seat;
  verb->add_option("DIR", options->folder, "the folder of the run")->required()->type_name("");
  verb->add_option("--iterations", options->iterations, "go on until this many in all")
      ->type_name("");
  verb->add_flag("--quiet", options->quiet, "no progress, no summary");
  options->machine.add_to(*verb);
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
