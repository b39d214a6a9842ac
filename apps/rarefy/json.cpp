#include "json.hpp"

#include <nlohmann/json.hpp>

#include "rarefy/core/version.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/runs/warnings.hpp"

namespace rarefy::command {

std::string json_of(const Run& run) {
  const auto line = run.now();
  nlohmann::ordered_json json;
  json["rarefy"] = kVersion;
  json["folder"] = run.folder().place().string();
  json["finished"] = line.iteration >= run.config().iterations;
  json["iteration"] = line.iteration;
  json["evaluations"] = line.evaluations;
  json["coverage"] = line.coverage;
  json["occupied_cells"] = run.search().archive().size();
  json["cells"] = run.search().archive().tessellation().cells();
  json["cross_entropy"] = line.cross_entropy;
  json["cross_entropy_floor"] = run.config().output.entropy_floor;
  json["qd_score"] = line.qd_score;  // null where it is not known
  json["best_objective"] = line.best_objective;
  json["mean_objective"] = line.mean_objective;
  json["restarts"] = line.restarts;
  json["failed"] = line.failed;
  json["left_out"] = line.left_out;
  json["outside"] = line.outside;
  json["seconds"] = line.seconds;
  json["processor_seconds"] = line.processor_seconds;  // null where it is not known
  json["journal_held"] = run.journal_held();
  json["journal_taken"] = run.journal_taken();
  json["density"] = run.search().density().description();
  json["warnings"] = nlohmann::ordered_json::array();
  for (const auto& warning : warnings_of(run.search())) json["warnings"].push_back(warning.text);
  json["instruction_set"] = run.recorded_instruction_set();
  auto& config = json["config"];
  const auto& own = run.config().own_problem;
  for (const auto& parameter : parameters()) {
    if (own && parameter.section == "domain") continue;  // it describes itself
    std::visit([&](const auto& value) { config[parameter.section][parameter.name] = value; },
               parameter.get(run.config()));
  }
  if (own) {
    json["problem"] = {{"name", own->name},
                       {"title", own->title},
                       {"n", own->solution_dim},
                       {"lower", own->feature_space.lower},
                       {"upper", own->feature_space.upper},
                       {"feature_names", own->feature_names},
                       {"constant_objective", own->constant_objective}};
  }
  // In ASCII, whatever names hold: safe on a terminal, and valid where a path is not UTF-8.
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rarefy::command
