#include "iteration.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "stopwatch.hpp"

namespace rarefy::bench {
namespace {

struct Watches {
  Stopwatch ask, evaluate, score, observe, tell;
};

// A density that is timed, and otherwise the one it holds.
class TimedDensity : public Density {
 public:
  TimedDensity(std::unique_ptr<Density> density, Watches& watches)
      : density_(std::move(density)), watches_(watches) {}
  [[nodiscard]] std::string_view name() const override { return density_->name(); }
  [[nodiscard]] Index feature_dim() const override { return density_->feature_dim(); }
  [[nodiscard]] bool informed() const override { return density_->informed(); }
  void score(const Evaluated& batch, std::span<double> scores, Workers& workers) override {
    watches_.score.time([&] { density_->score(batch, scores, workers); });
  }
  [[nodiscard]] double accepts_below() const override { return density_->accepts_below(); }
  void observe(const Evaluated& batch, Workers& workers) override {
    watches_.observe.time([&] { density_->observe(batch, workers); });
  }
  void save(StateWriter& out) const override { density_->save(out); }
  void load(StateReader& in) override { density_->load(in); }

 private:
  std::unique_ptr<Density> density_;
  Watches& watches_;
};

}  // namespace

IterationTimes time_iteration(const std::string& domain, Index threads) {
  return time_iteration(default_config(domain), threads);
}

IterationTimes time_iteration(const Config& config, Index threads) {
  const auto domain = make_domain(config);
  Workers workers(threads);
  auto parts =
      make_parts(config, domain->info(), make_tessellation(config, domain->info(), workers));
  Watches watches;
  parts.density = std::make_unique<TimedDensity>(std::move(parts.density), watches);
  auto options = make_search_options(config);
  options.threads = threads;
  Search search(std::move(parts), options);
  ThreadsEvaluator evaluator(*domain, search.workers());
  Batch features(search.candidates(), search.feature_dim());
  std::vector<double> objectives(static_cast<std::size_t>(search.candidates()));

  const auto iterate = [&] {
    const auto solutions = watches.ask.time([&] { return search.ask(); });
    watches.evaluate.time([&] { evaluator.evaluate(solutions, {features, objectives}); });
    watches.tell.time([&] { search.tell(features, objectives); });
  };
  while (search.evaluations() < 2 * config.density.buffer || search.iteration() < 100) iterate();

  constexpr int kRounds = 7;
  constexpr int kIterations = 60;
  std::vector<IterationTimes> rounds;
  for (int round = 0; round < kRounds; ++round) {
    watches = {};
    for (int i = 0; i < kIterations; ++i) iterate();
    constexpr double kScale = 1e3 / kIterations;
    const double scored = watches.score.seconds() + watches.observe.seconds();
    rounds.push_back({.ask = kScale * watches.ask.seconds(),
                      .evaluate = kScale * watches.evaluate.seconds(),
                      .score = kScale * watches.score.seconds(),
                      .observe = kScale * watches.observe.seconds(),
                      .record_and_adapt = kScale * (watches.tell.seconds() - scored)});
  }
  // The median round, by its whole: stages of one round belong together.
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end(),
                   [](const auto& a, const auto& b) { return a.whole() < b.whole(); });
  return rounds[kRounds / 2];
}

}  // namespace rarefy::bench
