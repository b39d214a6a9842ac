// Configurations and the table of parameters.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/nearest_name.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy::python {

namespace nb = nanobind;

namespace {

nb::dict described(const Parameter& parameter) {
  nb::dict row;
  row["name"] = std::string(parameter.name);
  row["section"] = std::string(parameter.section);
  row["type"] = std::string(parameter.type_name());
  row["meaning"] = std::string(parameter.meaning);
  row["expected"] = parameter.expected();
  nb::list choices;
  for (const auto choice : parameter.choices) choices.append(std::string(choice));
  row["choices"] = choices;
  return row;
}

nb::list parameter_rows() {
  nb::list rows;
  for (const auto& parameter : parameters()) rows.append(described(parameter));
  return rows;
}

template <typename Row>
nb::dict names_and_meanings(std::span<const Row> table) {
  nb::dict rows;
  for (const auto& row : table) rows[std::string(row.name).c_str()] = std::string(row.meaning);
  return rows;
}

Config config_from_toml(const std::string& text) { return resolve(parse_settings(text, "toml")); }

}  // namespace

void bind_config(nb::module_& m) {
  m.def("parameters", &parameter_rows, nb::sig("def parameters() -> list[dict[str, object]]"),
        "Every parameter: name, section, type, meaning, range.");
  m.def(
      "algorithms", [] { return names_and_meanings(algorithms()); },
      nb::sig("def algorithms() -> dict[str, str]"), "The algorithms, and what they are.");
  m.def(
      "domains", [] { return names_and_meanings(domain_rows()); },
      nb::sig("def domains() -> dict[str, str]"),
      "The domains that come with rarefy, and what they are.");
  m.def(
      "nearest_name",
      [](const std::string& given, const std::vector<std::string>& names) {
        const std::vector<std::string_view> views(names.begin(), names.end());
        return nearest_name(given, views);
      },
      nb::arg("given"), nb::arg("names"), "The name that was probably meant; '' where none was.");
  m.def(
      "instruction_set", [] { return std::string(name_of(instruction_set())); },
      "The vector instructions in use.");
  m.def(
      "pin_instruction_set",
      [](const std::string& name) { pin_instruction_set(instruction_set_named(name)); },
      nb::arg("name"), "Uses baseline, avx2 or avx512 from now on; auto: the best there is.");

  nb::class_<Config>(m, "Config", "Everything that decides what a search does.")
      .def(
          "__init__",
          [](Config* self, const std::string& domain, const std::string& algorithm,
             const std::string& profile) {
            new (self) Config(default_config(domain, algorithm, named<Profile>(profile)));
          },
          nb::arg("domain") = "lp", nb::arg("algorithm") = "dds-kde",
          nb::arg("profile") = "default")
      .def_static("from_toml", &config_from_toml, nb::arg("text"))
      .def("to_toml", [](const Config& self) { return to_toml(self); })
      .def(
          "set",
          [](Config& self, std::string_view name, const ParameterValue& value) {
            const auto& parameter = parameter_named(name);
            set_parameter(self, parameter, value);
            self.chosen.names.insert(std::string(name));
          },
          nb::arg("name"), nb::arg("value"))
      .def(
          "set_text",
          [](Config& self, std::string_view name, std::string_view text) {
            set_from_text(self, parameter_named(name), text);
            self.chosen.names.insert(std::string(name));
          },
          nb::arg("name"), nb::arg("text"))
      .def(
          "get",
          [](const Config& self, std::string_view name) { return parameter_named(name).get(self); },
          nb::arg("name"))
      .def(
          "set_problem",
          [](Config& self, const DomainInfo& problem) {
            self.domain = problem.name;
            self.own_problem = problem;
            self.problem = {};
          },
          nb::arg("problem"), "Describes a problem that is none of rarefy's own.")
      .def_prop_ro("problem", [](const Config& self) { return domain_info(self); })
      .def(
          "reason_without_effect",
          [](const Config& self, std::string_view name) {
            return reason_without_effect(self, parameter_named(name));
          },
          nb::arg("name"))
      .def(
          "__eq__", [](const Config& a, const Config& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("copy", [](const Config& self) { return Config(self); })
      .def("__getstate__", [](const Config& self) { return to_toml(self); })
      .def("__setstate__", [](Config& self, const std::string& text) {
        new (&self) Config(config_from_toml(text));
      });
}

}  // namespace rarefy::python
