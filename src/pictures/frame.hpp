// The frame of a plot with its ticks, as all kinds of plots have it.
#pragma once

#include <functional>
#include <vector>

#include "canvas.hpp"
#include "measures.hpp"
#include "rarefy/pictures/axis.hpp"

namespace rarefy::pictures {

using Place = std::function<double(double)>;  ///< from a value to a share of an axis

[[nodiscard]] Place linear_place(double low, double high);
[[nodiscard]] Place log_place(double low, double high);

/// The width of the widest label.
[[nodiscard]] double widest(Canvas& canvas, const std::vector<Tick>& ticks, const Font& font);

/// The most ticks whose labels, as long as `extent` says, stay apart.
[[nodiscard]] std::vector<Tick> roomy_ticks(
    const std::function<std::vector<Tick>(int)>& ticks_for, const Place& place, double length,
    const std::function<double(const std::vector<Tick>&)>& extent);

/// Around the box, not on it: no cell loses pixels to the frame.
void draw_frame(Canvas& canvas, const Box& box, int stroke);

/// Ticks below the box and left of it, with their numbers.
void draw_x_ticks(Canvas& canvas, const Measures& m, const Box& box, const std::vector<Tick>& ticks,
                  const Place& place);
void draw_y_ticks(Canvas& canvas, const Measures& m, const Box& box, const std::vector<Tick>& ticks,
                  const Place& place);

/// Where text of `length` begins that is centred on `centre` but stays within [first, last].
[[nodiscard]] double centred(double centre, double length, double first, double last);

}  // namespace rarefy::pictures
