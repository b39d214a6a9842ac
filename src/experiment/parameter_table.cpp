// Every parameter: its name, its place in a Config, what it means, its range, and when it has an
// effect. Defaults are those of the structs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>

#include "experiment/conditions.hpp"
#include "experiment/parameter_builder.hpp"
#include "rarefy/experiment/domain_table.hpp"

namespace rarefy {
namespace {

using std::vector;

constexpr double kMany = 1e9;
constexpr double kAny = std::numeric_limits<double>::infinity();

template <typename Rows>
vector<std::string_view> names_in(const Rows& rows) {
  vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

// Of all domains, each once.
vector<std::string_view> all_objectives() {
  vector<std::string_view> names;
  for (const auto& row : domain_rows()) {
    for (const auto name : row.objectives) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// Each with the domains that have it.
std::string_view objective_meaning() {
  static const std::string meaning = [] {
    std::string text = "what is maximised besides diversity: constant";
    for (const auto objective : all_objectives()) {
      if (objective == "constant") continue;
      vector<std::string_view> domains;
      for (const auto& row : domain_rows()) {
        const auto& its = row.objectives;
        if (std::find(its.begin(), its.end(), objective) != its.end()) domains.push_back(row.name);
      }
      text += fmt::format("; {} ({})", objective, fmt::join(domains, ", "));
    }
    return text;
  }();
  return meaning;
}

vector<ParameterBuilder> run_parameters() {
  return {
      // A problem of one's own has a name of its own.
      text("domain", at(&Config::domain), "the problem").one_of(names_in(domain_rows())),
      text("algorithm", at(&Config::algorithm), "how it is searched")
          .one_of(names_in(algorithms())),
      choice("profile", at(&Config::profile), "where the other defaults come from"),
      integer("seed", at(&Config::seed), "names the random numbers: same seed, same result")
          .range(0, 9e18),
      integer("iterations", at(&Config::iterations), "batches to evaluate")
          .range(1, 1e12)
          .without_trace(),
      flag(
          "asynchronous", at(&Config::asynchronous),
          "emitters do not wait for each other: each is told when its own solutions are evaluated"),
      text("order", at(&Config::order),
           "the order of an asynchronous run to repeat: its folder, or the order.bin in it")
          .when(emitters_do_not_wait()),
      flag("nan-fails", at(&Config::nan_fails),
           "a NaN means that a solution could not be evaluated; otherwise it ends the run"),
  };
}

vector<ParameterBuilder> domain_parameters() {
  const auto in = [](auto member) { return at(&Config::problem, member); };
  return {
      integer("n", in(&ProblemOptions::n), "values in a solution").range(1, 1e6),
      integer("m", in(&ProblemOptions::m), "features (linear projections)")
          .range(1, 1e4)
          .when(domain_reads("m")),
      text("objective", in(&ProblemOptions::objective), objective_meaning())
          .one_of(all_objectives()),
      choice("maze", in(&ProblemOptions::maze), "the map (maze)")
          .when(domain_reads("maze"))
          .when(map_is_not_replaced()),
      parsed(
          "walls", in(&ProblemOptions::walls), parse_walls,
          [](const vector<Wall>& walls) { return text_of(walls); },
          "walls instead of the map's, in the unit square: x1,y1,x2,y2; x1,... (maze)")
          .or_list()
          .when(domain_reads("walls")),
      parsed("start", in(&ProblemOptions::start), MazeStart::parse, &MazeStart::text,
             "where the robot starts: x,y,heading (maze)")
          .or_list()
          .when(domain_reads("start")),
      number("no-wall-reading", in(&ProblemOptions::no_wall_reading),
             "what a laser reads that meets no wall (maze)")
          .range(-1e6, 1e6)
          .when(domain_reads("no-wall-reading")),
  };
}

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

vector<ParameterBuilder> density_parameters() {
  const auto in = [](auto... members) { return at(&Config::density, members...); };
  const auto kde = [&](auto member) { return in(&DensityOptions::kde, member); };
  const auto novelty = [&](auto member) { return in(&DensityOptions::novelty, member); };
  return {
      integer_or("unlimited", "buffer", in(&DensityOptions::buffer),
                 "features kept for the estimate; unlimited: all")
          .range(0, kMany)
          .when(density_is({&kKernelDensity, &kQualityDensity, &kFlowDensity, &kMixtureDensity})),
      choice(
          "outside", in(&DensityOptions::outside),
          "features outside the box: as-is; clamp, as if on its border; last, clamped and ranked "
          "after all inside")
          .when(has_density()),
      choice("kernel", kde(&KdeOptions::kernel), "shape of the kernel")
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      parsed(
          "bandwidth", kde(&KdeOptions::bandwidth), Bandwidth::parse, &Bandwidth::text,
          "width of the kernel: auto or scott, by the box; spread or likelihood, by the buffer; "
          "local, auto times a factor for each feature by the density around it; a number, or one "
          "followed by 'width'")
          .or_number()
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      number("detail", kde(&KdeOptions::detail),
             "weight in scores of gaps narrower than the kernel (up to 2 features); 0: none")
          .range(0, 1e6)
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      flag("log-scores", kde(&KdeOptions::log_scores),
           "rank by logarithms of the density; false: by the density itself, which is 0 far out")
          .when(density_is({&kKernelDensity})),
      choice("kde", kde(&KdeOptions::method),
             "direct: a term for each buffered feature; panels: tables (up to 2 features); blocks: "
             "terms of blocks near enough to matter; auto: the fastest")
          .when(density_is({&kKernelDensity, &kQualityDensity})),
      number("quality-weight", in(&DensityOptions::quality, &QualityOptions::weight),
             "density, in nats, that an objective better by one deviation makes up for (dds-qd)")
          .range(0, 1e6)
          .when(density_is({&kQualityDensity})),
      integer("neighbours", novelty(&NoveltyOptions::neighbours),
              "nearest neighbours whose mean distance is a candidate's novelty (ns)")
          .range(1, 1e6)
          .when(density_is({&kNovelty})),
      parsed("novelty-threshold", novelty(&NoveltyOptions::threshold), FeatureLength::parse,
             &FeatureLength::text,
             "novelty from which a candidate is kept: a number, or a number followed by 'width' "
             "(ns)")
          .or_number()
          .when(density_is({&kNovelty})),
      flag("count-batch", novelty(&NoveltyOptions::count_batch),
           "whether members of the same batch count as neighbours (ns)")
          .when(density_is({&kNovelty})),
      number("alpha", in(&DensityOptions::alpha),
             "rate at which a threshold follows what it accepts (cma-mae, dms)")
          .range(0, 1)
          .when(density_is({&kThresholds, &kDiscountModel})),
      number_or("auto", "threshold-min", in(&DensityOptions::threshold_min),
                "threshold where nothing was accepted; auto: the least objective of the domain "
                "(cma-mae, dms)")
          .range(-kAny, kAny)
          .when(density_is({&kThresholds, &kDiscountModel})),
  };
}

vector<ParameterBuilder> discount_parameters() {
  const auto in = [](auto... members) { return at(&Config::density, members...); };
  const auto network = [&](auto member) {
    return in(&DensityOptions::discount, &DiscountModelOptions::network, member);
  };
  const auto training = [&](auto member) {
    return in(&DensityOptions::discount, &DiscountModelOptions::training, member);
  };
  const auto model = density_is({&kDiscountModel});
  return {
      number_or("auto", "discount-range", in(&DensityOptions::discount_range),
                "greatest objective less threshold-min, the network's unit; auto: of the domain "
                "(dms)")
          .above(0, 1e50)
          .when(model),
      parsed(
          "discount-layers", network(&DiscountNetworkOptions::layers), parse_layers,
          [](const vector<Index>& layers) { return text_of(layers); },
          "widths of the hidden layers of the network of thresholds (dms)")
          .or_number()
          .or_list()
          .when(model),
      choice("discount-activation", network(&DiscountNetworkOptions::activation),
             "what a unit makes of its sum (dms)")
          .when(model),
      integer("discount-epochs", training(&DiscountTrainingOptions::epochs),
              "times it learns from the samples of an iteration, at most (dms)")
          .range(1, 1e6)
          .when(model),
      number("discount-enough", training(&DiscountTrainingOptions::enough),
             "mean squared error at which that ends, in squares of discount-range (dms)")
          .range(0, 1e6)
          .when(model),
      integer("discount-batch", training(&DiscountTrainingOptions::batch),
              "samples in a step of training (dms)")
          .range(1, 1e6)
          .when(model),
      number("discount-rate", training(&DiscountTrainingOptions::rate),
             "learning rate of the network (dms)")
          .above(0, 1e6)
          .when(model),
      integer("discount-empty", training(&DiscountTrainingOptions::empty),
              "empty cells among those samples, where threshold-min is learned (dms)")
          .range(0, 1e6)
          .when(model),
      integer("discount-initial", training(&DiscountTrainingOptions::initial),
              "cells where it is learned before the first iteration (dms)")
          .range(0, 1e6)
          .when(model),
  };
}

vector<ParameterBuilder> flow_parameters() {
  const auto in = [](auto... members) {
    return at(&Config::density, &DensityOptions::flow, members...);
  };
  const auto network = [&](auto member) { return in(&FlowOptions::network, member); };
  const auto training = [&](auto member) { return in(&FlowOptions::training, member); };
  const auto integration = [&](auto member) { return in(&FlowOptions::integration, member); };
  const auto flow = density_is({&kFlowDensity});
  return {
      parsed(
          "flow-layers", network(&FlowNetworkOptions::layers), parse_layers,
          [](const vector<Index>& layers) { return text_of(layers); },
          "widths of the network's hidden layers, such as 256,256,256 (dds-cnf)")
          .or_number()
          .or_list()
          .when(flow),
      choice("flow-activation", network(&FlowNetworkOptions::activation),
             "what a unit makes of its sum (dds-cnf)")
          .one_of({"elu", "silu", "tanh"})  // those that are smooth
          .when(flow),
      integer("flow-frequencies", network(&FlowNetworkOptions::frequencies),
              "sines and cosines of time given to the network, each (dds-cnf)")
          .range(1, 1000)
          .when(flow),
      integer("flow-steps", training(&FlowTrainingOptions::steps),
              "steps of training in an iteration (dds-cnf)")
          .range(1, 1e6)
          .when(flow),
      integer("flow-batch", training(&FlowTrainingOptions::batch),
              "buffered features in a step of training (dds-cnf)")
          .range(1, 1e6)
          .when(flow),
      number("flow-rate", training(&FlowTrainingOptions::rate), "learning rate (dds-cnf)")
          .above(0, 1e6)
          .when(flow),
      number("flow-smoothing", training(&FlowTrainingOptions::smoothing),
             "deviation of the Gaussian that blurs the density, in halves of a feature's width "
             "(dds-cnf)")
          .range(0, 0.99)
          .when(flow),
      choice("flow-scaling", in(&FlowOptions::scaling),
             "what becomes -1 to 1: the domain's bounds, or one deviation of the buffer (dds-cnf)")
          .when(flow),
      choice("flow-integrator", integration(&FlowIntegrationOptions::integrator),
             "rk4, in equal steps; dopri5, in steps that keep to an error (dds-cnf)")
          .when(flow),
      integer("flow-integration-steps", integration(&FlowIntegrationOptions::steps),
              "steps from features to noise (dds-cnf, rk4)")
          .range(1, 1e5)
          .when(flow)
          .when(integrates_by(Integrator::rk4)),
      number("flow-relative-error", integration(&FlowIntegrationOptions::relative_error),
             "error allowed to a step, relative (dds-cnf, dopri5)")
          .above(0, 1)
          .when(flow)
          .when(integrates_by(Integrator::dopri5)),
      number("flow-absolute-error", integration(&FlowIntegrationOptions::absolute_error),
             "error allowed to a step, absolute (dds-cnf, dopri5)")
          .above(0, 1)
          .when(flow)
          .when(integrates_by(Integrator::dopri5)),
  };
}

vector<ParameterBuilder> mixture_parameters() {
  const auto in = [](auto member) {
    return at(&Config::density, &DensityOptions::mixture, member);
  };
  const auto mixture = density_is({&kMixtureDensity});
  return {
      integer("mixture-components", in(&MixtureOptions::components),
              "Gaussians that the density is made of (dds-gmm)")
          .range(1, 1e4)
          .when(mixture),
      integer("mixture-batch", in(&MixtureOptions::batch),
              "buffered features that they learn from in an iteration (dds-gmm)")
          .range(1, 1e6)
          .when(mixture),
      number("mixture-rate", in(&MixtureOptions::rate),
             "what an iteration counts for against all before, in the long run (dds-gmm)")
          .above(0, 0.99)
          .when(mixture),
      number("mixture-smoothing", in(&MixtureOptions::smoothing),
             "least deviation of a Gaussian, in widths of the box (dds-gmm)")
          .above(0, 10)
          .when(mixture),
      number("mixture-background", in(&MixtureOptions::background),
             "weight of a further Gaussian as broad as the box (dds-gmm)")
          .above(0, 0.99)
          .when(mixture),
  };
}

vector<ParameterBuilder> archive_parameters() {
  const auto in = [](auto... members) { return at(&Config::archive, members...); };
  const auto cvt = [&](auto member) { return in(&CellOptions::cvt, member); };
  const auto voronoi = cells_are_voronoi();
  const auto made = centroids_are_made();
  return {
      choice("archive", in(&CellOptions::kind), "auto: grid up to 2 features, cvt beyond"),
      integer("grid", in(&CellOptions::intervals), "intervals along each feature (grid)")
          .range(1, kMany)
          .when(cells_are_a_grid()),
      integer("cells", cvt(&CvtOptions::cells), "number of cells (cvt)")
          .range(1, kMany)
          .when(voronoi)
          .when(made),
      integer("cvt-samples", cvt(&CvtOptions::samples), "points on which centroids are made")
          .range(1, kMany)
          .when(voronoi)
          .when(made),
      integer("cvt-seed", cvt(&CvtOptions::seed), "random numbers of the centroids")
          .range(0, 9e18)
          .when(voronoi)
          .when(made),
      integer("cvt-iterations", cvt(&CvtOptions::iterations), "of Lloyd's algorithm, at most")
          .range(1, kMany)
          .when(voronoi)
          .when(made),
      number("cvt-tolerance", cvt(&CvtOptions::tolerance),
             "it ends when centroids shift by less, relative to the variance of a feature")
          .range(0, kAny)
          .when(voronoi)
          .when(made),
      text("centroids", in(&CellOptions::centroids),
           "a .npy file of centroids to use instead of making them")
          .when(cells_may_be_voronoi()),
  };
}

vector<ParameterBuilder> output_parameters() {
  const auto in = [](auto member) { return at(&Config::output, member); };
  return {
      integer("metrics-every", in(&OutputOptions::metrics_every),
              "iterations between lines of metrics.csv")
          .range(1, kMany)
          .without_trace(),
      number("entropy-floor", in(&OutputOptions::entropy_floor),
             "added to each cell's share of visits in the cross-entropy")
          .above(0, 1),
      number_or(
          "auto", "objective-floor", in(&OutputOptions::objective_floor),
          "taken off every objective in the QD score; auto: the least objective of the domain")
          .range(-kAny, kAny),
      number("checkpoint-seconds", in(&OutputOptions::checkpoint_seconds),
             "seconds between checkpoints, more where one takes long to write; 0: after every "
             "iteration")
          .range(0, kAny)
          .without_trace(),
      integer("frames", in(&OutputOptions::frames),
              "pictures of the archive kept on the way, in frames.npz (archives whose picture has "
              "up to 65,536 cells)")
          .range(0, 1'000)
          .without_trace(),
      choice("journal", in(&OutputOptions::journal),
             "keeps finished evaluations until a checkpoint has them, so that a kill loses none; "
             "auto: where one takes a millisecond or longer")
          .without_trace(),
  };
}

// None of them decides what is found: a program may move, and run with more workers elsewhere.
vector<ParameterBuilder> program_parameters() {
  const auto in = [](auto member) { return at(&Config::program, member); };
  const auto there_is_one = a_program_evaluates();
  return {
      text("command", in(&ProgramChoice::command),
           "a program that evaluates, as a shell would start it; needs n, low and high")
          .without_trace(),
      text("command-folder", in(&ProgramChoice::folder),
           "where it is started [where the run was begun]; one that is not there: where rarefy is")
          .when(there_is_one)
          .without_trace(),
      choice("protocol", in(&ProgramChoice::protocol),
             "how it is spoken to: lines of numbers; npy, whole batches; once, started for every "
             "solution")
          .when(there_is_one)
          .without_trace(),
      integer("workers", in(&ProgramChoice::workers),
              "how many of it run at a time; 0: one for each core")
          .range(0, 100'000)
          .when(there_is_one)
          .without_trace(),
      number("timeout", in(&ProgramChoice::timeout), "seconds it has for a solution; 0: any time")
          .range(0, kAny)
          .when(there_is_one)
          .without_trace(),
      number("start-time", in(&ProgramChoice::start_time),
             "seconds more that it has for its first solution after a start")
          .range(0, kAny)
          .when(there_is_one)
          .without_trace(),
      integer("retries", in(&ProgramChoice::retries),
              "how often a solution is tried again before it counts as failed")
          .range(0, 1'000)
          .when(there_is_one)
          .without_trace(),
  };
}

vector<Parameter> make_parameters() {
  vector<Parameter> all;
  const auto add = [&](std::string_view section, vector<ParameterBuilder> some) {
    for (auto& parameter : some) {
      parameter.section = section;
      all.push_back(std::move(parameter));
    }
  };
  add("run", run_parameters());
  add("domain", domain_parameters());
  add("emitters", emitter_parameters());
  add("restarts", restart_parameters());
  add("density", density_parameters());
  add("density", discount_parameters());
  add("density", flow_parameters());
  add("density", mixture_parameters());
  add("archive", archive_parameters());
  add("output", output_parameters());
  add("program", program_parameters());
  // A problem of one's own has nothing to be told: it describes itself.
  for (auto& parameter : all) {
    if (parameter.section == "domain") {
      parameter.conditions.insert(parameter.conditions.begin(), domain_is_ours());
    }
  }
  return all;
}

}  // namespace

std::span<const Parameter> parameters() {
  static const vector<Parameter> all = make_parameters();
  return all;
}

}  // namespace rarefy
