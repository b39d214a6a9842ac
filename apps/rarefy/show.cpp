// rarefy show
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "json.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"
#include "rarefy/core/say.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/domains/maze.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/runs/summary.hpp"
#include "rarefy/runs/trajectory.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy::command {
namespace {

struct ShowVerb {
  std::string folder;
  std::string trajectory;
  bool density = false;
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
      say(fmt::format("rarefy: showing the last checkpoint{}: {}\n",
                      trajectory.empty() && !density ? ", and writing nothing" : "", reason));
    }
    if (density) {
      draw_density(*run);
    } else if (!trajectory.empty()) {
      draw_trajectory(*run);
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

  // The path of the robot that was found for a cell, given by its number or by a point in it.
  void draw_trajectory(const Run& run) const {
    const auto* maze = dynamic_cast<const Maze*>(&run.domain());
    if (maze == nullptr) {
      throw Error(ErrorKind::parameter, "--trajectory",
                  fmt::format("a run on '{}'", run.config().domain),
                  "a run on the maze: robots have trajectories, other solutions have none");
    }
    const auto& archive = run.search().archive();
    const Index cell = parse_cell(archive.tessellation());
    const Index elite = archive.elite_of(cell);
    if (elite < 0) {
      throw Error(ErrorKind::parameter, "--trajectory", fmt::format("cell {}", cell),
                  "a cell that was reached; 'cells' in archive.npz lists them");
    }
    const auto moments = maze->trajectory(archive.solutions().row(elite));
    const auto place = archive.features().row(elite);
    const auto subtitle = fmt::format(
        "{}, {} profile, seed {}: cell {}, reached at ({:.3f}, {:.3f})", run.config().algorithm,
        name_of(run.config().profile), run.config().seed, cell, place[0], place[1]);
    const auto picture = run.folder().trajectory(cell, "png");
    const auto table = run.folder().trajectory(cell, "csv");
    write_file_atomically(picture, pictures::render_png(trajectory_map(*maze, moments, subtitle)));
    write_file_atomically(table, trajectory_csv(moments));
    print_out(
        fmt::format("cell {}: the robot ends at ({:.4f}, {:.4f})\n  picture  {}\n  table    {}\n",
                    cell, place[0], place[1], picture.string(), table.string()));
  }

  [[nodiscard]] Index parse_cell(const Tessellation& cells) const {
    if (const auto number = parse_integer(trajectory);
        number && *number >= 0 && *number < cells.cells()) {
      return *number;
    }
    const auto point = parse_numbers(trajectory);
    if (!point || point->size() != 2) {
      throw Error(
          ErrorKind::parameter, "--trajectory", fmt::format("'{}'", trajectory),
          fmt::format("the number of a cell, 0 to {}, or a point X,Y in it", cells.cells() - 1));
    }
    for (Index d = 0; d < 2; ++d) {
      const auto at = static_cast<std::size_t>(d);
      const auto& space = cells.space();
      if ((*point)[at] < space.lower[at] || (*point)[at] > space.upper[at]) {
        throw Error(ErrorKind::parameter, "--trajectory", fmt::format("'{}'", trajectory),
                    fmt::format("a point within [{}, {}] x [{}, {}]", space.lower[0],
                                space.upper[0], space.lower[1], space.upper[1]));
      }
    }
    Index cell = 0;
    cells.assign(BatchView(point->data(), 1, 2), std::span(&cell, 1));
    return cell;
  }
};

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  auto* verb =
      app.add_subcommand("show", "sum up a run, and write its archive, metrics and picture again");
  verb->allow_extras();
  auto options = std::make_shared<ShowVerb>();
  verb->add_option("DIR", options->folder, "the folder of the run")->required()->type_name("");
  auto* trajectory = verb->add_option(
      "--trajectory", options->trajectory,
      "draw the path of the robot found for a cell: its number, or a point X,Y (maze)");
  trajectory->type_name("");
  auto* density = verb->add_flag(
      "--density", options->density,
      "draw the estimated density, with the features it is made of (dds-kde, dds-cnf)");
  auto* json = verb->add_flag("--json", options->json, "for programs to read");
  trajectory->excludes(json);
  trajectory->excludes(density);
  density->excludes(json);
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
