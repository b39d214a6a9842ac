// rarefy show
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/experiment/run.hpp"
#include "summary.hpp"

namespace rarefy::command {
namespace {

struct ShowVerb {
  std::string folder;
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
      fmt::print(stderr, "rarefy: showing the last checkpoint, and writing nothing: {}\n", reason);
    }
    print_out(json ? json_of(*run) : summary_of(*run));
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
