// Problems: their descriptions, and the domains that come with rarefy.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "features.hpp"
#include "given.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/domains/maze.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"

#include <fmt/format.h>

namespace rarefy::python {
namespace {

nb::tuple evaluate(const Domain& domain, const Rows& solutions, Workers& workers) {
  const auto batch = view(solutions);
  const auto& info = domain.info();
  if (batch.cols() != info.solution_dim) {
    throw Error(ErrorKind::data, "solutions", fmt::format("{} x {}", batch.rows(), batch.cols()),
                fmt::format("rows of {} values", info.solution_dim));
  }
  auto results = std::make_shared<Evaluation>(batch.rows(), info.feature_dim());
  {
    const nb::gil_scoped_release release;
    ThreadsEvaluator(domain, workers).evaluate(batch, results->span());
  }
  auto* const features = results->features.data();
  auto* const objectives = results->objectives.data();
  return nb::make_tuple(
      array_over(features, {solutions.shape(0), info.feature_space.lower.size()}, results),
      array_over(objectives, {solutions.shape(0)}, results));
}

Out<double> trajectory(const Domain& domain, const Values& controller) {
  const auto* const maze = dynamic_cast<const Maze*>(&domain);
  if (maze == nullptr) {
    throw Error(ErrorKind::parameter, "trajectory", fmt::format("'{}'", domain.info().name),
                "a maze");
  }
  if (static_cast<Index>(controller.size()) != Maze::kParameters) {
    throw Error(ErrorKind::data, "controller", fmt::format("{} values", controller.size()),
                fmt::format("{}", Maze::kParameters));
  }
  std::vector<double> values;
  const auto moments = maze->trajectory(span_of(controller));
  for (const auto& moment : moments) {
    values.insert(values.end(), {moment.x, moment.y, moment.heading});
  }
  return array_of(std::move(values), {moments.size(), 3});
}

}  // namespace

void bind_domains(nb::module_& m) {
  nb::class_<Workers>(m, "Team", "Threads that several searches may share.")
      .def(
          "__init__",
          [](Workers* self, const nb::object& threads) {
            new (self) Workers(whole_given(threads, "threads"));
          },
          nb::arg("threads") = 0, nb::sig("def __init__(self, threads: int = 0) -> None"))
      .def("__repr__",
           [](const Workers& self) { return fmt::format("<a team of {}>", self.threads()); })
      .def_prop_ro("threads", &Workers::threads);

  nb::class_<DomainInfo>(m, "Problem",
                         "What a search must know of a problem: how long its solutions are, and "
                         "where its features lie.")
      .def(
          "__init__",
          [](DomainInfo* self, const nb::object& solution_dim, const nb::object& feature_box,
             std::string name, std::string title, std::vector<std::string> feature_names,
             std::optional<double> solution_low, std::optional<double> solution_high,
             bool constant_objective, std::optional<double> least_objective,
             std::optional<double> greatest_objective) {
            DomainInfo info;
            info.name = std::move(name);
            info.title = std::move(title);
            info.solution_dim = whole_given(solution_dim, "solution_dim");
            info.feature_space = space_of(box_given(feature_box));
            info.feature_names = std::move(feature_names);
            info.solution_low = solution_low;
            info.solution_high = solution_high;
            info.constant_objective = constant_objective;
            info.least_objective = least_objective;
            info.greatest_objective = greatest_objective;
            info.check();
            new (self) DomainInfo(std::move(info));
          },
          nb::arg("solution_dim"), nb::arg("feature_box"), nb::kw_only(),
          nb::arg("name") = "problem", nb::arg("title") = "",
          nb::arg("feature_names") = std::vector<std::string>(),
          nb::arg("solution_low") = nb::none(), nb::arg("solution_high") = nb::none(),
          nb::arg("constant_objective") = true, nb::arg("least_objective") = nb::none(),
          nb::arg("greatest_objective") = nb::none(),
          nb::sig("def __init__(self, solution_dim: int, feature_box: "
                  "collections.abc.Sequence[tuple[float, float]], *, name: str = 'problem', "
                  "title: str = '', feature_names: collections.abc.Sequence[str] = (), "
                  "solution_low: float | None = None, solution_high: float | None = None, "
                  "constant_objective: bool = True, least_objective: float | None = None, "
                  "greatest_objective: float | None = None) -> None"))
      .def("__repr__",
           [](const DomainInfo& self) {
             return fmt::format("<problem '{}': {} values, {} features>", self.name,
                                self.solution_dim, self.feature_dim());
           })
      .def_ro("name", &DomainInfo::name)
      .def_ro("title", &DomainInfo::title)
      .def_ro("solution_dim", &DomainInfo::solution_dim)
      .def_prop_ro("feature_dim", &DomainInfo::feature_dim)
      .def_prop_ro("feature_box", [](const DomainInfo& self) { return box_of(self.feature_space); })
      .def_ro("feature_names", &DomainInfo::feature_names)
      .def_ro("solution_low", &DomainInfo::solution_low)
      .def_ro("solution_high", &DomainInfo::solution_high)
      .def_ro("constant_objective", &DomainInfo::constant_objective)
      .def_ro("least_objective", &DomainInfo::least_objective)
      .def_ro("greatest_objective", &DomainInfo::greatest_objective)
      .def_prop_ro("lines",
                   [](const DomainInfo& self) {
                     std::vector<std::tuple<double, double, double, double>> lines;
                     for (const auto& l : self.lines) lines.emplace_back(l.x1, l.y1, l.x2, l.y2);
                     return lines;
                   })
      .def_prop_ro("places",
                   [](const DomainInfo& self) {
                     std::vector<std::tuple<double, double, std::string>> places;
                     for (const auto& p : self.places) places.emplace_back(p.x, p.y, p.name);
                     return places;
                   })
      .def(
          "__eq__", [](const DomainInfo& a, const DomainInfo& b) { return a == b; },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));

  nb::class_<Domain>(m, "Domain", "A problem that comes with rarefy.")
      .def_prop_ro("problem", [](const Domain& self) { return DomainInfo(self.info()); })
      .def("evaluate", &evaluate, nb::arg("solutions").noconvert(), nb::arg("team"),
           nb::sig(
               "def evaluate(self, solutions: numpy.typing.NDArray[numpy.float64], team: Team) -> "
               "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]"))
      .def("trajectory", &trajectory, nb::arg("controller").noconvert());
  m.def(
      "make_domain",
      [](const Config& config) { return std::shared_ptr<Domain>(make_domain(config)); },
      nb::arg("config"));
}

}  // namespace rarefy::python
