// rarefy evaluate
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/npy.hpp"

namespace rarefy::command {
namespace {

std::string as_csv(const DomainInfo& domain, BatchView features,
                   std::span<const double> objectives) {
  std::string out;
  for (auto name : domain.feature_names) {
    std::replace(name.begin(), name.end(), ' ', '_');
    out += name + ",";
  }
  out += "objective\n";
  for (Index i = 0; i < features.rows(); ++i) {
    for (const double value : features.row(i)) {
      fmt::format_to(std::back_inserter(out), "{},", value);
    }
    fmt::format_to(std::back_inserter(out), "{}\n", objectives[static_cast<std::size_t>(i)]);
  }
  return out;
}

Batch as_table(BatchView features, std::span<const double> objectives) {
  Batch table(features.rows(), features.cols() + 1);
  for (Index i = 0; i < features.rows(); ++i) {
    const auto row = features.row(i);
    std::copy(row.begin(), row.end(), table.row(i).begin());
    table(i, features.cols()) = objectives[static_cast<std::size_t>(i)];
  }
  return table;
}

void check_finite(BatchView solutions, const std::string& file) {
  for (Index i = 0; i < solutions.rows(); ++i) {
    for (const double value : solutions.row(i)) {
      if (!std::isfinite(value)) {
        throw Error(ErrorKind::data, fmt::format("{}: row {}", file, i), fmt::format("{}", value),
                    "finite numbers");
      }
    }
  }
}

// Solutions near the greatest numbers there are have features beyond them.
void check_results(BatchView features, std::span<const double> objectives) {
  for (Index i = 0; i < features.rows(); ++i) {
    const auto row = features.row(i);
    const auto bad =
        std::find_if_not(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
    const double objective = objectives[static_cast<std::size_t>(i)];
    if (bad == row.end() && std::isfinite(objective)) continue;
    throw Error(ErrorKind::data, fmt::format("row {}: what it evaluates to", i),
                fmt::format("{}", bad == row.end() ? objective : *bad),
                "finite numbers: the solution is too large");
  }
}

struct EvaluateVerb {
  explicit EvaluateVerb(CLI::App& verb) : parameters(verb, {"domain"}) {}
  ParameterOptions parameters;
  MachineOptions machine;
  std::string domain, solutions, out;

  int run() {
    machine.apply();
    const auto batch = read_npy_batch(solutions);
    check_finite(batch, solutions);
    auto settings = parameters.settings();
    settings.set("domain", domain);
    const auto& row = domain_named(domain);
    if (!parameters.given("objective")) {
      settings.set("objective", std::string(row.evaluated_objective));
    }
    // The file says how long a solution is, unless the user does.
    if (!parameters.given("n") && row.only_n == 0) settings.set("n", std::int64_t{batch.cols()});
    const auto config = resolve(settings);
    parameters.refuse_idle(config);
    const auto problem = make_domain(config);
    const auto& info = problem->info();
    if (batch.cols() != info.solution_dim) {
      throw Error(ErrorKind::data, fmt::format("{}: solutions", solutions),
                  fmt::format("{} values each", batch.cols()),
                  row.only_n != 0
                      ? fmt::format("{}, as all solutions of {} have", info.solution_dim, domain)
                      : fmt::format("{}, as --n says", info.solution_dim));
    }
    Evaluation result(batch.rows(), info.feature_dim());
    const auto& [features, objectives, valid] = result;
    Workers workers(machine.threads);
    ThreadsEvaluator(*problem, workers).evaluate(batch, result.span());
    check_results(features, objectives);
    if (out.empty()) {
      print_data(as_csv(info, features, objectives));
    } else if (std::filesystem::path(out).extension() == ".npy") {
      write_npy(out, as_table(features, objectives));
    } else {
      write_file_atomically(out, as_csv(info, features, objectives));
    }
    return kDone;
  }
};

}  // namespace

void add_evaluate(CLI::App& app, Action& chosen) {
  auto* verb = app.add_subcommand("evaluate", "features and objectives of given solutions");
  verb->allow_extras();
  auto options = std::make_shared<EvaluateVerb>(*verb);
  verb->add_option("DOMAIN", options->domain, domain_help())->required()->type_name("");
  verb->add_option("--solutions", options->solutions, "a .npy file, one row a solution")
      ->required()
      ->type_name("");
  verb->add_option("--out", options->out,
                   "where to write: .npy for an array, anything else for CSV [CSV on standard "
                   "output]")
      ->type_name("");
  options->machine.add_to(*verb);
  verb->footer(
      "Each row of the result: the features, then the objective. --n is taken from the file, and\n"
      "the maze's objective is energy, unless given.");
  verb->callback([&chosen, options] { chosen = [options] { return options->run(); }; });
}

}  // namespace rarefy::command
