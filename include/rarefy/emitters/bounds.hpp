// A box in which solutions must lie, and what becomes of those that do not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state_options.hpp"

namespace rarefy {

/// What to do with a sample that still lies outside the box after it was drawn again.
enum class Repair { reflect, clip };

template <>
struct EnumNames<Repair> {
  static constexpr std::string_view thing = "repair";
  static constexpr std::pair<Repair, std::string_view> all[] = {{Repair::reflect, "reflect"},
                                                                {Repair::clip, "clip"}};
};

/// A box in which every sample must lie. Empty: unbounded. One value: the same for all.
struct Bounds {
  std::vector<double> lower;
  std::vector<double> upper;
  Index resamples = 10;             ///< a row is drawn again at most so often, ...
  Repair repair = Repair::reflect;  ///< ... then forced inside

  [[nodiscard]] bool any() const { return !lower.empty(); }
  /// As options of whoever has it.
  void identify(StateOptions& options) const;
  bool operator==(const Bounds&) const = default;
};

/// Where solutions must lie, as a user says it: "none", "domain" (its natural range), or
/// "LOW,HIGH", the same for every value.
struct SolutionRange {
  enum class Kind { none, domain, given };
  Kind kind = Kind::none;
  double low = 0, high = 0;  ///< where given

  /// Throws where the text is anything else.
  static SolutionRange parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  bool operator==(const SolutionRange&) const = default;
};

/// Throws unless the box can hold solutions of this dimension, drawn so many at a time.
void check_bounds(const Bounds& bounds, Index dimension, Index batch);

[[nodiscard]] bool lies_inside(std::span<const double> solution, const Bounds& bounds);

/// Reflects or clips the values that lie outside.
void force_inside(std::span<double> solution, const Bounds& bounds);

/// Brings row number `row` of the batch that was drawn from stream `key` inside: as long as it
/// lies outside, draw_again(stream) must draw the whole row anew from the stream it is given;
/// after `resamples` attempts it is forced. Says whether it had to be.
template <typename DrawAgain>
bool keep_inside(const Bounds& bounds, const StreamKey& key, Index row, std::span<double> solution,
                 DrawAgain&& draw_again) {
  // Every attempt of every row has a stream of its own: 2^24 of them in one iteration.
  StreamKey again = key;
  again.purpose = Purpose::resampling;
  for (Index attempt = 0; attempt < bounds.resamples && !lies_inside(solution, bounds); ++attempt) {
    again.iteration =
        (key.iteration << 24) | static_cast<std::uint64_t>(row * bounds.resamples + attempt);
    draw_again(again);
  }
  const bool outside = !lies_inside(solution, bounds);
  force_inside(solution, bounds);
  return outside;
}

}  // namespace rarefy
