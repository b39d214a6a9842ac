// rarefy watch
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "loopback_server.hpp"
#include "options.hpp"
#include "output.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"
#include "rarefy/core/say.hpp"
#include "rarefy/reports/live_page.hpp"
#include "rarefy/runs/interrupt.hpp"

namespace rarefy::command {
namespace {

struct WatchOptions {
  std::vector<std::string> folders;
  std::uint16_t port = 0;
  bool no_open = false;
};

// What the page and its parts are asked for.
Reply answer_of(const LivePage& page, const std::string& document, std::string_view path) {
  constexpr std::string_view kFrames = "/frames/";
  if (path == "/") return {.type = "text/html; charset=utf-8", .body = document};
  if (path == "/report.html") {
    try {
      return {.type = "text/html; charset=utf-8",
              .body = page.as_report(),
              .download_name = "report.html"};
    } catch (const Error& error) {
      return {.status = 404, .body = std::string(error.what()) + "\n"};
    }
  }
  if (path.substr(0, kFrames.size()) == kFrames) {
    const auto row = parse_integer(path.substr(kFrames.size()));
    if (row && *row >= 0) {
      if (auto frames = page.frames(static_cast<std::size_t>(*row))) {
        return {.type = "application/json", .body = std::move(*frames)};
      }
    }
  }
  return {.status = 404, .body = "there is nothing of that name\n"};
}

// A browser of the user's, where there is a desktop to show one.
void open_in_browser(const std::string& address) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files) != 0) return;
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
  }
  std::string program = "xdg-open", argument = address;
  char* const words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;  // not waited for: it may live as long as the browser does
  // Where there is no such program, the address has been printed.
  (void)posix_spawnp(&child, program.c_str(), &files, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&files);
}

// Looks at the folders about once a second. To read many runs takes longer: then a tenth of the
// time at most is spent on it.
void serve_until_interrupted(LivePage& page, LoopbackServer& server,
                             const std::atomic<bool>& interrupted) {
  using Clock = std::chrono::steady_clock;
  auto due = Clock::now();
  while (!interrupted) {
    if (Clock::now() >= due) {
      const auto begin = Clock::now();
      if (const auto news = page.look()) server.send(event_text(news->name, news->data));
      const auto end = Clock::now();
      due = end + std::max<Clock::duration>(std::chrono::seconds(1), 10 * (end - begin));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

int watch(const WatchOptions& options) {
  const auto document = LivePage::document();
  LivePage page({options.folders.begin(), options.folders.end()});
  static_cast<void>(page.look());  // whoever comes first sees something
  const auto& interrupted = stop_on_interrupt(
      {.first = "\n", .second = "\nleft at once; watching changes nothing in any run\n"});
  LoopbackServer server(
      {.port = options.port,
       .answer = [&](std::string_view path) { return answer_of(page, document, path); },
       .greeting =
           [&] {
             const auto all = page.everything();
             return event_text(all.name, all.data);
           }});
  const auto address = fmt::format("http://127.0.0.1:{}/", server.port());
  print_out(fmt::format("{}\nPage: {} (Ctrl-C ends it)\n",
                        page.everything().name == "wait"
                            ? "There is no run to show yet; the page fills when there is."
                            : "Results so far, and what comes:",
                        address));
  if (!options.no_open && isatty(STDOUT_FILENO) == 1) open_in_browser(address);
  serve_until_interrupted(page, server, interrupted);
  return kDone;
}

}  // namespace

void add_watch(CLI::App& app, Action& chosen) {
  auto* verb = app.add_subcommand(
      "watch", "show runs or experiments in a browser while they go on, on this machine alone");
  auto options = std::make_shared<WatchOptions>();
  verb->add_option("DIR", options->folders,
                   "folders of runs or experiments; they may come into being later")
      ->required();
  verb->add_option("--port", options->port, "port to listen at; 0: any that is free")
      ->capture_default_str();
  verb->add_flag("--no-open", options->no_open, "do not open a browser, only print the address");
  verb->callback([options, &chosen] { chosen = [options] { return watch(*options); }; });
}

}  // namespace rarefy::command
