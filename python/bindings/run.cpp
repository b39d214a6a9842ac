// Runs in folders: those of the command, evaluated by Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "held_search.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/runs/summary.hpp"
#include "rarefy/storage/checkpoint.hpp"

namespace rarefy::python {
namespace {

// Who evaluates it is the evaluator.
class PythonDomain : public Domain {
 public:
  explicit PythonDomain(DomainInfo info) : Domain(std::move(info)) {}
  void evaluate(BatchView /*solutions*/, BatchSpan /*features*/,
                std::span<double> /*objectives*/) const override {
    throw Error(ErrorKind::state, "the problem is evaluated in Python alone");
  }
};

template <typename T>
void copy_or(nb::handle given, std::span<T> out, T otherwise, const char* name) {
  if (given.is_none()) {
    std::fill(out.begin(), out.end(), otherwise);
    return;
  }
  const auto values =
      nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(given);
  if (values.size() != out.size()) {
    throw Error(ErrorKind::data, name, fmt::format("{}", values.size()),
                fmt::format("{}", out.size()));
  }
  std::copy_n(values.data(), values.size(), out.begin());
}

// What Python tells of rows while a batch is evaluated. It may hold on to this for longer.
struct RowsTold {
  EvaluationSpan out;
  const RowsDone* done = nullptr;  // null: the batch is over
  std::vector<std::uint8_t> told;

  // note(first, features, objectives or None): so many rows, from the first on, have succeeded.
  void note(Index first, const Rows& features, nb::handle objectives) {
    if (done == nullptr) return;
    const auto count = static_cast<Index>(features.shape(0));
    const auto rows = static_cast<Index>(told.size());
    if (first < 0 || first > rows || count > rows - first ||
        static_cast<Index>(features.shape(1)) != out.features.cols()) {
      throw Error(ErrorKind::data, "features",
                  fmt::format("{} x {} from row {}", count, features.shape(1), first),
                  fmt::format("rows of {} x {}", rows, out.features.cols()));
    }
    const auto begin = static_cast<std::size_t>(first);
    const auto size = static_cast<std::size_t>(count);
    std::copy_n(features.data(), features.size(), out.features.rows(first, count).data());
    copy_or(objectives, out.objectives.subspan(begin, size), 1.0, "objectives");
    tell(first, count);
  }
  // Rows that were not told of before.
  void tell(Index first, Index count) {
    for (Index row = first; row < first + count; ++row) {
      if (std::exchange(told[static_cast<std::size_t>(row)], std::uint8_t{1}) == 0) (*done)(row, 1);
    }
  }
};

// Calls evaluate(solutions, note or None) -> (features, objectives or None, valid or None).
class PythonEvaluator : public Evaluator {
 public:
  PythonEvaluator(nb::callable function, Index workers)
      : function_(std::move(function)), workers_(workers) {}

  void evaluate(BatchView solutions, const EvaluationSpan& out) override {
    const nb::gil_scoped_acquire acquire;
    take(function_(copy_of(solutions), nb::none()), solutions, out);
  }

  bool evaluate_telling(BatchView solutions, const EvaluationSpan& out, const RowsDone& done,
                        StopFlag /*stop*/) override {
    const nb::gil_scoped_acquire acquire;
    const auto told = std::make_shared<RowsTold>();
    told->out = out;
    told->done = &done;
    told->told.resize(static_cast<std::size_t>(solutions.rows()));
    const auto note = nb::cpp_function(
        [told](Index first, const Rows& features, const nb::object& objectives) {
          told->note(first, features, objectives);
        },
        nb::arg("first"), nb::arg("features"), nb::arg("objectives").none());
    try {
      take(function_(copy_of(solutions), note), solutions, out);
      told->tell(0, solutions.rows());
    } catch (...) {
      told->done = nullptr;
      throw;
    }
    told->done = nullptr;
    return true;
  }

  [[nodiscard]] Index capacity() const override { return workers_; }

 private:
  static void take(const nb::object& given, BatchView solutions, const EvaluationSpan& out) {
    const auto result = nb::cast<nb::tuple>(given);
    if (result.size() != 3) throw Error(ErrorKind::state, "evaluate() gives three things");
    const auto features = nb::cast<Rows>(result[0]);
    if (static_cast<Index>(features.shape(0)) != solutions.rows() ||
        static_cast<Index>(features.shape(1)) != out.features.cols()) {
      throw Error(ErrorKind::data, "features",
                  fmt::format("{} x {}", features.shape(0), features.shape(1)),
                  fmt::format("{} x {}", solutions.rows(), out.features.cols()));
    }
    std::copy_n(features.data(), features.size(), out.features.data());
    copy_or(result[1], out.objectives, 1.0, "objectives");
    copy_or(result[2], out.valid, std::uint8_t{1}, "valid");
  }

  nb::callable function_;
  Index workers_;
};

// Calls stream.begin(job, solutions), stream.wait() -> [(job, first row, features, objectives or
// None, valid or None), ...] and stream.abandon().
class PythonStream : public StreamEvaluator {
 public:
  PythonStream(nb::object stream, Index workers) : stream_(std::move(stream)), workers_(workers) {}

  void begin(Index job, BatchView solutions, const EvaluationSpan& out) override {
    const nb::gil_scoped_acquire acquire;
    jobs_[job] = {out, solutions.rows()};
    stream_.attr("begin")(job, copy_of(solutions));
  }

  std::span<const RowDone> wait(StopFlag /*stop*/) override {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    named_.clear();
    for (const auto given : nb::cast<nb::list>(stream_.attr("wait")())) {
      take(nb::cast<nb::tuple>(given));
    }
    return named_;
  }

  void abandon() override {
    const nb::gil_scoped_acquire acquire;
    jobs_.clear();
    try {
      stream_.attr("abandon")();
    } catch (nb::python_error& error) {  // whoever gives up has a reason already
      if (error.matches(PyExc_KeyboardInterrupt)) {
        PyErr_SetInterrupt();  // as soon as somebody can hear of it
      } else {
        error.discard_as_unraisable("abandon");
      }
    }
  }

  [[nodiscard]] Index capacity() const override { return workers_; }

 private:
  void take(const nb::tuple& given) {
    if (given.size() != 5) throw Error(ErrorKind::state, "wait() gives five things a row");
    const auto job = nb::cast<Index>(given[0]);
    const auto first = nb::cast<Index>(given[1]);
    const auto features = nb::cast<Rows>(given[2]);
    const auto count = static_cast<Index>(features.shape(0));
    const auto found = jobs_.find(job);
    if (found == jobs_.end() || first < 0 || count < 1 ||
        first + count > found->second.out.features.rows() ||
        static_cast<Index>(features.shape(1)) != found->second.out.features.cols()) {
      throw Error(
          ErrorKind::data, "features",
          fmt::format("{} x {} from row {} of job {}", count, features.shape(1), first, job),
          "rows of a job that was begun");
    }
    const auto out = found->second.out;
    const auto begin = static_cast<std::size_t>(first);
    const auto size = static_cast<std::size_t>(count);
    std::copy_n(features.data(), features.size(), out.features.rows(first, count).data());
    copy_or(given[3], out.objectives.subspan(begin, size), 1.0, "objectives");
    copy_or(given[4], out.valid.subspan(begin, size), std::uint8_t{1}, "valid");
    for (Index row = first; row < first + count; ++row) named_.push_back({job, row});
    if ((found->second.left -= count) <= 0) jobs_.erase(found);
  }

  nb::object stream_;
  Index workers_;
  struct Job {
    EvaluationSpan out;
    Index left = 0;  // rows
  };
  std::map<Index, Job> jobs_;
  std::vector<RowDone> named_;
};

// Calls done() -> whether to stop, after every iteration.
class PythonObserver : public Observer {
 public:
  explicit PythonObserver(nb::callable function) : function_(std::move(function)) {}
  Next iteration_done(const Search& /*search*/) override {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return nb::cast<bool>(function_()) ? Next::stop : Next::go_on;
  }

 private:
  nb::callable function_;
};

struct HeldRun {
  std::unique_ptr<Run> run;
  std::shared_ptr<HeldSearch> held;
};

std::shared_ptr<HeldSearch> held_search_of(const Run& run) {
  auto held = std::make_shared<HeldSearch>();
  held->config = run.config();
  held->problem = run.domain().info();
  held->search = run.shared_search();
  return held;
}

std::unique_ptr<HeldRun> start(std::shared_ptr<HeldSearch> held, const std::string& folder,
                               bool overwrite, std::int64_t iterations, bool asynchronous,
                               const std::string& order) {
  if (!held->own_parts.empty()) {
    throw Error(ErrorKind::parameter,
                "folder: not with parts written in Python, which no folder can "
                "hold; pickle the search instead");
  }
  auto result = std::make_unique<HeldRun>();
  const InUse in_use(*held);
  const nb::gil_scoped_release release;
  Config config = held->config;
  config.iterations = iterations;
  config.asynchronous = asynchronous;
  config.order = order;
  result->run = Run::start(config, std::make_shared<PythonDomain>(held->problem), held->search,
                           RunFolder::create(folder, overwrite), RunTeam{.threads = 1});
  result->held = std::move(held);
  return result;
}

std::unique_ptr<HeldRun> resume(const std::string& folder, Index threads) {
  auto result = std::make_unique<HeldRun>();
  const nb::gil_scoped_release release;
  result->run = Run::resume(RunFolder::open(folder), threads);
  result->held = held_search_of(*result->run);
  return result;
}

// To look at: whoever else goes on with it is not kept from it.
std::unique_ptr<HeldRun> look(const std::string& folder, Index threads) {
  auto result = std::make_unique<HeldRun>();
  const nb::gil_scoped_release release;
  result->run = Run::resume(RunFolder::peek(folder), threads);
  result->held = held_search_of(*result->run);
  return result;
}

bool go(HeldRun& self, const nb::callable& evaluate, const nb::callable& done,
        std::int64_t iterations, Index workers) {
  PythonEvaluator evaluator(evaluate, workers);
  PythonObserver observer(done);
  Observer* const observers[] = {&observer};
  const InUse in_use(*self.held);
  const nb::gil_scoped_release release;
  self.run->set_iterations(iterations);
  return self.run->go_with(evaluator, observers) == DriveEnd::finished;
}

bool go_asynchronously(HeldRun& self, const nb::object& stream, const nb::callable& done,
                       std::int64_t iterations, Index workers) {
  PythonStream evaluator(stream, workers);
  PythonObserver observer(done);
  Observer* const observers[] = {&observer};
  const InUse in_use(*self.held);
  const nb::gil_scoped_release release;
  self.run->set_iterations(iterations);
  return self.run->go_with(evaluator, observers) == DriveEnd::finished;
}

bool drive_search_asynchronously(HeldSearch& held, const nb::object& stream,
                                 const nb::callable& done, std::int64_t iterations, Index workers) {
  PythonStream evaluator(stream, workers);
  PythonObserver observer(done);
  Observer* const observers[] = {&observer};
  const InUse in_use(held);
  const nb::gil_scoped_release release;
  return drive_asynchronously(*held.search, evaluator, iterations, observers) == DriveEnd::finished;
}

nb::dict columns_of(const MetricsLog& log) {
  const auto& lines = log.lines();
  nb::dict columns;
  for (const auto& column : metrics_columns()) {
    std::visit(
        [&](auto field) {
          std::vector<std::remove_cvref_t<decltype(lines.front().*field)>> values;
          for (const auto& line : lines) values.push_back(line.*field);
          columns[nb::str(column.name.data(), column.name.size())] =
              array_of(std::move(values), {lines.size()});
        },
        column.field);
  }
  return columns;
}

}  // namespace

void bind_run(nb::module_& m) {
  m.def(
      "write_checkpoint",
      [](const std::string& file, const nb::bytes& payload) {
        const nb::gil_scoped_release release;
        write_checkpoint(std::filesystem::path(file),
                         {static_cast<const std::byte*>(payload.data()), payload.size()});
      },
      nb::arg("file"), nb::arg("payload"), "Replaces a file as a whole, with a checksum.");
  m.def(
      "read_checkpoint",
      [](const std::string& file) {
        std::vector<std::byte> payload;
        {
          const nb::gil_scoped_release release;
          payload = read_checkpoint(std::filesystem::path(file));
        }
        return nb::bytes(payload.data(), payload.size());
      },
      nb::arg("file"));
  m.def("drive_asynchronously", &drive_search_asynchronously, nb::arg("search"), nb::arg("stream"),
        nb::arg("done"), nb::arg("iterations"), nb::arg("workers"),
        nb::sig("def drive_asynchronously(search: _Search, stream: object, done: object, "
                "iterations: int, workers: int) -> bool"));
  nb::class_<HeldRun>(m, "_Run")
      .def_static("start", &start, nb::arg("search"), nb::arg("folder"), nb::arg("overwrite"),
                  nb::arg("iterations"), nb::arg("asynchronous") = false, nb::arg("order") = "")
      .def_static("resume", &resume, nb::arg("folder"), nb::arg("threads"))
      .def_static("look", &look, nb::arg("folder"), nb::arg("threads"))
      .def("go", &go, nb::arg("evaluate"), nb::arg("done"), nb::arg("iterations"),
           nb::arg("workers"),
           nb::sig("def go(self, evaluate: object, done: object, iterations: int, workers: int) "
                   "-> bool"))
      .def("go_asynchronously", &go_asynchronously, nb::arg("stream"), nb::arg("done"),
           nb::arg("iterations"), nb::arg("workers"),
           nb::sig("def go_asynchronously(self, stream: object, done: object, iterations: int, "
                   "workers: int) -> bool"))
      .def_prop_ro("asynchronous",
                   [](const HeldRun& self) { return self.run->config().asynchronous; })
      .def_prop_ro("journal_taken", [](const HeldRun& self) { return self.run->journal_taken(); })
      .def_prop_ro("search", [](const HeldRun& self) { return self.held; })
      .def_prop_ro("can_go_on", [](const HeldRun& self) { return self.run->can_go_on(); })
      .def_prop_ro("iterations", [](const HeldRun& self) { return self.run->config().iterations; })
      .def_prop_ro("folder",
                   [](const HeldRun& self) { return self.run->folder().place().string(); })
      .def_prop_ro("seconds", [](const HeldRun& self) { return self.run->seconds(); })
      .def(
          "metrics", [](const HeldRun& self) { return columns_of(self.run->metrics()); },
          nb::sig("def metrics(self) -> dict[str, object]"))
      .def("summary",
           [](const HeldRun& self) { return summary_of(*self.run, PeakMemory::left_out); });
}

}  // namespace rarefy::python
