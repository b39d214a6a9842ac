#include "rarefy/experiment/driver.hpp"

#include <vector>

namespace rarefy {

DriveEnd drive(Search& search, Evaluator& evaluator, std::int64_t iterations,
               std::span<Observer* const> observers, const std::atomic<bool>* stop) {
  Batch features(search.candidates(), search.feature_dim());
  std::vector<double> objectives(static_cast<std::size_t>(search.candidates()));
  while (search.iteration() < iterations) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return DriveEnd::stopped;
    evaluator.evaluate(search.ask(), features, objectives);
    search.tell(features, objectives);
    for (Observer* observer : observers) observer->iteration_done(search);
  }
  return DriveEnd::finished;
}

}  // namespace rarefy
