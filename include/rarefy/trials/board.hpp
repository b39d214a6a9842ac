// Who keeps track of the trials of an experiment: which wait, which are under way, what became of
// the others. It does not run any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "rarefy/trials/experiment_folder.hpp"
#include "rarefy/trials/matrix.hpp"
#include "rarefy/trials/results.hpp"
#include "rarefy/trials/run_trial.hpp"

namespace rarefy {

/// What happened to a trial.
struct TrialEvent {
  enum class Kind { finished, failed };
  Kind kind = Kind::finished;
  std::string name;
  std::string error = {};  ///< why it failed
  double coverage = 0;     ///< of a finished one, as are its seconds
  double seconds = 0;
  std::vector<std::string> warnings = {};  ///< of a finished one
};

/// The whole at a moment.
struct ExperimentProgress {
  std::size_t trials = 0, finished = 0, failed = 0, waiting = 0;
  struct Running {
    std::string name;
    std::int64_t iteration = 0, iterations = 0;
    double coverage = 0;
  };
  std::vector<Running> running;     ///< in the order in which they were begun
  std::vector<TrialEvent> events;   ///< since the last look
  std::optional<double> time_left;  ///< seconds, once anything is known
};

/// What has come of an experiment.
struct ExperimentOutcome {
  std::size_t finished = 0;  ///< those that were finished before included
  std::size_t warned = 0;    ///< of these
  std::size_t failed = 0;    ///< this time
  std::size_t left = 0;      ///< not tried, or stopped
};

class TrialBoard {
 public:
  using Clock = std::chrono::steady_clock;

  /// Looks at what the folder has of the experiment, and keeps the experiment there. Throws where
  /// a trial of the same name was run with another configuration, and says what differs; with
  /// `overwrite`, it is to be run anew.
  TrialBoard(const Experiment& experiment, const ExperimentFolder& folder, bool overwrite);

  /// The next to run, where there is one: first seeds of all rows come before second ones. It is
  /// under way from now on, ...
  [[nodiscard]] std::optional<std::size_t> next();
  [[nodiscard]] TrialOrder order(std::size_t trial) const;
  [[nodiscard]] const std::string& name(std::size_t trial) const;
  void heard(std::size_t trial, const TrialNews& news);
  /// ... until one of these is called. Results and failures are in the folder then.
  void finished(std::size_t trial);
  void failed(std::size_t trial, const std::string& error);
  void stopped(std::size_t trial);

  /// `places`: how many trials can be under way at a time.
  [[nodiscard]] ExperimentProgress progress(std::size_t places);
  [[nodiscard]] ExperimentOutcome outcome() const;
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

 private:
  enum class State { waiting, running, finished, failed, stopped };
  struct Entry {
    std::string name;
    Config config;
    std::string parameters;  // that tell its row from others
    std::size_t row = 0;
    State state = State::waiting;
    bool anew = false;
    TrialNews news;
    Clock::time_point since;            // when it was first heard of, ...
    std::int64_t since_iteration = -1;  // ... and how far it was; -1: not heard of
    std::string line;                   // of results.csv
    bool warned = false;                // of one that is finished
  };
  struct Row {
    double seconds = 0;  // of its finished trials
    std::size_t finished = 0;
  };

  void look_at(const PlannedTrial& planned, Entry& entry, bool recorded, bool overwrite);
  void make_queue();
  void note_finished(Entry& entry, const Trial& trial);
  void write_results() const;
  [[nodiscard]] static std::optional<double> own_pace(const Entry& entry);
  [[nodiscard]] std::optional<double> pace(const Entry& entry) const;
  [[nodiscard]] std::optional<double> time_left(std::size_t places) const;

  ExperimentPlaces places_;
  std::vector<Entry> entries_;
  std::vector<Row> rows_;
  std::deque<std::size_t> queue_;
  std::vector<std::size_t> running_;
  std::vector<TrialEvent> events_;
  std::string differences_;
  std::size_t differing_ = 0;
};

}  // namespace rarefy
