// Where the ticks of an axis lie and what is written beside them.
#pragma once

#include <string>
#include <vector>

namespace rarefy::pictures {

struct Tick {
  double value = 0.0;
  std::string label;  ///< empty for a minor tick
};

/// Ticks for [low, high] at multiples of 1, 2 or 5 times a power of ten: the
/// narrowest such step that makes at most `most_intervals` intervals of the
/// range. Labels carry just the digits that the step needs.
/// The range must be finite and have a width that doubles can resolve.
[[nodiscard]] std::vector<Tick> linear_ticks(double low, double high, int most_intervals = 6);

/// Ticks for a logarithmic [low, high], ascending. Labels stand at the decades,
/// or at every second, third... decade so that there are at most `most_labels`
/// of them. A range with few decades gets labels at 1, 2 and 5 times a power of
/// ten as long as those are few enough, a very short one those of linear_ticks.
/// What lies between has minor ticks. Both limits must be positive.
[[nodiscard]] std::vector<Tick> log_ticks(double low, double high, int most_labels = 8);

/// One number on its own, to six significant digits: "42", "−0.5", "1.2×10⁹".
[[nodiscard]] std::string format_number(double value);

/// Whether [low, high] can be an axis at all: finite, ascending, and wide enough
/// for ticks to differ.
[[nodiscard]] bool is_drawable_range(double low, double high);

}  // namespace rarefy::pictures
