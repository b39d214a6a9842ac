#include "rarefy/trials/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "rarefy/storage/folder.hpp"
#include "rarefy/trials/look_at_trial.hpp"
#include "trials/read_trial.hpp"
#include "trials/result_rows.hpp"
#include "trials/results_file.hpp"
#include "trials/text_file.hpp"

namespace rarefy {
namespace {

// Without its seed, a name is that of a row.
std::string_view row_in(std::string_view name) { return name.substr(0, name.rfind('/')); }

// What tells the rows of an experiment apart, by the names of trials.
std::map<std::string, std::string, std::less<>> parameters_by_trial(const Experiment& experiment) {
  std::vector<Trial> trials;
  std::set<std::string, std::less<>> known;
  for (const auto& planned : experiment.trials) {
    if (!known.emplace(row_in(planned.name)).second) continue;  // one of each is enough
    auto& trial = trials.emplace_back();
    trial.config = planned.config;
    trial.folder = planned.name;
  }
  std::map<std::string, std::string, std::less<>> found;
  for (const auto& row : make_rows(std::move(trials), RowOrder::as_given)) {
    std::string text;
    for (const auto& [name, value] : row.parameters) {
      if (!text.empty()) text += "; ";
      text += value.empty() ? "no " + name : fmt::format("{} {}", name, value);
    }
    for (const auto& trial : row.trials) found.emplace(row_in(trial.folder.string()), text);
  }
  return found;
}

std::set<std::string, std::less<>> recorded_in(const FilePlace& results) {
  constexpr std::uintmax_t kMost = std::uintmax_t{1} << 30;
  if (!results.exists()) return {};
  return trials_named_in(text_of_file(results, kMost));
}

}  // namespace

TrialBoard::TrialBoard(const Experiment& experiment, const ExperimentFolder& folder, bool overwrite)
    : places_(folder.places()) {
  const auto recorded = recorded_in(places_.results());
  const auto parameters = parameters_by_trial(experiment);
  std::map<std::string, std::size_t, std::less<>> rows;
  for (const auto& planned : experiment.trials) {
    auto& entry = entries_.emplace_back();
    entry.name = planned.name;
    entry.config = planned.config;
    const auto row_name = row_in(planned.name);
    if (const auto found = parameters.find(row_name); found != parameters.end()) {
      entry.parameters = found->second;
    }
    entry.row = rows.emplace(row_name, rows.size()).first->second;
    rows_.resize(rows.size());
    look_at(planned, entry, recorded.contains(planned.name), overwrite);
  }
  if (differing_ > 0) {
    throw Error(ErrorKind::parameter,
                fmt::format("{} of the trials in '{}' were run with another configuration; name "
                            "another folder, or run them anew with --overwrite:{}",
                            differing_, places_.folder.string(), differences_));
  }
  folder.keep(experiment);
  write_results();
  make_queue();
}

void TrialBoard::look_at(const PlannedTrial& planned, Entry& entry, bool recorded, bool overwrite) {
  constexpr std::size_t kTold = 5;
  TrialLook look;
  try {
    look = look_at_trial(planned, places_);
  } catch (const Error& error) {
    if (overwrite) {
      entry.anew = true;
      return;
    }
    look.difference = error.what();
  }
  if (!look.difference.empty()) {
    entry.anew = overwrite;
    if (overwrite) return;
    if (++differing_ <= kTold) {
      differences_ += fmt::format("\n{}: {}", planned.name, look.difference);
    } else if (differing_ == kTold + 1) {
      differences_ += "\n...";
    }
    return;
  }
  // One that was killed between its last iteration and its last file is taken up once more, which
  // costs little.
  if (look.trial.state == TrialState::finished && recorded) note_finished(entry, look.trial);
}

// The first seed of every row, then the second, and so on: what is known early is known of all.
void TrialBoard::make_queue() {
  std::vector<std::size_t> places(rows_.size());
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto place = places[entries_[i].row]++;
    if (entries_[i].state == State::waiting) order.emplace_back(place, i);
  }
  std::ranges::stable_sort(order, {}, &std::pair<std::size_t, std::size_t>::first);
  for (const auto& [place, trial] : order) queue_.push_back(trial);
}

std::optional<std::size_t> TrialBoard::next() {
  if (queue_.empty()) return std::nullopt;
  const auto trial = queue_.front();
  queue_.pop_front();
  running_.push_back(trial);
  auto& entry = entries_[trial];
  entry.state = State::running;
  std::error_code ignored;  // it is written anew, if need be
  std::filesystem::remove(places_.failure(entry.name), ignored);
  return trial;
}

TrialOrder TrialBoard::order(std::size_t trial) const {
  const auto& entry = entries_[trial];
  return {.config = entry.config, .folder = places_.trial(entry.name), .anew = entry.anew};
}

const std::string& TrialBoard::name(std::size_t trial) const { return entries_[trial].name; }

void TrialBoard::heard(std::size_t trial, const TrialNews& news) {
  auto& entry = entries_[trial];
  entry.news = news;
  if (entry.since_iteration >= 0) return;
  entry.since = Clock::now();
  entry.since_iteration = news.iteration;
}

void TrialBoard::finished(std::size_t trial) {
  auto& entry = entries_[trial];
  auto found = read_trial(places_.trial(entry.name));
  if (!found || found->metrics.empty()) {
    return failed(trial, fmt::format("'{}' was removed while the trial was under way",
                                     places_.trial(entry.name).string()));
  }
  std::erase(running_, trial);
  note_finished(entry, *found);
  events_.push_back({.kind = TrialEvent::Kind::finished,
                     .name = entry.name,
                     .coverage = found->metrics.back().coverage,
                     .seconds = found->metrics.back().seconds,
                     .warnings = found->warnings});
  write_results();
}

void TrialBoard::note_finished(Entry& entry, const Trial& trial) {
  entry.state = State::finished;
  entry.warned = !trial.warnings.empty();
  entry.line = results_line(trial, entry.name, entry.parameters);
  rows_[entry.row].seconds += trial.metrics.back().seconds;
  ++rows_[entry.row].finished;
}

void TrialBoard::failed(std::size_t trial, const std::string& error) {
  auto& entry = entries_[trial];
  std::erase(running_, trial);
  entry.state = State::failed;
  events_.push_back({.kind = TrialEvent::Kind::failed, .name = entry.name, .error = error});
  try {
    const auto file = places_.failure(entry.name);
    (void)Folder::make(file.parent_path());
    write_file_atomically(file, error + "\n");
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a full disk may be why it failed
  }
}

void TrialBoard::stopped(std::size_t trial) {
  std::erase(running_, trial);
  entries_[trial].state = State::stopped;
}

void TrialBoard::write_results() const {
  auto text = results_header();
  for (const auto& entry : entries_) text += entry.line;
  write_file_atomically(places_.results(), text);
}

// By how fast it goes itself, where it has got anywhere since it was first heard of.
std::optional<double> TrialBoard::own_pace(const Entry& entry) {
  if (entry.state != State::running || entry.since_iteration < 0) return std::nullopt;
  const auto done = entry.news.iteration - entry.since_iteration;
  if (done <= 0) return std::nullopt;
  const std::chrono::duration<double> spent = Clock::now() - entry.since;
  return spent.count() / static_cast<double>(done);
}

// Seconds an iteration takes: its own, or those of trials of the same row.
std::optional<double> TrialBoard::pace(const Entry& entry) const {
  if (const auto own = own_pace(entry)) return own;
  const auto& row = rows_[entry.row];
  if (row.finished > 0) {
    return row.seconds / static_cast<double>(row.finished) /
           static_cast<double>(entry.config.iterations);
  }
  for (const auto trial : running_) {
    if (entries_[trial].row != entry.row) continue;
    if (const auto there = own_pace(entries_[trial])) return there;
  }
  return std::nullopt;
}

// Rows of which nothing is known take as long as the others, on average.
std::optional<double> TrialBoard::time_left(std::size_t places) const {
  double known = 0, longest = 0;
  std::size_t count = 0, unknown = 0;
  const auto add = [&](std::size_t trial) {
    const auto& entry = entries_[trial];
    if (const auto each = pace(entry)) {
      const auto seconds =
          *each * static_cast<double>(entry.config.iterations - entry.news.iteration);
      known += seconds;
      longest = std::max(longest, seconds);
      ++count;
    } else {
      ++unknown;
    }
  };
  for (const auto trial : running_) add(trial);
  for (const auto trial : queue_) add(trial);
  if (count == 0) return std::nullopt;
  const auto all = known * static_cast<double>(count + unknown) / static_cast<double>(count);
  return std::max(longest, all / static_cast<double>(std::max<std::size_t>(1, places)));
}

ExperimentProgress TrialBoard::progress(std::size_t places) {
  ExperimentProgress now;
  now.trials = entries_.size();
  now.waiting = queue_.size();
  for (const auto& entry : entries_) {
    if (entry.state == State::finished) ++now.finished;
    if (entry.state == State::failed) ++now.failed;
  }
  for (const auto trial : running_) {
    const auto& entry = entries_[trial];
    now.running.push_back({.name = entry.name,
                           .iteration = entry.news.iteration,
                           .iterations = entry.config.iterations,
                           .coverage = entry.news.coverage});
  }
  now.events = std::exchange(events_, {});
  now.time_left = time_left(places);
  return now;
}

ExperimentOutcome TrialBoard::outcome() const {
  ExperimentOutcome outcome;
  for (const auto& entry : entries_) {
    if (entry.state == State::finished) {
      ++outcome.finished;
      outcome.warned += entry.warned ? 1 : 0;
    } else if (entry.state == State::failed) {
      ++outcome.failed;
    } else {
      ++outcome.left;
    }
  }
  return outcome;
}

}  // namespace rarefy
