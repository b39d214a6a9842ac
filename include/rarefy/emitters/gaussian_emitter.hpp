// The emitter of plain MAP-Elites: elites of the archive with Gaussian noise.
//
// Mouret, Clune, "Illuminating search spaces by mapping elites", arXiv:1504.04909.
#pragma once

#include <cstdint>
#include <utility>

#include "rarefy/emitters/iso_line_emitter.hpp"

namespace rarefy {

struct GaussianOptions {
  Index dimension = 0;
  Index batch = 0;
  double sigma = IsoLineOptions{}.sigma_iso;
  Bounds bounds{};
};

/// x = x_i + sigma N(0, I), with x_i drawn uniformly from the archive: Iso+LineDD without a line.
class GaussianEmitter : public IsoLineEmitter {
 public:
  GaussianEmitter(GaussianOptions options, std::uint64_t seed, std::uint32_t index)
      : IsoLineEmitter({.dimension = options.dimension,
                        .batch = options.batch,
                        .sigma_iso = options.sigma,
                        .sigma_line = 0.0,
                        .bounds = std::move(options.bounds)},
                       seed, index) {}
};

}  // namespace rarefy
