#include "../ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../exit_codes.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_program.hpp"
#include "rarefy/trials/mpi_trials.hpp"

namespace rarefy::command {
namespace {

// ---- what rank 0 says: the version, the instruction set, the threads, then the configuration ----

std::string orders_for(const Config& config, Index threads) {
  return fmt::format("{}\n{}\n{}\n{}", kVersion, name_of(instruction_set()),
                     std::max(Index{1}, threads), to_toml(config));
}

std::string_view take_line(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::string this_machine() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "another machine";
  return name.substr(0, name.find('\0'));
}

// One of our domains, on threads of this rank.
class DomainOnThreads : public Evaluator {
 public:
  DomainOnThreads(std::unique_ptr<Domain> domain, Index threads)
      : domain_(std::move(domain)), workers_(threads), evaluator_(*domain_, workers_) {}
  void evaluate(BatchView solutions, const EvaluationSpan& out) override {
    evaluator_.evaluate(solutions, out);
  }
  bool evaluate_telling(BatchView solutions, const EvaluationSpan& out, const RowsDone& done,
                        StopFlag stop) override {
    return evaluator_.evaluate_telling(solutions, out, done, stop);
  }
  [[nodiscard]] Index capacity() const override { return evaluator_.capacity(); }

 private:
  std::unique_ptr<Domain> domain_;
  Workers workers_;
  ThreadsEvaluator evaluator_;
};

// What tells a process which rank it is. A program that inherited it would take itself for this
// rank, and could not use MPI of its own.
void forget_the_job() {
  static constexpr std::array<std::string_view, 11> kOfTheJob = {
      "PMIX_",         "PMI_",          "OMPI_COMM_WORLD_",  "OMPI_MCA_orte_",
      "OMPI_MCA_ess",  "OMPI_MCA_pmix", "OMPI_MCA_initial_", "OMPI_UNIVERSE_SIZE",
      "OMPI_APP_CTX_", "OMPI_FIRST_",   "OMPI_FILE_LOCATION"};
  std::vector<std::string> names;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const auto begins = [&](std::string_view start) { return entry.starts_with(start); };
    if (std::ranges::any_of(kOfTheJob, begins))
      names.emplace_back(entry.substr(0, entry.find('=')));
  }
  for (const auto& name : names) ::unsetenv(name.c_str());
}

std::shared_ptr<Evaluator> follow_orders(const MpiGreeting& greeting) {
  std::string_view text = greeting.text;
  if (const auto version = take_line(text); version != kVersion) {
    throw Error(ErrorKind::state, fmt::format("rarefy on {}", this_machine()),
                fmt::format("version {}", kVersion), fmt::format("{}, as rank 0 has", version));
  }
  const auto set = take_line(text);
  try {
    pin_instruction_set(instruction_set_named(set));
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("{} (on {}; all ranks need the set of rank 0, so that it does not "
                            "matter who evaluates what: --instruction-set)",
                            error.what(), this_machine()));
  }
  const auto line = take_line(text);
  Index threads = 1;
  std::from_chars(line.data(), line.data() + line.size(), threads);
  auto config = resolve(parse_settings(text, "the configuration of rank 0"));
  if (!config.program.any()) {
    return std::make_shared<DomainOnThreads>(make_domain(config), threads);
  }
  if (config.program.workers == 0) config.program.workers = 1;
  forget_the_job();
  return make_program(config);
}

// ---- both sides ---------------------------------------------------------------------------------

void check_size(const Seat& seat, const MpiSession& session) {
  if (seat.size == 0 || seat.size == session.size()) return;
  throw Error(ErrorKind::state,
              fmt::format("{} processes were started, but MPI knows of {}: was rarefy built with "
                          "the MPI that has started it?",
                          seat.size, session.size()));
}

// Rank 0 decides when it is time to leave: until it has saved, it may need us.
void ignore_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

class MpiRanks : public Ranks {
 public:
  explicit MpiRanks(const Seat& seat) { check_size(seat, session_); }
  [[nodiscard]] std::shared_ptr<Evaluator> evaluator(const Run& run, Index threads) override {
    const auto& problem = run.domain().info();
    return std::make_shared<MpiEvaluator>(session_,
                                          MpiGreeting{.text = orders_for(run.config(), threads),
                                                      .solution_dim = problem.solution_dim,
                                                      .feature_dim = problem.feature_dim()});
  }
  ExperimentOutcome run_trials(TrialBoard& board, const ExperimentPlaces& places, StopFlag stop,
                               const ProgressWatcher& watch) override {
    return run_experiment_on_ranks(board, places, session_, stop, watch);
  }
  [[nodiscard]] bool any() const { return session_.size() > 1; }

 private:
  MpiSession session_;
};

}  // namespace

std::unique_ptr<Ranks> join_ranks(const Seat& seat) {
  if (seat.alone()) return nullptr;
  auto ranks = std::make_unique<MpiRanks>(seat);
  if (!ranks->any()) return nullptr;
  return ranks;
}

int serve_rank_0(const Seat& seat) {
  ignore_interrupts();
  bool ended = true;
  {
    MpiSession session;
    check_size(seat, session);
    ended = serve_mpi(session, follow_orders);
  }
  if (!ended) std::_Exit(kDone);  // an evaluation goes on that nobody waits for
  return kDone;
}

int serve_trials_of_rank_0(const Seat& seat) {
  ignore_interrupts();
  MpiSession session;
  check_size(seat, session);
  forget_the_job();  // for programs of the user's own
  serve_trials(session);
  return kDone;
}

}  // namespace rarefy::command
