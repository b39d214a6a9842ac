#include "rarefy/trials/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "experiment/toml_values.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "trials/matrix_table.hpp"
#include "trials/seeds.hpp"
#include "trials/text_file.hpp"

namespace rarefy {
namespace {

constexpr std::array<std::string_view, 9> kKeys = {
    "title", "seeds", "algorithms", "domains", "profiles", "base", "set", "vary", "matrix"};

// Lists of names, each the plural of the parameter that takes one.
struct NameList {
  std::string_view key, parameter;
  std::vector<std::string> MatrixTable::*field;
};
constexpr std::array<NameList, 3> kNameLists = {
    NameList{"profiles", "profile", &MatrixTable::profiles},
    NameList{"domains", "domain", &MatrixTable::domains},
    NameList{"algorithms", "algorithm", &MatrixTable::algorithms}};

class MatrixReader {
 public:
  MatrixReader(std::string_view file, const ReadBase& read_base)
      : problems_(file), read_base_(read_base) {}

  Experiment read(std::string_view text) {
    const auto root = problems_.parse(text);
    experiment_.text = text;
    if (const auto* title = root["title"].as_string()) {
      experiment_.title = title->get();
    } else if (root.contains("title")) {
      problems_.add(root["title"].node()->source(), "title: expected a text");
    }
    MatrixTable top;
    top.where = root.source();
    read_table(root, top, Level::top);
    std::vector<MatrixTable> tables;
    if (const auto* list = root["matrix"].as_array()) {
      for (const auto& entry : *list) {
        if (const auto* table = entry.as_table()) {
          auto& added = tables.emplace_back(top);
          added.where = table->source();
          read_table(*table, added, Level::matrix);
        } else {
          problems_.add(entry.source(), "matrix: expected tables, [[matrix]]");
        }
      }
    } else if (root.contains("matrix")) {
      problems_.add(root["matrix"].node()->source(), "matrix: expected tables, [[matrix]]");
    } else {
      tables.push_back(std::move(top));
    }
    problems_.tell();  // what cannot be read cannot be multiplied out
    MatrixTrials trials(problems_);
    for (const auto& table : tables) trials.add(table);
    experiment_.trials = trials.take();
    return std::move(experiment_);
  }

 private:
  enum class Level { top, matrix };

  void read_table(const toml::table& table, MatrixTable& into, Level level) {
    // First, for it decides which domains there are.
    if (const auto* node = table.get("base")) {
      problems_.collect(node->source(), [&] { read_base(*node, into); });
    }
    for (const auto& [key, node] : table) {
      problems_.collect(key.source(), [&, &name = key, &value = node] {
        read_entry(name.str(), value, into, level);
      });
    }
    std::ranges::stable_sort(into.choices, {}, [](const MatrixChoice& choice) {
      return std::tuple(choice.where.begin.line, choice.where.begin.column);
    });
  }

  void read_entry(std::string_view name, const toml::node& node, MatrixTable& into, Level level) {
    const auto* const end = level == Level::top ? kKeys.end() : kKeys.end() - 1;
    const auto* const first = level == Level::top ? kKeys.begin() : kKeys.begin() + 1;
    if (std::find(first, end, name) == end) {
      throw unknown_name("key", name, std::span(first, end));
    }
    if (name == "seeds") into.seeds = seeds_of(node);
    for (const auto& list : kNameLists) {
      if (name == list.key) read_names(list, node, into);
    }
    if (name == "set" || name == "vary") read_choices(name, node, into, level);
  }

  static std::vector<std::int64_t> seeds_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return parse_seeds(text->get());
    if (const auto* number = node.as_integer())
      return parse_seeds(fmt::format("{}", number->get()));
    std::string texts;
    if (const auto* list = node.as_array()) {
      for (const auto& entry : *list) {
        const auto* const number = entry.as_integer();
        if (number == nullptr) break;
        texts += fmt::format("{}{}", texts.empty() ? "" : ",", number->get());
        if (&entry == &list->back()) return parse_seeds(texts);
      }
    }
    throw Error(ErrorKind::parameter,
                "seeds: expected a number, a list of numbers, or a text such as '1-10'");
  }

  void read_names(const NameList& list, const toml::node& node, MatrixTable& into) {
    std::vector<std::string> names;
    const auto add = [&](const toml::node& entry) {
      problems_.collect(entry.source(), [&] {
        const auto* const text = entry.as_string();
        if (text == nullptr) {
          throw Error(ErrorKind::parameter, fmt::format("{}: expected names, as texts", list.key));
        }
        const auto& name = text->get();
        const auto& own = into.base.own_problem;
        if (!(list.parameter == "domain" && own && own->name == name)) {
          Config scratch;  // says what names there are
          set_parameter(scratch, parameter_named(list.parameter), name);
        }
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      });
    };
    if (const auto* array = node.as_array()) {
      if (array->empty()) {
        throw Error(ErrorKind::parameter,
                    fmt::format("{}: got an empty list, expected names", list.key));
      }
      for (const auto& entry : *array) add(entry);
    } else {
      add(node);
    }
    into.*list.field = std::move(names);
  }

  void read_base(const toml::node& node, MatrixTable& into) {
    const auto* const name = node.as_string();
    if (name == nullptr) {
      throw Error(ErrorKind::parameter, "base: expected the name of a file, as a text");
    }
    const auto [place, is_new] = bases_.emplace(name->get(), experiment_.bases.size());
    if (is_new) experiment_.bases.push_back(read_base_(name->get(), place->second));
    into.base = parse_settings(experiment_.bases[place->second], name->get());
  }

  void read_choices(std::string_view key, const toml::node& node, MatrixTable& into, Level level) {
    const auto* const table = node.as_table();
    if (table == nullptr) {
      throw Error(ErrorKind::parameter, fmt::format("{}: expected a table, [{}]", key, key));
    }
    const bool varies = key == "vary";
    for (const auto& [inner, value] : *table) {
      problems_.collect(inner.source(), [&, &name = inner, &values = value] {
        MatrixChoice choice = {.parameter = &choosable(name.str()),
                               .values = {},
                               .varies = varies,
                               .of_matrix = level == Level::matrix,
                               .where = name.source()};
        if (varies) {
          read_values(values, choice);
        } else {
          choice.values.push_back(checked_value(values, *choice.parameter));
        }
        const auto other =
            std::ranges::find(into.choices, choice.parameter, &MatrixChoice::parameter);
        if (other != into.choices.end()) {
          if (other->of_matrix == choice.of_matrix) {
            throw Error(ErrorKind::parameter,
                        fmt::format("'{}' stands in [set] and in [vary], expected one of them",
                                    choice.parameter->name));
          }
          into.choices.erase(other);  // of the file as a whole, which gives way
        }
        into.choices.push_back(std::move(choice));
      });
    }
  }

  static const Parameter& choosable(std::string_view name) {
    if (name == "seed") {
      throw Error(ErrorKind::parameter, "'seed' is not set here, expected seeds = ... above");
    }
    for (const auto& list : kNameLists) {
      if (name != list.parameter) continue;
      throw Error(ErrorKind::parameter,
                  fmt::format("'{}' is not set here, expected {} = [...] above", name, list.key));
    }
    return parameter_named(name);
  }

  static ParameterValue checked_value(const toml::node& node, const Parameter& parameter) {
    auto value = value_of(node, parameter);
    Config scratch;  // checks type and range now, while the place is known
    set_parameter(scratch, parameter, value);
    return value;
  }

  void read_values(const toml::node& node, MatrixChoice& choice) {
    const auto* const list = node.as_array();
    if (list == nullptr || list->empty()) {
      throw Error(ErrorKind::parameter,
                  fmt::format("{}: expected a list of values", choice.parameter->name));
    }
    for (const auto& entry : *list) {
      problems_.collect(entry.source(), [&] {
        auto value = checked_value(entry, *choice.parameter);
        if (std::ranges::find(choice.values, value) == choice.values.end()) {
          choice.values.push_back(std::move(value));
        }
      });
    }
  }

  TomlProblems problems_;
  const ReadBase& read_base_;
  Experiment experiment_;
  std::map<std::string, std::size_t, std::less<>> bases_;
};

}  // namespace

Experiment parse_experiment(std::string_view text, std::string_view name,
                            const ReadBase& read_base) {
  return MatrixReader(name, read_base).read(text);
}

Experiment read_experiment(const std::filesystem::path& file) {
  auto experiment = parse_experiment(text_of_file(file), file.string(),
                                     [&](const std::string& name, std::size_t /*number*/) {
                                       return text_of_file(file.parent_path() / name);
                                     });
  if (experiment.title.empty()) experiment.title = file.stem().string();
  return experiment;
}

}  // namespace rarefy
