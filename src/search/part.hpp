// Some consecutive values of many.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace rarefy {

template <typename Value>
std::span<Value> part(std::span<Value> values, Index first, Index count) {
  return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}
template <typename Value>
std::span<Value> part(std::vector<Value>& values, Index first, Index count) {
  return part(std::span(values), first, count);
}

}  // namespace rarefy
