#include "rarefy/runs/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/thread_clock.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/evaluators/threads_stream.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_program.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/frames.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "runs/asynchronous_loop.hpp"
#include "runs/elapsed.hpp"
#include "runs/evaluation_journal.hpp"
#include "runs/journaled_evaluation.hpp"
#include "runs/least_state.hpp"
#include "runs/observed.hpp"
#include "runs/program_failures.hpp"

namespace rarefy {
namespace {

// A problem of which only the description is known.
class DescribedDomain : public Domain {
 public:
  using Domain::Domain;
  explicit DescribedDomain(DomainInfo info) : Domain(std::move(info)) {}
  void evaluate(BatchView /*solutions*/, BatchSpan /*features*/,
                std::span<double> /*objectives*/) const override {
    throw Error(ErrorKind::parameter,
                fmt::format("'{}' cannot be evaluated here: it belongs to the program that began "
                            "the run, which can go on with it",
                            info().name));
  }
};

// The configuration of a run on any problem, be it one of ours or not.
Config config_for(Config config, const DomainInfo& problem) {
  const auto rows = domain_rows();
  const bool taken = std::any_of(rows.begin(), rows.end(),
                                 [&](const DomainRow& row) { return row.name == problem.name; });
  if (taken && !config.own_problem && domain_info(config) == problem) {
    return config;  // one of ours after all
  }
  problem.check();
  if (problem.name.empty() || taken) {
    throw Error(ErrorKind::parameter, "domain: name", fmt::format("'{}'", problem.name),
                taken
                    ? fmt::format("another, or a configuration that describes it: it is that of a "
                                  "domain that comes with rarefy, and the configuration names '{}'",
                                  config.domain)
                    : "a name");
  }
  if (config.profile != Profile::standard) {
    throw Error(ErrorKind::parameter, "profile", name_of(config.profile),
                fmt::format("default: nothing was published about '{}'", problem.name));
  }
  config.domain = problem.name;
  config.own_problem = problem;
  config.problem = {};
  return config;
}

// Lets an evaluator tell that it waits, for as long as this lives.
class WhileWaiting {
 public:
  WhileWaiting(StreamEvaluator* stream, std::function<void()> call) : stream_(stream) {
    if (stream_ != nullptr) stream_->while_waiting(std::move(call));
  }
  ~WhileWaiting() {
    if (stream_ != nullptr) stream_->while_waiting({});
  }
  WhileWaiting(const WhileWaiting&) = delete;
  WhileWaiting& operator=(const WhileWaiting&) = delete;

 private:
  StreamEvaluator* stream_;
};

// As many as told and awaited rows make up.
std::int64_t iterations_begun(const Search& search) {
  auto rows = search.evaluations();
  for (Index e = 0; e < search.emitters(); ++e) {
    if (search.awaits(e)) rows += search.rows_of(e).count;
  }
  return (rows + search.candidates() - 1) / search.candidates();
}

}  // namespace

// Writes the state down while the loop goes round.
class Run::Checkpoints : public Observer {
 public:
  Checkpoints(Run& run, EvaluationJournal& journal, Turns& turns,
              std::span<Observer* const> listeners)
      : run_(run), journal_(journal), turns_(turns), listeners_(listeners), last_(Clock::now()) {}

  Next iteration_done(const Search& search) override {
    if (search.iteration() % run_.config_.output.metrics_every == 0) run_.note_metrics();
    const auto now = Clock::now();
    if (std::chrono::duration<double>(now - last_).count() < pause()) return Next::go_on;
    write();
    last_ = Clock::now();
    cost_ = std::chrono::duration<double>(last_ - now).count();
    return Next::go_on;
  }

  void write() {
    turns_.sync();  // a checkpoint never has more of them behind it than the disk has
    run_.turns_taken_ = turns_.taken();
    run_.write_checkpoint();
    journal_.saved();  // not before: until now, nobody else had it
    for (Observer* listener : listeners_) {
      listener->checkpoint_written(*run_.search_, run_.folder_.checkpoint());
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  // As configured, but writing must not take more than a twentieth of the time: the archive of
  // a long novelty search fills hundreds of megabytes.
  [[nodiscard]] double pause() const {
    constexpr double kPauses = 20.0;
    const double wanted = run_.config_.output.checkpoint_seconds;
    return wanted > 0 ? std::max(wanted, kPauses * cost_) : 0.0;
  }

  Run& run_;
  EvaluationJournal& journal_;
  Turns& turns_;
  std::span<Observer* const> listeners_;
  Clock::time_point last_;
  double cost_ = 0.0;  // of the last checkpoint, in seconds
};

// How long processors work for a run: the thread that drives it, its team, and what threads the
// evaluator has.
class Run::ProcessorClocks {
 public:
  ProcessorClocks(const Workers& workers, const Evaluator& evaluator)
      : workers_(workers), evaluator_(evaluator) {}

  [[nodiscard]] double worked() const { return work() - worked_before_; }

 private:
  [[nodiscard]] double work() const {
    return driver_.seconds() + workers_.helper_seconds() + evaluator_.processor_seconds();
  }

  const Workers& workers_;
  const Evaluator& evaluator_;
  ThreadClock driver_ = ThreadClock::of_this_thread();
  double worked_before_ = work();
};

Run::~Run() = default;

Run::Run(Config config, RunFolder folder, std::shared_ptr<const Domain> domain, RunTeam team)
    : config_(std::move(config)),
      folder_(std::move(folder)),
      domain_(std::move(domain)),
      team_(std::move(team)) {
  if (team_.workers == nullptr) team_.workers = std::make_shared<Workers>(team_.threads);
}

void Run::build() {
  const auto& problem = domain_->info();
  check_search(config_, problem, {.threads = team_.workers->threads()});
  auto cells = team_.cells;
  if (cells == nullptr) cells = make_tessellation(config_, problem, *team_.workers, team_.stop);
  search_ = make_search(config_, problem, team_.workers, std::move(cells));
}

void Run::build_again(std::size_t state_bytes) {
  const auto& problem = domain_->info();
  std::shared_ptr<const Tessellation> cells;
  if (uses_grid(config_, problem)) {
    cells = make_tessellation(config_, problem, *team_.workers, team_.stop);
  } else {
    // Never made anew: that could take any time, and would not be sure to give the same.
    if (!folder_.centroids().exists()) {
      throw Error(ErrorKind::data, "the cells it was begun with, centroids.npy, were removed");
    }
    cells = std::make_shared<Cvt>(problem.feature_space, read_npy_batch(folder_.centroids()));
  }
  check_state_size(config_, problem, cells->cells(), state_bytes);
  Batch initial;
  if (const auto file = folder_.initial_solutions(); file.exists()) {
    initial = read_npy_batch(file);
    check_initial_solutions(initial, config_, problem, file.string());
  }
  search_ = make_search(config_, problem, team_.workers, std::move(cells), std::move(initial));
}

void Run::begin() {
  if (search_ == nullptr) build();
  heed(team_.stop, "the run was being prepared");
  const auto turns = turns_to_repeat();
  folder_.clear();  // not before: a run is not given up for one that cannot begin
  const auto centroids = search_->archive().tessellation().centroids();
  if (!centroids.empty()) write_npy(folder_.centroids(), centroids);
  const auto initial = search_->initial_solutions();
  if (!initial.empty()) write_npy(folder_.initial_solutions(), initial);
  if (!turns.empty()) write_turns(folder_.order(), turns);
  write_checkpoint();
  // Last: a folder with a configuration has all that resuming needs.
  write_file_atomically(folder_.config(), to_toml(config_));
}

std::vector<Turn> Run::turns_to_repeat() const {
  if (!config_.asynchronous || config_.order.empty()) return {};
  std::filesystem::path file = config_.order;
  if (std::filesystem::is_directory(file)) file /= folder_.order().name();
  auto turns = read_turns(file);
  if (turns.empty()) {
    throw Error(ErrorKind::data, "order", fmt::format("'{}'", config_.order),
                "the folder of an asynchronous run, or the order.bin in it");
  }
  const auto emitters = search_->emitters();
  const auto stranger = std::find_if(turns.begin(), turns.end(),
                                     [&](const Turn& turn) { return turn.emitter >= emitters; });
  if (stranger != turns.end()) {
    throw Error(ErrorKind::data, "order",
                fmt::format("'{}', with a turn of emitter {}", config_.order, stranger->emitter),
                fmt::format("that of a run with {} emitters, as this one has", emitters));
  }
  return turns;
}

std::unique_ptr<Run> Run::start(const Config& config, RunFolder folder, Index threads) {
  return start(config, std::move(folder), RunTeam{.threads = threads});
}

std::unique_ptr<Run> Run::start(const Config& config, RunFolder folder, RunTeam team) {
  if (config.program.any()) {
    auto program = make_program(config);  // where another evaluates, its options are checked
    if (team.evaluator == nullptr) team.evaluator = std::move(program);
    return start(config, std::make_shared<DescribedDomain>(*config.own_problem), std::move(folder),
                 std::move(team));
  }
  return start(config, make_domain(config), std::move(folder), std::move(team));
}

std::unique_ptr<Run> Run::start(const Config& config, std::shared_ptr<const Domain> domain,
                                RunFolder folder, RunTeam team) {
  auto complete = config_for(config, domain->info());
  std::unique_ptr<Run> run(
      new Run(std::move(complete), std::move(folder), std::move(domain), std::move(team)));
  run->begin();
  return run;
}

std::unique_ptr<Run> Run::start(const Config& config, std::shared_ptr<const Domain> domain,
                                std::shared_ptr<Search> search, RunFolder folder, RunTeam team) {
  auto complete = config_for(config, domain->info());
  std::unique_ptr<Run> run(
      new Run(std::move(complete), std::move(folder), std::move(domain), std::move(team)));
  run->search_ = std::move(search);
  run->begin();
  return run;
}

std::unique_ptr<Run> Run::resume(RunFolder folder, Index threads) {
  auto config = rarefy::resolve(read_settings(folder.config()));
  const bool ours = !config.own_problem;
  std::shared_ptr<const Domain> domain;
  if (ours) {
    domain = make_domain(config);
  } else {
    domain = std::make_shared<DescribedDomain>(*config.own_problem);
  }
  auto program = make_program(config);
  const bool can_evaluate = ours || program != nullptr;
  std::unique_ptr<Run> run(new Run(std::move(config), std::move(folder), std::move(domain),
                                   {.threads = threads, .evaluator = std::move(program)}));
  run->can_evaluate_ = can_evaluate;
  run->read_checkpoint();
  return run;
}

std::unique_ptr<Run> Run::resume(RunFolder folder, std::shared_ptr<const Domain> domain,
                                 RunTeam team) {
  auto config = rarefy::resolve(read_settings(folder.config()));
  if (const auto differs = difference(domain_info(config), domain->info()); !differs.empty()) {
    throw Error(ErrorKind::data, fmt::format("the run in '{}' was begun on another problem: {}",
                                             folder.path().string(), differs));
  }
  std::unique_ptr<Run> run(
      new Run(std::move(config), std::move(folder), std::move(domain), std::move(team)));
  run->read_checkpoint();
  return run;
}

void Run::evaluate_with(std::shared_ptr<Evaluator> evaluator) {
  team_.evaluator = std::move(evaluator);
  can_evaluate_ = true;
}

void Run::set_iterations(std::int64_t iterations) {
  if (iterations == config_.iterations) return;
  Config checked = config_;
  set_parameter(checked, parameter_named("iterations"), iterations);
  if (iterations < search_->iteration()) {
    throw Error(ErrorKind::parameter, "iterations", fmt::format("{}", iterations),
                fmt::format("at least the {} that are done", search_->iteration()));
  }
  // What was asked for is evaluated.
  if (const auto begun = iterations_begun(*search_); config_.asynchronous && iterations < begun) {
    throw Error(ErrorKind::parameter, "iterations", fmt::format("{}", iterations),
                fmt::format("at least the {} that were begun", begun));
  }
  config_.iterations = iterations;
  write_file_atomically(folder_.config(), to_toml(config_));
}

void Run::set_program(const Settings& settings) {
  Config changed = config_;
  for (const auto& setting : settings.values) {
    const auto& parameter = *setting.parameter;
    if (parameter.section != "program") {
      throw Error(ErrorKind::parameter, std::string(parameter.name), text_of(setting.value),
                  "a parameter of the program: others cannot change while a run is under way");
    }
    set_parameter(changed, parameter, setting.value);
    if (const auto reason = reason_without_effect(changed, parameter); !reason.empty()) {
      throw Error(ErrorKind::parameter, fmt::format("{}: {}", parameter.name, reason));
    }
  }
  if (changed.program.any() != config_.program.any()) {
    throw Error(ErrorKind::parameter, "command", fmt::format("'{}'", changed.program.command),
                config_.program.any() ? "a program, which this run is evaluated by"
                                      : "none: no program evaluates this run");
  }
  auto program = make_program(changed);
  config_ = std::move(changed);
  team_.evaluator = std::move(program);
  write_file_atomically(folder_.config(), to_toml(config_));
}

double Run::seconds() const {
  return seconds_before_ + (going_since_ ? seconds_since(*going_since_) : 0.0);
}

double Run::processor_seconds() const {
  return processor_before_ + (clocks_ ? clocks_->worked() : 0.0);
}

std::optional<double> Run::objective_floor() const {
  const auto& given = config_.output.objective_floor;
  return given ? given : domain_->info().objective_floor();
}

MetricsLine Run::now() const {
  return measure(*search_, config_.output.entropy_floor, objective_floor(), seconds(),
                 processor_seconds());
}

DriveEnd Run::go(std::span<Observer* const> observers, StopFlag stop) {
  if (team_.evaluator != nullptr) return go_with(*team_.evaluator, observers, stop);
  if (!can_evaluate_) domain_->evaluate({}, {}, {});  // says why it cannot
  if (config_.asynchronous) {
    ThreadsStream threads(*domain_, team_.workers->threads());
    return go_with(threads, observers, stop);
  }
  ThreadsEvaluator threads(*domain_, *team_.workers);
  return go_with(threads, observers, stop);
}

DriveEnd Run::go_with(Evaluator& evaluator, std::span<Observer* const> observers, StopFlag stop) {
  auto* const stream = dynamic_cast<StreamEvaluator*>(&evaluator);
  if (config_.asynchronous && stream == nullptr) {
    throw Error(ErrorKind::parameter, "asynchronous: the evaluator",
                "one that takes a batch and comes back with all of it",
                "one that hands back rows as they are done (a StreamEvaluator)");
  }
  EvaluationJournal journal(*search_, folder_.journal(), journal_owner(), config_);
  Turns turns = config_.asynchronous ? Turns(folder_.order(), turns_taken_) : Turns();
  Checkpoints checkpoints(*this, journal, turns, observers);
  std::vector<Observer*> all = {&checkpoints};
  all.insert(all.end(), observers.begin(), observers.end());
  std::optional<FrameRecorder> frames;
  if (config_.output.frames > 0) all.push_back(&frames.emplace(*this));
  std::optional<ProgramFailures> failures;
  if (auto* const program = dynamic_cast<ProgramRecord*>(&evaluator)) {
    all.push_back(&failures.emplace(*program, folder_.failures()));
  }

  clocks_ = std::make_unique<const ProcessorClocks>(*team_.workers, evaluator);
  going_since_ = std::chrono::steady_clock::now();
  const auto wrap_up = [&] {
    seconds_before_ = seconds();
    going_since_.reset();
    processor_before_ = processor_seconds();
    clocks_.reset();
    if (search_->iteration() > 0) note_metrics();
    journal_taken_ += journal.taken();
    checkpoints.write();
    write_results();
    journal.close();
  };
  const auto go_round = [&] {
    if (config_.asynchronous) {
      AsynchronousLoop loop(*search_, *stream, turns, &journal, config_.iterations);
      const WhileWaiting showing(stream, [&, began = std::chrono::steady_clock::now()] {
        // Rows of all emitters come and go; that nothing came at all can be told.
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
        for (Observer* one : observers) {
          one->waiting(*search_,
                       {.done = search_->evaluations(), .rows = 0, .seconds = passed.count()});
        }
      });
      return observed(*search_, all, [&] { return loop.go(all, stop); });
    }
    JournaledEvaluation journaled(evaluator, *search_, journal);
    const WhileWaiting showing(stream, [&] {
      for (Observer* one : observers) one->waiting(*search_, journaled.awaited());
    });
    const EvaluateBatch evaluate = [&](BatchView solutions, const EvaluationSpan& out) {
      return journaled.evaluate(solutions, out, stop);
    };
    return drive(*search_, evaluate, config_.iterations, all, stop);
  };
  DriveEnd end = DriveEnd::stopped;
  try {
    end = go_round();
  } catch (...) {
    const auto reason = std::current_exception();
    try {
      wrap_up();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the first trouble is the one to tell
    }
    tell_of_memory(reason, "the run was under way");
  }
  try {
    wrap_up();
  } catch (...) {
    tell_of_memory(std::current_exception(), "its files were written");
  }
  return end;
}

std::int64_t Run::journal_held() const {
  std::int64_t held = 0;
  read_journal(folder_.journal(), journal_owner(), [&](const JournalRecord& record) {
    if (is_awaited(*search_, record)) ++held;
  });
  return held;
}

// Whatever it was, but memory that ran out in words.
void Run::tell_of_memory(const std::exception_ptr& reason, std::string_view doing) const {
  try {
    std::rethrow_exception(reason);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than any memory could hold
  }
  throw Error(
      ErrorKind::io,
      fmt::format("memory ran out while {}, after {} iterations; '{}' has the run as of its "
                  "last checkpoint, iteration {}, and it can be resumed from there",
                  doing, search_->iteration(), folder_.place().string(), saved_iteration_));
}

}  // namespace rarefy
