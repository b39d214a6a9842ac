// rarefy experiment figure
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "commands.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/reports/bandwidth_figure.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy::command {
namespace {

struct FigureVerb {
  std::string name, file;

  [[nodiscard]] int run() const {
    if (name != "bandwidth") {
      throw Error(ErrorKind::parameter, "figure", fmt::format("'{}'", name), "bandwidth");
    }
    const auto chart = bandwidth_figure();
    const auto path =
        file.empty() ? std::filesystem::path("bandwidth.png") : std::filesystem::path(file);
    const auto type = path.extension();
    if (type == ".png") {
      write_file_atomically(path, pictures::render_png(chart));
    } else if (type == ".svg") {
      write_file_atomically(path, pictures::render_svg(chart));
    } else if (type == ".pdf") {
      write_file_atomically(path, pictures::render_pdf(chart));
    } else {
      throw Error(ErrorKind::parameter, "--out", fmt::format("'{}'", file),
                  "a file that ends in .png, .svg or .pdf");
    }
    print_out(fmt::format("{}\n", path.string()));
    return kDone;
  }
};

}  // namespace

void add_experiment_figure(CLI::App& experiment, Action& chosen) {
  auto* verb = experiment.add_subcommand("figure", "draw a figure of the paper that needs no runs");
  verb->allow_extras();
  auto options = std::make_shared<FigureVerb>();
  verb->add_option("NAME", options->name,
                   "bandwidth: what the bandwidth of a kernel density does, in one dimension")
      ->required()
      ->type_name("");
  verb->add_option("--out", options->file, "the file: .png, .svg or .pdf (bandwidth.png)")
      ->type_name("");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
