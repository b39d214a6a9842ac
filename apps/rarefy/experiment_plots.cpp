// rarefy experiment plots
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "rarefy/reports/plots.hpp"

namespace rarefy::command {
namespace {

struct PlotsVerb {
  std::vector<std::string> folders;
  std::string out;

  [[nodiscard]] int run() const {
    const std::vector<std::filesystem::path> paths(folders.begin(), folders.end());
    const auto place = out.empty() ? paths.front() / "plots" : std::filesystem::path(out);
    write_plots(read_results(paths), place);
    print_out(fmt::format("{}\n", place.string()));
    return kDone;
  }
};

}  // namespace

void add_experiment_plots(CLI::App& experiment, Action& chosen) {
  auto* verb = experiment.add_subcommand(
      "plots", "curves, heat maps and ablations as .png and .svg, for papers");
  verb->allow_extras();
  auto options = std::make_shared<PlotsVerb>();
  verb->add_option("DIR", options->folders, "experiments, runs, or folders of runs")
      ->required()
      ->type_name("");
  verb->add_option("--out", options->out, "the folder for the pictures (DIR/plots)")->type_name("");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
