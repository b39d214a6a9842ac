#include "rarefy/density/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "core/maths.hpp"
#include "density/flow/flow_integration.hpp"
#include "density/flow/flow_matching.hpp"
#include "density/flow/flow_network.hpp"
#include "density/flow/velocity_field.hpp"
#include "density/network/network_training.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"

namespace rarefy {
namespace {

// Queries that go through the network together: their columns, tangents included, are enough
// for products to be fast and few enough to stay in the cache and to be shared out.
Index queries_per_piece(Index dims) {
  constexpr Index kColumns = 88;
  return std::max(kColumnMultiple, kColumns / (1 + dims) / kColumnMultiple * kColumnMultiple);
}

void check(const FlowOptions& options) {
  const auto require = [](bool condition, std::string_view thing, const std::string& given,
                          std::string_view expected) {
    if (!condition) throw Error(ErrorKind::parameter, thing, given, expected);
  };
  options.space.check();
  const auto& training = options.training;
  require(training.steps >= 1 && training.batch >= 1, "training of the flow",
          fmt::format("{} steps of {} samples", training.steps, training.batch),
          "at least one step of at least one sample");
  require(training.rate > 0 && std::isfinite(training.rate), "learning rate of the flow",
          fmt::format("{}", training.rate), "a number > 0");
  require(training.smoothing >= 0 && training.smoothing < 1, "smoothing of the flow",
          fmt::format("{}", training.smoothing), "a number >= 0 and < 1");
  const auto& integration = options.integration;
  require(integration.steps >= 1, "integration steps of the flow",
          fmt::format("{}", integration.steps), "at least one");
  require(integration.relative_error > 0 && integration.absolute_error > 0,
          "errors of the flow's integration",
          fmt::format("{}, {}", integration.relative_error, integration.absolute_error),
          "numbers > 0");
}

}  // namespace

struct FlowDensity::Parts {
  explicit Parts(const FlowOptions& options)
      : network(options.space.dim(), options.network),
        trainer(network, "flow", options.training.rate) {}

  /// Memory for training, when there is something to train on.
  void make_room(const FlowOptions& options) {
    const auto& training = options.training;
    if (!loss) loss.emplace(network, training.batch, training.smoothing);
    samples.resize(training.batch, options.space.dim());
    noise.resize(training.batch, options.space.dim());
    times.resize(static_cast<std::size_t>(training.batch));
  }

  VelocityNetwork network;
  NetworkTraining trainer;
  std::optional<FlowMatching> loss;

  // The batch of a step.
  Batch samples, noise;
  std::vector<double> times;

  // One for each thread.
  std::vector<VelocityField> fields;
};

FlowDensity::FlowDensity(FlowOptions options, std::unique_ptr<FeatureBuffer> buffer)
    : options_(std::move(options)), buffer_(std::move(buffer)) {
  check(options_);
  if (const Index columns = buffer_->contents().cols(); columns != feature_dim()) {
    throw Error(ErrorKind::parameter, "buffer of the flow", fmt::format("{} features", columns),
                fmt::format("{}, as many as feature space has", feature_dim()));
  }
  parts_ = std::make_unique<Parts>(options_);
  parts_->network.initialise(options_.seed);
  centre_.assign(static_cast<std::size_t>(feature_dim()), 0.0);
  scale_.assign(static_cast<std::size_t>(feature_dim()), 1.0);
  set_scaling();
}

FlowDensity::~FlowDensity() = default;

void FlowDensity::set_scaling() {
  if (options_.scaling == FeatureScaling::none) return;
  const auto rows = buffer_->contents();
  log_scale_ = 0.0;
  for (Index d = 0; d < feature_dim(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    double centre = 0.5 * (options_.space.lower[at] + options_.space.upper[at]);
    double unit = 0.5 * options_.space.width(d);
    if (options_.scaling == FeatureScaling::buffer && rows.rows() > 1) {
      const auto count = static_cast<double>(rows.rows());
      // Features beyond the limit count as being there in these sums, too: a single one at 1e6
      // would make the deviation so large that all others came to lie on one point.
      const auto feature = [&](Index i) {
        return std::clamp(rows(i, d), centre - kReach * unit, centre + kReach * unit);
      };
      double mean = 0.0;
      for (Index i = 0; i < rows.rows(); ++i) mean += feature(i) / count;
      double squares = 0.0;
      for (Index i = 0; i < rows.rows(); ++i) {
        squares += (feature(i) - mean) * (feature(i) - mean);
      }
      const double deviation = std::sqrt(squares / count);
      // Where all features agree, or nearly, the box is the better unit.
      if (deviation > 1e-6 * unit) {
        centre = mean;
        unit = deviation;
      }
    }
    centre_[at] = centre;
    scale_[at] = 1.0 / unit;
    log_scale_ -= maths::log(unit);
  }
}

double FlowDensity::coordinate(double feature, Index d) const {
  const auto at = static_cast<std::size_t>(d);
  const double value = (feature - centre_[at]) * scale_[at];
  return options_.scaling == FeatureScaling::none ? value : std::clamp(value, -kReach, kReach);
}

void FlowDensity::observe(const Evaluated& batch, Workers& workers) {
  changed_.clear();
  buffer_->add(batch.features, changed_);
  if (buffer_->contents().rows() == 0) return;
  // Training is by the iteration, however it is cut into parts.
  not_learned_ += batch.features.rows();
  if (fits_ > 0 && not_learned_ < batch.rows_of_an_iteration) return;
  not_learned_ = 0;
  set_scaling();
  fit(workers);
}

void FlowDensity::fit(Workers& workers) {
  auto& parts = *parts_;
  parts.make_room(options_);
  parts.trainer.begin();
  const double last_loss = loss_;
  loss_ = 0.0;
  for (Index step = 0; step < options_.training.steps; ++step) {
    if (train_step(step, workers)) continue;
    parts.trainer.take_back();
    loss_ = last_loss;
    break;
  }
  ++fits_;
}

// False when it went wrong.
bool FlowDensity::train_step(Index step, Workers& workers) {
  auto& parts = *parts_;
  const auto stream = [&](Purpose purpose) {
    return StreamKey{.seed = options_.seed,
                     .purpose = purpose,
                     .index = static_cast<std::uint32_t>(step),
                     .iteration = static_cast<std::uint64_t>(fits_)};
  };
  const auto rows = buffer_->contents();
  RandomStream random(stream(Purpose::training));
  for (Index i = 0; i < options_.training.batch; ++i) {
    const auto row = static_cast<Index>(random.below(static_cast<std::uint64_t>(rows.rows())));
    parts.times[static_cast<std::size_t>(i)] = random.uniform();
    for (Index d = 0; d < feature_dim(); ++d) parts.samples(i, d) = coordinate(rows(row, d), d);
  }
  fill_normals(stream(Purpose::noise), parts.noise.values());
  const double loss = parts.loss->evaluate(parts.samples, parts.noise, parts.times, workers);
  if (!std::isfinite(loss)) return false;
  loss_ += loss / static_cast<double>(options_.training.steps);
  return parts.trainer.step(parts.loss->gradient(), workers);
}

void FlowDensity::score(const Evaluated& batch, std::span<double> scores, Workers& workers) {
  log_density(batch.features, scores, workers);
}

void FlowDensity::log_density(BatchView features, std::span<double> out, Workers& workers) {
  if (!informed()) {  // nothing was learned yet: all score the same
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  auto& fields = parts_->fields;
  const Index piece = queries_per_piece(feature_dim());
  const Index pieces = (features.rows() + piece - 1) / piece;
  const Index helpers = std::min(workers.threads(), pieces);
  while (static_cast<Index>(fields.size()) < helpers) fields.emplace_back(parts_->network, piece);
  for (auto& field : fields) field.refresh();
  // Each thread has memory of its own and takes the next piece that is left. Which thread
  // takes which piece does not change the scores.
  std::atomic<Index> next = 0;
  workers.for_each(helpers, [&](Index helper) {
    for (Index p = next++; p < pieces; p = next++) {
      const Index first = p * piece;
      const Index count = std::min(piece, features.rows() - first);
      evaluate_piece(features.rows(first, count),
                     out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                     helper);
    }
  });
}

void FlowDensity::evaluate_piece(BatchView features, std::span<double> out, Index workspace) {
  const Index dims = feature_dim();
  Batch places(features.rows(), dims);
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index d = 0; d < dims; ++d) places(i, d) = coordinate(features(i, d), d);
  }
  auto& field = parts_->fields[static_cast<std::size_t>(workspace)];
  // From 1 to 0: minus the integral from 0 to 1.
  integrate(field, options_.integration, 1.0, 0.0, places, out);
  const double constant =
      log_scale_ - 0.5 * static_cast<double>(dims) * maths::log(2.0 * std::numbers::pi);
  for (Index i = 0; i < features.rows(); ++i) {
    double squares = 0.0;
    for (const double z : places.row(i)) squares += z * z;
    double& value = out[static_cast<std::size_t>(i)];
    value += constant - 0.5 * squares;
    if (!std::isfinite(value)) value = kUnknown;
  }
}

bool FlowDensity::informed() const { return fits_ > rollbacks(); }
std::int64_t FlowDensity::rollbacks() const { return parts_->trainer.rollbacks(); }
double FlowDensity::rate() const { return parts_->trainer.rate(); }
std::string FlowDensity::warning() const { return parts_->trainer.warning(fits_); }

std::vector<float> FlowDensity::parameters() const {
  std::vector<float> values(static_cast<std::size_t>(parts_->network.compact_size()));
  parts_->network.to_compact(parts_->network.parameters(), values);
  return values;
}

void FlowDensity::set_parameters(std::span<const float> values) {
  if (static_cast<Index>(values.size()) != parts_->network.compact_size()) {
    throw Error(ErrorKind::data, "parameters of the flow", fmt::format("{}", values.size()),
                fmt::format("{}", parts_->network.compact_size()));
  }
  parts_->network.from_compact(values, parts_->network.parameters());
}

void FlowDensity::identify(StateOptions& options) const {
  options_.space.identify(options);
  options.text("flow.scaling", name_of(options_.scaling));
  const auto& network = options_.network;
  options.integers("flow.layers",
                   std::vector<std::int64_t>(network.layers.begin(), network.layers.end()));
  options.text("flow.activation", name_of(network.activation));
  options.integer("flow.frequencies", network.frequencies);
  const auto& training = options_.training;
  options.integer("flow.training_steps", training.steps);
  options.integer("flow.training_batch", training.batch);
  options.real("flow.learning_rate", training.rate);
  options.real("flow.smoothing", training.smoothing);
  const auto& integration = options_.integration;
  options.text("flow.integrator", name_of(integration.integrator));
  if (integration.integrator == Integrator::rk4) {
    options.integer("flow.integration_steps", integration.steps);
  } else {
    options.real("flow.relative_error", integration.relative_error);
    options.real("flow.absolute_error", integration.absolute_error);
  }
  options.word("flow.seed", options_.seed);
  options.integer("flow.buffer", buffer_->capacity());
  buffer_->identify(options);
}

void FlowDensity::save(StateWriter& out) const {
  out.integer("flow.fits", fits_);
  parts_->trainer.save_rate(out);
  out.real("flow.loss", loss_);
  parts_->trainer.save_network(out);
  out.integer("flow.not_learned", not_learned_);
  buffer_->save(out);
}

void FlowDensity::load(StateReader& in) {
  constexpr auto kMost = std::int64_t{1} << 50;
  fits_ = in.integer("flow.fits", 0, kMost);
  parts_->trainer.load_rate(in, fits_);
  loss_ = in.finite("flow.loss");
  parts_->trainer.load_network(in);
  not_learned_ = in.integer("flow.not_learned", 0, kMost);
  buffer_->load(in);
  if (buffer_->contents().rows() > 0) set_scaling();
}

}  // namespace rarefy
