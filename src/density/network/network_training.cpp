#include "density/network/network_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "rarefy/core/error.hpp"

namespace rarefy {

NetworkTraining::NetworkTraining(Network& network, std::string_view whose, double rate)
    : network_(&network),
      whose_(whose),
      first_rate_(rate),
      rate_(rate),
      adam_(static_cast<Index>(network.parameters().size())) {}

void NetworkTraining::begin() {
  good_network_.assign(network_->parameters().begin(), network_->parameters().end());
  good_adam_ = adam_;
}

bool NetworkTraining::step(std::span<const float> gradient, Workers& workers) {
  return adam_.step(rate_, gradient, network_->parameters(), workers);
}

void NetworkTraining::take_back() {
  std::copy(good_network_.begin(), good_network_.end(), network_->parameters().begin());
  adam_ = good_adam_;
  rate_ *= 0.5;
  ++rollbacks_;
}

std::string NetworkTraining::warning(std::int64_t iterations) const {
  if (rollbacks_ == 0) return "";
  return fmt::format(
      "training turned non-finite in {} of {} iterations; it was taken back each time, and the "
      "learning rate halved, to {:.3g}",
      rollbacks_, iterations, rate_);
}

std::string NetworkTraining::field(std::string_view name) const {
  return fmt::format("{}.{}", whose_, name);
}

void NetworkTraining::save_rate(StateWriter& out) const {
  out.integer(field("rollbacks"), rollbacks_);
  out.real(field("rate"), rate_);
}

void NetworkTraining::load_rate(StateReader& in, std::int64_t iterations) {
  rollbacks_ = in.integer(field("rollbacks"), 0, iterations);
  rate_ = in.finite(field("rate"));
  if (!(rate_ >= 0 && rate_ <= first_rate_)) {
    throw Error(ErrorKind::corrupt, fmt::format("saved state: learning rate of the {}", whose_),
                fmt::format("{}", rate_), fmt::format("0 to {}", first_rate_));
  }
}

void NetworkTraining::save_network(StateWriter& out) const {
  std::vector<float> values(static_cast<std::size_t>(network_->compact_size()));
  const auto write = [&](std::string_view name, std::span<const float> padded_values) {
    network_->to_compact(padded_values, values);
    out.floats(field(name), values);
  };
  out.integer(field("adam_steps"), adam_.steps);
  write("network", network_->parameters());
  write("first_moments", adam_.first);
  write("second_moments", adam_.second);
}

void NetworkTraining::load_network(StateReader& in) {
  constexpr auto kMost = std::int64_t{1} << 50;
  std::vector<float> values(static_cast<std::size_t>(network_->compact_size()));
  const auto read = [&](std::string_view name, std::span<float> padded_values) {
    in.finite_floats(field(name), values);
    network_->from_compact(values, padded_values);
  };
  adam_.steps = in.integer(field("adam_steps"), 0, kMost);
  read("network", network_->parameters());
  read("first_moments", adam_.first);
  read("second_moments", adam_.second);
  for (const float moment : adam_.second) {
    if (moment < 0) {
      throw Error(ErrorKind::corrupt, fmt::format("saved state: a second moment of the {}", whose_),
                  fmt::format("{}", moment), "a number >= 0");
    }
  }
}

}  // namespace rarefy
