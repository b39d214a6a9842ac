#include "python_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/state.hpp"

namespace rarefy::python {
namespace {

// What an object of Python's is destroyed with: the interpreter, whichever thread does it.
class Held {
 public:
  explicit Held(nb::object object) : object_(std::move(object)) {}
  ~Held() {
    const nb::gil_scoped_acquire acquire;
    object_.reset();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  [[nodiscard]] const nb::object& get() const { return object_; }

  // Bytes in words of 64 bits, of which the first says how many there are.
  void save(StateWriter& out, const std::string& name) const {
    const nb::gil_scoped_acquire acquire;
    const auto pickled =
        nb::cast<nb::bytes>(nb::module_::import_("pickle").attr("dumps")(object_.attr("__dict__")));
    std::vector<std::int64_t> words(1 + (pickled.size() + 7) / 8, 0);
    words[0] = static_cast<std::int64_t>(pickled.size());
    std::copy_n(static_cast<const char*>(pickled.data()), pickled.size(),
                reinterpret_cast<char*>(words.data() + 1));
    out.integers(name, words);
  }
  // What is unpickled runs as code: a state is loaded only by whoever trusts it, as a pickle is.
  void load(StateReader& in, const std::string& name) const {
    const auto words = in.integers_up_to(name, std::size_t{1} << 28);
    const auto room = words.empty() ? 0 : 8 * (words.size() - 1);
    if (words.empty() || words[0] < 0 || static_cast<std::uint64_t>(words[0]) > room) {
      throw Error(ErrorKind::corrupt, "saved state: a part written in Python is damaged");
    }
    const nb::gil_scoped_acquire acquire;
    const nb::bytes pickled(words.data() + 1, static_cast<std::size_t>(words[0]));
    object_.attr("__dict__").attr("update")(nb::module_::import_("pickle").attr("loads")(pickled));
  }

 private:
  nb::object object_;
};

// The package's own function makes contiguous doubles of whatever a part gives.
Rows rows_from(nb::handle given, const char* name) {
  return nb::cast<Rows>(nb::module_::import_("rarefy._arrays").attr("as_rows")(given, name));
}
Values values_from(nb::handle given, const char* name, Index count) {
  return nb::cast<Values>(
      nb::module_::import_("rarefy._arrays").attr("as_values")(given, name, count));
}

class PythonDensity : public Density {
 public:
  PythonDensity(nb::object density, Index feature_dim)
      : held_(std::move(density)), feature_dim_(feature_dim) {}

  [[nodiscard]] std::string_view name() const override { return "python"; }
  [[nodiscard]] Index feature_dim() const override { return feature_dim_; }
  [[nodiscard]] bool informed() const override { return informed_; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& /*workers*/) override {
    const nb::gil_scoped_acquire acquire;
    const auto values = values_from(held_.get().attr("score")(copy_of(batch.features)), "scores",
                                    batch.features.rows());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values.data()[i])) {
        throw Error(ErrorKind::data, fmt::format("scores: row {}", i), "nan", "a number");
      }
    }
    std::copy_n(values.data(), values.size(), scores.begin());
  }
  void observe(const Evaluated& batch, Workers& /*workers*/) override {
    const nb::gil_scoped_acquire acquire;
    held_.get().attr("observe")(copy_of(batch.features), copy_of(batch.objectives));
    informed_ = true;
  }
  void save(StateWriter& out) const override {
    out.integer("python.informed", informed_ ? 1 : 0);
    held_.save(out, "python.density");
  }
  void load(StateReader& in) override {
    informed_ = in.integer("python.informed", 0, 1) == 1;
    held_.load(in, "python.density");
  }

 private:
  Held held_;
  Index feature_dim_;
  bool informed_ = false;
};

class PythonEmitter : public Emitter {
 public:
  PythonEmitter(nb::object emitter, Index dimension)
      : held_(std::move(emitter)),
        dimension_(dimension),
        batch_(nb::cast<Index>(held_.get().attr("batch"))) {
    if (batch_ < 1) {
      throw Error(ErrorKind::parameter, "batch of an emitter", fmt::format("{}", batch_),
                  "at least 1");
    }
  }

  [[nodiscard]] Index batch() const override { return batch_; }
  [[nodiscard]] Index dimension() const override { return dimension_; }
  void ask(const Archive& /*archive*/, std::uint64_t iteration, BatchSpan out) override {
    const nb::gil_scoped_acquire acquire;
    const auto rows = rows_from(held_.get().attr("ask")(iteration), "solutions of an emitter");
    const auto batch = view(rows);
    if (batch.rows() != batch_ || batch.cols() != dimension_) {
      throw Error(ErrorKind::data, "solutions of an emitter",
                  fmt::format("{} x {}", batch.rows(), batch.cols()),
                  fmt::format("{} x {}", batch_, dimension_));
    }
    std::copy(batch.values().begin(), batch.values().end(), out.data());
  }
  bool tell(const Feedback& feedback) override {
    const nb::gil_scoped_acquire acquire;
    const auto order = feedback.order.first(static_cast<std::size_t>(feedback.ranked));
    return nb::cast<bool>(
        nb::module_::import_("builtins")
            .attr("bool")(held_.get().attr("tell")(
                copy_of(feedback.solutions), copy_of(feedback.features),
                copy_of(feedback.objectives), copy_of(feedback.scores),
                array_of(std::vector<std::int64_t>(order.begin(), order.end()), {order.size()}))));
  }
  void restart(std::span<const double> solution) override {
    const nb::gil_scoped_acquire acquire;
    held_.get().attr("restart")(copy_of(solution));
  }
  void save(StateWriter& out) const override { held_.save(out, "python.emitter"); }
  void load(StateReader& in) override { held_.load(in, "python.emitter"); }

 private:
  Held held_;
  Index dimension_, batch_;
};

}  // namespace

std::unique_ptr<Density> make_python_density(nb::object density, Index feature_dim) {
  return std::make_unique<PythonDensity>(std::move(density), feature_dim);
}

std::unique_ptr<Emitter> make_python_emitter(nb::object emitter, Index solution_dim) {
  return std::make_unique<PythonEmitter>(std::move(emitter), solution_dim);
}

}  // namespace rarefy::python
