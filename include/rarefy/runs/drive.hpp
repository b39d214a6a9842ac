// The loop for those who do not want to write it: ask, evaluate, tell, until done.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "rarefy/core/stop.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"
#include "rarefy/runs/observer.hpp"
#include "rarefy/search.hpp"

namespace rarefy {

/// Runs `search` until it has done `iterations` in all, or until an observer asks to stop, or
/// `*stop` is true; an iteration that has begun is always finished.
DriveEnd drive(Search& search, Evaluator& evaluator, std::int64_t iterations,
               std::span<Observer* const> observers = {}, StopFlag stop = nullptr);

/// Fills `out` as an Evaluator does. False: it was stopped, and the batch is not complete.
using EvaluateBatch = std::function<bool(BatchView solutions, const EvaluationSpan& out)>;

/// The same with somebody who may leave an iteration unfinished. It is not told then, and the loop
/// ends as stopped.
DriveEnd drive(Search& search, const EvaluateBatch& evaluate, std::int64_t iterations,
               std::span<Observer* const> observers = {}, StopFlag stop = nullptr);

/// The loop for evaluations that take unlike times: no emitter waits for another. Each is told as
/// soon as its own candidates are evaluated, and asks again at once, until so many evaluations are
/// told as `iterations` whole batches have. Observers hear of every so many rows as a batch has.
/// What is under way when somebody stops it is given up; the search awaits it still.
/// Results depend on the order in which evaluations are done.
DriveEnd drive_asynchronously(Search& search, StreamEvaluator& evaluator, std::int64_t iterations,
                              std::span<Observer* const> observers = {}, StopFlag stop = nullptr);

}  // namespace rarefy
