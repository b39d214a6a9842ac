// Errors as Python knows them.
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <system_error>

#include "bindings.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::python {
namespace {

PyObject* class_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::parameter:
    case ErrorKind::data:
    case ErrorKind::corrupt: return PyExc_ValueError;
    case ErrorKind::io: return PyExc_OSError;
    case ErrorKind::interrupted: return PyExc_KeyboardInterrupt;
    case ErrorKind::state: break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void bind_errors(nanobind::module_& /*m*/) {
  nanobind::register_exception_translator([](const std::exception_ptr& thrown, void* /*unused*/) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(class_for(error.kind()), error.what());
    } catch (const std::length_error&) {  // more than any memory could hold
      PyErr_SetString(PyExc_MemoryError, "not enough memory for what was asked");
    } catch (const std::system_error& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
}

}  // namespace rarefy::python
