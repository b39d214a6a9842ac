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
  PythonDensity(std::shared_ptr<PythonPart> density, Index feature_dim)
      : part_(std::move(density)), feature_dim_(feature_dim) {}

  [[nodiscard]] std::string_view name() const override { return "python"; }
  [[nodiscard]] Index feature_dim() const override { return feature_dim_; }
  [[nodiscard]] bool informed() const override { return informed_; }
  void score(const Evaluated& batch, std::span<double> scores, Workers& /*workers*/) override {
    const nb::gil_scoped_acquire acquire;
    const auto values = values_from(part_->get().attr("score")(copy_of(batch.features)), "scores",
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
    part_->get().attr("observe")(copy_of(batch.features), copy_of(batch.objectives));
    informed_ = true;
  }
  void save(StateWriter& out) const override {
    out.integer("python.informed", informed_ ? 1 : 0);
    part_->save(out, "python.density");
  }
  void load(StateReader& in) override {
    informed_ = in.integer("python.informed", 0, 1) == 1;
    part_->load(in, "python.density");
  }

 private:
  std::shared_ptr<PythonPart> part_;
  Index feature_dim_;
  bool informed_ = false;
};

class PythonEmitter : public Emitter {
 public:
  PythonEmitter(std::shared_ptr<PythonPart> emitter, Index dimension)
      : part_(std::move(emitter)),
        dimension_(dimension),
        batch_(nb::cast<Index>(part_->get().attr("batch"))) {
    if (batch_ < 1) {
      throw Error(ErrorKind::parameter, "batch of an emitter", fmt::format("{}", batch_),
                  "at least 1");
    }
  }

  [[nodiscard]] Index batch() const override { return batch_; }
  [[nodiscard]] Index dimension() const override { return dimension_; }
  void ask(const Archive& /*archive*/, std::uint64_t iteration, BatchSpan out) override {
    const nb::gil_scoped_acquire acquire;
    const auto rows = rows_from(part_->get().attr("ask")(iteration), "solutions of an emitter");
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
            .attr("bool")(part_->get().attr("tell")(
                copy_of(feedback.solutions), copy_of(feedback.features),
                copy_of(feedback.objectives), copy_of(feedback.scores),
                array_of(std::vector<std::int64_t>(order.begin(), order.end()), {order.size()}))));
  }
  void restart(std::span<const double> solution) override {
    const nb::gil_scoped_acquire acquire;
    part_->get().attr("restart")(copy_of(solution));
  }
  void save(StateWriter& out) const override { part_->save(out, "python.emitter"); }
  void load(StateReader& in) override { part_->load(in, "python.emitter"); }

 private:
  std::shared_ptr<PythonPart> part_;
  Index dimension_, batch_;
};

}  // namespace

std::unique_ptr<Density> make_python_density(std::shared_ptr<PythonPart> density,
                                             Index feature_dim) {
  return std::make_unique<PythonDensity>(std::move(density), feature_dim);
}

std::unique_ptr<Emitter> make_python_emitter(std::shared_ptr<PythonPart> emitter,
                                             Index solution_dim) {
  return std::make_unique<PythonEmitter>(std::move(emitter), solution_dim);
}

}  // namespace rarefy::python
