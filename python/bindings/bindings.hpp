// What each file of bindings adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace rarefy::python {

void bind_errors(nanobind::module_& m);
void bind_config(nanobind::module_& m);
void bind_domains(nanobind::module_& m);
void bind_cells(nanobind::module_& m);
void bind_densities(nanobind::module_& m);
void bind_strategies(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_run(nanobind::module_& m);

}  // namespace rarefy::python
