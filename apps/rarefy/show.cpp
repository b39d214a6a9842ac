// rarefy show
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "json.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/say.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/runs/archive_csv.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/runs/summary.hpp"
#include "show_cell.hpp"

namespace rarefy::command {
namespace {

struct ShowVerb {
  std::string folder;
  std::string cell, trajectory;
  bool density = false;
  bool csv = false;
  bool json = false;

  [[nodiscard]] RunFolder open_or_peek(std::string& reason) const {
    auto reading = RunFolder::peek(folder);
    try {
      return RunFolder::open(folder);
    } catch (const Error& error) {
      reason = error.what();
      return reading;
    }
  }

  [[nodiscard]] int run() const {
    // From the checkpoint, which is never behind the other files. A run that is going on, or
    // that we may not write to, can be looked at all the same.
    std::string reason;
    const auto run = Run::resume(open_or_peek(reason));
    if (reason.empty()) {
      run->write_results();
    } else {
      const bool draws = density || !cell.empty() || !trajectory.empty();
      say(fmt::format("rarefy: showing the last checkpoint{}: {}\n",
                      draws ? "" : ", and writing nothing", reason));
    }
    if (density) {
      draw_density(*run);
    } else if (!trajectory.empty()) {
      show_trajectory(*run, trajectory);
    } else if (!cell.empty()) {
      show_cell(*run, cell, json);
    } else if (csv) {
      write_archive_csv(run->search().archive(), print_data);
    } else {
      print_out(json ? json_of(*run) : summary_of(*run));
    }
    return kDone;
  }

  static void draw_density(Run& run) {
    run.write_density();
    print_out(fmt::format("the density after {} iterations\n  picture  {}\n  values   {}\n",
                          with_commas(run.search().iteration()),
                          run.folder().density_picture().string(),
                          run.folder().density_values().string()));
  }
};

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  auto* verb =
      app.add_subcommand("show", "sum up a run, and write its archive, metrics and picture again");
  verb->allow_extras();
  auto options = std::make_shared<ShowVerb>();
  verb->add_option("DIR", options->folder, "the folder of the run")->required()->type_name("");
  auto* cell = verb->add_option("--cell", options->cell,
                                "what was found for a cell: its number, or a point X,Y; draws it, "
                                "where it is an arm");
  cell->type_name("");
  auto* trajectory = verb->add_option(
      "--trajectory", options->trajectory,
      "draw the path of the robot found for a cell: its number, or a point X,Y (maze)");
  trajectory->type_name("");
  auto* density = verb->add_flag(
      "--density", options->density,
      "draw the estimated density, with the features it is made of (dds-kde, dds-cnf, "
      "dds-gmm, dds-qd)");
  auto* csv = verb->add_flag("--csv", options->csv,
                             "the archive as a table: cell, visits, objective, features, solution");
  auto* json = verb->add_flag("--json", options->json, "for programs to read");
  trajectory->excludes(json)->excludes(density)->excludes(cell)->excludes(csv);
  density->excludes(json)->excludes(cell)->excludes(csv);
  cell->excludes(csv);
  csv->excludes(json);
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
