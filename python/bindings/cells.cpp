// Tessellations and archives.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "features.hpp"
#include "given.hpp"
#include "rarefy/archives/archive.hpp"
#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy::python {
namespace {

Out<std::int64_t> cells_of(const Tessellation& cells, const nb::object& given) {
  const auto features = nb::cast<Rows>(given_by("as_rows", given, "features"));
  const auto batch = view(features);
  check_features(batch, cells.feature_dim());
  std::vector<Index> found(features.shape(0));
  {
    const nb::gil_scoped_release release;
    cells.assign(batch, found);
  }
  return array_of(std::vector<std::int64_t>(found.begin(), found.end()), {found.size()});
}

Out<std::uint8_t> record(Archive& archive, const Rows& solutions, const Rows& features,
                         const Values& objectives) {
  check_features(view(features), archive.feature_dim());
  const auto rows = features.shape(0);
  if (solutions.shape(0) != rows ||
      static_cast<Index>(solutions.shape(1)) != archive.solution_dim()) {
    throw Error(
        ErrorKind::data, "solutions",
        fmt::format("{} x {}", solutions.shape(0), solutions.shape(1)),
        fmt::format("{} x {}, a row for each of the features", rows, archive.solution_dim()));
  }
  if (objectives.size() != rows) {
    throw Error(ErrorKind::data, "objectives", fmt::format("{}", objectives.size()),
                fmt::format("{}, one for each row of the features", rows));
  }
  std::vector<Outcome> outcomes(rows);
  Workers alone(1);
  archive.record(view(solutions),
                 Evaluated{.features = view(features), .objectives = span_of(objectives)}, alone,
                 outcomes);
  std::vector<std::uint8_t> status;
  for (const auto outcome : outcomes) status.push_back(static_cast<std::uint8_t>(outcome));
  return array_of(std::move(status), {rows});
}

}  // namespace

void bind_cells(nb::module_& m) {
  nb::class_<Tessellation>(m, "Tessellation", "A division of feature space into cells.")
      .def_prop_ro("name", [](const Tessellation& self) { return std::string(self.name()); })
      .def_prop_ro("cells", &Tessellation::cells)
      .def_prop_ro("feature_dim", &Tessellation::feature_dim)
      .def_prop_ro("lower", [](const Tessellation& self) { return self.space().lower; })
      .def_prop_ro("upper", [](const Tessellation& self) { return self.space().upper; })
      .def_prop_ro("shape",
                   [](const Tessellation& self) {
                     const auto shape = self.shape();
                     return std::vector<Index>(shape.begin(), shape.end());
                   })
      .def_prop_ro(
          "centroids", [](const Tessellation& self) { return copy_of(self.centroids()); },
          nb::rv_policy::move)
      .def("cells_of", &cells_of, nb::arg("features"),
           nb::sig("def cells_of(self, features: object) -> numpy.typing.NDArray[numpy.int64]"))
      .def("__repr__", [](const Tessellation& self) {
        const auto shape = self.shape();
        return shape.empty()
                   ? fmt::format("<{} cells of {} features>", self.cells(), self.feature_dim())
                   : fmt::format("<{} cells of {} features: {}>", self.cells(), self.feature_dim(),
                                 fmt::join(shape, " x "));
      });
  nb::class_<Grid, Tessellation>(m, "Grid", "Equal boxes, any number of features.")
      .def(
          "__init__",
          [](Grid* self, const nb::object& box, const nb::object& shape) {
            new (self) Grid(space_of(box_given(box)), wholes_given(shape, "shape"));
          },
          nb::arg("feature_box"), nb::arg("shape"),
          nb::sig("def __init__(self, feature_box: "
                  "collections.abc.Sequence[tuple[float, float]], shape: "
                  "collections.abc.Sequence[int]) -> None"));
  nb::class_<Cvt, Tessellation>(m, "Cvt", "Voronoi cells of evenly spread centroids.")
      .def(
          "__init__",
          [](Cvt* self, const nb::object& box, const nb::object& cells, const nb::object& samples,
             const nb::object& iterations, const nb::object& seed, const nb::object& threads) {
            const auto space = space_of(box_given(box));
            CvtOptions options{.cells = whole_given(cells, "cells"),
                               .samples = whole_given(samples, "samples"),
                               .iterations = whole_given(iterations, "iterations"),
                               .seed = seed_given(seed)};
            if (options.samples == 0) options.samples = 10 * options.cells;
            Workers workers(whole_given(threads, "threads"));
            const nb::gil_scoped_release release;
            new (self) Cvt(space, options, workers);
          },
          nb::arg("feature_box"), nb::arg("cells") = 10'000, nb::kw_only(), nb::arg("samples") = 0,
          nb::arg("iterations") = 100, nb::arg("seed") = 1, nb::arg("threads") = 0,
          nb::sig("def __init__(self, feature_box: "
                  "collections.abc.Sequence[tuple[float, float]], cells: int = 10000, *, "
                  "samples: int = 0, iterations: int = 100, seed: int = 1, "
                  "threads: int = 0) -> None"))
      .def_static(
          "of",
          [](const nb::object& box, const nb::object& centroids) {
            const auto rows = nb::cast<Rows>(given_by("as_rows", centroids, "centroids"));
            return std::make_shared<Cvt>(space_of(box_given(box)), batch_of(rows));
          },
          nb::arg("feature_box"), nb::arg("centroids"),
          nb::sig("def of(feature_box: collections.abc.Sequence[tuple[float, float]], "
                  "centroids: object) -> Cvt"),
          "Cells of centroids that are there already: a row each.");

  nb::class_<Archive>(m, "_Archive")
      .def(
          "__init__",
          [](Archive* self, std::shared_ptr<const Tessellation> cells, Index solution_dim) {
            new (self) Archive(std::move(cells), solution_dim);
          },
          nb::arg("cells"), nb::arg("solution_dim"))
      .def("record", &record, nb::arg("solutions").noconvert(), nb::arg("features").noconvert(),
           nb::arg("objectives").noconvert())
      .def("__len__", &Archive::size)
      .def_prop_ro("solution_dim", &Archive::solution_dim)
      .def_prop_ro("feature_dim", &Archive::feature_dim)
      .def_prop_ro("total_visits", &Archive::total_visits)
      .def_prop_ro("tessellation", &Archive::tessellation, nb::rv_policy::reference_internal)
      .def("solutions", [](const Archive& self) { return copy_of(self.solutions()); })
      .def("features", [](const Archive& self) { return copy_of(self.features()); })
      .def("objectives", [](const Archive& self) { return copy_of(self.objectives()); })
      .def("cells", [](const Archive& self) { return copy_of(self.cells()); })
      .def("visits", [](const Archive& self) { return copy_of(self.visits()); })
      .def(
          "elite_of",
          [](const Archive& self, Index cell) {
            if (cell < 0 || cell >= self.tessellation().cells()) {
              throw Error(ErrorKind::parameter, "cell", fmt::format("{}", cell),
                          fmt::format("0 to {}", self.tessellation().cells() - 1));
            }
            return self.elite_of(cell);
          },
          nb::arg("cell"))
      .def("coverage", [](const Archive& self) { return coverage(self); })
      .def(
          "cross_entropy",
          [](const Archive& self, double floor) { return cross_entropy(self.visits(), floor); },
          nb::arg("floor") = kCrossEntropyFloor)
      .def(
          "qd_score", [](const Archive& self, double least) { return qd_score(self, least); },
          nb::arg("least") = 0.0)
      .def("best_objective", [](const Archive& self) { return best_objective(self); });
}

}  // namespace rarefy::python
