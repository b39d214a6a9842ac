// An evolution strategy as Python holds it, with what pyribs' strategies do: any number of rows may
// be asked for, every ask() draws anew, and parents are told by their order.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "arrays.hpp"
#include "rarefy/emitters/evolution_strategy.hpp"

namespace rarefy::python {

struct StrategyOptions {
  Strategy strategy = Strategy::cma_es;
  Index dimension = 0;
  Index batch = 0;
  double sigma0 = 0;
  std::uint64_t seed = 0;
  std::vector<double> lower, upper;  // both empty: unbounded
  Index directions = 0;              // lm-ma-es; 0: its default
  bool published = false;            // as pyribs computes it
  bool single = false;               // solutions are rounded to float
};

/// Methods may be called by several threads, for they let go of the interpreter: they take turns.
class HeldStrategy {
 public:
  explicit HeldStrategy(const StrategyOptions& options);

  void reset(const Values& mean);
  /// Read-only, of float or double.
  [[nodiscard]] nb::object ask(Index rows);
  using Order = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu>;
  /// The first `parents` of the order, which is by rows of what was asked for last, are recombined.
  void tell(const Order& order, Index parents);

  [[nodiscard]] bool stopped();
  [[nodiscard]] Index forced();
  [[nodiscard]] double sigma();
  [[nodiscard]] Out<double> mean();
  /// A matrix, or its diagonal.
  [[nodiscard]] Out<double> covariance();

  [[nodiscard]] nb::bytes save();
  void load(const nb::bytes& state);

 private:
  void draw(std::uint64_t number, Index rows);

  StrategyOptions options_;
  std::unique_ptr<EvolutionStrategy> strategy_;
  std::uint64_t asks_ = 0;            // numbers the streams
  bool started_ = false;              // there is a mean
  bool open_ = false;                 // what was asked for last was not told yet
  std::shared_ptr<Batch> solutions_;  // of the last ask(); Python may look at them, too
  std::vector<Index> order_;          // scratch
  std::mutex mutex_;
};

}  // namespace rarefy::python
