// rarefy experiment run
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "commands.hpp"
#include "experiment_display.hpp"
#include "experiment_table.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/say.hpp"
#include "rarefy/runs/interrupt.hpp"
#include "rarefy/trials/look_at_trial.hpp"
#include "rarefy/trials/results.hpp"
#include "rarefy/trials/runner.hpp"

namespace rarefy::command {
namespace {

constexpr InterruptMessages kWhileTrialsRun = {
    .first =
        "\nrarefy: every trial finishes its iteration and is saved (interrupt again to leave "
        "at once)\n",
    .second = "\nrarefy: left at once; the same command goes on from the last checkpoints\n"};

std::string state_text(const TrialLook& look) {
  const auto& trial = look.trial;
  if (!look.difference.empty()) return "another run is there: " + look.difference;
  switch (trial.state) {
    case TrialState::waiting: return "waits";
    case TrialState::begun:
      return fmt::format("begun, {} of {} iterations",
                         trial.metrics.empty() ? 0 : trial.metrics.back().iteration,
                         trial.config.iterations);
    case TrialState::finished: return "finished";
    case TrialState::failed: break;
  }
  return "failed: " + trial.error.substr(0, trial.error.find('\n'));
}

struct ExperimentRunVerb {
  std::string file, out, instructions = "auto";
  std::int64_t jobs = 0;
  bool overwrite = false, quiet = false, dry_run = false;
  Seat seat;

  int run() {
    const auto ranks = join_ranks(seat);
    if (jobs < 0) {
      throw Error(ErrorKind::parameter, "--jobs", fmt::format("{}", jobs), "an integer >= 0");
    }
    pin_instruction_set(instruction_set_named(instructions));
    const auto experiment = read_experiment(file);
    const auto path = out.empty()
                          ? std::filesystem::path("runs") / std::filesystem::path(file).stem()
                          : std::filesystem::path(out);
    if (dry_run) return list(experiment, {path});
    const StopFlag stop = &stop_on_interrupt(kWhileTrialsRun);
    const ExperimentFolder folder(path, overwrite);
    if (const auto& why = folder.why_not_locked(); !why.empty()) {
      say(
          fmt::format("warning: the folder cannot be locked ({}): take care that nobody else uses "
                      "it\n",
                      why));
    }
    TrialBoard board(experiment, folder, overwrite);
    ExperimentOutcome outcome;
    {
      ExperimentDisplay display(quiet, stop);
      const auto watch = [&](const ExperimentProgress& now) { display.show(now); };
      outcome = ranks != nullptr
                    ? ranks->run_trials(board, folder.places(), stop, watch)
                    : run_experiment(board, folder.places(), {.jobs = jobs, .stop = stop}, watch);
    }
    return tell(outcome, folder.places());
  }

  static int list(const Experiment& experiment, const ExperimentPlaces& places) {
    std::string text;
    for (const auto& planned : experiment.trials) {
      std::string state;
      try {
        state = state_text(look_at_trial(planned, places));
      } catch (const Error& error) {
        state = fmt::format("cannot be read: {}", error.what());
      }
      text += fmt::format("{}  {}\n", planned.name, state);
    }
    print_out(text);
    return kDone;
  }

  [[nodiscard]] int tell(const ExperimentOutcome& outcome, const ExperimentPlaces& places) const {
    const auto all = outcome.finished + outcome.failed + outcome.left;
    if (!quiet) {
      print_out(short_table(read_results(std::array{places.folder})));
      print_out(fmt::format("Every trial is in {}\nGo on with: rarefy experiment report {}\n",
                            places.results().string(), places.folder.string()));
    }
    if (outcome.warned > 0) {
      say(
          fmt::format("rarefy: {} of {} finished trials have warnings: warnings.txt in their "
                      "folders, and the report\n",
                      outcome.warned, outcome.finished));
    }
    if (outcome.failed > 0) {
      say(
          fmt::format("rarefy: {} of {} trials failed; {} says why; the same command tries them "
                      "again\n",
                      outcome.failed, all, (places.folder / "failures").string()));
    }
    if (outcome.left > 0) {
      say(fmt::format("rarefy: stopped, {} of {} trials are done; the same command goes on\n",
                      outcome.finished, all));
      return kInterrupted;
    }
    return outcome.failed > 0 ? kFailed : kDone;
  }
};

}  // namespace

void add_experiment_run(CLI::App& experiment, const Seat& seat, Action& chosen) {
  auto* verb = experiment.add_subcommand("run", "run what a file describes, or what is left of it");
  verb->allow_extras();
  auto options = std::make_shared<ExperimentRunVerb>();
  options->seat = seat;
  verb->add_option("FILE", options->file, "the experiment, as TOML; docs/experiments.md")
      ->required()
      ->type_name("");
  verb->add_option(
          "--jobs", options->jobs,
          "trials at a time; 0: one for each core [0]; under mpirun, every rank but the first "
          "runs one")
      ->type_name("");
  verb->add_option("--out", options->out, "the folder [runs/NAME-OF-THE-FILE]")->type_name("");
  verb->add_flag("--overwrite", options->overwrite,
                 "run trials anew whose configuration has changed");
  verb->add_flag("--quiet", options->quiet, "no progress, no table");
  verb->add_flag("--dry-run", options->dry_run, "list the trials and where they stand, run none");
  verb->add_option("--instruction-set", options->instructions,
                   "vector instructions: auto, baseline, avx2 or avx512 [auto]")
      ->type_name("");
  verb->footer(
      "Started again, it goes on: finished trials are kept, interrupted ones resumed, failed ones\n"
      "tried again. Exit codes: 0 all done, 1 some trials failed, 130 interrupted.");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
