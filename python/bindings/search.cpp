// The search: ask and tell.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "held_search.hpp"
#include "python_parts.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/density_estimate.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/drive.hpp"
#include "rarefy/runs/metrics_log.hpp"
#include "rarefy/runs/warnings.hpp"
#include "rarefy/tessellations/cvt.hpp"

namespace rarefy::python {
namespace {

std::shared_ptr<HeldSearch> make_held(Config config, DomainInfo problem,
                                      std::shared_ptr<Workers> team, Batch centroids,
                                      Batch initial) {
  auto held = std::make_shared<HeldSearch>();
  std::shared_ptr<const Tessellation> cells;
  if (!centroids.view().empty()) {
    config.archive.kind = CellKind::cvt;
    config.archive.cvt.cells = centroids.rows();
    cells = std::make_shared<Cvt>(problem.feature_space, std::move(centroids));
  }
  if (!initial.view().empty()) {
    check_initial_solutions(initial, config, problem, "initial_solutions");
  } else {
    initial = read_initial_solutions(config, problem);
  }
  MemoryUse use = {.threads = team->threads(), .saves = false};
  if (cells != nullptr) use.cells = cells->cells();
  check_search(config, problem, use);
  if (cells == nullptr) cells = make_tessellation(config, problem, *team);
  held->search =
      make_search(config, problem, std::move(team), std::move(cells), std::move(initial));
  held->config = std::move(config);
  held->problem = std::move(problem);
  return held;
}

std::shared_ptr<HeldSearch> make_from_python(const Config& config, const DomainInfo& problem,
                                             std::shared_ptr<Workers> team,
                                             const std::optional<Rows>& centroids,
                                             const std::optional<Rows>& initial) {
  auto given_centroids = centroids ? batch_of(*centroids) : Batch();
  auto given_initial = initial ? batch_of(*initial) : Batch();
  const nb::gil_scoped_release release;
  return make_held(config, problem, std::move(team), std::move(given_centroids),
                   std::move(given_initial));
}

// With a density, or emitters, of the user's own in place of those that `config` names.
std::shared_ptr<HeldSearch> make_of_parts(const Config& config, const DomainInfo& problem,
                                          std::shared_ptr<Workers> team, const nb::object& density,
                                          const std::vector<nb::object>& emitters) {
  auto held = std::make_shared<HeldSearch>();
  std::unique_ptr<Density> own_density;
  if (!density.is_none()) {
    const auto part = held->own_parts.emplace_back(std::make_shared<PythonPart>(density));
    own_density = make_python_density(part, problem.feature_dim());
  }
  std::vector<std::unique_ptr<Emitter>> own_emitters;
  for (const auto& emitter : emitters) {
    const auto part = held->own_parts.emplace_back(std::make_shared<PythonPart>(emitter));
    own_emitters.push_back(make_python_emitter(part, problem.solution_dim));
  }
  const nb::gil_scoped_release release;
  Config counted = config;  // as many of what belongs to each emitter
  if (!own_emitters.empty()) counted.emitters.count = static_cast<Index>(own_emitters.size());
  check_search(counted, problem, {.threads = team->threads(), .saves = false});
  auto parts = make_parts(counted, problem, make_tessellation(config, problem, *team));
  if (own_density != nullptr) parts.density = std::move(own_density);
  if (!own_emitters.empty()) {
    const std::vector<double> origin(static_cast<std::size_t>(problem.solution_dim),
                                     config.emitters.x0);
    for (const auto& emitter : own_emitters) emitter->restart(origin);
    parts.emitters = std::move(own_emitters);
    parts.probe.reset();  // they know their steps themselves
  }
  auto options = make_search_options(config);
  options.workers = std::move(team);
  held->search = std::make_shared<Search>(std::move(parts), std::move(options));
  held->config = config;
  held->problem = problem;
  return held;
}

Out<const double> ask(HeldSearch& self) {
  std::shared_ptr<const Batch> batch;
  {
    const InUse in_use(self);
    const nb::gil_scoped_release release;
    batch = self.search->ask_shared();
  }
  const auto* const data = batch->data();
  const std::vector<std::size_t> shape = {static_cast<std::size_t>(batch->rows()),
                                          static_cast<std::size_t>(batch->cols())};
  return array_over(data, shape, std::move(batch));
}

void tell(HeldSearch& self, const Rows& features, const std::optional<Values>& objectives,
          const std::optional<Flags>& valid) {
  const InUse in_use(self);
  const nb::gil_scoped_release release;
  self.search->tell(view(features), objectives ? span_of(*objectives) : std::span<const double>(),
                    valid ? span_of(*valid) : std::span<const std::uint8_t>());
}

// A copy: rows of others are written while these are still looked at.
Out<double> ask_emitter(HeldSearch& self, Index emitter) {
  const InUse in_use(self);
  BatchView rows;
  {
    const nb::gil_scoped_release release;
    rows = self.search->ask_emitter(emitter);
  }
  return copy_of(rows);
}

void tell_emitter(HeldSearch& self, Index emitter, const Rows& features,
                  const std::optional<Values>& objectives, const std::optional<Flags>& valid) {
  const InUse in_use(self);
  const nb::gil_scoped_release release;
  self.search->tell_emitter(emitter, view(features),
                            objectives ? span_of(*objectives) : std::span<const double>(),
                            valid ? span_of(*valid) : std::span<const std::uint8_t>());
}

// Everything, in one piece: what describes the search, and its state.
constexpr std::int64_t kFormat = 2;

void write_batch(StateWriter& out, const std::string& name, BatchView batch) {
  out.integer(name + ".rows", batch.rows());
  out.integer(name + ".columns", batch.cols());
  out.reals(name, batch.values());
}

Batch read_batch(StateReader& in, const std::string& name) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const auto rows = in.integer(name + ".rows", 0, kMost);
  const auto columns = in.integer(name + ".columns", 0, kMost);
  auto values = in.reals_up_to(name, static_cast<std::size_t>(rows * columns));
  if (static_cast<std::int64_t>(values.size()) != rows * columns) {
    throw Error(ErrorKind::corrupt, "saved search: " + name, std::to_string(values.size()),
                std::to_string(rows * columns) + " values");
  }
  return {std::move(values), rows, columns};
}

nb::bytes save(HeldSearch& self) {
  StateWriter out;
  {
    const InUse in_use(self);
    const nb::gil_scoped_release release;
    Config config = self.config;
    config.own_problem = self.problem;
    config.domain = self.problem.name;
    config.problem = {};
    config.archive.centroids.clear();
    config.emitters.initial_solutions.clear();
    out.integer("saved.format", kFormat);
    out.text("saved.config", to_toml(config));
    write_batch(out, "saved.centroids", self.search->archive().tessellation().centroids());
    write_batch(out, "saved.initial", self.search->initial_solutions());
    self.search->save(out);
  }
  return nb::bytes(out.bytes().data(), out.bytes().size());
}

std::shared_ptr<HeldSearch> load(const nb::bytes& bytes, std::shared_ptr<Workers> team) {
  StateReader in({static_cast<const std::byte*>(bytes.data()), bytes.size()});
  const nb::gil_scoped_release release;
  (void)in.integer("saved.format", kFormat, kFormat);
  auto config = resolve(parse_settings(in.text("saved.config"), "saved search"));
  if (!config.own_problem) throw Error(ErrorKind::corrupt, "saved search: it has no problem");
  auto problem = *config.own_problem;
  auto centroids = read_batch(in, "saved.centroids");
  auto initial = read_batch(in, "saved.initial");
  auto held = make_held(std::move(config), std::move(problem), std::move(team),
                        std::move(centroids), std::move(initial));
  held->search->load(in);
  if (!in.at_end()) throw Error(ErrorKind::corrupt, "saved search: goes on after its end");
  return held;
}

nb::dict metrics(HeldSearch& self) {
  const Looking looking(self);
  const auto& given = self.config.output.objective_floor;
  const auto floor = given ? given : self.problem.objective_floor();
  const auto line = measure(*self.search, self.config.output.entropy_floor, floor, 0.0, 0.0);
  nb::dict row;
  for (const auto& column : metrics_columns()) {
    if (column.name.ends_with("seconds")) continue;  // whoever runs the loop knows
    std::visit(
        [&](auto field) { row[nb::str(column.name.data(), column.name.size())] = line.*field; },
        column.field);
  }
  return row;
}

// What the archive holds now, and its cells, which never change.
nb::dict snapshot(HeldSearch& self) {
  const Looking looking(self);
  const auto& archive = self.search->archive();
  nb::dict arrays;
  arrays["solutions"] = copy_of(archive.solutions());
  arrays["features"] = copy_of(archive.features());
  arrays["objectives"] = copy_of(archive.objectives());
  arrays["cells"] = copy_of(archive.cells());
  arrays["visits"] = copy_of(archive.visits());
  arrays["tessellation"] = std::shared_ptr<Tessellation>(
      self.search, const_cast<Tessellation*>(&archive.tessellation()));
  return arrays;
}

std::optional<Out<double>> log_density(HeldSearch& self, const Rows& features) {
  auto* const density = dynamic_cast<DensityEstimate*>(&self.search->density());
  if (density == nullptr) return std::nullopt;
  if (static_cast<Index>(features.shape(1)) != density->feature_dim()) {
    throw Error(ErrorKind::data, "features", std::to_string(features.shape(1)) + " columns",
                std::to_string(density->feature_dim()));
  }
  std::vector<double> values(features.shape(0));
  {
    const Looking looking(self);
    const nb::gil_scoped_release release;
    if (!density->informed()) {
      throw Error(ErrorKind::state,
                  "there is no density before features were told; call tell() first");
    }
    density->log_density(view(features), values, self.search->workers());
  }
  const auto count = values.size();
  return array_of(std::move(values), {count});
}

// A search and a part of it that is written in Python may refer to each other. The garbage
// collector finds such circles where it is shown what the search holds.
int show_parts(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const auto& part : nb::inst_ptr<HeldSearch>(self)->own_parts) Py_VISIT(part->shown());
  return 0;
}
int take_parts_back(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  for (const auto& part : nb::inst_ptr<HeldSearch>(self)->own_parts) part->take_back();
  return 0;
}
const PyType_Slot kCollected[] = {{Py_tp_traverse, reinterpret_cast<void*>(show_parts)},
                                  {Py_tp_clear, reinterpret_cast<void*>(take_parts_back)},
                                  {0, nullptr}};

// For benchmarks: the same loop without Python.
double time_loop(HeldSearch& self, const Domain& domain, std::int64_t iterations) {
  const InUse in_use(self);
  const nb::gil_scoped_release release;
  ThreadsEvaluator evaluator(domain, self.search->workers());
  const auto began = std::chrono::steady_clock::now();
  drive(*self.search, evaluator, self.search->iteration() + iterations);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def("time_loop", &time_loop, nb::arg("search"), nb::arg("domain"), nb::arg("iterations"));
  nb::class_<HeldSearch>(m, "_Search", nb::type_slots(kCollected))
      .def_static("make", &make_from_python, nb::arg("config"), nb::arg("problem"), nb::arg("team"),
                  nb::arg("centroids").noconvert().none() = nb::none(),
                  nb::arg("initial").noconvert().none() = nb::none())
      .def_static("make_of_parts", &make_of_parts, nb::arg("config"), nb::arg("problem"),
                  nb::arg("team"), nb::arg("density").none(), nb::arg("emitters"))
      .def("save_state",
           [](HeldSearch& self) {
             const InUse in_use(self);
             StateWriter out;
             self.search->save(out);
             return nb::bytes(out.bytes().data(), out.bytes().size());
           })
      .def(
          "load_state",
          [](HeldSearch& self, const nb::bytes& bytes) {
            const InUse in_use(self);
            StateReader in({static_cast<const std::byte*>(bytes.data()), bytes.size()});
            self.search->load(in);
          },
          nb::arg("state"))
      .def_prop_ro("own_parts", [](const HeldSearch& self) { return !self.own_parts.empty(); })
      .def_static("load", &load, nb::arg("state"), nb::arg("team"))
      .def("save", &save)
      .def("ask", &ask)
      .def("tell", &tell, nb::arg("features").noconvert(),
           nb::arg("objectives").noconvert().none() = nb::none(),
           nb::arg("valid").noconvert().none() = nb::none())
      .def("metrics", &metrics, nb::sig("def metrics(self) -> dict[str, float]"))
      .def("snapshot", &snapshot, nb::sig("def snapshot(self) -> dict[str, object]"))
      .def("log_density", &log_density, nb::arg("features").noconvert())
      .def("scores",
           [](HeldSearch& self) {
             const Looking looking(self);
             return copy_of(self.search->scores());
           })
      .def("warnings",
           [](HeldSearch& self) {
             const Looking looking(self);
             std::vector<std::string> texts;
             for (auto& warning : warnings_of(*self.search)) texts.push_back(warning.text);
             return texts;
           })
      .def_prop_ro("config", [](const HeldSearch& self) { return Config(self.config); })
      .def_prop_ro("problem", [](const HeldSearch& self) { return DomainInfo(self.problem); })
      .def_prop_ro("candidates", [](const HeldSearch& self) { return self.search->candidates(); })
      .def("ask_emitter", &ask_emitter, nb::arg("emitter"))
      .def("tell_emitter", &tell_emitter, nb::arg("emitter"), nb::arg("features"),
           nb::arg("objectives").none() = nb::none(), nb::arg("valid").none() = nb::none())
      .def(
          "awaits",
          [](const HeldSearch& self, Index emitter) {
            (void)self.search->rows_of(emitter);  // refuses one that is not there
            return self.search->awaits(emitter);
          },
          nb::arg("emitter"))
      .def(
          "first_row",
          [](const HeldSearch& self, Index emitter) { return self.search->rows_of(emitter).first; },
          nb::arg("emitter"))
      .def(
          "rows_of",
          [](const HeldSearch& self, Index emitter) { return self.search->rows_of(emitter).count; },
          nb::arg("emitter"))
      .def_prop_ro("emitters", [](const HeldSearch& self) { return self.search->emitters(); })
      .def_prop_ro("iteration", [](const HeldSearch& self) { return self.search->iteration(); })
      .def_prop_ro("evaluations", [](const HeldSearch& self) { return self.search->evaluations(); })
      .def_prop_ro("failed", [](const HeldSearch& self) { return self.search->failed(); })
      .def_prop_ro("restarts", [](const HeldSearch& self) { return self.search->restarts(); });
}

}  // namespace rarefy::python
