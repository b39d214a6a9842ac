#include "experiment_display.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "rarefy/core/say.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/runs/progress.hpp"

namespace rarefy::command {
namespace {

constexpr auto kPlainPause = std::chrono::seconds(30);

struct TerminalSize {
  std::size_t columns = 80, rows = 24;
};

TerminalSize terminal_size() {
  winsize size{};
  TerminalSize found;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return found;
  if (size.ws_col > 0) found.columns = size.ws_col;
  if (size.ws_row > 0) found.rows = size.ws_row;
  return found;
}

bool stands_before_a_terminal() {
  const auto* const term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): before any thread
  return isatty(STDERR_FILENO) == 1 && !(term != nullptr && std::string_view(term) == "dumb");
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string counts(const ExperimentProgress& now) {
  auto text = fmt::format("{} of {} done", with_commas(static_cast<std::int64_t>(now.finished)),
                          with_commas(static_cast<std::int64_t>(now.trials)));
  if (now.failed > 0) text += fmt::format(", {} failed", now.failed);
  if (!now.running.empty()) text += fmt::format(", {} running", now.running.size());
  if (now.waiting > 0) text += fmt::format(", {} waiting", now.waiting);
  if (now.time_left) text += fmt::format(", about {} left", as_clock(*now.time_left));
  return text;
}

std::string bar(const ExperimentProgress& now, std::size_t width) {
  // Running ones count by how far they are.
  auto done = static_cast<double>(now.finished + now.failed);
  for (const auto& trial : now.running) {
    done += static_cast<double>(trial.iteration) /
            static_cast<double>(std::max<std::int64_t>(1, trial.iterations));
  }
  const auto part = done / static_cast<double>(std::max<std::size_t>(1, now.trials));
  const auto filled = std::min(width, static_cast<std::size_t>(static_cast<double>(width) * part));
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(width - filled, '.'));
}

std::vector<std::string> lines_of(const ExperimentProgress& now, const TerminalSize& size) {
  const std::size_t bar_width = size.columns >= 100 ? 20 : 10;
  std::vector<std::string> lines;
  lines.push_back(size.columns >= 60 ? bar(now, bar_width) + " " + counts(now) : counts(now));
  std::size_t name_width = 0;
  for (const auto& trial : now.running) name_width = std::max(name_width, trial.name.size());
  const auto room = std::max<std::size_t>(1, size.rows > 3 ? size.rows - 3 : 1);
  for (const auto& trial : now.running) {
    if (lines.size() == room && now.running.size() > room) {
      lines.push_back(fmt::format("  and {} more", now.running.size() + 1 - lines.size()));
      break;
    }
    lines.push_back(fmt::format("  {:<{}}  {:>7} of {}  coverage {:.2f} %", trial.name, name_width,
                                with_commas(trial.iteration), with_commas(trial.iterations),
                                100.0 * trial.coverage));
  }
  // The last column stays free, or some terminals would begin another line.
  for (auto& line : lines) {
    line = printable(line);
    if (line.size() >= size.columns) line.resize(size.columns - 1);
  }
  return lines;
}

std::string warnings_in(const TrialEvent& event) {
  std::string text;
  for (const auto& warning : event.warnings) {
    text += fmt::format("rarefy: {}: warning: {}\n", event.name, warning);
  }
  return text;
}

std::string line_of(const TrialEvent& event) {
  if (event.kind == TrialEvent::Kind::failed) {
    return fmt::format("rarefy: {} failed: {}\n", event.name, first_line(event.error));
  }
  return fmt::format("{}: coverage {:.2f} %, {}", event.name, 100.0 * event.coverage,
                     as_clock(event.seconds));
}

}  // namespace

ExperimentDisplay::ExperimentDisplay(bool quiet, StopFlag stop)
    : quiet_(quiet),
      terminal_(!quiet && stands_before_a_terminal()),
      stop_(stop),
      last_(Clock::now()) {}

void ExperimentDisplay::show(const ExperimentProgress& progress) {
  // The message about an interrupt stands below what was drawn.
  if (!stop_seen_ && stop_asked(stop_)) {
    stop_seen_ = true;
    leave();
  }
  for (const auto& event : progress.events) {
    const auto text = event.kind == TrialEvent::Kind::failed ? line_of(event) : warnings_in(event);
    if (text.empty()) continue;
    erase();
    say(text);
  }
  if (terminal_) {
    draw(progress);
  } else if (!quiet_) {
    tell(progress);
  }
}

void ExperimentDisplay::draw(const ExperimentProgress& progress) {
  const auto lines = lines_of(progress, terminal_size());
  std::string text = drawn_ > 0 ? fmt::format("\x1b[{}A", drawn_) : "";
  for (const auto& line : lines) text += "\r\x1b[K" + line + "\n";
  text += "\x1b[J";  // of more lines than there are now
  say_as_is(text);
  drawn_ = lines.size();
}

void ExperimentDisplay::tell(const ExperimentProgress& progress) {
  const auto now = Clock::now();
  for (const auto& event : progress.events) {
    if (event.kind == TrialEvent::Kind::failed) continue;
    say(fmt::format("{}\n", line_of(event)));
  }
  const bool any = !progress.events.empty();
  if ((!any && now - last_ < kPlainPause) || (any && now - last_ < std::chrono::seconds(1))) return;
  last_ = now;
  say(counts(progress) + "\n");
}

void ExperimentDisplay::erase() {
  if (drawn_ > 0) say_as_is(fmt::format("\x1b[{}A\r\x1b[J", drawn_));
  drawn_ = 0;
}

void ExperimentDisplay::leave() { drawn_ = 0; }

}  // namespace rarefy::command
