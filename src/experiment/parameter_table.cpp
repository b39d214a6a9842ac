// The table of all parameters. Defaults are those of the structs.
#include <utility>

#include "experiment/parameter_groups/parameter_groups.hpp"

namespace rarefy {
namespace {

using std::vector;

vector<Parameter> make_parameters() {
  vector<Parameter> all;
  const auto add = [&](std::string_view section, vector<ParameterBuilder> some) {
    for (auto& parameter : some) {
      parameter.section = section;
      all.push_back(std::move(parameter));
    }
  };
  add("run", run_parameters());
  add("domain", domain_parameters());
  add("emitters", emitter_parameters());
  add("restarts", restart_parameters());
  add("density", density_parameters());
  add("density", discount_parameters());
  add("density", flow_parameters());
  add("density", mixture_parameters());
  add("archive", archive_parameters());
  add("output", output_parameters());
  add("program", program_parameters());
  // A problem of one's own has nothing to be told: it describes itself.
  for (auto& parameter : all) {
    if (parameter.section == "domain") {
      parameter.conditions.insert(parameter.conditions.begin(), domain_is_ours());
    }
  }
  return all;
}

}  // namespace

std::span<const Parameter> parameters() {
  static const vector<Parameter> all = make_parameters();
  return all;
}

}  // namespace rarefy
