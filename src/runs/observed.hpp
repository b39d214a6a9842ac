// What all loops have in common: whoever watches hears of their beginning, iterations and end.
#pragma once

#include <functional>
#include <span>

#include "rarefy/runs/observer.hpp"

namespace rarefy {

/// After an iteration: whether any of them wants to stop.
[[nodiscard]] bool somebody_stops(const Search& search, std::span<Observer* const> observers);

/// Calls begin() and end() of all of them around a loop, however that ends.
DriveEnd observed(const Search& search, std::span<Observer* const> observers,
                  const std::function<DriveEnd()>& loop);

}  // namespace rarefy
