// The emitter of MAP-Elites (line): elites of the archive, varied.
//
// Vassiliades, Mouret, "Discovering the elite hypervolume by leveraging interspecies
// correlation", GECCO 2018.
#pragma once

#include <cstdint>
#include <vector>

#include "rarefy/emitters/bounds.hpp"
#include "rarefy/emitters/emitter.hpp"

namespace rarefy {

struct IsoLineOptions {
  Index dimension = 0;
  Index batch = 0;
  double sigma_iso = 0.1;   ///< in every direction
  double sigma_line = 0.2;  ///< along the line between two elites, in parts of their distance
  Bounds bounds{};

  bool operator==(const IsoLineOptions&) const = default;
};

/// The operator Iso+LineDD:
///
///   x = x_i + sigma_iso N(0, I) + sigma_line N(0, 1) (x_j - x_i),
///
/// with x_i and x_j drawn uniformly and independently from the archive. While that is empty,
/// both are the initial solution. Where a row is drawn again because of bounds, its parents
/// stay.
class IsoLineEmitter : public Emitter {
 public:
  /// `index` tells this emitter's random numbers from those of its siblings. The initial
  /// solution is 0 until restart() gives another.
  IsoLineEmitter(IsoLineOptions options, std::uint64_t seed, std::uint32_t index);

  [[nodiscard]] Index batch() const override { return options_.batch; }
  [[nodiscard]] Index dimension() const override { return options_.dimension; }
  void ask(const Archive& archive, std::uint64_t iteration, BatchSpan out) override;
  /// It learns through the archive alone.
  bool tell(const Feedback& /*feedback*/) override { return false; }
  void restart(std::span<const double> solution) override;
  /// In place of sigma_iso.
  void set_step(double step) override { options_.sigma_iso = step; }
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  [[nodiscard]] const IsoLineOptions& options() const { return options_; }

 private:
  void vary(std::span<const double> from, std::span<const double> towards,
            std::span<const double> normals, std::span<double> out) const;

  IsoLineOptions options_;
  double given_sigma_;  // sigma_iso before anybody has set a step
  std::uint64_t seed_;
  std::uint32_t index_;
  std::vector<double> initial_;
  Batch normals_;  // scratch: one row a candidate, the line's number last
};

}  // namespace rarefy
