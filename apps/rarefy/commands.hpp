// The verbs of the command, one file each. Every `add_...` puts a subcommand on the
// application and leaves in `chosen` what to do when the user picks it.
#pragma once

#include <functional>

#include "exit_codes.hpp"
#include "seat.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): another library's
class App;
}

namespace rarefy::command {

using Action = std::function<int()>;

void add_run(CLI::App& app, const Seat& seat, Action& chosen);
void add_resume(CLI::App& app, const Seat& seat, Action& chosen);
void add_evaluate(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_list(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);
void add_experiment(CLI::App& app, const Seat& seat, Action& chosen);
void add_experiment_run(CLI::App& experiment, const Seat& seat, Action& chosen);
void add_experiment_report(CLI::App& experiment, Action& chosen);
void add_experiment_plots(CLI::App& experiment, Action& chosen);
void add_experiment_figure(CLI::App& experiment, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);
void add_watch(CLI::App& app, Action& chosen);

}  // namespace rarefy::command
