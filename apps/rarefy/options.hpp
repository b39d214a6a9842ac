// Options that several verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/config_file.hpp"

namespace rarefy::command {

/// An option for every parameter of the given sections (all of them when none is given), as
/// --name VALUE; `domain` is left out, being a positional argument everywhere.
class ParameterOptions {
 public:
  explicit ParameterOptions(CLI::App& verb, const std::vector<std::string_view>& sections = {});

  /// What the user gave, checked.
  [[nodiscard]] Settings settings() const;
  [[nodiscard]] bool given(std::string_view name) const;
  /// What was asked for by name must have an effect: throws where an option has none.
  void refuse_idle(const Config& config) const;

 private:
  struct Given {
    const Parameter* parameter;
    std::string text;
    CLI::Option* option;
  };
  std::deque<Given> all_;  // a deque: CLI11 keeps pointers to the texts
};

/// The words of the command line. A parameter that is true or false says yes by itself, without a
/// value behind it.
class Arguments {
 public:
  Arguments(int argc, char** argv);
  ~Arguments() = default;
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  [[nodiscard]] int count() const { return static_cast<int>(words_.size()); }
  [[nodiscard]] const char* const* words() const { return words_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> words_;
};

/// --threads and --instruction-set: how a run is computed, not what.
struct MachineOptions {
  Index threads = 0;
  std::string instruction_set = "auto";

  void add_to(CLI::App& verb);
  /// Pins the instruction set.
  void apply() const;
};

/// The names of the domains, for help texts.
[[nodiscard]] std::string domain_help();

/// What is wrong with the arguments, where the parser's own text would not tell.
[[nodiscard]] std::string in_our_words(const CLI::ParseError& error);

/// Throws for an option, or an argument, that is there but empty: a variable of a script, most
/// likely, that was never set.
void refuse_empty(const CLI::App& verb);

/// Throws for arguments that no verb knows, with the nearest that one does.
void refuse_extras(const CLI::App& app);

}  // namespace rarefy::command
