// The loop for those who do not want to write it: ask, evaluate, tell, until done.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/search.hpp"

namespace rarefy {

/// Is told what happens; the library itself never prints.
class Observer {
 public:
  virtual ~Observer() = default;
  /// After every iteration. What it throws ends the loop; the search stays usable.
  virtual void iteration_done(const Search& search) = 0;
};

enum class DriveEnd { finished, stopped };

/// Runs `search` until it has done `iterations` in all, or until `*stop` is true; an
/// iteration that has begun is always finished.
DriveEnd drive(Search& search, Evaluator& evaluator, std::int64_t iterations,
               std::span<Observer* const> observers = {}, const std::atomic<bool>* stop = nullptr);

}  // namespace rarefy
