// Points put in an order in which those that are near each other stand together.
#pragma once

#include <span>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace rarefy {

/// Arranges `order`, numbers of points (row-major, `dims` coordinates each), so that every `size`
/// of them in a row, counted from the front, lie close together: as in the leaves of a k-d tree,
/// each node of which is cut across its longest side, at the middle leaf. Within a leaf they stand
/// by number. The result depends on nothing but the points; of equal coordinates the lower number
/// comes first.
void arrange_neighbourhoods(std::span<const float> points, Index dims, Index size,
                            std::span<Index> order);

}  // namespace rarefy
