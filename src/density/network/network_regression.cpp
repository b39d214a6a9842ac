#include "density/network/network_regression.hpp"

#include <algorithm>
#include <cmath>

namespace rarefy {
namespace {

// Batches are small, 32 samples by default: halves of one are shared out.
constexpr Index kRegressionPiece = 16;

}  // namespace

NetworkRegression::NetworkRegression(const Network& network, Index batch)
    : batch_(batch), gradient_(network, batch, kRegressionPiece) {}

std::optional<double> NetworkRegression::epoch(BatchView samples, std::span<const Index> order,
                                               NetworkTraining& training, Workers& workers) {
  const auto rows = static_cast<Index>(order.size());
  const Index inputs = samples.cols() - 1;
  double squares = 0.0;
  for (Index first = 0; first < rows; first += batch_) {
    const Index count = std::min(batch_, rows - first);
    const auto row = [&](Index i) { return order[static_cast<std::size_t>(first + i)]; };
    const auto write_input = [&](Index i, float* column) {
      for (Index d = 0; d < inputs; ++d) column[d] = static_cast<float>(samples(row(i), d));
    };
    const auto judge = [&](Index i, float* output, double& sum) {
      const double error = static_cast<double>(output[0]) - samples(row(i), inputs);
      sum += error * error;
      output[0] = static_cast<float>(2.0 * error / static_cast<double>(count));
    };
    const double sum = gradient_.evaluate(count, workers, write_input, judge);
    if (!std::isfinite(sum) || !training.step(gradient_.gradient(), workers)) return std::nullopt;
    squares += sum;
  }
  return squares / static_cast<double>(std::max<Index>(rows, 1));
}

}  // namespace rarefy
