// rarefy show
#include <CLI/CLI.hpp>
#include <iostream>

#include "commands.hpp"
#include "rarefy/experiment/run.hpp"
#include "summary.hpp"

namespace rarefy::command {
namespace {

struct ShowVerb {
  std::string folder;
  bool json = false;

  [[nodiscard]] int run() const {
    // From the checkpoint, which is never behind the other files.
    const auto run = Run::resume(RunFolder::open(folder));
    run->write_results();
    std::cout << (json ? json_of(*run) : summary_of(*run)) << std::flush;
    return kDone;
  }
};

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  auto* verb =
      app.add_subcommand("show", "sum up a run, and write its archive, metrics and picture again");
  verb->allow_extras();
  auto options = std::make_shared<ShowVerb>();
  verb->add_option("DIR", options->folder, "the folder of the run")->required()->type_name("");
  verb->add_flag("--json", options->json, "for programs to read");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
