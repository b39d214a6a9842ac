#include "rarefy/runs/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/say.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/experiment/memory_estimate.hpp"
#include "rarefy/runs/warnings.hpp"
#include "runs/elapsed.hpp"

namespace rarefy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRedraw = std::chrono::milliseconds(150);
constexpr auto kPlainLine = std::chrono::milliseconds(30'000);
constexpr auto kRedrawWaiting = std::chrono::milliseconds(1'000);
constexpr double kLongBatch = 2.0;  // seconds
constexpr double kSilent = 10.0;
constexpr std::size_t kWide = 1000;  // no limit

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::string as_clock(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

Progress::Progress(const Run& run, bool quiet)
    : run_(run),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      began_(Clock::now()),
      last_(began_) {
  const auto* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (term != nullptr && std::string_view(term) == "dumb") terminal_ = false;
}

Progress::~Progress() { end_line(); }

void Progress::begin(const Search& search) {
  began_at_ = search.iteration();
  began_ = last_ = Clock::now();
  if (const auto& why = run_.folder().why_not_locked(); !why.empty()) {
    say(
        fmt::format("warning: the folder cannot be locked ({}): take care that nobody else uses "
                    "it\n",
                    why));
  }
  const auto warning = memory_warning(run_.config(), run_.domain().info(),
                                      {.cells = search.archive().tessellation().cells()});
  if (!warning.empty()) say(fmt::format("warning: {}\n", warning));
}

std::string Progress::status(std::size_t room) const {
  const auto& search = run_.search();
  const auto& config = run_.config();
  const auto done = search.iteration() - began_at_;
  const double spent = std::max(1e-9, seconds_since(began_));
  const double rate = static_cast<double>(done * search.candidates()) / spent;
  const double left = static_cast<double>(config.iterations - search.iteration()) * spent /
                      static_cast<double>(done);
  struct Part {
    int importance;  // the least important are left out first where there is no room
    std::string text;
    bool shown = false;
  };
  std::array<Part, 4> parts = {{
      {3, fmt::format("coverage {:.2f} %", 100.0 * coverage(search.archive()))},
      {1, fmt::format("cross-entropy {:.2f}",
                      cross_entropy(search.archive().visits(), config.output.entropy_floor))},
      {0, fmt::format("{} solutions/s", with_commas(static_cast<std::int64_t>(rate)))},
      {2, fmt::format("{} left", as_clock(left))},
  }};
  std::string text =
      fmt::format("{}/{}", with_commas(search.iteration()), with_commas(config.iterations));
  auto used = text.size();
  for (int importance = 3; importance >= 0; --importance) {
    for (auto& part : parts) {
      if (part.importance != importance) continue;
      used += 2 + part.text.size();
      part.shown = used <= room;
    }
  }
  for (const auto& part : parts) {
    if (part.shown) text += "  " + part.text;
  }
  return text;
}

void Progress::waiting(const Search& search, const Awaited& batch) {
  warn_of_silence(batch);
  // The lines of iterations do where they come often enough.
  if (quiet_ || batch.rows == 0 || batch.seconds < kLongBatch) return;
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? kRedrawWaiting : kPlainLine)) return;
  last_ = now;
  auto text =
      fmt::format("{}/{}  iteration {}: {} of {} evaluated in {}", with_commas(search.iteration()),
                  with_commas(run_.config().iterations), with_commas(search.iteration() + 1),
                  with_commas(batch.done), with_commas(batch.rows), as_clock(batch.seconds));
  if (terminal_) {
    draw_line(search, [&](std::size_t /*room*/) { return text; });
  } else {
    say(text + "\n");
  }
}

// A program that keeps its answers in a buffer would be waited for without end.
void Progress::warn_of_silence(const Awaited& batch) {
  constexpr std::string_view kSilence = "silence";
  const auto* const program = run_.program();
  const auto& choice = run_.config().program;
  if (program == nullptr || choice.timeout > 0 || batch.seconds < kSilent) return;
  if (program->counts().rows_done > 0 || run_.search().evaluations() > 0) return;
  if (std::find(warned_.begin(), warned_.end(), kSilence) != warned_.end()) return;
  warned_.emplace_back(kSilence);
  end_line();
  say(fmt::format(
      "warning: no answer in {:.0f} s from: {}\n  That may be as it should. If not: does it "
      "flush every answer, and read line by line? With --timeout SECONDS, workers that "
      "say nothing are ended.\n",
      batch.seconds, printable(choice.command)));
}

Next Progress::iteration_done(const Search& search) {
  warn(search);
  if (!quiet_) draw(search);
  return Next::go_on;
}

void Progress::draw(const Search& search) {
  const auto now = Clock::now();
  const auto total = std::max<std::int64_t>(1, run_.config().iterations);
  if (!terminal_) {
    // Every tenth of the way, but not more often than every second, and every half minute.
    const auto tenth = search.iteration() * 10 / total;
    const bool due = tenth > last_tenth_ && now - last_ >= std::chrono::seconds(1);
    if (!due && now - last_ < kPlainLine) return;
    last_ = now;
    last_tenth_ = tenth;
    say(status(kWide) + "\n");
    return;
  }
  if (drawn_ && now - last_ < kRedraw && search.iteration() < total) return;
  last_ = now;
  draw_line(search, [&](std::size_t room) { return status(room); });
}

void Progress::draw_line(const Search& search,
                         const std::function<std::string(std::size_t room)>& text) {
  const auto total = std::max<std::int64_t>(1, run_.config().iterations);
  // The bar takes a fifth of the line, and the last columns stay free for the ^C of an interrupt.
  const auto columns = terminal_width();
  const auto width = columns > 12 ? columns - 3 : columns - 1;
  std::string line;
  if (width >= 30) {
    const auto bar = std::clamp<std::size_t>(width / 5, 8, 40);
    const auto filled = static_cast<std::size_t>(static_cast<double>(bar) *
                                                 static_cast<double>(search.iteration()) /
                                                 static_cast<double>(total));
    line = fmt::format("[{}{}]  ", std::string(filled, '#'), std::string(bar - filled, '.'));
  }
  line += text(width - line.size());
  if (line.size() > width) line.resize(width);
  say_as_is("\r\x1b[K" + line);
  drawn_ = true;
}

// Each kind once; the summary tells how it went on.
void Progress::warn(const Search& search) {
  for (const auto& [kind, text] : warnings_of(search)) {
    if (std::find(warned_.begin(), warned_.end(), kind) != warned_.end()) continue;
    end_line();
    say(fmt::format("warning: {}\n", text));
    warned_.push_back(kind);
  }
}

void Progress::end(const Search& /*search*/, DriveEnd /*end*/) { end_line(); }

void Progress::end_line() {
  if (drawn_) say("\n");
  drawn_ = false;
}

}  // namespace rarefy
