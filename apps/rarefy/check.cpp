// rarefy check
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "own_problem.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/experiment/make_program.hpp"
#include "rarefy/runs/interrupt.hpp"

namespace rarefy::command {
namespace {

// The first few numbers of a row, and how many there are.
std::string in_short(std::span<const double> row) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> words;
  for (const double value : row.first(std::min(row.size(), kShown))) {
    words.push_back(fmt::format("{:.4g}", value));
  }
  if (row.size() > kShown) words.push_back(fmt::format("... ({} numbers)", row.size()));
  return fmt::format("{}", fmt::join(words, " "));
}

bool lies_in(std::span<const double> features, const FeatureSpace& box) {
  for (std::size_t d = 0; d < features.size(); ++d) {
    if (!(features[d] >= box.lower[d] && features[d] <= box.upper[d])) return false;
  }
  return true;
}

constexpr double kPatience = 30.0;  // seconds for a solution, unless the user says otherwise

struct CheckVerb {
  explicit CheckVerb(CLI::App& verb) : parameters(verb, {"program"}) {}
  ParameterOptions parameters;
  OwnProblemOptions own_problem;
  std::optional<std::int64_t> n;
  Index tries = 5;
  std::uint64_t seed = 1;
  double sigma = 1.5;

  int run() {
    auto settings = parameters.settings();
    if (settings.find("command") == nullptr) {
      throw Error(ErrorKind::parameter, "no program: name one with --command");
    }
    if (n) settings.set("n", *n);
    own_problem.describe(settings);
    // As it is: what is tried again may hide what is wrong.
    if (!parameters.given("retries")) settings.set("retries", std::int64_t{0});
    // Nobody wants to wait for ever for a program that keeps its answers in a buffer.
    if (!parameters.given("timeout")) settings.set("timeout", kPatience);
    const auto config = resolve(settings);
    const auto& problem = *config.own_problem;
    const auto program = make_program(config);
    const StopFlag stop = &stop_on_interrupt({.first = "\nrarefy: stopping\n", .second = "\n"});

    // The first solution is where a search begins, the others are as its first steps are.
    Batch solutions(tries, problem.solution_dim);
    fill_normals({.seed = seed, .purpose = Purpose::sampling, .index = 0, .iteration = 0},
                 solutions.values());
    for (Index i = 0; i < tries; ++i) {
      for (double& value : solutions.row(i)) value = i == 0 ? 0.0 : sigma * value;
    }
    print_out(fmt::format("{} solutions of {} numbers to: {}\n", tries, problem.solution_dim,
                          printable(config.program.command)));
    Evaluation result(tries, problem.feature_dim());
    const auto began = std::chrono::steady_clock::now();
    program->begin(0, solutions, result.span());
    Index done = 0;
    while (done < tries) {
      const auto rows = program->wait(stop);
      if (rows.empty()) return kInterrupted;
      done += static_cast<Index>(rows.size());
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    return tell(problem, solutions, result, *program, passed.count());
  }

  [[nodiscard]] int tell(const DomainInfo& problem, const Batch& solutions,
                         const Evaluation& result, const ProgramEvaluator& program,
                         double seconds) const {
    Index failed = 0, outside = 0;
    std::string out;
    for (Index i = 0; i < tries; ++i) {
      out += fmt::format("  {}  ->  ", in_short(solutions.view().row(i)));
      if (result.valid[static_cast<std::size_t>(i)] == 0) {
        ++failed;
        out += failure_of(i, program);
        continue;
      }
      const auto features = result.features.view().row(i);
      out += in_short(features);
      if (!problem.constant_objective) {
        out += fmt::format("   objective {:.6g}", result.objectives[static_cast<std::size_t>(i)]);
      }
      if (!lies_in(features, problem.feature_space)) {
        ++outside;
        out += "   (outside of --low and --high)";
      }
      out += '\n';
    }
    out += fmt::format("{} of {} answered in {:.2f} s{}\n", tries - failed, tries, seconds,
                       outside > 0 ? fmt::format(", {} of them outside of the box", outside) : "");
    print_out(out);
    return failed == 0 ? kDone : kBadData;
  }

  static std::string failure_of(Index row, const ProgramEvaluator& program) {
    for (const auto& failure : program.failures()) {
      if (failure.row != row) continue;
      std::string text = fmt::format("FAILED: {}\n", printable(failure.message));
      if (!failure.error_output.empty()) {
        text += fmt::format("      its standard error: {}\n", printable(failure.error_output));
      }
      return text;
    }
    return "FAILED\n";
  }
};

}  // namespace

void add_check(CLI::App& app, Action& chosen) {
  auto* verb = app.add_subcommand("check", "try a program of your own on a few solutions");
  verb->allow_extras();
  auto options = std::make_shared<CheckVerb>(*verb);
  verb->add_option("--n", options->n, "how many numbers a solution has")->type_name("");
  options->own_problem.add_to(*verb);
  verb->add_option("--tries", options->tries, "how many solutions to try [5]")
      ->check(CLI::Range(1, 10'000))
      ->type_name("");
  verb->add_option("--seed", options->seed, "random numbers of the solutions [1]")->type_name("");
  verb->add_option("--sigma", options->sigma, "how far they lie from 0 [1.5]")->type_name("");
  verb->footer(
      "Example: rarefy check --command './simulate' --n 12 --low -400,0 --high 400,60\n"
      "Without --timeout a solution has 30 seconds, without --retries one attempt. Exits with 0 "
      "when\n"
      "every solution was answered, with 3 otherwise.");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
