// For algorithms that rank nothing.
#pragma once

#include <algorithm>

#include "rarefy/density/density.hpp"

namespace rarefy {

/// Never knows anything: candidates are ranked at random. MAP-Elites learns from its archive
/// alone.
class NoDensity : public Density {
 public:
  explicit NoDensity(Index feature_dim) : feature_dim_(feature_dim) {}

  [[nodiscard]] std::string_view name() const override { return "none"; }
  [[nodiscard]] Index feature_dim() const override { return feature_dim_; }
  [[nodiscard]] bool informed() const override { return false; }
  void score(const Evaluated& /*batch*/, std::span<double> scores, Workers& /*workers*/) override {
    std::fill(scores.begin(), scores.end(), 0.0);
  }
  using Density::observe;
  void observe(const Evaluated& /*batch*/, Workers& /*workers*/) override {}
  void save(StateWriter& /*out*/) const override {}
  void load(StateReader& /*in*/) override {}

 private:
  Index feature_dim_;
};

}  // namespace rarefy
