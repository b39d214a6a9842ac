#include "rarefy/experiment/config_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "domains/problem_file.hpp"
#include "experiment/toml_problems.hpp"
#include "experiment/toml_values.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy {
namespace {

// The parameters that say where the defaults of the others come from.
constexpr std::string_view kSources[] = {"domain", "algorithm", "profile"};

// What a file calls the sources its defaults come from.
constexpr std::string_view kDefaultsOf = "defaults-of";

// The first line of a file, around the version and the instruction set.
constexpr std::string_view kMakerBegins = "rarefy = '";
constexpr std::string_view kMakerGoesOn = "'  # the version that wrote this, on ";

bool is_source(const Parameter& parameter) {
  return std::find(std::begin(kSources), std::end(kSources), parameter.name) != std::end(kSources);
}

std::vector<std::string_view> sections() {
  std::vector<std::string_view> names;
  for (const auto& parameter : parameters()) {
    if (names.empty() || names.back() != parameter.section) names.push_back(parameter.section);
  }
  names.push_back(kProblemTable);
  return names;
}

// Of all sections; names of the one it stands in first: a misspelling most likely means one of
// them.
const Parameter& parameter_in(std::string_view section, std::string_view name) {
  std::vector<std::string_view> here;
  for (const auto& known : parameters()) {
    if (known.name == name) {
      if (known.section == section) return known;
      throw Error(ErrorKind::parameter, fmt::format("'{}' stands in [{}], expected in [{}]", name,
                                                    section, known.section));
    }
    if (known.section == section) here.push_back(known.name);
  }
  if (!nearest_name(name, here).empty()) throw unknown_name("parameter", name, here);
  return parameter_named(name);
}

// Reads one file, and keeps what is wrong with it until all has been read.
class Reader {
 public:
  explicit Reader(std::string_view file) : problems_(file) {}

  Settings read(std::string_view text) {
    const auto root = problems_.parse(text);
    if (const auto* table = root[kProblemTable].as_table()) {
      problems_.collect(table->source(), [&] { settings_.own_problem = read_problem(*table); });
    }
    for (const auto& [key, node] : root) read_root(key, node);
    if (const auto* list = root["chosen"].as_array()) {
      mark_chosen(*list, root[kDefaultsOf].value_or(std::string()));
    }
    check_own_name();
    problems_.tell();
    return std::move(settings_);
  }

 private:
  void read_root(const toml::key& key, const toml::node& node) {
    const std::string_view name = key.str();
    if (name == "rarefy" && node.is_string()) return;  // which version wrote the file
    if (name == "chosen" && node.is_array()) return;
    if (name == kDefaultsOf && node.is_string()) return;
    if (name == kProblemTable && node.is_table()) return;
    problems_.collect(key.source(), [&] {
      const auto* table = node.as_table();
      if (table == nullptr) {
        throw Error(
            ErrorKind::parameter,
            fmt::format("'{}' stands outside of a table, expected a table such as [run]", name));
      }
      const auto known = sections();
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw unknown_name("table", name, known);
      }
      for (const auto& [inner, value] : *table) read_value(name, inner, value);
    });
  }

  void read_value(std::string_view section, const toml::key& key, const toml::node& node) {
    const std::string_view name = key.str();
    problems_.collect(key.source(), [&] {
      const auto& parameter = parameter_in(section, name);
      const auto value = value_of(node, parameter);
      // The name of a problem of one's own is in no list.
      if (!(settings_.own_problem && parameter.name == "domain")) {
        Config scratch;  // checks type and range now, while the place is known
        set_parameter(scratch, parameter, value);
      }
      settings_.values.push_back({&parameter, value});
    });
  }

  void check_own_name() {
    const auto* domain = settings_.find("domain");
    if (!settings_.own_problem || domain == nullptr) return;
    if (text_of(domain->value) != settings_.own_problem->name) {
      problems_.add(
          fmt::format("[run] has domain '{}', and [{}] describes '{}': expected one problem",
                      text_of(domain->value), kProblemTable, settings_.own_problem->name));
    }
  }

  // Of a file that says which of its values were chosen, the others were defaults.
  void mark_chosen(const toml::array& list, const std::string& default_of) {
    std::vector<std::string> names;
    for (const auto& entry : list) {
      if (const auto* name = entry.as_string()) names.push_back(name->get());
    }
    for (auto& setting : settings_.values) {
      setting.chosen =
          std::find(names.begin(), names.end(), setting.parameter->name) != names.end();
      setting.default_of = default_of;
    }
  }

  TomlProblems problems_;
  Settings settings_;
};

std::string as_toml(bool value) { return value ? "true" : "false"; }
std::string as_toml(std::int64_t value) { return fmt::format("{}", value); }
// The shortest digits that give the same number back; TOML tells numbers from integers by a
// point or an exponent.
std::string as_toml(double value) {
  auto digits = fmt::format("{}", value);
  if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
  return digits;
}
std::string as_toml(const std::string& value) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // where memory runs out, a stream says nothing by itself
  out << toml::value(value);
  return out.str();
}
std::string value_as_toml(const ParameterValue& value) {
  return std::visit([](const auto& held) { return as_toml(held); }, value);
}

// As a file names them: "lp, dds-kde, default".
std::string sources_text(const Config& config) {
  return fmt::format("{}, {}, {}", config.domain, config.algorithm, name_of(config.profile));
}

// The sources that settings name, and for the rest the usual ones.
Config sources_of(const Settings& settings) {
  Config config;
  config.own_problem = settings.own_problem;
  for (const auto name : kSources) {
    const auto* setting = settings.find(name);
    if (setting == nullptr) continue;
    if (name == "domain" && config.own_problem) {
      config.domain = text_of(setting->value);
    } else {
      set_parameter(config, *setting->parameter, setting->value);
    }
  }
  return config;
}

}  // namespace

void Settings::set(std::string_view parameter, ParameterValue value) {
  values.push_back({&parameter_named(parameter), std::move(value)});
}

void Settings::add(const Settings& later) {
  values.insert(values.end(), later.values.begin(), later.values.end());
  if (later.own_problem) own_problem = later.own_problem;
}

const Setting* Settings::find(std::string_view parameter) const {
  const auto found = std::find_if(values.rbegin(), values.rend(), [&](const Setting& setting) {
    return setting.parameter->name == parameter;
  });
  return found == values.rend() ? nullptr : &*found;
}

Settings parse_settings(std::string_view text, std::string_view name) {
  return Reader(name).read(text);
}

Settings read_settings(const FilePlace& file) {
  constexpr std::uintmax_t kMost = 1 << 20;
  const auto bytes = read_file(file, kMost);
  return parse_settings({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

Config resolve(const Settings& settings) {
  const auto sources = sources_of(settings);
  Config config = defaults_for(sources);
  const auto from = sources_text(sources);
  for (const auto& setting : settings.values) {
    if (setting.chosen) config.chosen.names.emplace(setting.parameter->name);
    const bool binds = setting.chosen || setting.default_of == from;
    if (is_source(*setting.parameter) || !binds) continue;
    set_parameter(config, *setting.parameter, setting.value);
  }
  return config;
}

Config defaults_for(const Config& sources) {
  if (!sources.own_problem) {
    return default_config(sources.domain, sources.algorithm, sources.profile);
  }
  if (sources.profile != Profile::standard) {
    throw Error(ErrorKind::parameter, "profile", name_of(sources.profile),
                fmt::format("default: nothing was published about '{}'", sources.domain));
  }
  Config config = default_config(Config{}.domain, sources.algorithm);
  config.own_problem = sources.own_problem;
  config.domain = sources.domain;
  return config;
}

std::string to_toml(const Config& config) {
  const auto defaults = defaults_for(config);
  std::string out =
      fmt::format("{}{}{}{}\n", kMakerBegins, kVersion, kMakerGoesOn, name_of(instruction_set()));
  std::vector<std::string> chosen;
  std::string values;
  std::string_view section;
  for (const auto& parameter : parameters()) {
    if (config.own_problem && parameter.section == "domain") continue;  // it describes itself
    if (parameter.section != section) {
      section = parameter.section;
      values += fmt::format("\n[{}]\n", section);
    }
    const auto value = parameter.get(config);
    values +=
        fmt::format("{} = {}  # {}\n", parameter.name, value_as_toml(value), parameter.meaning);
    if (config.chosen.names.contains(parameter.name) || value != parameter.get(defaults)) {
      chosen.push_back(fmt::format("'{}'", parameter.name));
    }
  }
  out += fmt::format("chosen = [{}]  # what was asked for; the rest are defaults\n",
                     fmt::join(chosen, ", "));
  out += fmt::format("{} = '{}'  # where those come from\n", kDefaultsOf, sources_text(config));
  out += values;
  if (config.own_problem) out += problem_as_toml(*config.own_problem);
  return out;
}

Maker maker_of(std::string_view toml) {
  auto line = toml.substr(0, toml.find('\n'));
  const auto middle = line.find(kMakerGoesOn);
  if (!line.starts_with(kMakerBegins) || middle == std::string_view::npos) return {};
  const auto version = line.substr(0, middle).substr(kMakerBegins.size());
  return {std::string(version), std::string(line.substr(middle + kMakerGoesOn.size()))};
}

}  // namespace rarefy
