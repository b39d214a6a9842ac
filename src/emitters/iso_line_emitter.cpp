#include "rarefy/emitters/iso_line_emitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {
namespace {

// Lines between elites far apart lead to elites still farther apart, without end. Values are cut
// off here, so that they stay finite.
constexpr double kFarthest = 1e100;

IsoLineOptions checked(IsoLineOptions options) {
  if (options.dimension < 1 || options.batch < 1) {
    throw Error(ErrorKind::parameter, "elites to vary",
                fmt::format("{} candidates of dimension {}", options.batch, options.dimension),
                "at least 1 of each");
  }
  if (!(options.sigma_iso > 0) || !std::isfinite(options.sigma_iso)) {
    throw Error(ErrorKind::parameter, "sigma of the isotropic variation",
                fmt::format("{}", options.sigma_iso), "a number > 0");
  }
  if (!(options.sigma_line >= 0) || !std::isfinite(options.sigma_line)) {
    throw Error(ErrorKind::parameter, "sigma of the variation along a line",
                fmt::format("{}", options.sigma_line), "a number >= 0");
  }
  check_bounds(options.bounds, options.dimension, options.batch);
  return options;
}

}  // namespace

IsoLineEmitter::IsoLineEmitter(IsoLineOptions options, std::uint64_t seed, std::uint32_t index)
    : options_(checked(std::move(options))),
      given_sigma_(options_.sigma_iso),
      seed_(seed),
      index_(index),
      initial_(static_cast<std::size_t>(options_.dimension), 0.0) {}

// Iso+LineDD, as it stands above the class.
void IsoLineEmitter::vary(std::span<const double> from, std::span<const double> towards,
                          std::span<const double> normals, std::span<double> out) const {
  const double along = options_.sigma_line * normals.back();
  for (std::size_t d = 0; d < out.size(); ++d) {
    const double value = from[d] + options_.sigma_iso * normals[d] + along * (towards[d] - from[d]);
    out[d] = std::clamp(value, -kFarthest, kFarthest);
  }
}

void IsoLineEmitter::ask(const Archive& archive, std::uint64_t iteration, BatchSpan out) {
  if (out.rows() != batch() || out.cols() != dimension()) {
    throw Error(ErrorKind::data, "elites to vary: ask",
                fmt::format("{} x {}", out.rows(), out.cols()),
                fmt::format("{} x {}", batch(), dimension()));
  }
  const StreamKey noise = {
      .seed = seed_, .purpose = Purpose::sampling, .index = index_, .iteration = iteration};
  normals_.resize(batch(), dimension() + 1);
  fill_normals(noise, normals_.values());
  StreamKey choice = noise;
  choice.purpose = Purpose::parents;
  RandomStream random(choice);
  const auto parent = [&] {
    return archive.empty() ? std::span<const double>(initial_)
                           : archive.solutions().row(archive.draw(random));
  };
  for (Index i = 0; i < out.rows(); ++i) {
    const auto from = parent();
    const auto towards = parent();
    const auto normals = normals_.row(i);
    const auto row = out.row(i);
    vary(from, towards, normals, row);
    if (!options_.bounds.any()) continue;
    keep_inside(options_.bounds, noise, i, row, [&](const StreamKey& again) {
      fill_normals(again, normals);
      vary(from, towards, normals, row);
    });
  }
}

void IsoLineEmitter::restart(std::span<const double> solution) {
  if (static_cast<Index>(solution.size()) != dimension()) {
    throw Error(ErrorKind::data, "elites to vary: initial solution",
                fmt::format("{} values", solution.size()), fmt::format("{}", dimension()));
  }
  initial_.assign(solution.begin(), solution.end());
}

void IsoLineEmitter::identify(StateOptions& options) const {
  options.word("emitter.seed", seed_);
  options.integer("emitter.index", index_);
  options.integer("iso_line.dimension", options_.dimension);
  options.integer("iso_line.batch", options_.batch);
  options.real("iso_line.sigma_iso", given_sigma_);
  options.real("iso_line.sigma_line", options_.sigma_line);
  options_.bounds.identify(options);
}

void IsoLineEmitter::save(StateWriter& out) const {
  out.reals("iso_line.initial", initial_);
  out.real("iso_line.sigma_iso", options_.sigma_iso);
}

void IsoLineEmitter::load(StateReader& in) {
  in.finite_reals("iso_line.initial", initial_);
  const double sigma = in.finite("iso_line.sigma_iso");
  if (!(sigma > 0)) {
    throw Error(ErrorKind::corrupt, "saved state: sigma of the variation of elites",
                fmt::format("{}", sigma), "a number > 0");
  }
  options_.sigma_iso = sigma;
}

}  // namespace rarefy
