#include "rarefy/runs/drive.hpp"

#include <algorithm>

#include "runs/observed.hpp"

namespace rarefy {

bool somebody_stops(const Search& search, std::span<Observer* const> observers) {
  bool stop = false;
  for (Observer* observer : observers) {  // all of them, whoever wants to stop
    if (observer->iteration_done(search) == Next::stop) stop = true;
  }
  return stop;
}

DriveEnd observed(const Search& search, std::span<Observer* const> observers,
                  const std::function<DriveEnd()>& loop) {
  DriveEnd end = DriveEnd::failed;
  try {
    for (Observer* observer : observers) observer->begin(search);
    end = loop();
  } catch (...) {
    for (Observer* observer : observers) {
      try {
        observer->end(search, DriveEnd::failed);
      } catch (...) {  // NOLINT(bugprone-empty-catch): the first trouble is the one to tell
      }
    }
    throw;
  }
  for (Observer* observer : observers) observer->end(search, end);
  return end;
}

namespace {

DriveEnd loop(Search& search, const EvaluateBatch& evaluate, std::int64_t iterations,
              std::span<Observer* const> observers, StopFlag stop) {
  Evaluation batch(search.candidates(), search.feature_dim());
  while (search.iteration() < iterations) {
    if (stop_asked(stop)) return DriveEnd::stopped;
    std::fill(batch.valid.begin(), batch.valid.end(), std::uint8_t{1});
    if (!evaluate(search.ask(), batch.span())) return DriveEnd::stopped;
    search.tell(batch.features, batch.objectives, batch.valid);
    if (somebody_stops(search, observers) && search.iteration() < iterations) {
      return DriveEnd::stopped;
    }
  }
  return DriveEnd::finished;
}

}  // namespace

DriveEnd drive(Search& search, Evaluator& evaluator, std::int64_t iterations,
               std::span<Observer* const> observers, StopFlag stop) {
  const auto to_the_end = [&](BatchView solutions, const EvaluationSpan& out) {
    evaluator.evaluate(solutions, out);
    return true;
  };
  return drive(search, EvaluateBatch(to_the_end), iterations, observers, stop);
}

DriveEnd drive(Search& search, const EvaluateBatch& evaluate, std::int64_t iterations,
               std::span<Observer* const> observers, StopFlag stop) {
  return observed(search, observers,
                  [&] { return loop(search, evaluate, iterations, observers, stop); });
}

}  // namespace rarefy
