// rarefy experiment report
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "report_verb.hpp"

namespace rarefy::command {

void add_experiment_report(CLI::App& experiment, Action& chosen) {
  auto* verb = experiment.add_subcommand(
      "report", "what came out: means, medians, tests of differences, the paper's values");
  verb->allow_extras();
  auto options = std::make_shared<ReportVerb>();
  options->folders.resize(1);
  verb->add_option("DIR", options->folders.front(), "the folder of the experiment")
      ->required()
      ->type_name("");
  options->add_options(*verb);
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
