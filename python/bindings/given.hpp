// What Python gives, by the package's own functions: whatever is wrong is then told in the same
// words everywhere, with the name of the argument.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "features.hpp"

namespace rarefy::python {

inline nanobind::object given_by(const char* function, nanobind::handle value, const char* name) {
  return nanobind::module_::import_("rarefy._arrays").attr(function)(value, name);
}

inline Index whole_given(nanobind::handle value, const char* name) {
  return nanobind::cast<Index>(given_by("as_whole", value, name));
}

/// Of random numbers: not negative.
inline std::uint64_t seed_given(nanobind::handle value) {
  return nanobind::cast<std::uint64_t>(given_by("as_seed", value, "seed"));
}

inline std::vector<Index> wholes_given(nanobind::handle values, const char* name) {
  return nanobind::cast<std::vector<Index>>(given_by("as_wholes", values, name));
}

inline Box box_given(nanobind::handle value) {
  return nanobind::cast<Box>(given_by("as_box", value, "feature_box"));
}

}  // namespace rarefy::python
