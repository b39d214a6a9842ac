#include "python_part.hpp"

#include <algorithm>
#include <vector>

#include "rarefy/core/error.hpp"

namespace nb = nanobind;

namespace rarefy::python {

// Whichever thread destroys it needs the interpreter.
PythonPart::~PythonPart() {
  const nb::gil_scoped_acquire acquire;
  object_.reset();
}

const nb::object& PythonPart::get() const {
  if (!object_.is_valid()) throw Error(ErrorKind::state, "the search was garbage, and is empty");
  return object_;
}

// Bytes in words of 64 bits, of which the first says how many there are.
void PythonPart::save(StateWriter& out, const std::string& name) const {
  const nb::gil_scoped_acquire acquire;
  const auto pickled =
      nb::cast<nb::bytes>(nb::module_::import_("pickle").attr("dumps")(get().attr("__dict__")));
  std::vector<std::int64_t> words(1 + (pickled.size() + 7) / 8, 0);
  words[0] = static_cast<std::int64_t>(pickled.size());
  std::copy_n(static_cast<const char*>(pickled.data()), pickled.size(),
              reinterpret_cast<char*>(words.data() + 1));
  out.integers(name, words);
}

void PythonPart::load(StateReader& in, const std::string& name) const {
  const auto words = in.integers_up_to(name, std::size_t{1} << 28);
  const auto room = words.empty() ? 0 : 8 * (words.size() - 1);
  if (words.empty() || words[0] < 0 || static_cast<std::uint64_t>(words[0]) > room) {
    throw Error(ErrorKind::corrupt, "saved state: a part written in Python is damaged");
  }
  const nb::gil_scoped_acquire acquire;
  const nb::bytes pickled(words.data() + 1, static_cast<std::size_t>(words[0]));
  get().attr("__dict__").attr("update")(nb::module_::import_("pickle").attr("loads")(pickled));
}

}  // namespace rarefy::python
