// rarefy list
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>

#include "commands.hpp"
#include "output.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/experiment/relevance.hpp"

namespace rarefy::command {
namespace {

void put_choices(std::string& out, std::string_view title, const std::vector<Choice>& choices) {
  fmt::format_to(std::back_inserter(out), "{}\n", title);
  for (const auto& choice : choices) {
    fmt::format_to(std::back_inserter(out), "  {:<15} {}\n", choice.name, choice.meaning);
  }
}

struct ListVerb {
  std::string domain = "lp", algorithm = "dds-kde", profile = "default";

  [[nodiscard]] int run() const {
    const auto defaults = default_config(domain, algorithm, profile);
    std::string out;
    put_choices(out, "Domains", domain_choices());
    put_choices(out, "\nAlgorithms", algorithm_choices());
    put_choices(out, "\nProfiles", profile_choices());
    fmt::format_to(std::back_inserter(out),
                   "\nParameters that matter to {} by {}, with their defaults in the {} profile\n",
                   domain, algorithm, profile);
    std::string_view section;
    for (const auto& parameter : parameters()) {
      if (!why_idle(defaults, parameter.name).empty()) continue;
      if (parameter.section != section) {
        section = parameter.section;
        fmt::format_to(std::back_inserter(out), "  [{}]\n", section);
      }
      const auto value = text_of(value_of(defaults, parameter));
      fmt::format_to(std::back_inserter(out), "  {:<22} {:<11} {}; {}\n", parameter.name,
                     value.empty() ? "-" : value, parameter.meaning, parameter.expected());
    }
    print_out(out);
    return kDone;
  }
};

}  // namespace

void add_list(CLI::App& app, Action& chosen) {
  auto* verb = app.add_subcommand(
      "list", "domains, algorithms, and every parameter with its default and meaning");
  verb->allow_extras();
  auto options = std::make_shared<ListVerb>();
  verb->add_option("DOMAIN", options->domain, "whose defaults to show [lp]")->type_name("");
  verb->add_option("--algorithm", options->algorithm, "whose defaults to show [dds-kde]")
      ->type_name("");
  verb->add_option("--profile", options->profile, "whose defaults to show [default]")
      ->type_name("");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
