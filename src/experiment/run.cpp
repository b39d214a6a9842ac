#include "rarefy/experiment/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/experiment/density_picture.hpp"
#include "rarefy/experiment/picture.hpp"
#include "rarefy/experiment/presets.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/storage/npz.hpp"

namespace rarefy {
namespace {

// Raised whenever a saved state means something else than before.
constexpr std::int64_t kStateVersion = 5;

// What in a configuration must not change while a run is under way. The rest (how far to
// go, how often to write) may.
Config essence(Config config) {
  const Config defaults;
  config.iterations = defaults.iterations;
  config.metrics_every = defaults.metrics_every;
  config.checkpoint_seconds = defaults.checkpoint_seconds;
  config.centroids.clear();  // the centroids themselves are in the folder
  return config;
}

std::int64_t fingerprint(const Tessellation& cells) {
  return static_cast<std::int64_t>(cells.fingerprint());
}

}  // namespace

// Writes things down while the loop goes round.
class Run::Clerk : public Observer {
 public:
  explicit Clerk(Run& run) : run_(run), last_(Clock::now()) {}

  void iteration_done(const Search& search) override {
    if (search.iteration() % run_.config_.metrics_every == 0) run_.note_metrics();
    const auto now = Clock::now();
    if (std::chrono::duration<double>(now - last_).count() < pause()) return;
    run_.write_checkpoint();
    last_ = Clock::now();
    cost_ = std::chrono::duration<double>(last_ - now).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // As configured, but writing must not take more than a twentieth of the time: the archive of
  // a long novelty search fills hundreds of megabytes.
  [[nodiscard]] double pause() const {
    constexpr double kPauses = 20.0;
    const double wanted = run_.config_.checkpoint_seconds;
    return wanted > 0 ? std::max(wanted, kPauses * cost_) : 0.0;
  }

  Run& run_;
  Clock::time_point last_;
  double cost_ = 0.0;  // of the last checkpoint, in seconds
};

Run::Run(Config config, RunFolder folder)
    : config_(std::move(config)), folder_(std::move(folder)) {}

void Run::build(const std::string& centroids, Index threads) {
  domain_ = make_domain(config_);
  Config local = config_;
  local.centroids = centroids;
  Workers workers(threads);
  auto cells = make_tessellation(local, domain_->info(), workers);
  search_ = make_search(config_, domain_->info(), std::move(cells), threads);
}

std::unique_ptr<Run> Run::start(const Config& config, RunFolder folder, Index threads) {
  std::unique_ptr<Run> run(new Run(config, std::move(folder)));
  run->build(config.centroids, threads);
  run->folder_.clear();  // not before: a run is not given up for one that cannot begin
  const auto centroids = run->search_->archive().tessellation().centroids();
  if (!centroids.empty()) write_npy(run->folder_.centroids(), centroids);
  run->write_checkpoint();
  // Last: a folder with a configuration has all that resuming needs.
  write_file_atomically(run->folder_.config(), to_toml(config));
  return run;
}

std::unique_ptr<Run> Run::resume(RunFolder folder, Index threads) {
  auto config = rarefy::resolve(read_settings(folder.config()));
  std::unique_ptr<Run> run(new Run(std::move(config), std::move(folder)));
  run->read_checkpoint(threads);
  return run;
}

void Run::set_iterations(std::int64_t iterations) {
  if (iterations == config_.iterations) return;
  if (iterations < search_->iteration()) {
    throw Error(ErrorKind::parameter, "iterations", fmt::format("{}", iterations),
                fmt::format("at least the {} that are done", search_->iteration()));
  }
  config_.iterations = iterations;
  write_file_atomically(folder_.config(), to_toml(config_));
}

double Run::seconds() const {
  if (!going_since_) return seconds_before_;
  const auto going = std::chrono::steady_clock::now() - *going_since_;
  return seconds_before_ + std::chrono::duration<double>(going).count();
}

void Run::note_metrics() {
  const auto& lines = metrics_.lines();
  if (!lines.empty() && lines.back().iteration >= search_->iteration()) return;
  // A line from where the run was once stopped makes way, so that stopping leaves no trace.
  if (!lines.empty() && lines.back().iteration % config_.metrics_every != 0) metrics_.drop_last();
  metrics_.add(now());
}

DriveEnd Run::go(std::span<Observer* const> observers, const std::atomic<bool>* stop) {
  Clerk clerk(*this);
  std::vector<Observer*> all = {&clerk};
  all.insert(all.end(), observers.begin(), observers.end());
  ThreadsEvaluator evaluator(*domain_, search_->workers());

  going_since_ = std::chrono::steady_clock::now();
  const auto wrap_up = [&] {
    seconds_before_ = seconds();
    going_since_.reset();
    if (search_->iteration() > 0) note_metrics();
    write_checkpoint();
    write_results();
  };
  DriveEnd end = DriveEnd::stopped;
  try {
    end = drive(*search_, evaluator, config_.iterations, all, stop);
  } catch (...) {
    const auto reason = std::current_exception();
    try {
      wrap_up();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the first trouble is the one to tell
    }
    std::rethrow_exception(reason);
  }
  wrap_up();
  return end;
}

void Run::write_checkpoint() {
  state_.clear();
  state_.integer("state.version", kStateVersion);
  state_.text("state.rarefy", kVersion);
  state_.text("state.instruction_set", name_of(instruction_set()));
  state_.text("state.config", to_toml(essence(config_)));
  state_.integer("state.cells", fingerprint(search_->archive().tessellation()));
  state_.real("state.seconds", seconds());
  metrics_.save(state_);
  search_->save(state_);
  rarefy::write_checkpoint(folder_.checkpoint(), state_.bytes());
  write_file_atomically(folder_.metrics(), metrics_.csv());
}

void Run::read_checkpoint(Index threads) {
  const auto name = folder_.checkpoint().string();
  const auto bytes = rarefy::read_checkpoint(folder_.checkpoint());
  StateReader in(bytes);
  try {
    const auto version = in.integer("state.version");
    if (version != kStateVersion) {
      throw Error(ErrorKind::data, "version of the state", fmt::format("{}", version),
                  fmt::format("{}: the run was made by another version of rarefy", kStateVersion));
    }
    recorded_version_ = in.text("state.rarefy");
    recorded_instruction_set_ = in.text("state.instruction_set");
    const auto saved = rarefy::resolve(parse_settings(in.text("state.config"), "checkpoint"));
    if (!(saved == essence(config_))) {
      throw Error(ErrorKind::data,
                  "config.toml does not fit the checkpoint: it was changed in more than "
                  "iterations, metrics-every and checkpoint-seconds");
    }
    const auto centroids = folder_.centroids();
    build(std::filesystem::exists(centroids) ? centroids.string() : std::string(), threads);
    if (in.integer("state.cells") != fingerprint(search_->archive().tessellation())) {
      throw Error(ErrorKind::data,
                  "the cells are not those the run was begun with: its "
                  "centroids.npy was changed or removed");
    }
    seconds_before_ = in.finite("state.seconds");
    metrics_.load(in);
    search_->load(in);
    if (!in.at_end()) throw Error(ErrorKind::corrupt, "saved state: goes on after its end");
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", name, error.what()));
  }
}

void Run::write_results() const {
  write_file_atomically(folder_.metrics(), metrics_.csv());
  const auto& archive = search_->archive();
  const auto& cells = archive.tessellation();
  const Index count = archive.size();
  const std::int64_t iteration = search_->iteration();
  std::vector<NamedArray> arrays = {
      {"solutions", archive.solutions()},
      {"objectives", archive.objectives(), {count}},
      {"features", archive.features()},
      {"cells", archive.cells(), {count}},
      {"visits", archive.visits(), {cells.cells()}},
      {"iteration", std::span(&iteration, 1), {}},
      {"lower", cells.space().lower, {cells.feature_dim()}},
      {"upper", cells.space().upper, {cells.feature_dim()}},
  };
  for (auto& array : cells.arrays()) arrays.push_back(std::move(array));
  write_npz(folder_.archive(), arrays);
  write_picture();
}

void Run::write_picture() const {
  write_file_atomically(folder_.heatmap(), picture_of(search_->archive(), domain_->info(), config_,
                                                      search_->iteration()));
}

void Run::write_density() {
  auto* const density = dynamic_cast<DensityEstimate*>(&search_->density());
  if (density == nullptr) {
    throw Error(ErrorKind::parameter, "density", fmt::format("a run of {}", config_.algorithm),
                "a run of dds-kde or dds-cnf: other algorithms do not estimate one");
  }
  if (!density->informed()) {
    throw Error(ErrorKind::parameter, "density", "a run of 0 iterations",
                "at least one: nothing has been seen yet");
  }
  const auto raster = density_raster(*density, domain_->info(), search_->workers());
  write_npz(folder_.density_values(), std::vector<NamedArray>{
                                          {"log_density", raster.log_density},
                                          {"x", raster.x, {static_cast<Index>(raster.x.size())}},
                                          {"y", raster.y, {static_cast<Index>(raster.y.size())}},
                                          {"samples", density->samples()},
                                      });
  const auto map = density_map(raster, *density, domain_->info(), config_, search_->iteration());
  write_file_atomically(folder_.density_picture(), pictures::render_png(map));
}

}  // namespace rarefy
