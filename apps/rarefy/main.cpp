// The command `rarefy`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "commands.hpp"
#include "options.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/version.hpp"

namespace {

using namespace rarefy;
using namespace rarefy::command;

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::parameter: return kUsage;
    case ErrorKind::data:
    case ErrorKind::corrupt: return kBadData;
    case ErrorKind::io: return kSystem;
    case ErrorKind::state: break;
  }
  return kFailed;
}

int main_or_throw(int argc, char** argv) {
  CLI::App app(
      "Rarefy: finds solutions as different from each other as possible, by density "
      "descent.",
      "rarefy");
  app.set_version_flag("--version", fmt::format("rarefy {}", kVersion));
  app.require_subcommand(0, 1);
  app.footer(
      "Exit codes: 0 done, 1 unforeseen failure, 2 impossible parameter or option, 3 bad "
      "data or file,\n4 the system refused to read or write, 130 interrupted (resumable).");
  app.get_formatter()->column_width(34);

  Action chosen;
  add_run(app, chosen);
  add_resume(app, chosen);
  add_evaluate(app, chosen);
  add_list(app, chosen);
  add_show(app, chosen);
  app.allow_extras();

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& request) {
    return app.exit(request);
  } catch (const CLI::CallForAllHelp& request) {
    return app.exit(request);
  } catch (const CLI::CallForVersion& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    refuse_extras(app);  // a misspelt option tells more than the required one it was meant for
    throw Error(ErrorKind::parameter, error.what());
  }
  refuse_extras(app);
  if (!chosen) {
    fmt::print("{}", app.help());
    return kDone;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return main_or_throw(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "rarefy: {}\n", error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "rarefy: not enough memory for these parameters\n");
    return kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "rarefy: {}\n", error.what());
    return kFailed;
  }
}
