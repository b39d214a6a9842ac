// CMA-ES and its relatives, each by itself.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "arrays.hpp"
#include "bindings.hpp"
#include "held_strategy.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/lm_ma_es.hpp"
#include "rarefy/emitters/separable_cma_es.hpp"

namespace rarefy::python {
namespace {

std::unique_ptr<EvolutionStrategy> make_strategy(Strategy strategy, Index dimension, Index batch,
                                                 double sigma0, bool mirrored) {
  const LinearStrategyOptions linear{
      .dimension = dimension, .batch = batch, .sigma0 = sigma0, .mirrored = mirrored, .bounds = {}};
  switch (strategy_for(strategy, dimension)) {
    case Strategy::sep_cma_es: return std::make_unique<SeparableCmaEs>(linear);
    case Strategy::lm_ma_es: return std::make_unique<LmMaEs>(linear);
    case Strategy::cma_es:
    case Strategy::automatic: break;
  }
  return std::make_unique<CmaEs>(
      CmaEsOptions{.dimension = dimension, .batch = batch, .sigma0 = sigma0, .mirrored = mirrored});
}

// ask and tell with values to minimise.
class Optimizer {
 public:
  Optimizer(const Values& mean, double sigma0, Index batch, const std::string& strategy,
            bool mirrored, std::uint64_t seed)
      : strategy_(make_strategy(named<Strategy>(strategy), static_cast<Index>(mean.size()), batch,
                                sigma0, mirrored)),
        seed_(seed) {
    for (const double value : span_of(mean)) {
      if (!std::isfinite(value)) {
        throw Error(ErrorKind::data, "mean", fmt::format("{}", value), "finite numbers");
      }
    }
    strategy_->reset(span_of(mean));
  }

  [[nodiscard]] Out<double> ask() {
    solutions_.resize(strategy_->batch(), strategy_->dimension());
    strategy_->ask({.seed = seed_,
                    .purpose = Purpose::sampling,
                    .index = 0,
                    .iteration = static_cast<std::uint64_t>(strategy_->generation())},
                   solutions_);
    asked_ = true;
    return copy_of(solutions_.view());
  }

  void tell(const Values& values) {
    if (!asked_) throw Error(ErrorKind::state, "tell() without candidates; call ask() first");
    if (static_cast<Index>(values.size()) != strategy_->batch()) {
      throw Error(ErrorKind::data, "values", fmt::format("{}", values.size()),
                  fmt::format("{}, one for each candidate", strategy_->batch()));
    }
    const auto given = span_of(values);
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (std::isnan(given[i])) {
        throw Error(ErrorKind::data, fmt::format("values: row {}", i), "nan", "a number");
      }
    }
    std::vector<Index> order(given.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return given[static_cast<std::size_t>(a)] < given[static_cast<std::size_t>(b)];
    });
    strategy_->tell(solutions_, order, strategy_->batch() / 2);
    stop_ = strategy_->stop(given, {});
    asked_ = false;
  }

  [[nodiscard]] const EvolutionStrategy& strategy() const { return *strategy_; }
  [[nodiscard]] std::string stop() const { return std::string(name_of(stop_)); }
  [[nodiscard]] nb::bytes save() const {
    StateWriter out;
    strategy_->save(out);
    return nb::bytes(out.bytes().data(), out.bytes().size());
  }
  void load(const nb::bytes& state) {
    StateReader in({static_cast<const std::byte*>(state.data()), state.size()});
    strategy_->load(in);
    asked_ = false;
  }

 private:
  std::unique_ptr<EvolutionStrategy> strategy_;
  std::uint64_t seed_;
  Batch solutions_;
  bool asked_ = false;
  Stop stop_ = Stop::none;
};

}  // namespace

void bind_strategies(nb::module_& m) {
  nb::class_<Optimizer>(m, "_Optimizer")
      .def(nb::init<const Values&, double, Index, const std::string&, bool, std::uint64_t>(),
           nb::arg("mean").noconvert(), nb::arg("sigma0"), nb::arg("batch"), nb::arg("strategy"),
           nb::arg("mirrored"), nb::arg("seed"))
      .def("ask", &Optimizer::ask)
      .def("tell", &Optimizer::tell, nb::arg("values").noconvert())
      .def_prop_ro("stop", &Optimizer::stop)
      .def_prop_ro("batch", [](const Optimizer& self) { return self.strategy().batch(); })
      .def_prop_ro("dimension", [](const Optimizer& self) { return self.strategy().dimension(); })
      .def_prop_ro("generation", [](const Optimizer& self) { return self.strategy().generation(); })
      .def_prop_ro("sigma", [](const Optimizer& self) { return self.strategy().sigma(); })
      .def("mean", [](const Optimizer& self) { return copy_of(self.strategy().mean()); })
      .def("covariance",
           [](const Optimizer& self) {
             const auto* const full = dynamic_cast<const CmaEs*>(&self.strategy());
             if (full == nullptr) {
               throw Error(ErrorKind::parameter, "covariance", "a strategy linear in n",
                           "cma-es, which has a full matrix");
             }
             return copy_of(full->covariance().view());
           })
      .def("save", &Optimizer::save)
      .def("load", &Optimizer::load, nb::arg("state"));

  nb::class_<HeldStrategy>(m, "_Strategy")
      .def(
          "__init__",
          [](HeldStrategy* self, const std::string& strategy, Index dimension, Index batch,
             double sigma0, std::uint64_t seed, std::vector<double> lower,
             std::vector<double> upper, Index directions, bool published, bool single) {
            new (self) HeldStrategy({.strategy = named<Strategy>(strategy),
                                     .dimension = dimension,
                                     .batch = batch,
                                     .sigma0 = sigma0,
                                     .seed = seed,
                                     .lower = std::move(lower),
                                     .upper = std::move(upper),
                                     .directions = directions,
                                     .published = published,
                                     .single = single});
          },
          nb::arg("strategy"), nb::arg("dimension"), nb::arg("batch"), nb::arg("sigma0"),
          nb::arg("seed"), nb::arg("lower"), nb::arg("upper"), nb::arg("directions"),
          nb::arg("published"), nb::arg("single"))
      .def("reset", &HeldStrategy::reset, nb::arg("mean").noconvert())
      .def("ask", &HeldStrategy::ask, nb::arg("rows"))
      .def("tell", &HeldStrategy::tell, nb::arg("order").noconvert(), nb::arg("parents"))
      .def_prop_ro("stopped", &HeldStrategy::stopped)
      .def_prop_ro("forced", &HeldStrategy::forced)
      .def_prop_ro("sigma", &HeldStrategy::sigma)
      .def("mean", &HeldStrategy::mean)
      .def("covariance", &HeldStrategy::covariance)
      .def("save", &HeldStrategy::save)
      .def("load", &HeldStrategy::load, nb::arg("state"));
}

}  // namespace rarefy::python
