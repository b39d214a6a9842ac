// An object of Python's that a search in C++ uses.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

#include "rarefy/core/state.hpp"

namespace rarefy::python {

/// The search and what holds it share one of these, so that there is one reference to the object.
/// Python's garbage collector is shown it (search.cpp) and may take it back, when the search itself
/// can be reached only from the object.
class PythonPart {
 public:
  explicit PythonPart(nanobind::object object) : object_(std::move(object)) {}
  ~PythonPart();
  PythonPart(const PythonPart&) = delete;
  PythonPart& operator=(const PythonPart&) = delete;

  [[nodiscard]] const nanobind::object& get() const;
  [[nodiscard]] PyObject* shown() const { return object_.ptr(); }
  void take_back() { object_.reset(); }

  /// Its attributes, pickled.
  void save(StateWriter& out, const std::string& name) const;
  /// What is unpickled runs as code: a state is loaded only by whoever trusts it, as a pickle is.
  void load(StateReader& in, const std::string& name) const;

 private:
  nanobind::object object_;
};

}  // namespace rarefy::python
