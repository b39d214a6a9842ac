// Parameters of emitters and of their restarts.
#include "experiment/parameter_groups/parameter_groups.hpp"

namespace rarefy {

using std::vector;

vector<ParameterBuilder> emitter_parameters() {
  const auto in = [](auto... members) { return at(&Config::emitters, members...); };
  const auto by_strategy = emitter_is({&kStrategyEmitter});
  return {
      integer("emitters", in(&EmitterOptions::count), "number of emitters").range(1, 1e5),
      integer("batch", in(&EmitterOptions::batch), "solutions of one emitter in one iteration")
          .range(2, 1e6),
      number_or("auto", "sigma0", in(&EmitterOptions::sigma0),
                "initial step size; auto: the first iteration tries steps of all sizes")
          .above(0, 1e50)
          .when(by_strategy),
      number("x0", in(&EmitterOptions::x0), "every value of the initial solution")
          .range(-1e50, 1e50)
          .when(something_starts_at_x0()),
      text("initial-solutions", in(&EmitterOptions::initial_solutions),
           "solutions to start from: a .npy file, or the archive.npz or folder of a run"),
      choice("selection", in(&EmitterOptions::selection),
             "parents of the next distribution: mu, the better half; paired, the better of each "
             "mirrored pair; filter, those accepted")
          .when(by_strategy),
      number_or("auto", "iso-sigma", in(&EmitterOptions::iso_sigma),
                "spread of the noise added to an elite (map-elites); auto: as sigma0")
          .above(0, 1e50)
          .when(emitter_is({&kIsoLineEmitter, &kGaussianEmitter})),
      number("line-sigma", in(&EmitterOptions::iso_line, &IsoLineOptions::sigma_line),
             "spread along the line to another elite, in distances (map-elites-line)")
          .range(0, 1e6)
          .when(emitter_is({&kIsoLineEmitter})),
      choice("strategy", in(&EmitterOptions::strategy),
             "cma-es, or one whose time and memory are linear in n: sep-cma-es, lm-ma-es; auto: "
             "lm-ma-es where n is 500 or more")
          .when(by_strategy),
      flag("mirrored", in(&EmitterOptions::cma_es, &CmaEsOptions::mirrored),
           "sample in pairs, mean + s and mean - s")
          .when(by_strategy),
      choice("factor", in(&EmitterOptions::cma_es, &CmaEsOptions::factor),
             "of the covariance matrix; cholesky is faster")
          .when(by_strategy)
          .when(strategy_is({Strategy::cma_es})),
      parsed("bounds", in(&EmitterOptions::range), SolutionRange::parse, &SolutionRange::text,
             "box for solutions: none, domain (its natural range), or LOW,HIGH"),
      integer("resamples", in(&EmitterOptions::resamples),
              "times a solution out of bounds is drawn again before it is repaired")
          .range(0, 1e4)
          .when(solutions_are_bounded()),
      choice("repair", in(&EmitterOptions::repair), "what then forces it into the bounds")
          .when(solutions_are_bounded()),
      integer("decompose-every", in(&EmitterOptions::cma_es, &CmaEsOptions::decompose_every),
              "generations between decompositions of the covariance matrix; 0: as the tutorial "
              "says")
          .range(0, kMany)
          .when(by_strategy)
          .when(strategy_is({Strategy::cma_es})),
      number("stop-condition", in(&EmitterOptions::stop, &StopTests::condition),
             "an emitter cannot go on when its covariance matrix is worse conditioned")
          .range(0, kAny)
          .when(by_strategy)
          .when(strategy_is({Strategy::cma_es, Strategy::sep_cma_es})),
      number("stop-step", in(&EmitterOptions::stop, &StopTests::step_size),
             "or when its longest step is smaller")
          .range(0, kAny)
          .when(by_strategy),
      number("stop-flat", in(&EmitterOptions::stop, &StopTests::flat),
             "or when its scores differ by less")
          .range(0, kAny)
          .when(by_strategy),
  };
}

vector<ParameterBuilder> restart_parameters() {
  const auto in = [](auto... members) { return at(&Config::restarts, members...); };
  const auto adaptive = [&](auto member) { return in(&RestartOptions::adaptive, member); };
  const auto stagnation = [&](auto member) { return in(&RestartOptions::stagnation, member); };
  const auto by_strategy = emitter_is({&kStrategyEmitter});
  return {
      choice("restart-when", in(&RestartOptions::when),
             "stagnation: no sparser median for a while; no-improvement: no candidate was "
             "accepted; basic: only when CMA-ES cannot go on")
          .when(by_strategy),
      integer("patience", stagnation(&StagnationOptions::patience),
              "iterations without progress always granted")
          .range(1, kMany)
          .when(by_strategy)
          .when(restarts_when(RestartWhen::stagnation)),
      number("patience-rate", stagnation(&StagnationOptions::patience_rate),
             "or this part of an emitter's age")
          .range(0, kAny)
          .when(by_strategy)
          .when(restarts_when(RestartWhen::stagnation)),
      choice("restart-at", in(&RestartOptions::at),
             "where emitters start anew; adaptive: at averages or rare elites, as the domain suits")
          .when(by_strategy),
      choice("restart-from", in(&RestartOptions::from),
             "what such places are taken from: memory, elites of cells of its own; archive, those "
             "that are counted")
          .when(by_strategy)
          .when(restarts_among_elites()),
      integer("memory-cells", in(&RestartOptions::memory_cells),
              "cells of that memory; 0: 16,384, or 4,096 with three features or more")
          .range(0, kMany)
          .when(by_strategy)
          .when(restarts_among_elites())
          .when(restarts_from(RestartFrom::memory)),
      integer("average-of", adaptive(&AdaptiveRestartOptions::average_of),
              "solutions in an average (restart-at average, adaptive); 0: half the batch")
          .range(0, 1e6)
          .when(by_strategy)
          .when(restarts_at({RestartAt::average, RestartAt::adaptive})),
      integer("average-from", adaptive(&AdaptiveRestartOptions::average_from),
              "elites drawn, of which those nearest to a rare one are averaged (restart-at "
              "adaptive); 0: four times average-of")
          .range(0, 1e6)
          .when(by_strategy)
          .when(restarts_at({RestartAt::adaptive})),
      integer("elites-compared", adaptive(&AdaptiveRestartOptions::compared),
              "elites of which one is taken (restart-at rarest, sparsest, adaptive)")
          .range(1, 1e6)
          .when(by_strategy)
          .when(restarts_at({RestartAt::rarest, RestartAt::sparsest, RestartAt::adaptive})),
      number("adaptive-decay", adaptive(&AdaptiveRestartOptions::decay),
             "part of what is known about averages that a new one leaves (restart-at adaptive)")
          .range(0, 1)
          .when(by_strategy)
          .when(restarts_at({RestartAt::adaptive})),
      number("adaptive-least", adaptive(&AdaptiveRestartOptions::least),
             "least chance of either side (restart-at adaptive)")
          .range(0, 0.5)
          .when(by_strategy)
          .when(restarts_at({RestartAt::adaptive})),
      number(
          "shape-rate", in(&RestartOptions::shape_rate),
          "part that an emitter which ends has in the shape of steps that the next begin with; 0: "
          "they begin with a sphere")
          .range(0, 1)
          .when(by_strategy)
          .when(strategy_is({Strategy::cma_es, Strategy::sep_cma_es})),
  };
}

}  // namespace rarefy
