// The extension module: what the package's Python code is made of. Names with an underscore are the
// package's own; users meet what rarefy/__init__.py hands out.
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "rarefy/core/version.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native part of rarefy.";
  m.attr("__version__") = rarefy::kVersion;
  rarefy::python::bind_errors(m);
  rarefy::python::bind_config(m);
  rarefy::python::bind_domains(m);
  rarefy::python::bind_cells(m);
  rarefy::python::bind_densities(m);
  rarefy::python::bind_strategies(m);
  rarefy::python::bind_search(m);
  rarefy::python::bind_run(m);
}
