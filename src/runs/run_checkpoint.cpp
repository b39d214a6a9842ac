// The state of a run as it lies in checkpoint.bin.
#include <fmt/format.h>

#include <cmath>
#include <new>
#include <stdexcept>

#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/checkpoint.hpp"

namespace rarefy {
namespace {

// Raised whenever a saved state means something else than before.
constexpr std::int64_t kStateVersion = 7;

constexpr double kMostSeconds = 1e12;  // tens of thousands of years

// What in a configuration must not change while a run is under way. The rest (how far to go, how
// often to write) may.
Config what_decides_results(Config config) {
  const Config defaults;
  for (const auto& parameter : parameters()) {
    if (!parameter.decides_results) parameter.put(config, parameter.get(defaults));
  }
  // These themselves are in the folder.
  config.archive.centroids.clear();
  config.emitters.initial_solutions.clear();
  config.order.clear();
  config.chosen = {};
  return config;
}

}  // namespace

// A journal is used by the run that wrote it, and by no other with the same folder.
JournalOwner Run::journal_owner() const {
  const auto text = to_toml(what_decides_results(config_));
  return {.run = checksum(std::as_bytes(std::span(text))),
          .feature_dim = domain_->info().feature_space.dim()};
}

void Run::note_metrics() {
  const auto& lines = metrics_.lines();
  if (!lines.empty() && lines.back().iteration >= search_->iteration()) return;
  // A line from where the run is stopped makes way later, so that stopping leaves no trace.
  const bool regular = search_->iteration() % config_.output.metrics_every == 0;
  metrics_.add(now(), regular ? MetricsLog::Line::regular : MetricsLog::Line::makes_way);
}

// Straight into the file: the state of a fine grid is as large as the search itself.
void Run::write_checkpoint() {
  write_checkpoint_in_pieces(folder_.checkpoint(), [&](const ByteSink& sink) {
    StateWriter out(sink);
    out.integer("state.version", kStateVersion);
    out.text("state.rarefy", kVersion);
    out.text("state.instruction_set", name_of(instruction_set()));
    out.text("state.config", to_toml(what_decides_results(config_)));
    out.integer("state.cells",
                static_cast<std::int64_t>(search_->archive().tessellation().fingerprint()));
    out.real("state.seconds", seconds());
    out.real("state.processor_seconds", processor_seconds());
    out.integer("state.turns", turns_taken_);
    metrics_.save(out);
    search_->save(out);
    out.flush();
  });
  saved_iteration_ = search_->iteration();
  write_file_atomically(folder_.metrics(), metrics_.csv());
}

void Run::read_checkpoint() {
  try {
    load_checkpoint();
    return;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than any memory could hold
  }
  throw Error(ErrorKind::io,
              fmt::format("{}: not enough memory to take up the run; it is as it was",
                          folder_.checkpoint().string()));
}

void Run::load_checkpoint() {
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
    if (!(saved == what_decides_results(config_))) {
      throw Error(ErrorKind::data,
                  "config.toml does not fit the checkpoint: it was changed in more than "
                  "iterations, metrics-every, checkpoint-seconds and journal");
    }
    if (!config_.emitters.initial_solutions.empty() && !folder_.initial_solutions().exists()) {
      throw Error(ErrorKind::data, "the solutions it was begun with, initial.npy, were removed");
    }
    build_again(bytes.size());
    if (in.integer("state.cells") !=
        static_cast<std::int64_t>(search_->archive().tessellation().fingerprint())) {
      throw Error(ErrorKind::data,
                  "the cells are not those the run was begun with: its "
                  "centroids.npy was changed or removed");
    }
    seconds_before_ = in.finite("state.seconds");
    if (!(seconds_before_ >= 0 && seconds_before_ <= kMostSeconds)) {
      throw Error(ErrorKind::corrupt, "saved state: seconds", fmt::format("{}", seconds_before_),
                  fmt::format("0 to {}", kMostSeconds));
    }
    processor_before_ = in.real("state.processor_seconds");
    if (!std::isnan(processor_before_) &&
        !(processor_before_ >= 0 && processor_before_ <= kMostSeconds)) {
      throw Error(ErrorKind::corrupt, "saved state: processor seconds",
                  fmt::format("{}", processor_before_),
                  fmt::format("0 to {}, or nan where they are not known", kMostSeconds));
    }
    turns_taken_ = in.integer("state.turns", 0, std::int64_t{1} << 62);
    metrics_.load(in);
    search_->load(in);
    if (!in.at_end()) throw Error(ErrorKind::corrupt, "saved state: goes on after its end");
    saved_iteration_ = search_->iteration();
  } catch (const Error& error) {
    // What is impossible here is not what somebody asked for, but what the file says.
    const auto kind = error.kind() == ErrorKind::parameter ? ErrorKind::data : error.kind();
    throw Error(kind, fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace rarefy
