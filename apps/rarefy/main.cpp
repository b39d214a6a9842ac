// The command `rarefy`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/say.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/runs/interrupt.hpp"

namespace {

using namespace rarefy;
using namespace rarefy::command;

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::parameter: return kUsage;
    case ErrorKind::data:
    case ErrorKind::corrupt: return kBadData;
    case ErrorKind::io: return kSystem;
    case ErrorKind::interrupted: return kInterrupted;
    case ErrorKind::state: break;
  }
  return kFailed;
}

// Another rank than 0 of a job under mpirun says nothing: rank 0 has the same arguments, and does.
int serve(CLI::App& app, const Seat& seat, const Arguments& arguments) {
  try {
    app.parse(arguments.count(), arguments.words());
    refuse_extras(app);
    if (app.got_subcommand("run") || app.got_subcommand("resume")) return serve_rank_0(seat);
    if (!app.got_subcommand("experiment")) return kDone;
    const bool runs = app.get_subcommand("experiment")->got_subcommand("run");
    return runs ? serve_trials_of_rank_0(seat) : kDone;
  } catch (const CLI::Error&) {
    return kDone;
  } catch (const Error&) {
    return kDone;
  }
}

int main_or_throw(int argc, char** argv) {
  const auto seat = seat_of_process();
  CLI::App app(
      "Rarefy: finds solutions as different from each other as possible, by density "
      "descent.",
      "rarefy");
  app.set_version_flag("--version", fmt::format("rarefy {}", kVersion));
  app.require_subcommand(0, 1);
  app.footer(
      "Exit codes: 0 done, 1 unforeseen failure, 2 impossible parameter or option, 3 bad "
      "data or file,\n4 the system refused to read or write, or memory ran out in a run, 130 "
      "interrupted (resumable).");
  app.get_formatter()->column_width(34);

  Action chosen;
  add_run(app, seat, chosen);
  add_resume(app, seat, chosen);
  add_evaluate(app, chosen);
  add_check(app, chosen);
  add_list(app, chosen);
  add_show(app, chosen);
  add_experiment(app, seat, chosen);
  add_compare(app, chosen);
  add_watch(app, chosen);
  app.allow_extras();
  const Arguments arguments(argc, argv);
  if (seat.rank > 0) return serve(app, seat, arguments);

  try {
    app.parse(arguments.count(), arguments.words());
  } catch (const CLI::CallForHelp&) {
    print_out(app.help());
    return kDone;
  } catch (const CLI::CallForVersion& request) {
    print_out(std::string(request.what()) + "\n");
    return kDone;
  } catch (const CLI::ParseError& error) {
    refuse_extras(app);  // a misspelt option tells more than the required one it was meant for
    throw Error(ErrorKind::parameter, in_our_words(error));
  }
  refuse_extras(app);
  if (!chosen) {
    print_out(app.help());
    return kDone;
  }
  return chosen();
}

// Of what was asked, not of a run that was under way: that tells what it has saved.
constexpr std::string_view kNoMemory = "not enough memory for what was asked";

// What cannot be said has its exit code all the same.
int fail_with(int code, std::string_view text) noexcept {
  try {
    say(fmt::format("rarefy: {}\n", text));
  } catch (...) {
    say("rarefy: out of memory\n");
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  harden_process();
  try {
    return main_or_throw(argc, argv);
  } catch (const Error& error) {
    return fail_with(exit_code(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail_with(kUsage, kNoMemory);
  } catch (const std::length_error&) {  // more than any memory could hold
    return fail_with(kUsage, kNoMemory);
  } catch (const std::system_error& error) {  // of files, folders and threads
    return fail_with(kSystem, error.what());
  } catch (const std::exception& error) {
    return fail_with(kFailed, error.what());
  } catch (...) {
    return fail_with(kFailed, "something unforeseen");
  }
}
