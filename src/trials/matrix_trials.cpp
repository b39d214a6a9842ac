#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rarefy/core/error.hpp"
#include "trials/config_difference.hpp"
#include "trials/matrix_table.hpp"

namespace rarefy {
namespace {

// Unless somebody says otherwise: pages and plots of experiments show how the cells fill.
constexpr std::string_view kFrames = "frames";
constexpr std::int64_t kFramesOfTrials = 21;

// The domain must be one, and the frames are those of trials.
Settings with_sources(Settings settings, const std::string& profile, const std::string& domain,
                      const std::string& algorithm) {
  const auto& own = settings.own_problem;
  if (!domain.empty() && !(own && own->name == domain)) {
    settings.own_problem.reset();
    settings.set("domain", domain);
  }
  if (settings.find("domain") == nullptr) {
    throw Error(ErrorKind::parameter, fmt::format("no domain: expected domains = [...] ({})",
                                                  parameter_named("domain").expected()));
  }
  if (!algorithm.empty()) settings.set("algorithm", algorithm);
  if (!profile.empty()) settings.set("profile", profile);
  const auto* const framed = settings.find(kFrames);
  if (framed == nullptr || !framed->chosen) settings.set(kFrames, kFramesOfTrials);
  return settings;
}

}  // namespace

// Which of its values each choice of a table has.
struct MatrixTrials::Row {
  std::string profile, domain, algorithm;  // empty: not named
  std::vector<std::size_t> values;

  // To the next combination; the last choice varies fastest.
  [[nodiscard]] bool advance(const MatrixTable& table) {
    for (std::size_t i = values.size(); i-- > 0;) {
      if (++values[i] < table.choices[i].values.size()) return true;
      values[i] = 0;
    }
    return false;
  }

  [[nodiscard]] Config config(const MatrixTable& table, const std::vector<bool>& left_out) const {
    auto settings = with_sources(table.base, profile, domain, algorithm);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (left_out[i]) continue;
      const auto& choice = table.choices[i];
      settings.set(choice.parameter->name, choice.values[values[i]]);
    }
    settings.set("seed", table.seeds.front());
    auto made = resolve(settings);
    if (made.program.any() && !made.own_problem) {
      throw Error(ErrorKind::parameter,
                  fmt::format("domain: got '{}', expected none: the program of the base evaluates "
                              "a problem of its own",
                              made.domain));
    }
    return made;
  }
};

void MatrixTrials::add(const MatrixTable& table) {
  const std::vector<std::string> unnamed = {""};
  const auto each = [&](const std::vector<std::string>& names) -> const auto& {
    return names.empty() ? unnamed : names;
  };
  for (const auto& profile : each(table.profiles)) {
    for (const auto& domain : each(table.domains)) {
      for (const auto& algorithm : each(table.algorithms)) {
        Row row = {profile, domain, algorithm, std::vector<std::size_t>(table.choices.size())};
        do {
          if (full_) return;
          problems_.collect(table.where, [&] { add_row(table, row); });
        } while (row.advance(table));
      }
    }
  }
}

std::vector<PlannedTrial> MatrixTrials::take() {
  for (const auto& use : uses_) {
    if (use.effective) continue;
    problems_.add(use.where,
                  fmt::format("{} has no effect here: {}", use.parameter->name, use.why_not));
  }
  problems_.tell();
  return std::move(trials_);
}

MatrixTrials::Use& MatrixTrials::use_of(const MatrixChoice& choice) {
  const auto known = std::ranges::find_if(uses_, [&](const Use& use) {
    return use.parameter == choice.parameter && use.where.begin == choice.where.begin;
  });
  if (known != uses_.end()) return *known;
  return uses_.emplace_back(Use{choice.parameter, choice.where, false, ""});
}

void MatrixTrials::add_row(const MatrixTable& table, const Row& row) {
  std::vector<bool> left_out(row.values.size());
  const auto whole = row.config(table, left_out);
  // What means nothing to this row is not part of it; it must mean something to another.
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const auto why = reason_without_effect(whole, *table.choices[i].parameter);
    left_out[i] = !why.empty();
    auto& use = use_of(table.choices[i]);
    use.effective = use.effective || why.empty();
    if (use.why_not.empty()) use.why_not = why;
  }
  const auto config = row.config(table, left_out);
  std::vector<TrialNamePart> parts;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const auto& choice = table.choices[i];
    if (choice.in_name() && !left_out[i]) {
      parts.emplace_back(choice.parameter->name, text_of(choice.parameter->get(config)));
    }
  }
  for (const auto seed : table.seeds) add_trial(config, parts, seed);
}

void MatrixTrials::add_trial(Config config, std::span<const TrialNamePart> parts,
                             std::int64_t seed) {
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

}  // namespace rarefy
