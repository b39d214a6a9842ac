// Multiplies a table of an experiment's file out.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rarefy/core/error.hpp"
#include "trials/config_difference.hpp"
#include "trials/matrix_table.hpp"
#include "trials/trial_name.hpp"

namespace rarefy {
namespace {

// Unless somebody says otherwise: pages and plots of experiments show how the cells fill.
constexpr std::string_view kFrames = "frames";
constexpr std::int64_t kFramesOfTrials = 21;

// Which value each choice has at present: one row of the matrix.
struct MatrixRow {
  std::string profile, domain, algorithm;  // empty: not named
  std::vector<std::size_t> values;
};

class TrialMaker {
 public:
  TrialMaker(const MatrixTable& table, std::vector<PlannedTrial>& trials, TomlProblems& problems)
      : table_(table), trials_(trials), problems_(problems), effective_(table.choices.size()) {
    for (const auto& trial : trials) known_.emplace(trial.name, &trial - trials.data());
  }

  void make() {
    const std::vector<std::string> unnamed = {""};
    const auto each = [&](const std::vector<std::string>& names) -> const auto& {
      return names.empty() ? unnamed : names;
    };
    for (const auto& profile : each(table_.profiles)) {
      for (const auto& domain : each(table_.domains)) {
        for (const auto& algorithm : each(table_.algorithms)) {
          MatrixRow row = {profile, domain, algorithm,
                           std::vector<std::size_t>(table_.choices.size())};
          do {
            if (full_) return;
            problems_.collect(table_.where, [&] { add_row(row); });
          } while (advance(row));
        }
      }
    }
    if (!any_row_) return;  // that has been told
    for (std::size_t i = 0; i < table_.choices.size(); ++i) {
      if (effective_[i]) continue;
      problems_.add(table_.choices[i].where,
                    fmt::format("{} has no effect here: {}", table_.choices[i].parameter->name,
                                why_idle_[i]));
    }
  }

 private:
  // The last choice varies fastest.
  [[nodiscard]] bool advance(MatrixRow& row) const {
    for (std::size_t i = row.values.size(); i-- > 0;) {
      if (++row.values[i] < table_.choices[i].values.size()) return true;
      row.values[i] = 0;
    }
    return false;
  }

  [[nodiscard]] Settings sources_of(const MatrixRow& row) const {
    auto settings = table_.base;
    const auto& own = settings.own_problem;
    if (!row.domain.empty() && !(own && own->name == row.domain)) {
      settings.own_problem.reset();
      settings.set("domain", row.domain);
    }
    if (settings.find("domain") == nullptr) {
      throw Error(ErrorKind::parameter, fmt::format("no domain: expected domains = [...] ({})",
                                                    parameter_named("domain").expected()));
    }
    if (!row.algorithm.empty()) settings.set("algorithm", row.algorithm);
    if (!row.profile.empty()) settings.set("profile", row.profile);
    const auto* const framed = settings.find(kFrames);
    if (framed == nullptr || !framed->chosen) settings.set(kFrames, kFramesOfTrials);
    return settings;
  }

  [[nodiscard]] Config config_of(const MatrixRow& row, const std::vector<bool>& left_out) const {
    auto settings = sources_of(row);
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (left_out[i]) continue;
      const auto& choice = table_.choices[i];
      settings.set(choice.parameter->name, choice.values[row.values[i]]);
    }
    settings.set("seed", table_.seeds.front());
    auto config = resolve(settings);
    if (config.program.any() && !config.own_problem) {
      throw Error(ErrorKind::parameter,
                  fmt::format("domain: got '{}', expected none: the program of the base evaluates "
                              "a problem of its own",
                              config.domain));
    }
    return config;
  }

  void add_row(const MatrixRow& row) {
    std::vector<bool> left_out(row.values.size());
    const auto whole = config_of(row, left_out);
    // What means nothing to this row is not part of it; it must mean something to another.
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      const auto why = reason_without_effect(whole, *table_.choices[i].parameter);
      left_out[i] = !why.empty();
      if (why.empty()) effective_[i] = true;
      if (why_idle_.size() <= i) why_idle_.push_back(why);
    }
    any_row_ = true;
    const auto config = config_of(row, left_out);
    std::vector<TrialNamePart> parts;
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      const auto& choice = table_.choices[i];
      if (choice.in_name() && !left_out[i]) {
        parts.emplace_back(choice.parameter->name, text_of(choice.parameter->get(config)));
      }
    }
    for (const auto seed : table_.seeds) add_trial(config, parts, seed);
  }

  void add_trial(Config config, const std::vector<TrialNamePart>& parts, std::int64_t seed) {
    config.seed = seed;
    auto name = trial_name(config, parts);
    const auto [known, is_new] = known_.emplace(name, trials_.size());
    if (is_new) {
      if (trials_.size() == kMostTrials) {
        full_ = true;
        throw Error(ErrorKind::parameter,
                    fmt::format("more trials than can be meant, expected at most {}", kMostTrials));
      }
      trials_.push_back({std::move(name), std::move(config)});
      return;
    }
    const auto& other = trials_[known->second].config;
    if (other == config) return;
    throw Error(ErrorKind::parameter, fmt::format("two trials would be '{}', and differ: {}", name,
                                                  config_difference(other, config)));
  }

  const MatrixTable& table_;
  std::vector<PlannedTrial>& trials_;
  TomlProblems& problems_;
  std::map<std::string, std::size_t, std::less<>> known_;  // trials by name
  std::vector<bool> effective_;                            // choices, on some row
  std::vector<std::string> why_idle_;                      // as the first row has it
  bool any_row_ = false, full_ = false;
};

}  // namespace

void add_trials(const MatrixTable& table, std::vector<PlannedTrial>& trials,
                TomlProblems& problems) {
  TrialMaker(table, trials, problems).make();
}

}  // namespace rarefy
