// rarefy experiment
#include <CLI/CLI.hpp>

#include "commands.hpp"

namespace rarefy::command {

void add_experiment(CLI::App& app, const Seat& seat, Action& chosen) {
  auto* verb =
      app.add_subcommand("experiment", "many runs, compared: algorithms x domains x seeds");
  verb->require_subcommand(1);
  verb->allow_extras();
  add_experiment_run(*verb, seat, chosen);
  add_experiment_report(*verb, chosen);
  add_experiment_plots(*verb, chosen);
  add_experiment_figure(*verb, chosen);
}

}  // namespace rarefy::command
