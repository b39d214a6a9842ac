// The extension module: what the package's Python code is made of. Names with an underscore are the
// package's own; users meet what rarefy/__init__.py hands out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"
#include "rarefy/core/version.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native part of rarefy.";
  m.def(
      "version", [] { return std::string(rarefy::kVersion); }, "That of the library.");
  rarefy::python::bind_errors(m);
  rarefy::python::bind_config(m);
  rarefy::python::bind_domains(m);
  rarefy::python::bind_cells(m);
  rarefy::python::bind_densities(m);
  rarefy::python::bind_strategies(m);
  rarefy::python::bind_search(m);
  rarefy::python::bind_run(m);
}
