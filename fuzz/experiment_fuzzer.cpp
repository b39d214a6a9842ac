// Whatever the file of an experiment holds, it is read or refused with an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/trials/matrix.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = [&] {
    // Of two bases, one is there.
    return rarefy::parse_experiment(
        text, "fuzzed.toml", [](const std::string& name, std::size_t) -> std::string {
          if (name == "base.toml") return "[run]\ndomain = 'arm'\n[emitters]\nsigma0 = 0.25\n";
          throw rarefy::Error(rarefy::ErrorKind::io, name + ": there is no such file");
        });
  };
  rarefy::Experiment experiment;
  try {
    experiment = read();
  } catch (const rarefy::Error&) {
    return 0;
  }
  // Folders are called after trials: no two alike, and none that leads elsewhere.
  std::set<std::string_view> names;
  for (const auto& trial : experiment.trials) {
    if (!names.insert(trial.name).second) std::abort();
    if (trial.name.empty() || trial.name.front() == '/' ||
        ("/" + trial.name + "/").find("/../") != std::string::npos) {
      std::abort();
    }
  }
  if (experiment.trials.empty() || experiment.text != text) std::abort();
  // What a trial is told must survive being written and read again; of many, one will do.
  const auto& config = experiment.trials.back().config;
  const auto again =
      rarefy::resolve(rarefy::parse_settings(rarefy::to_toml(config), "written.toml"));
  if (!(again == config)) std::abort();
  return 0;
}
