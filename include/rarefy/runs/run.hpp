// One run of one configuration, in a folder, that can be stopped and gone on with.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/stop.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/evaluators/program_evaluator.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/runs/drive.hpp"
#include "rarefy/runs/metrics_log.hpp"
#include "rarefy/runs/turns.hpp"
#include "rarefy/search.hpp"
#include "rarefy/storage/journal.hpp"
#include "rarefy/storage/run_folder.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

/// Who does the work of a run; results do not depend on it.
struct RunTeam {
  Index threads = 0;                      ///< 0: one for each core
  std::shared_ptr<Workers> workers = {};  ///< a team to share, instead of `threads` of its own
  /// Evaluates the candidates, instead of the domain on the run's own threads.
  std::shared_ptr<Evaluator> evaluator = {};
  /// The cells that the configuration describes, where they are at hand: many runs may share them.
  std::shared_ptr<const Tessellation> cells = {};
  /// Ends preparations that take long (the cells of a large CVT) with an Error (interrupted).
  StopFlag stop = nullptr;
};

class Run {
 public:
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Begins a run on the domain that `config` names. What the folder holds of another one is
  /// removed, but only once it is certain that this one can begin.
  static std::unique_ptr<Run> start(const Config& config, RunFolder folder, Index threads = 0);
  static std::unique_ptr<Run> start(const Config& config, RunFolder folder, RunTeam team);
  /// Begins a run on any problem; what `config` says of the domain is not looked at, unless the
  /// problem has the name of one of ours, which `config` must then describe. The folder has the
  /// problem's description, so that the run can be shown without it.
  static std::unique_ptr<Run> start(const Config& config, std::shared_ptr<const Domain> domain,
                                    RunFolder folder, RunTeam team = {});
  /// The same with a search that is there already, which may have gone some way. It must be one
  /// that `config` describes, and is shared: nobody else must use it while the run goes on.
  static std::unique_ptr<Run> start(const Config& config, std::shared_ptr<const Domain> domain,
                                    std::shared_ptr<Search> search, RunFolder folder,
                                    RunTeam team = {});

  /// Takes a run up where its last checkpoint left it. One on a problem that is not known by name
  /// can be looked at, but cannot go on without that problem.
  static std::unique_ptr<Run> resume(RunFolder folder, Index threads = 0);
  /// The same on any problem, which must be the one it was begun on.
  static std::unique_ptr<Run> resume(RunFolder folder, std::shared_ptr<const Domain> domain,
                                     RunTeam team = {});

  /// Goes on until the configured number of iterations, or until an observer or `*stop` ends it.
  /// An iteration that has begun is finished, unless a journal keeps what was done of it and the
  /// evaluator can leave the rest (evaluators/stream_evaluator.hpp). Where emitters do not wait for
  /// each other (Config::asynchronous), what is under way is always left.
  /// Writes a checkpoint every so often, and everything at the end, however it ends; what was
  /// found is on disk even when an observer or the domain throws.
  DriveEnd go(std::span<Observer* const> observers = {}, StopFlag stop = nullptr);
  /// The same with another evaluator, this time; a StreamEvaluator where emitters do not wait for
  /// each other.
  DriveEnd go_with(Evaluator& evaluator, std::span<Observer* const> observers = {},
                   StopFlag stop = nullptr);

  /// Plans more (or fewer) iterations than configured, but no fewer than are done.
  void set_iterations(std::int64_t iterations);
  /// The program that evaluates has moved, or is to be used in another way: parameters of the
  /// section `program`, none of which decides a result.
  void set_program(const Settings& settings);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const Domain& domain() const { return *domain_; }
  /// Whether its problem is at hand, and not only the description.
  [[nodiscard]] bool can_go_on() const { return can_evaluate_; }
  /// From now on, somebody else evaluates.
  void evaluate_with(std::shared_ptr<Evaluator> evaluator);
  /// Who evaluates, in words; empty where it is this process alone.
  [[nodiscard]] std::string evaluated_by() const {
    return team_.evaluator == nullptr ? std::string() : team_.evaluator->description();
  }
  /// How the programs do that evaluate, where some may.
  [[nodiscard]] const ProgramRecord* program() const {
    return dynamic_cast<const ProgramRecord*>(team_.evaluator.get());
  }
  [[nodiscard]] const Search& search() const { return *search_; }
  [[nodiscard]] std::shared_ptr<Search> shared_search() const { return search_; }
  [[nodiscard]] const MetricsLog& metrics() const { return metrics_; }
  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  /// Seconds spent searching so far.
  [[nodiscard]] double seconds() const;
  /// How long processors have worked for it, all threads together, which tells what it costs where
  /// others keep the machine busy. Not a number where it is not known: programs evaluate, or an
  /// evaluator that does not tell. Of a team that is shared, the work for others is in it.
  [[nodiscard]] double processor_seconds() const;
  /// What is taken off every objective in the QD score; none where it is not known.
  [[nodiscard]] std::optional<double> objective_floor() const;
  /// The metrics as they are now.
  [[nodiscard]] MetricsLine now() const;

  /// Finished evaluations that no checkpoint has yet: they wait in the journal until the run goes
  /// on.
  [[nodiscard]] std::int64_t journal_held() const;
  /// Evaluations that were taken from the journal instead of being made again.
  [[nodiscard]] std::int64_t journal_taken() const { return journal_taken_; }

  /// The instruction set with which the last checkpoint was made. Going on with another may
  /// round sums differently.
  [[nodiscard]] const std::string& recorded_instruction_set() const {
    return recorded_instruction_set_;
  }
  /// The version of the library with which it was made.
  [[nodiscard]] const std::string& recorded_version() const { return recorded_version_; }

  // run_results.cpp
  /// Writes archive, metrics and picture.
  void write_results() const;
  /// Writes a picture of the density and its values. Throws where there is none to draw: the
  /// algorithm has no density in the strict sense, or there are more than two features.
  void write_density();

 private:
  class Checkpoints;
  class ProcessorClocks;
  Run(Config config, RunFolder folder, std::shared_ptr<const Domain> domain, RunTeam team);
  /// Makes the search of a new run.
  void build();
  /// Makes the search of a run that was begun, of what the folder has. Its state takes
  /// `state_bytes`.
  void build_again(std::size_t state_bytes);
  void begin();
  [[nodiscard]] std::vector<Turn> turns_to_repeat() const;
  [[noreturn]] void tell_of_memory(const std::exception_ptr& reason, std::string_view doing) const;

  // run_checkpoint.cpp
  void write_checkpoint();
  void read_checkpoint();
  void load_checkpoint();
  void note_metrics();
  [[nodiscard]] JournalOwner journal_owner() const;

  Config config_;
  RunFolder folder_;
  std::shared_ptr<const Domain> domain_;
  RunTeam team_;
  bool can_evaluate_ = true;
  std::shared_ptr<Search> search_;
  MetricsLog metrics_;
  std::string recorded_instruction_set_, recorded_version_;
  std::int64_t saved_iteration_ = 0;  // of the last checkpoint
  std::int64_t journal_taken_ = 0;
  std::int64_t turns_taken_ = 0;  // of emitters that do not wait for each other
  double seconds_before_ = 0.0;
  std::optional<std::chrono::steady_clock::time_point> going_since_;
  double processor_before_ = 0.0;
  std::unique_ptr<const ProcessorClocks> clocks_;  // while it goes
};

}  // namespace rarefy
