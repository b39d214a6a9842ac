#include "show_cell.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "chosen_cell.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/domains/arm.hpp"
#include "rarefy/domains/maze.hpp"
#include "rarefy/runs/arm_picture.hpp"
#include "rarefy/runs/trajectory.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy::command {
namespace {

std::string run_text(const Config& config) {
  return fmt::format("{}, {} profile, seed {}", config.algorithm, name_of(config.profile),
                     config.seed);
}

// The picture of an arm; nothing on other domains.
std::optional<FilePlace> draw_arm(const Run& run, const ChosenCell& chosen) {
  const auto* arm = dynamic_cast<const Arm*>(&run.domain());
  if (arm == nullptr) return std::nullopt;
  const auto& archive = run.search().archive();
  const auto place = archive.features().row(chosen.elite);
  const auto subtitle = fmt::format("{}: cell {}, from the base (red) to ({:.3f}, {:.3f})",
                                    run_text(run.config()), chosen.cell, place[0], place[1]);
  auto file = run.folder().arm(chosen.cell);
  write_file_atomically(
      file, pictures::render_png(arm_map(*arm, archive.solutions().row(chosen.elite), subtitle)));
  return file;
}

std::vector<double> copy_of(std::span<const double> values) {
  return {values.begin(), values.end()};
}

std::string feature_name(const DomainInfo& domain, std::size_t feature) {
  return feature < domain.feature_names.size() ? domain.feature_names[feature]
                                               : fmt::format("feature {}", feature + 1);
}

}  // namespace

void show_cell(const Run& run, const std::string& cell, bool json) {
  const auto& archive = run.search().archive();
  const auto chosen = find_cell(archive, "--cell", cell);
  const auto picture = draw_arm(run, chosen);
  const auto features = archive.features().row(chosen.elite);
  const auto visits = archive.visits()[static_cast<std::size_t>(chosen.cell)];
  const double objective = archive.objectives()[static_cast<std::size_t>(chosen.elite)];
  const auto solution = copy_of(archive.solutions().row(chosen.elite));
  if (json) {
    nlohmann::ordered_json out;
    out["cell"] = chosen.cell;
    out["visits"] = visits;
    out["objective"] = objective;
    out["features"] = copy_of(features);
    out["solution"] = solution;
    if (picture) out["picture"] = picture->string();
    print_data(out.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    return;
  }
  auto text = fmt::format("cell {}\n  visits     {}\n  objective  {}\n", chosen.cell,
                          with_commas(visits), text_of(objective));
  for (std::size_t d = 0; d < features.size(); ++d) {
    text +=
        fmt::format("  {:<10} {}\n", feature_name(run.domain().info(), d), text_of(features[d]));
  }
  text += fmt::format("  solution   {}\n", text_of(solution, ","));
  if (picture) text += fmt::format("  picture    {}\n", picture->string());
  print_out(text);
}

void show_trajectory(const Run& run, const std::string& cell) {
  const auto* maze = dynamic_cast<const Maze*>(&run.domain());
  if (maze == nullptr) {
    throw Error(ErrorKind::parameter, "--trajectory",
                fmt::format("a run on '{}'", run.config().domain),
                "a run on the maze: robots have trajectories, other solutions have none");
  }
  const auto& archive = run.search().archive();
  const auto chosen = find_cell(archive, "--trajectory", cell);
  const auto moments = maze->trajectory(archive.solutions().row(chosen.elite));
  const auto place = archive.features().row(chosen.elite);
  const auto subtitle = fmt::format("{}: cell {}, reached at ({:.3f}, {:.3f})",
                                    run_text(run.config()), chosen.cell, place[0], place[1]);
  const auto picture = run.folder().trajectory(chosen.cell, "png");
  const auto table = run.folder().trajectory(chosen.cell, "csv");
  write_file_atomically(picture, pictures::render_png(trajectory_map(*maze, moments, subtitle)));
  write_file_atomically(table, trajectory_csv(moments));
  print_out(
      fmt::format("cell {}: the robot ends at ({:.4f}, {:.4f})\n  picture  {}\n  table    {}\n",
                  chosen.cell, place[0], place[1], picture.string(), table.string()));
}

}  // namespace rarefy::command
