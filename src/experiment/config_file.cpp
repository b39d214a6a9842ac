#include "rarefy/experiment/config_file.hpp"

#include <fmt/format.h>

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy {
namespace {

std::string place(std::string_view file, const toml::source_region& region) {
  return fmt::format("{}:{}", file, region.begin.line);
}

// Walls may be given as a list of lists of four numbers, a start as a list of three: the text
// that would say the same.
std::string list_as_text(const toml::array& list, const Parameter& parameter,
                         const std::string& where) {
  if (list.empty()) {
    throw Error(ErrorKind::parameter,
                fmt::format("{}: {}: got an empty list{}", where, parameter.name,
                            parameter.name == "walls" ? "; maze = 'empty' has no walls" : ""));
  }
  std::string text;
  for (const auto& entry : list) {
    if (!text.empty()) text += entry.is_array() ? ";" : ",";
    if (const auto* inner = entry.as_array()) {
      text += list_as_text(*inner, parameter, where);
    } else if (const auto number = entry.value<double>(); number && entry.is_number()) {
      text += fmt::format("{}", *number);
    } else {
      throw Error(ErrorKind::parameter,
                  fmt::format("{}: {}: expected a list of numbers", where, parameter.name));
    }
  }
  return text;
}

ParameterValue value_of(const toml::node& node, const Parameter& parameter,
                        const std::string& where) {
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* list = node.as_array(); list != nullptr && parameter.list_serves) {
    return list_as_text(*list, parameter, where);
  }
  throw Error(ErrorKind::parameter, fmt::format("{}: {}: got a table, list or date, expected {}",
                                                where, parameter.name, parameter.expected()));
}

std::vector<std::string_view> sections() {
  std::vector<std::string_view> names;
  for (const auto& parameter : parameters()) {
    if (names.empty() || names.back() != parameter.section) names.push_back(parameter.section);
  }
  return names;
}

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
  out << toml::value(value);
  return out.str();
}

// Puts the place in front of an Error's message.
template <typename Call>
decltype(auto) with_place(const std::string& where, Call&& call) {
  try {
    return call();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", where, error.what()));
  }
}

void parse_section(const toml::table& table, std::string_view section, std::string_view file,
                   Settings& settings) {
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();  // a lambda cannot hold on to `key` itself
    const auto where = place(file, key.source());
    const auto& parameter = with_place(where, [&]() -> const Parameter& {
      // Names of this table first: a misspelling most likely means one of them.
      std::vector<std::string_view> here;
      for (const auto& known : parameters()) {
        if (known.name == name) return known;
        if (known.section == section) here.push_back(known.name);
      }
      const auto nearest = nearest_name(name, here);
      if (!nearest.empty()) throw unknown_name("parameter", name, here);
      return parameter_named(name);
    });
    if (parameter.section != section) {
      throw Error(ErrorKind::parameter, fmt::format("{}: '{}' stands in [{}], expected in [{}]",
                                                    where, name, section, parameter.section));
    }
    const auto value = value_of(node, parameter, where);
    with_place(where, [&] {
      Config scratch;  // checks type and range now, while the place is known
      set_parameter(scratch, parameter, value);
    });
    settings.emplace_back(&parameter, value);
  }
}

}  // namespace

Settings parse_settings(std::string_view text, std::string_view name) {
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw Error(
        ErrorKind::parameter,
        fmt::format("{}: not valid TOML: {}", place(name, error.source()), error.description()));
  }
  Settings settings;
  const auto known = sections();
  for (const auto& [key, node] : root) {
    const auto where = place(name, key.source());
    const auto* table = node.as_table();
    if (key.str() == "rarefy" && node.is_string()) continue;  // which version wrote the file
    if (table == nullptr) {
      throw Error(ErrorKind::parameter,
                  fmt::format("{}: '{}' stands outside of a table, expected a table such as [run]",
                              where, key.str()));
    }
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      throw Error(ErrorKind::parameter,
                  fmt::format("{}: {}", where, unknown_name("table", key.str(), known).what()));
    }
    parse_section(*table, key.str(), name, settings);
  }
  return settings;
}

Settings read_settings(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMost = 1 << 20;
  const auto bytes = read_file(path, kMost);
  return parse_settings({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

Config resolve(const Settings& settings) {
  Config choice;
  const auto is_choice = [](const Parameter& parameter) {
    return parameter.name == "domain" || parameter.name == "algorithm" ||
           parameter.name == "profile";
  };
  for (const auto& [parameter, value] : settings) {
    if (is_choice(*parameter)) set_parameter(choice, *parameter, value);
  }
  Config config = default_config(choice.domain, choice.algorithm, choice.profile);
  for (const auto& [parameter, value] : settings) {
    if (!is_choice(*parameter)) set_parameter(config, *parameter, value);
  }
  return config;
}

std::string to_toml(const Config& config) {
  std::string out = fmt::format("rarefy = '{}'  # the version that wrote this, on {}\n", kVersion,
                                name_of(instruction_set()));
  std::string_view section;
  for (const auto& parameter : parameters()) {
    if (parameter.section != section) {
      section = parameter.section;
      out += fmt::format("\n[{}]\n", section);
    }
    auto value = rarefy::value_of(config, parameter);
    if (!parameter.zero.empty() && value == ParameterValue(std::int64_t{0})) {
      value = std::string(parameter.zero);
    }
    out += fmt::format("{} = {}  # {}\n", parameter.name,
                       std::visit([](const auto& held) { return as_toml(held); }, value),
                       parameter.meaning);
  }
  return out;
}

}  // namespace rarefy
