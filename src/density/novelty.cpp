#include "rarefy/density/novelty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "density/neighbours/neighbour_index.hpp"
#include "density/neighbours/neighbour_search.hpp"
#include "density/neighbours/smallest_distances.hpp"
#include "kernels/distances.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

constexpr std::int64_t kMostMembers = std::numeric_limits<std::uint32_t>::max();

// Queries that go through the archive together: the more, the less is read from memory. Their
// buffers, two distances a neighbour, are kept within 64 MiB a thread.
constexpr Index kMostTogether = 1024;
constexpr Index kMostBuffered = Index{1} << 22;

// The mean, the same to the bit in whatever order: terms are added as integers, multiples of a
// unit so small that the sum just fits.
double mean(std::span<const double> distances) {
  const double greatest = *std::max_element(distances.begin(), distances.end());
  if (!(greatest > 0.0)) return 0.0;
  int exponent = 0;
  std::frexp(greatest, &exponent);  // greatest < 2^exponent
  const int bits = 62 - static_cast<int>(std::bit_width(distances.size()));
  const double scale = std::ldexp(1.0, bits - exponent);  // a power of two: rounds nothing
  std::int64_t sum = 0;
  for (const double distance : distances) sum += static_cast<std::int64_t>(distance * scale);
  return static_cast<double>(sum) / static_cast<double>(distances.size()) / scale;
}

// The distance between two points whose squared distance overflows; at most the largest double.
double far_distance(std::span<const double> a, const PointLeaf& leaf, Index i) {
  const auto half = [&](std::size_t d) {
    return 0.5 * a[d] - 0.5 * leaf.coordinate(i, static_cast<Index>(d));
  };
  double longest = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) longest = std::max(longest, std::abs(half(d)));
  if (longest == 0.0) return 0.0;
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (half(d) / longest) * (half(d) / longest);
  return std::min(longest * std::sqrt(sum), 0.5 * std::numeric_limits<double>::max()) * 2.0;
}

void append_far_distances(const NeighbourIndex& index, std::span<const double> query,
                          std::vector<double>& out) {
  for (Index leaf = 0; leaf < index.leaves(); ++leaf) {
    for (Index i = 0; i < index.leaf(leaf).count(); ++i) {
      out.push_back(far_distance(query, index.leaf(leaf), i));
    }
  }
}

void check(const NoveltyOptions& options) {
  options.space.check();
  if (options.neighbours < 1) {
    throw Error(ErrorKind::parameter, "novelty: neighbours", fmt::format("{}", options.neighbours),
                "at least 1");
  }
  const double threshold = options.threshold.resolve(options.space);
  if (!(threshold >= 0.0) || !std::isfinite(threshold)) {
    throw Error(ErrorKind::parameter, "novelty: threshold", fmt::format("{}", threshold),
                "a finite number >= 0");
  }
}

void check(BatchView features, Index dims) {
  if (features.cols() != dims) {
    throw Error(ErrorKind::data, "features", fmt::format("{} columns", features.cols()),
                fmt::format("{}", dims));
  }
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index d = 0; d < dims; ++d) {
      if (!std::isfinite(features(i, d))) {
        throw Error(ErrorKind::data, fmt::format("features: row {}, feature {}", i, d),
                    fmt::format("{}", features(i, d)), "a finite number");
      }
    }
  }
}

}  // namespace

struct NoveltyDensity::State {
  explicit State(Index dims) : archive(dims), batch(dims) {}

  // What one thread needs.
  struct Share {
    NeighbourSearch search;
    std::vector<SmallestDistances> best;
    std::vector<double> far;
  };

  void evaluate(BatchView features, const NoveltyOptions& options, Workers& workers);
  void evaluate_share(BatchView features, Index first, Index step, Index neighbours, Share& share);
  double far_novelty(std::span<const double> query, Index neighbours, Share& share) const;
  [[nodiscard]] double mean_of(std::span<double> distances) const;

  NeighbourIndex archive;
  NeighbourIndex batch;  // the batch itself where it counts, else empty
  std::vector<Share> shares;

  std::vector<double> novelty;  // of the batch that is evaluated
};

NoveltyDensity::NoveltyDensity(NoveltyOptions options)
    : options_(std::move(options)), threshold_(options_.threshold.resolve(options_.space)) {
  check(options_);
  state_ = std::make_unique<State>(options_.space.dim());
}

NoveltyDensity::~NoveltyDensity() = default;

Index NoveltyDensity::members() const { return state_->archive.size(); }

Batch NoveltyDensity::archive() const {
  Batch rows(members(), feature_dim());
  state_->archive.copy_to(rows);
  return rows;
}

double NoveltyDensity::accepts_below() const {
  return std::nextafter(-threshold_, std::numeric_limits<double>::infinity());
}

void NoveltyDensity::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  if (members() == 0) {  // nothing to be far from yet: all score the same
    std::fill(scores.begin(), scores.end(), 0.0);
    return;
  }
  const auto values = novelty(batch.features, workers);
  std::transform(values.begin(), values.end(), scores.begin(), [](double v) { return 0.0 - v; });
}

void NoveltyDensity::observe(const Evaluated& batch, Workers& workers) {
  const auto& features = batch.features;
  if (members() == 0) {
    check(features, feature_dim());
    for (Index i = 0; i < features.rows(); ++i) state_->archive.add(features.row(i));
    return;
  }
  // A score is the negated novelty, so that it need not be computed again.
  const bool scored = !batch.scores.empty();
  const auto values = scored ? batch.scores : novelty(features, workers);
  const double sign = scored ? -1.0 : 1.0;
  for (Index i = 0; i < features.rows(); ++i) {
    if (sign * values[static_cast<std::size_t>(i)] >= threshold_) {
      state_->archive.add(features.row(i));
    }
  }
}

std::span<const double> NoveltyDensity::novelty(BatchView features, Workers& workers) {
  check(features, feature_dim());
  state_->evaluate(features, options_, workers);
  return state_->novelty;
}

void NoveltyDensity::State::evaluate(BatchView features, const NoveltyOptions& options,
                                     Workers& workers) {
  const Index rows = features.rows();
  novelty.resize(static_cast<std::size_t>(rows));
  batch.clear();
  if (options.count_batch) {
    for (Index i = 0; i < rows; ++i) batch.add(features.row(i));
  }
  // A row finds itself in the batch, at distance 0: one more to look for, and to leave out.
  const Index wanted = options.neighbours + (options.count_batch ? 1 : 0);
  const Index neighbours = std::min(wanted, archive.size() + batch.size());
  const Index together = std::clamp<Index>(kMostBuffered / neighbours, 1, kMostTogether);

  const Index threads = workers.threads();
  if (static_cast<Index>(shares.size()) < threads) shares.resize(static_cast<std::size_t>(threads));
  // Rounds of equal size, each shared out by turns: rows of one emitter, alike and alike in
  // cost, come to all threads.
  const Index rounds = (rows + threads * together - 1) / (threads * together);
  for (Index r = 0; r < rounds; ++r) {
    const Index begin = rows * r / rounds;
    const Index end = rows * (r + 1) / rounds;
    const Index step = std::min(threads, end - begin);
    workers.for_each(step, [&](Index s) {
      evaluate_share(features.rows(0, end), begin + s, step, neighbours,
                     shares[static_cast<std::size_t>(s)]);
    });
  }
}

// The rows first, first + step, ... of `features`.
void NoveltyDensity::State::evaluate_share(BatchView features, Index first, Index step,
                                           Index neighbours, Share& share) {
  const auto count = static_cast<std::size_t>((features.rows() - first + step - 1) / step);
  if (share.best.size() < count) share.best.resize(count);
  const auto best = std::span(share.best).first(count);
  for (auto& one : best) one.begin(neighbours);
  if (batch.size() > 0) share.search.run(batch, features, first, step, best);
  share.search.run(archive, features, first, step, best);
  for (std::size_t i = 0; i < count; ++i) {
    const Index row = first + static_cast<Index>(i) * step;
    const auto nearest = best[i].finish();
    double& value = novelty[static_cast<std::size_t>(row)];
    if (static_cast<Index>(nearest.size()) < neighbours) {  // squares that overflow
      value = far_novelty(features.row(row), neighbours, share);
    } else {
      kernels::square_roots(nearest.data(), neighbours);
      value = mean_of(nearest);
    }
  }
}

double NoveltyDensity::State::far_novelty(std::span<const double> query, Index neighbours,
                                          Share& share) const {
  share.far.clear();
  append_far_distances(archive, query, share.far);
  append_far_distances(batch, query, share.far);
  std::nth_element(share.far.begin(), share.far.begin() + neighbours - 1, share.far.end());
  return mean_of(std::span(share.far).first(static_cast<std::size_t>(neighbours)));
}

double NoveltyDensity::State::mean_of(std::span<double> distances) const {
  if (batch.size() == 0) return mean(distances);
  std::iter_swap(std::min_element(distances.begin(), distances.end()), distances.end() - 1);
  return mean(distances.first(distances.size() - 1));
}

void NoveltyDensity::identify(StateOptions& options) const {
  options_.space.identify(options);
  options.integer("novelty.neighbours", options_.neighbours);
  options.real("novelty.threshold", threshold_);
  options.flag("novelty.count_batch", options_.count_batch);
}

void NoveltyDensity::save(StateWriter& out) const {
  out.integer("novelty.members", members());
  out.reals("novelty.archive", archive().view().values());
}

void NoveltyDensity::load(StateReader& in) {
  const auto members = in.integer("novelty.members", 0, kMostMembers);
  const Index dims = feature_dim();
  const auto size = static_cast<std::size_t>(members) * static_cast<std::size_t>(dims);
  const auto values = in.reals_up_to("novelty.archive", size);
  if (values.size() != size ||
      !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    throw Error(ErrorKind::corrupt, "saved state: the novelty archive",
                fmt::format("{} values", values.size()), fmt::format("{} finite ones", size));
  }
  auto& state = *state_;
  state.archive.clear();
  for (Index i = 0; i < static_cast<Index>(members); ++i) {
    state.archive.add({values.data() + i * dims, static_cast<std::size_t>(dims)});
  }
}

}  // namespace rarefy
