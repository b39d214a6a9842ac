#include "flow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "flow_work.hpp"
#include "kernels/dense.hpp"
#include "rarefy/core/random.hpp"
#include "stopwatch.hpp"

namespace rarefy::bench {
namespace {

constexpr Index kQueries = 540;

FlowOptions options_of(Index features, std::vector<Index> layers) {
  const auto dims = static_cast<std::size_t>(features);
  FlowOptions options;
  options.space = {std::vector<double>(dims, -1.0), std::vector<double>(dims, 1.0)};
  options.network.layers = std::move(layers);
  return options;
}

Batch normals(Index rows, Index cols, std::uint32_t stream) {
  Batch batch(rows, cols);
  fill_normals({.seed = 1, .purpose = Purpose::user, .index = stream}, batch.values());
  return batch;
}

FlowBatch training_batch(const FlowOptions& options) {
  const Index count = options.training.batch;
  FlowBatch batch{.samples = normals(count, options.space.dim(), 1),
                  .noise = normals(count, options.space.dim(), 2),
                  .times = {}};
  RandomStream random({.seed = 1, .purpose = Purpose::user, .index = 3});
  for (Index i = 0; i < count; ++i) batch.times.push_back(random.uniform());
  return batch;
}

// Operations are those of the matrix products that the mathematics needs, two (a product, a sum)
// for each weight and column. What is done element by element (biases, activations, Adam) and
// padding take their time and count for nothing.
struct Operations {
  double step, query;
};

Operations operations_of(const FlowOptions& options) {
  const Index features = options.space.dim();
  const auto& hidden = options.network.layers;
  const Index first = (features + 2 * options.network.frequencies) * hidden.front();
  Index between = 0;
  for (std::size_t l = 1; l < hidden.size(); ++l) between += hidden[l - 1] * hidden[l];
  const Index forward = 2 * (first + between + hidden.back() * features);
  // Training: forward; the gradient of every weight; the errors back through every layer but the
  // first, as nobody asks for the gradient by the inputs.
  const Index sample = 3 * forward - 2 * first;
  // Integration: the values forward, and a tangent for each feature. Behind the first layer a
  // tangent is a column of weights, for nothing; in the last it takes one row of weights to get
  // its share of the trace.
  const Index evaluation = forward + features * 2 * (between + hidden.back());
  const Index evaluations = kQueries * 4 * options.integration.steps;
  return {.step = static_cast<double>(sample * options.training.batch),
          .query = static_cast<double>(evaluation * evaluations)};
}

// Every thread its own product, large enough to run at the peak, all at once.
class LargeProducts {
 public:
  explicit LargeProducts(Index threads) {
    for (Index t = 0; t < threads; ++t) {
      left_.emplace_back(kSide * kSide, 0.5F);
      right_.emplace_back(kSide * kSide, 0.25F);
      out_.emplace_back(kSide * kSide);
    }
  }
  void multiply(Workers& workers) {
    workers.for_each(static_cast<Index>(out_.size()), [&](Index i) {
      const auto t = static_cast<std::size_t>(i);
      kernels::dense().forward(left_[t].data(), right_[t].data(), out_[t].data(), kSide, kSide,
                               kSide);
    });
  }
  [[nodiscard]] double operations() const {
    return 2.0 * kSide * kSide * kSide * static_cast<double>(out_.size());
  }

 private:
  static constexpr Index kSide = 1024;
  std::vector<AlignedFloats> left_, right_, out_;
};

// Seconds a call, over as many as make up a tenth of a second.
template <typename Work>
double time_of(Work&& work) {
  Stopwatch watch;
  int calls = 0;
  for (; watch.seconds() < 0.1; ++calls) watch.time(work);
  return watch.seconds() / calls;
}

constexpr std::size_t kRounds = 7;
using Rounds = std::array<double, kRounds>;

double median(Rounds rounds) {
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

void print_line(const FlowOptions& options, Index threads) {
  Workers workers(threads);
  LargeProducts products(threads);
  FlowTraining training(options, training_batch(options));
  const auto flow = informed_flow(options, workers);
  const Batch queries = normals(kQueries, options.space.dim(), 4);
  std::vector<double> logs(static_cast<std::size_t>(kQueries));

  // By turns, so that whatever else the machine does disturbs all alike.
  Rounds product{}, step{}, query{};
  for (std::size_t round = 0; round < kRounds; ++round) {
    product[round] = time_of([&] { products.multiply(workers); });
    step[round] = time_of([&] { training.step(workers); });
    query[round] = time_of([&] { flow->log_density(queries, logs, workers); });
  }

  const auto [step_operations, query_operations] = operations_of(options);
  const double peak = 1e-9 * products.operations() / median(product);
  const double trained = 1e-9 * step_operations / median(step);
  const double integrated = 1e-9 * query_operations / median(query);
  const auto cells = [&](double seconds, double rate) {
    return fmt::format("{:>9.3f} {:>7.1f} {:>6.0f}%", 1e3 * seconds, rate, 100 * rate / peak);
  };
  fmt::print("  {:<12} {:>8} {:>7} {:>6.1f} |{} |{}\n",
             fmt::format("{}", fmt::join(options.network.layers, ",")), options.space.dim(),
             threads, peak, cells(median(step), trained), cells(median(query), integrated));
}

}  // namespace

void print_flow() {
  const FlowOptions defaults;
  fmt::print(
      "continuous normalizing flow: steps of training on {} samples, log-densities of {} queries\n"
      "({} steps of RK4); peak: GFLOP/s of 1024 x 1024 products, one on each thread\n",
      defaults.training.batch, kQueries, defaults.integration.steps);
  fmt::print("  {:<12} {:>8} {:>7} {:>6} |{:>9} {:>7} {:>7} |{:>9} {:>7} {:>7}\n", "layers",
             "features", "threads", "peak", "ms a step", "GFLOP/s", "of peak", "ms a 540",
             "GFLOP/s", "of peak");
  for (const auto& layers : {std::vector<Index>{256, 256, 256}, std::vector<Index>{64, 64}}) {
    for (const Index features : {2, 10}) {
      for (const Index threads : {1, 2}) print_line(options_of(features, layers), threads);
    }
  }
  fmt::print("\n");
}

}  // namespace rarefy::bench
