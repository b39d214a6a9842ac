// rarefy list
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>

#include "commands.hpp"
#include "output.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy::command {
namespace {

void put_row(std::string& out, std::string_view name, std::string_view meaning) {
  fmt::format_to(std::back_inserter(out), "  {:<15} {}\n", name, meaning);
}

struct ListVerb {
  std::string domain = "lp", algorithm = "dds-kde", profile = "default";

  [[nodiscard]] int run() const {
    const auto defaults = default_config(domain, algorithm, named<Profile>(profile));
    std::string out = "Domains\n";
    for (const auto& row : domain_rows()) put_row(out, row.name, row.meaning);
    out += "\nAlgorithms\n";
    for (const auto& row : algorithms()) put_row(out, row.name, row.meaning);
    out += "\nProfiles\n";
    for (const auto& [value, name] : EnumNames<Profile>::all) {
      put_row(out, name, meaning_of(value));
    }
    fmt::format_to(std::back_inserter(out),
                   "\nParameters that matter to {} by {}, with their defaults in the {} profile\n",
                   domain, algorithm, profile);
    std::string_view section;
    for (const auto& parameter : parameters()) {
      if (!reason_without_effect(defaults, parameter).empty()) continue;
      if (parameter.section != section) {
        section = parameter.section;
        fmt::format_to(std::back_inserter(out), "  [{}]\n", section);
      }
      const auto value = text_of(parameter.get(defaults));
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
