// Densities and reservoirs, each by itself.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "features.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/density/density_estimate.hpp"
#include "rarefy/density/endless_buffer.hpp"
#include "rarefy/density/flow.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/nearest_neighbours.hpp"
#include "rarefy/density/reservoir.hpp"

namespace rarefy::python {
namespace {

std::unique_ptr<FeatureBuffer> buffer_for(Index dims, Index capacity, std::uint64_t seed,
                                          bool endless) {
  if (endless) return std::make_unique<EndlessBuffer>(dims, seed);
  return std::make_unique<Reservoir>(
      ReservoirOptions{.feature_dim = dims, .capacity = capacity, .seed = seed});
}

// Holds what it was given last, for whoever keeps the features themselves.
class GivenBuffer : public FeatureBuffer {
 public:
  explicit GivenBuffer(Index dims) { rows_.resize(0, dims); }

  [[nodiscard]] BatchView contents() const override { return rows_; }
  [[nodiscard]] Index capacity() const override { return 0; }
  using FeatureBuffer::add;
  void add(BatchView features, std::vector<Index>& changed, Exchange* /*exchange*/) override {
    rows_.resize(features.rows(), features.cols());
    std::copy(features.values().begin(), features.values().end(), rows_.values().begin());
    for (Index i = 0; i < rows_.rows(); ++i) changed.push_back(i);
  }
  void save(StateWriter& out) const override {
    out.integer("given.rows", rows_.rows());
    out.reals("given.values", rows_.view().values());
  }
  void load(StateReader& in) override {
    constexpr std::int64_t kMost = std::int64_t{1} << 32;
    const Index rows = in.integer("given.rows", 0, kMost);
    auto values = in.reals_up_to("given.values", static_cast<std::size_t>(rows * rows_.cols()));
    if (static_cast<Index>(values.size()) != rows * rows_.cols()) {
      throw Error(ErrorKind::corrupt, "saved state: features of a density",
                  fmt::format("{} values", values.size()),
                  fmt::format("{} x {}", rows, rows_.cols()));
    }
    rows_ = Batch(std::move(values), rows, rows_.cols());
  }

 private:
  Batch rows_;
};

// A density with the threads that work on it.
class Estimate {
 public:
  Estimate(std::unique_ptr<DensityEstimate> density, Index threads)
      : density_(std::move(density)), workers_(threads) {}

  void observe(const Rows& features) {
    check_features(view(features), density_->feature_dim());
    const nb::gil_scoped_release release;
    density_->observe({.features = view(features)}, workers_);
  }
  [[nodiscard]] Out<double> log_density(const Rows& features) {
    check_features(view(features), density_->feature_dim());
    std::vector<double> values(features.shape(0));
    {
      const nb::gil_scoped_release release;
      density_->log_density(view(features), values, workers_);
    }
    const auto count = values.size();
    return array_of(std::move(values), {count});
  }
  [[nodiscard]] const DensityEstimate& density() const { return *density_; }
  [[nodiscard]] nb::bytes save() const {
    StateWriter out;
    density_->save(out);
    return nb::bytes(out.bytes().data(), out.bytes().size());
  }
  void load(const nb::bytes& state) {
    StateReader in({static_cast<const std::byte*>(state.data()), state.size()});
    density_->load(in);
  }

 private:
  std::unique_ptr<DensityEstimate> density_;
  Workers workers_;
};

std::unique_ptr<DensityEstimate> make_kde(const Box& box, Index capacity,
                                          const std::string& bandwidth, const std::string& kernel,
                                          const std::string& method, std::uint64_t seed) {
  KdeOptions options{.space = space_of(box),
                     .kernel = named<Kernel>(kernel),
                     .bandwidth = Bandwidth::parse(bandwidth),
                     .method = named<KdeMethod>(method)};
  const bool endless = capacity == 0 && KernelDensity::method_for(options, 0) == KdeMethod::panels;
  const auto dims = options.space.dim();
  return std::make_unique<KernelDensity>(std::move(options),
                                         buffer_for(dims, capacity, seed, endless));
}

std::unique_ptr<DensityEstimate> make_flow(const Box& box, Index capacity,
                                           const std::vector<Index>& layers,
                                           const std::string& activation, Index steps, Index batch,
                                           double rate, std::uint64_t seed) {
  FlowOptions options;
  options.space = space_of(box);
  options.network.layers = layers;
  options.network.activation = named<Activation>(activation);
  options.training.steps = steps;
  options.training.batch = batch;
  options.training.rate = rate;
  options.seed = seed;
  const auto dims = options.space.dim();
  return std::make_unique<FlowDensity>(std::move(options), buffer_for(dims, capacity, seed, false));
}

// A flow over features of which no bounds are known, and which the caller keeps small. Each
// observe() replaces what it is trained on. Integration is by equal steps where no error is given.
std::unique_ptr<DensityEstimate> make_unbounded_flow(Index dims, const std::vector<Index>& layers,
                                                     const std::string& activation,
                                                     Index frequencies, Index steps, Index batch,
                                                     double rate, double relative_error,
                                                     double absolute_error, std::uint64_t seed) {
  FlowOptions options;
  options.space.lower.assign(static_cast<std::size_t>(std::max<Index>(0, dims)), -1.0);
  options.space.upper.assign(options.space.lower.size(), 1.0);
  options.scaling = FeatureScaling::none;
  options.network = {
      .layers = layers, .activation = named<Activation>(activation), .frequencies = frequencies};
  options.training.steps = steps;
  options.training.batch = batch;
  options.training.rate = rate;
  if (relative_error > 0 || absolute_error > 0) {
    options.integration = {.integrator = Integrator::dopri5,
                           .relative_error = relative_error,
                           .absolute_error = absolute_error};
  }
  options.seed = seed;
  return std::make_unique<FlowDensity>(std::move(options), std::make_unique<GivenBuffer>(dims));
}

}  // namespace

void bind_densities(nb::module_& m) {
  nb::class_<Estimate>(m, "_Density")
      .def_static(
          "kernel",
          [](const Box& box, Index capacity, const std::string& bandwidth,
             const std::string& kernel, const std::string& method, std::uint64_t seed,
             Index threads) {
            return std::make_unique<Estimate>(
                make_kde(box, capacity, bandwidth, kernel, method, seed), threads);
          },
          nb::arg("box"), nb::arg("capacity"), nb::arg("bandwidth"), nb::arg("kernel"),
          nb::arg("method"), nb::arg("seed"), nb::arg("threads"))
      .def_static(
          "flow",
          [](const Box& box, Index capacity, const std::vector<Index>& layers,
             const std::string& activation, Index steps, Index batch, double rate,
             std::uint64_t seed, Index threads) {
            return std::make_unique<Estimate>(
                make_flow(box, capacity, layers, activation, steps, batch, rate, seed), threads);
          },
          nb::arg("box"), nb::arg("capacity"), nb::arg("layers"), nb::arg("activation"),
          nb::arg("steps"), nb::arg("batch"), nb::arg("rate"), nb::arg("seed"), nb::arg("threads"))
      .def_static(
          "unbounded_flow",
          [](Index dims, const std::vector<Index>& layers, const std::string& activation,
             Index frequencies, Index steps, Index batch, double rate, double relative_error,
             double absolute_error, std::uint64_t seed, Index threads) {
            return std::make_unique<Estimate>(
                make_unbounded_flow(dims, layers, activation, frequencies, steps, batch, rate,
                                    relative_error, absolute_error, seed),
                threads);
          },
          nb::arg("dims"), nb::arg("layers"), nb::arg("activation"), nb::arg("frequencies"),
          nb::arg("steps"), nb::arg("batch"), nb::arg("rate"), nb::arg("relative_error"),
          nb::arg("absolute_error"), nb::arg("seed"), nb::arg("threads"))
      .def("observe", &Estimate::observe, nb::arg("features").noconvert())
      .def("log_density", &Estimate::log_density, nb::arg("features").noconvert())
      .def_prop_ro("feature_dim", [](const Estimate& self) { return self.density().feature_dim(); })
      .def_prop_ro("informed", [](const Estimate& self) { return self.density().informed(); })
      .def_prop_ro("description", [](const Estimate& self) { return self.density().description(); })
      .def_prop_ro("count", [](const Estimate& self) { return self.density().sample_count(); })
      .def("samples", [](const Estimate& self) { return copy_of(self.density().samples()); })
      .def("bandwidths",
           [](const Estimate& self) {
             const auto* const kde = dynamic_cast<const KernelDensity*>(&self.density());
             return kde == nullptr
                        ? std::vector<double>()
                        : std::vector<double>(kde->bandwidths().begin(), kde->bandwidths().end());
           })
      .def("save", &Estimate::save)
      .def("load", &Estimate::load, nb::arg("state"));

  nb::class_<NearestNeighbours>(m, "_Neighbours")
      .def(nb::init<Index>(), nb::arg("dims"))
      .def("__len__", &NearestNeighbours::size)
      .def(
          "add", [](NearestNeighbours& self, const Rows& points) { self.add(view(points)); },
          nb::arg("points").noconvert())
      .def("clear", &NearestNeighbours::clear)
      .def(
          "find",
          [](const NearestNeighbours& self, const Rows& queries, Index k) {
            const auto rows = queries.shape(0);
            const auto each = static_cast<std::size_t>(std::clamp<Index>(k, 0, self.size()));
            std::vector<double> distances(rows * each);
            std::vector<Index> numbers(rows * each);
            self.find(view(queries), k, distances, numbers);
            return std::pair(
                array_of(std::move(distances), {rows, each}),
                array_of(std::vector<std::int64_t>(numbers.begin(), numbers.end()), {rows, each}));
          },
          nb::arg("queries").noconvert(), nb::arg("k"));

  nb::class_<Reservoir>(m, "_Reservoir")
      .def(
          "__init__",
          [](Reservoir* self, Index feature_dim, Index capacity, std::uint64_t seed) {
            new (self) Reservoir(
                ReservoirOptions{.feature_dim = feature_dim, .capacity = capacity, .seed = seed});
          },
          nb::arg("feature_dim"), nb::arg("capacity"), nb::arg("seed"))
      .def(
          "add",
          [](Reservoir& self, const Rows& features) {
            check_features(view(features), self.contents().cols());
            std::vector<Index> changed;
            self.add(view(features), changed);
          },
          nb::arg("features").noconvert())
      .def("contents", [](const Reservoir& self) { return copy_of(self.contents()); })
      .def_prop_ro("seen", &Reservoir::seen)
      .def_prop_ro("capacity", [](const Reservoir& self) { return self.capacity(); })
      .def("save",
           [](const Reservoir& self) {
             StateWriter out;
             self.save(out);
             return nb::bytes(out.bytes().data(), out.bytes().size());
           })
      .def(
          "load",
          [](Reservoir& self, const nb::bytes& state) {
            StateReader in({static_cast<const std::byte*>(state.data()), state.size()});
            self.load(in);
          },
          nb::arg("state"));
}

}  // namespace rarefy::python
