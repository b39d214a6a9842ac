#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy::command {

ParameterOptions::ParameterOptions(CLI::App& verb, const std::vector<std::string_view>& sections) {
  const Config defaults;
  for (const auto& parameter : parameters()) {
    if (parameter.name == "domain") continue;
    if (!sections.empty() &&
        std::find(sections.begin(), sections.end(), parameter.section) == sections.end()) {
      continue;
    }
    auto& given = all_.emplace_back(Given{&parameter, {}, nullptr});
    auto text = std::string(parameter.meaning);
    if (const auto value = text_of(parameter.get(defaults)); !value.empty()) {
      text += fmt::format(" [{}]", value);
    }
    given.option = verb.add_option("--" + std::string(parameter.name), given.text, text);
    given.option->group(fmt::format("Parameters: {}", parameter.section));
    given.option->type_name("");
  }
}

Settings ParameterOptions::settings() const {
  Settings settings;
  for (const auto& given : all_) {
    if (given.option->count() == 0) continue;
    Config scratch;
    set_from_text(scratch, *given.parameter, given.text);
    settings.values.push_back({given.parameter, given.parameter->get(scratch)});
  }
  return settings;
}

bool ParameterOptions::given(std::string_view name) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Given& given) {
    return given.parameter->name == name && given.option->count() > 0;
  });
}

void ParameterOptions::refuse_idle(const Config& config) const {
  for (const auto& given : all_) {
    if (given.option->count() == 0) continue;
    // The length of a program's solutions: part of its problem's description by now.
    if (given.parameter->name == "n" && config.program.any()) continue;
    if (const auto why = reason_without_effect(config, *given.parameter); !why.empty()) {
      throw Error(ErrorKind::parameter,
                  fmt::format("--{} has no effect here: {}", given.parameter->name, why));
    }
  }
}

std::string domain_help() {
  std::vector<std::string_view> names;
  for (const auto& row : domain_rows()) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void MachineOptions::add_to(CLI::App& verb) {
  verb.add_option("--threads", threads, "threads to use; 0: one for each core [0]")->type_name("");
  verb.add_option("--instruction-set", instruction_set,
                  "vector instructions: auto, baseline, avx2 or avx512 [auto]")
      ->type_name("");
}

void MachineOptions::apply() const { pin_instruction_set(instruction_set_named(instruction_set)); }

Arguments::Arguments(int argc, char** argv) : texts_(argv, argv + argc) {
  for (std::size_t i = 1; i < texts_.size(); ++i) {
    const auto all = parameters();
    const bool flag = std::any_of(all.begin(), all.end(), [&](const Parameter& parameter) {
      return parameter.type == Parameter::Type::flag &&
             texts_[i] == "--" + std::string(parameter.name);
    });
    const bool by_itself = i + 1 == texts_.size() || texts_[i + 1].starts_with("-");
    if (flag && by_itself) texts_[i] += "=true";
  }
  for (const auto& text : texts_) words_.push_back(text.c_str());
}

std::string in_our_words(const CLI::ParseError& error) {
  std::string text = error.what();
  // "--seed: 1 required  missing" where the kind of value has no name; "--seed: At Most 1 required
  // but received 2".
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool several = text.find("At Most") != std::string::npos;
    return fmt::format("{}: got {}, expected one", text.substr(0, text.find(':')),
                       several ? "more than one value" : "no value");
  }
  return text;
}

void refuse_empty(const CLI::App& verb) {
  for (const auto* option : verb.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    for (const auto& value : option->results()) {
      if (!value.empty()) continue;
      throw Error(ErrorKind::parameter, option->get_name(), "an empty text", "a value");
    }
  }
}

namespace {

[[noreturn]] void refuse_option(const CLI::App& app, const std::string& given,
                                const std::string& help) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
  }
  const auto option = given.substr(0, given.find('='));
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto nearest = nearest_name(option, known);
  throw Error(
      ErrorKind::parameter,
      fmt::format("unknown option '{}'{}; '{}' shows all", option,
                  nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest), help));
}

// Where the verbs are `app`'s, `path` is how a user gets there.
[[noreturn]] void refuse_word(const CLI::App& app, const std::string& given,
                              const std::string& path) {
  const auto help = path + " --help";
  if (given.starts_with("-")) refuse_option(app, given, help);
  std::vector<std::string> names;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  if (names.empty()) {
    throw Error(ErrorKind::parameter,
                fmt::format("'{}' was not expected; '{}' shows what is", given, help));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw unknown_name("command", given, known);
}

void refuse_extras_of(const CLI::App& app, const std::string& path) {
  // In front of the verb: an option that belongs behind it, or a word that is no verb.
  if (const auto extras = app.remaining(); !extras.empty()) refuse_word(app, extras.front(), path);
  for (const auto* verb : app.get_subcommands()) {
    refuse_empty(*verb);
    refuse_extras_of(*verb, path + " " + verb->get_name());
  }
}

}  // namespace

void refuse_extras(const CLI::App& app) { refuse_extras_of(app, "rarefy"); }

}  // namespace rarefy::command
