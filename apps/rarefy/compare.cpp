// rarefy compare
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "report_verb.hpp"

namespace rarefy::command {

void add_compare(CLI::App& app, Action& chosen) {
  auto* verb =
      app.add_subcommand("compare", "runs that exist already, as `experiment report` does");
  verb->allow_extras();
  auto options = std::make_shared<ReportVerb>();
  verb->add_option("DIR", options->folders, "runs, folders of runs, or experiments")
      ->required()
      ->type_name("");
  options->add_options(*verb);
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
