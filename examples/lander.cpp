// A problem of one's own with all that a run of the command has: a folder that can be resumed,
// checkpoints, progress, Ctrl-C, metrics, a picture and a summary. `rarefy show` reads the folder.
#include <rarefy/domains/function_domain.hpp>
#include <rarefy/runs/interrupt.hpp>
#include <rarefy/runs/progress.hpp>
#include <rarefy/runs/summary.hpp>

#include <cstdio>

#include "lander_simulator.hpp"

int main(int argc, char** argv) try {
  rarefy::DomainInfo info;
  info.name = "lander";
  info.title = "Landings on the moon";
  info.solution_dim = 12;
  info.feature_space = {{-400, 0}, {400, 60}};
  info.feature_names = {"landing place (m)", "impact speed (m/s)"};
  const auto lander = std::make_shared<rarefy::FunctionDomain>(info, [](auto x, auto features) {
    const Landing end = land(x);
    features[0] = end.place;
    features[1] = end.speed;
    return 1.0;  // the objective: all landings are equally good
  });
  const char* folder = argc > 1 ? argv[1] : "runs/lander";
  rarefy::Config config;
  config.iterations = 300;
  using rarefy::Run, rarefy::RunFolder;
  const auto run = RunFolder::holds_run(folder)
                       ? Run::resume(RunFolder::open(folder), lander)
                       : Run::start(config, lander, RunFolder::create(folder, false));
  rarefy::Progress progress(*run);
  rarefy::Observer* const observers[] = {&progress};
  const auto end = run->go(observers, &rarefy::stop_on_interrupt());
  std::printf("%s", rarefy::summary_of(*run).c_str());
  return end == rarefy::DriveEnd::finished ? 0 : rarefy::kInterruptedExit;
} catch (const std::exception& error) {
  std::fprintf(stderr, "lander: %s\n", error.what());
  return 1;
}
