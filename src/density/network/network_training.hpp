// A network in training: Adam, and the way back where a step goes wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/aligned_floats.hpp"
#include "density/network/adam.hpp"
#include "density/network/network.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/core/workers.hpp"

namespace rarefy {

class NetworkTraining {
 public:
  /// Of a network that outlives it. `whose` names it in states and messages: "flow".
  NetworkTraining(Network& network, std::string_view whose, double rate);

  /// Remembers what to go back to. Before the first step of an iteration.
  void begin();
  /// One step down the gradient. False when a number is no longer finite.
  [[nodiscard]] bool step(std::span<const float> gradient, Workers& workers);
  /// Network and moments become what they were at begin(), and the learning rate half of what it
  /// was.
  void take_back();

  [[nodiscard]] double rate() const { return rate_; }
  /// Iterations whose training was taken back.
  [[nodiscard]] std::int64_t rollbacks() const { return rollbacks_; }
  /// What to tell the user of `iterations`; empty when all is well.
  [[nodiscard]] std::string warning(std::int64_t iterations) const;

  /// In two parts, between which the state of a flow has something of its own.
  void save_rate(StateWriter& out) const;
  void load_rate(StateReader& in, std::int64_t iterations);
  void save_network(StateWriter& out) const;
  void load_network(StateReader& in);

 private:
  [[nodiscard]] std::string field(std::string_view name) const;

  Network* network_;
  std::string_view whose_;
  double first_rate_, rate_;
  std::int64_t rollbacks_ = 0;
  Adam adam_, good_adam_{0};
  AlignedFloats good_network_;
};

}  // namespace rarefy
