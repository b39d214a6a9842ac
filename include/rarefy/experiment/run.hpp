// One run of one configuration, in a folder, that can be stopped and gone on with.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/driver.hpp"
#include "rarefy/experiment/metrics_log.hpp"
#include "rarefy/search.hpp"
#include "rarefy/storage/run_folder.hpp"

namespace rarefy {

class Run {
 public:
  /// Begins a run. What the folder holds of another one is removed, but only once it is
  /// certain that this one can begin.
  static std::unique_ptr<Run> start(const Config& config, RunFolder folder, Index threads = 0);
  /// Takes a run up where its last checkpoint left it.
  static std::unique_ptr<Run> resume(RunFolder folder, Index threads = 0);

  /// Goes on until the configured number of iterations, or until `*stop`. Writes a checkpoint
  /// every so often, and everything at the end, however it ends; what was found is on disk
  /// even when an observer or the domain throws.
  DriveEnd go(std::span<Observer* const> observers = {}, const std::atomic<bool>* stop = nullptr);

  /// Plans more (or fewer) iterations than configured, but no fewer than are done.
  void set_iterations(std::int64_t iterations);

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const Domain& domain() const { return *domain_; }
  [[nodiscard]] const Search& search() const { return *search_; }
  [[nodiscard]] const MetricsLog& metrics() const { return metrics_; }
  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  /// Seconds spent searching so far.
  [[nodiscard]] double seconds() const;
  /// The metrics as they are now.
  [[nodiscard]] MetricsLine now() const { return measure(*search_, config_, seconds()); }

  /// The instruction set with which the last checkpoint was made. Going on with another may
  /// round sums differently.
  [[nodiscard]] const std::string& recorded_instruction_set() const {
    return recorded_instruction_set_;
  }

  /// The version of the library with which it was made.
  [[nodiscard]] const std::string& recorded_version() const { return recorded_version_; }

  /// Writes archive, metrics and picture.
  void write_results() const;
  void write_picture() const;
  /// Writes a picture of the density and its values. Throws where there is none to draw: the
  /// algorithm has no density in the strict sense, or there are more than two features.
  void write_density();

 private:
  class Clerk;
  Run(Config config, RunFolder folder);
  void build(const std::string& centroids, Index threads);
  void write_checkpoint();
  void read_checkpoint(Index threads);
  void note_metrics();

  Config config_;
  RunFolder folder_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<Search> search_;
  MetricsLog metrics_;
  std::string recorded_instruction_set_, recorded_version_;
  double seconds_before_ = 0.0;
  std::optional<std::chrono::steady_clock::time_point> going_since_;
  StateWriter state_;  // kept, so that its memory is
};

}  // namespace rarefy
