// Our side of the comparison that peers/flow.py makes, on the arrays in a folder:
//
//   bench_flow_peer FOLDER THREADS
//
//   reads     layers.npy   (hidden layers)         widths
//             weights.npy  (parameters)            in the order of FlowDensity::parameters()
//             samples.npy  (batch, features)       of a training step, in the network's
//             noise.npy    (batch, features)         coordinates
//             times.npy    (batch)
//             queries.npy  (queries, features)     likewise
//   writes    loss.npy (1, 1), gradient.npy (parameters, 1), log_density.npy (queries, 1)
//   prints    milliseconds a training step and for all queries
#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "flow_work.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/storage/npy.hpp"
#include "stopwatch.hpp"

namespace {

using namespace rarefy;

Index threads_from(std::string_view text) {
  Index threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc() || end != text.data() + text.size() || threads < 1) {
    throw Error(ErrorKind::parameter, "threads", text, "a whole number > 0");
  }
  return threads;
}

void require_rows(std::string_view thing, Index given, Index expected) {
  if (given != expected) {
    throw Error(ErrorKind::data, thing, fmt::format("{}", given), fmt::format("{}", expected));
  }
}

void write_column(const std::filesystem::path& path, std::span<const double> values) {
  write_npy(path, {values.data(), static_cast<Index>(values.size()), 1});
}

// Milliseconds a call, over as many as make up a while, after one that nobody times.
template <typename Work>
double milliseconds(Work&& work) {
  constexpr double kWhile = 0.3;
  work();
  bench::Stopwatch watch;
  int calls = 0;
  for (; watch.seconds() < kWhile; ++calls) watch.time(work);
  return 1e3 * watch.seconds() / calls;
}

void compare(const std::filesystem::path& folder, Index threads) {
  Workers workers(threads);
  bench::FlowBatch batch{.samples = read_npy_batch(folder / "samples.npy"),
                         .noise = read_npy_batch(folder / "noise.npy"),
                         .times = {}};
  const auto times = read_npy(folder / "times.npy");
  batch.times.assign(times.reals().begin(), times.reals().end());
  const auto queries = read_npy_batch(folder / "queries.npy");
  const auto weights = read_npy(folder / "weights.npy");
  const std::vector<float> parameters(weights.reals().begin(), weights.reals().end());
  const auto layers = read_npy(folder / "layers.npy");

  const Index features = batch.samples.cols();
  require_rows("noises", batch.noise.rows(), batch.samples.rows());
  require_rows("features of a noise", batch.noise.cols(), features);
  require_rows("times", times.size(), batch.samples.rows());
  require_rows("features of a query", queries.cols(), features);

  FlowOptions options;
  const auto dims = static_cast<std::size_t>(features);
  options.space = {std::vector<double>(dims, -1.0), std::vector<double>(dims, 1.0)};
  options.scaling = FeatureScaling::none;  // what is read is in the network's coordinates
  options.network.layers.assign(layers.integers().begin(), layers.integers().end());
  options.training.batch = batch.samples.rows();

  const auto flow = bench::informed_flow(options, workers);
  flow->set_parameters(parameters);
  std::vector<double> logs(static_cast<std::size_t>(queries.rows()));
  const double query = milliseconds([&] { flow->log_density(queries, logs, workers); });
  write_column(folder / "log_density.npy", logs);

  bench::FlowTraining training(options, std::move(batch));
  training.set_parameters(parameters);
  const double loss = training.loss_and_gradient(workers);
  const auto gradient = training.gradient();
  write_column(folder / "loss.npy", std::vector{loss});
  write_column(folder / "gradient.npy", std::vector<double>(gradient.begin(), gradient.end()));
  const double step = milliseconds([&] { training.step(workers); });

  fmt::print("{:.6f} {:.6f}\n", step, query);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_flow_peer FOLDER THREADS\n");
    return 2;
  }
  try {
    compare(argv[1], threads_from(argv[2]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_flow_peer: {}\n", error.what());
    return 1;
  }
  return 0;
}
