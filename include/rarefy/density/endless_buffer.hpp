// A buffer that forgets nothing and keeps next to nothing: for densities whose own memory does
// not grow with the number of features they have seen (KdeMethod::panels).
//
// Its contents are a uniform sample, to look at; the estimate is made of everything.
#pragma once

#include "rarefy/density/reservoir.hpp"

namespace rarefy {

class EndlessBuffer : public FeatureBuffer {
 public:
  static constexpr Index kSample = 10'000;

  EndlessBuffer(Index feature_dim, std::uint64_t seed)
      : sample_({.feature_dim = feature_dim, .capacity = kSample, .seed = seed}) {}

  [[nodiscard]] BatchView contents() const override { return sample_.contents(); }
  [[nodiscard]] Index capacity() const override { return 0; }
  [[nodiscard]] std::int64_t count() const override { return sample_.seen(); }
  using FeatureBuffer::add;
  void add(BatchView features, std::vector<Index>& changed, Exchange* exchange) override {
    sample_.add(features, changed);
    if (exchange == nullptr) return;
    exchange->begin(features.cols());
    for (Index i = 0; i < features.rows(); ++i) exchange->came.append(features.row(i));
  }
  void identify(StateOptions& options) const override {
    options.text("buffer.limit", "none");
    sample_.identify(options);
  }
  void save(StateWriter& out) const override { sample_.save(out); }
  void load(StateReader& in) override { sample_.load(in); }

 private:
  Reservoir sample_;
};

}  // namespace rarefy
