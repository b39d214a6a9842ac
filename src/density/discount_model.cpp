#include "rarefy/density/discount_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "density/discount/empty_cells.hpp"
#include "density/network/network.hpp"
#include "density/network/network_regression.hpp"
#include "density/network/network_training.hpp"
#include "density/network/network_values.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {
namespace {

// Candidates that go through the network together.
constexpr Index kCandidatesAPiece = 36;

void check(const DiscountModelOptions& options) {
  const auto require = [](bool condition, std::string_view thing, const std::string& given,
                          std::string_view expected) {
    if (!condition) throw Error(ErrorKind::parameter, thing, given, expected);
  };
  require(options.learning_rate >= 0 && options.learning_rate <= 1,
          "learning rate of the discounts", fmt::format("{}", options.learning_rate), "0 to 1");
  require(std::isfinite(options.minimum), "minimum of the discounts",
          fmt::format("{}", options.minimum), "a finite number");
  require(options.range > 0 && std::isfinite(options.range), "range of the discounts",
          fmt::format("{}", options.range), "a finite number > 0");
  const auto& training = options.training;
  require(training.epochs >= 1 && training.batch >= 1, "training of the discounts",
          fmt::format("{} epochs, {} samples a step", training.epochs, training.batch),
          "at least one of each");
  require(training.empty >= 0 && training.initial >= 0, "empty cells that discounts are trained on",
          fmt::format("{}, and {} at first", training.empty, training.initial), "0 or more");
  require(training.enough >= 0 && std::isfinite(training.enough), "error of the discounts",
          fmt::format("{}", training.enough), "a finite number >= 0");
  require(training.rate > 0 && std::isfinite(training.rate), "learning rate of the discount model",
          fmt::format("{}", training.rate), "a number > 0");
}

}  // namespace

struct DiscountModel::Parts {
  Parts(const DiscountModelOptions& options, Index features, Index cells)
      : network(features, options.network.layers, 1, options.network.activation),
        trainer(network, "discount", options.training.rate),
        empty(cells) {}

  Network network;
  NetworkTraining trainer;
  std::optional<NetworkRegression> regression;  // from the first training on
  EmptyCells empty;
  std::vector<NetworkValues> values;  // one for each thread
};

DiscountModel::DiscountModel(DiscountModelOptions options,
                             std::shared_ptr<const Tessellation> tessellation)
    : options_(std::move(options)), tessellation_(std::move(tessellation)) {
  check(options_);
  parts_ = std::make_unique<Parts>(options_, feature_dim(), tessellation_->cells());
  parts_->network.initialise(options_.seed);
  centre_.resize(static_cast<std::size_t>(feature_dim()));
}

DiscountModel::~DiscountModel() = default;

double DiscountModel::coordinate(double feature, Index d) const {
  const auto& space = tessellation_->space();
  const double from_low = feature - space.lower[static_cast<std::size_t>(d)];
  return std::clamp(2.0 * from_low / space.width(d) - 1.0, -kReach, kReach);
}

// The first training is put off until somebody asks: a model that is only looked at, or that is
// about to be loaded, needs none. Whoever asks first, it comes out the same.
void DiscountModel::begin(Workers& workers) {
  if (fits_ > 0) return;
  samples_.clear();
  try {
    add_empty_cells(options_.training.initial);
    fit(workers);
  } catch (...) {  // no memory: half of the samples are no state
    samples_.clear();
    throw;
  }
}

void DiscountModel::discounts(BatchView features, std::span<double> out, Workers& workers) {
  begin(workers);
  auto& values = parts_->values;
  const Index pieces = (features.rows() + kCandidatesAPiece - 1) / kCandidatesAPiece;
  const Index helpers = std::min(workers.threads(), pieces);
  while (static_cast<Index>(values.size()) < helpers) {
    values.emplace_back(parts_->network, kCandidatesAPiece);
  }
  // Each thread has memory of its own and takes the next piece that is left. Which thread takes
  // which piece does not change what comes out.
  std::atomic<Index> next = 0;
  workers.for_each(helpers, [&](Index helper) {
    auto& network = values[static_cast<std::size_t>(helper)];
    for (Index p = next++; p < pieces; p = next++) {
      const Index first = p * kCandidatesAPiece;
      const Index count = std::min(kCandidatesAPiece, features.rows() - first);
      for (Index i = 0; i < count; ++i) {
        float* const input = network.input(i);
        for (Index d = 0; d < feature_dim(); ++d) {
          input[d] = static_cast<float>(coordinate(features(first + i, d), d));
        }
      }
      network.evaluate(count);
      for (Index i = 0; i < count; ++i) {
        out[static_cast<std::size_t>(first + i)] =
            options_.minimum + options_.range * static_cast<double>(network.output(i));
      }
    }
  });
}

void DiscountModel::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  constexpr double kMost = std::numeric_limits<double>::max();
  discounts(batch.features, scores, workers);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double score = scores[i] - batch.objectives[i];
    scores[i] = std::isnan(score) ? kMost : std::clamp(score, -kMost, kMost);
  }
}

void DiscountModel::observe(const Evaluated& batch, Workers& workers) {
  begin(workers);
  for (const Index cell : cells_of(batch, *tessellation_, assigned_, workers)) {
    parts_->empty.fill(cell);
  }
  add_samples(batch, workers);
  // Training is by the iteration, however it is cut into parts.
  const auto rows = static_cast<Index>(samples_.size()) / (feature_dim() + 1);
  if (rows == 0 || rows < batch.rows_of_an_iteration) return;
  add_empty_cells(options_.training.empty);
  fit(workers);
}

void DiscountModel::add_samples(const Evaluated& batch, Workers& workers) {
  const auto& features = batch.features;
  discounts_.resize(static_cast<std::size_t>(features.rows()));
  if (batch.scores.empty()) {
    discounts(features, discounts_, workers);
  } else {  // D(y) - f, of the network as it still is
    for (std::size_t i = 0; i < discounts_.size(); ++i) {
      discounts_[i] = batch.scores[i] + batch.objectives[i];
    }
  }
  const auto in_ranges = [&](double value) {
    return std::clamp((value - options_.minimum) / options_.range, -kReach, kReach);
  };
  for (Index i = 0; i < features.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (Index d = 0; d < feature_dim(); ++d) samples_.push_back(coordinate(features(i, d), d));
    const double discount = in_ranges(discounts_[at]);
    const double objective = in_ranges(batch.objectives[at]);
    // Tjanaka et al. (2026), equation 1: (1 - alpha) D(y) + alpha f where f > D(y), else D(y).
    samples_.push_back(objective > discount ? std::lerp(discount, objective, options_.learning_rate)
                                            : discount);
  }
}

void DiscountModel::add_empty_cells(Index count) {
  RandomStream random({.seed = options_.seed,
                       .purpose = Purpose::training,
                       .index = 0,
                       .iteration = static_cast<std::uint64_t>(fits_)});
  parts_->empty.sample(count, random, drawn_);
  for (const Index cell : drawn_) {
    tessellation_->cell_centre(cell, centre_);
    for (Index d = 0; d < feature_dim(); ++d) {
      samples_.push_back(coordinate(centre_[static_cast<std::size_t>(d)], d));
    }
    samples_.push_back(0.0);  // the minimum
  }
}

// Some epochs on the samples that were gathered, each in another order.
void DiscountModel::fit(Workers& workers) {
  auto& parts = *parts_;
  const auto& training = options_.training;
  const BatchView samples(samples_.data(),
                          static_cast<Index>(samples_.size()) / (feature_dim() + 1),
                          feature_dim() + 1);
  if (!parts.regression) parts.regression.emplace(parts.network, training.batch);
  order_.resize(static_cast<std::size_t>(samples.rows()));
  parts.trainer.begin();
  epochs_ = 0;
  for (bool enough = samples.rows() == 0; !enough && epochs_ < training.epochs;) {
    ++epochs_;
    RandomStream random({.seed = options_.seed,
                         .purpose = Purpose::training,
                         .index = static_cast<std::uint32_t>(epochs_),
                         .iteration = static_cast<std::uint64_t>(fits_)});
    random_permutation(random, order_);
    const auto loss = parts.regression->epoch(samples, order_, parts.trainer, workers);
    if (!loss) {
      parts.trainer.take_back();
      break;
    }
    loss_ = *loss;
    enough = loss_ <= training.enough;
  }
  ++fits_;
  samples_.clear();
}

Index DiscountModel::empty_cells() const { return parts_->empty.count(); }
std::int64_t DiscountModel::rollbacks() const { return parts_->trainer.rollbacks(); }
std::string DiscountModel::warning() const { return parts_->trainer.warning(fits_); }

std::vector<float> DiscountModel::parameters() const {
  std::vector<float> values(static_cast<std::size_t>(parts_->network.compact_size()));
  parts_->network.to_compact(parts_->network.parameters(), values);
  return values;
}

void DiscountModel::identify(StateOptions& options) const {
  options.real("discount.learning_rate", options_.learning_rate);
  options.real("discount.minimum", options_.minimum);
  options.real("discount.range", options_.range);
  const auto& layers = options_.network.layers;
  options.integers("discount.layers", std::vector<std::int64_t>(layers.begin(), layers.end()));
  options.text("discount.activation", name_of(options_.network.activation));
  const auto& training = options_.training;
  options.integer("discount.epochs", training.epochs);
  options.real("discount.enough", training.enough);
  options.integer("discount.batch", training.batch);
  options.real("discount.training_rate", training.rate);
  options.integer("discount.empty", training.empty);
  options.integer("discount.initial", training.initial);
  options.word("discount.seed", options_.seed);
  options.word("discount.tessellation_fingerprint", tessellation_->fingerprint());
}

void DiscountModel::save(StateWriter& out) const {
  out.integer("discount.fits", fits_);
  out.integer("discount.last_epochs", epochs_);
  out.real("discount.loss", loss_);
  parts_->trainer.save_rate(out);
  parts_->trainer.save_network(out);
  parts_->empty.save(out, "discount.empty_cells");
  out.reals("discount.samples", samples_);
}

void DiscountModel::load(StateReader& in) {
  constexpr auto kMost = std::int64_t{1} << 50;
  constexpr std::size_t kMostSamples = 10'000'000;  // more than an iteration can have
  fits_ = in.integer("discount.fits", 0, kMost);
  epochs_ = in.integer("discount.last_epochs", 0, options_.training.epochs);
  loss_ = in.finite("discount.loss");
  parts_->trainer.load_rate(in, fits_);
  parts_->trainer.load_network(in);
  parts_->empty.load(in, "discount.empty_cells");
  const auto columns = static_cast<std::size_t>(feature_dim() + 1);
  samples_ = in.reals_up_to("discount.samples", kMostSamples * columns);
  if (samples_.size() % columns != 0) {
    throw Error(ErrorKind::corrupt, "saved state: field 'discount.samples'",
                fmt::format("{} values", samples_.size()),
                fmt::format("a multiple of {}", columns));
  }
  if (!std::all_of(samples_.begin(), samples_.end(),
                   [](double value) { return std::isfinite(value); })) {
    throw Error(ErrorKind::corrupt, "saved state: field 'discount.samples'",
                "a value that is not finite", "finite numbers");
  }
}

}  // namespace rarefy
