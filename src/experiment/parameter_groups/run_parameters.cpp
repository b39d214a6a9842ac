// Parameters of a run: what is run, what it leaves behind, and who evaluates.
#include "experiment/parameter_groups/parameter_groups.hpp"
#include "rarefy/experiment/domain_table.hpp"

namespace rarefy {

using std::vector;

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

}  // namespace rarefy
