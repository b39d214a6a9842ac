#include "rarefy/trials/run_trial.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_program.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/runs/warnings.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/run_folder.hpp"
#include "trials/shared_cells.hpp"

namespace rarefy {
namespace {

class NewsTeller : public Observer {
 public:
  explicit NewsTeller(const TrialTeam& team) : team_(team) {}
  void begin(const Search& search) override { tell(search); }
  Next iteration_done(const Search& search) override {
    constexpr auto kPause = std::chrono::milliseconds(100);
    if (Clock::now() - last_ >= kPause) tell(search);
    return Next::go_on;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void tell(const Search& search) {
    last_ = Clock::now();
    if (team_.hear) {
      team_.hear({.iteration = search.iteration(), .coverage = coverage(search.archive())});
    }
  }

  const TrialTeam& team_;
  Clock::time_point last_;
};

// Trials run side by side, so that each program runs once, unless somebody has said how often.
std::shared_ptr<Evaluator> program_for(Config config, const TrialTeam& team) {
  if (!config.program.any()) return nullptr;
  if (config.program.workers == 0 && team.threads > 0) config.program.workers = team.threads;
  return make_program(config);
}

std::unique_ptr<Run> begin_trial(const TrialOrder& order, const TrialTeam& team) {
  const auto& config = order.config;
  // What was left of one that was killed before it had begun is nothing to keep.
  auto folder = RunFolder::create(order.folder, true);
  RunTeam run_team = {.threads = team.threads, .stop = team.stop};
  run_team.evaluator = program_for(config, team);
  if (team.cells != nullptr) {
    run_team.cells = team.cells->get(config, domain_info(config), team.stop);
  }
  return Run::start(config, std::move(folder), std::move(run_team));
}

std::unique_ptr<Run> take_up(const TrialOrder& order, const TrialTeam& team) {
  auto run = Run::resume(RunFolder::open(order.folder), team.threads);
  if (const auto& set = run->recorded_instruction_set(); set != name_of(instruction_set())) {
    // Side by side, all have the same one; and with another it would not be the same run.
    throw Error(ErrorKind::state,
                fmt::format("it was begun with the instruction set {0}, and would go on with {1}: "
                            "expected {0} (--instruction-set)",
                            set, name_of(instruction_set())));
  }
  run->set_iterations(order.config.iterations);
  if (auto program = program_for(run->config(), team)) run->evaluate_with(std::move(program));
  return run;
}

// Where nobody looks on, warnings are for whoever looks later.
void keep_warnings(const Run& run) {
  std::string text;
  for (const auto& warning : warnings_of(run.search())) text += warning.text + "\n";
  const auto file = run.folder().warnings();
  if (!text.empty() || file.exists()) write_file_atomically(file, text);
}

}  // namespace

DriveEnd run_trial(const TrialOrder& order, const TrialTeam& team) {
  const bool begun = !order.anew && RunFolder::holds_run(order.folder);
  const auto run = begun ? take_up(order, team) : begin_trial(order, team);
  NewsTeller teller(team);
  const std::array<Observer*, 1> observers = {&teller};
  const auto end = run->go(observers, team.stop);
  keep_warnings(*run);
  return end;
}

}  // namespace rarefy
