// A uniform sample, of fixed size, of everything ever seen.
//
// Algorithm L of K.-H. Li, "Reservoir-sampling algorithms of time complexity
// O(n(1 + log(N/n)))", ACM TOMS 20(4), 1994: instead of a coin for every item it
// draws how many to skip until the next one is taken. The skip runs on across
// batches.
#pragma once

#include <cstdint>

#include "rarefy/density/feature_buffer.hpp"

namespace rarefy {

struct ReservoirOptions {
  Index feature_dim = 0;
  Index capacity = 10'000;  ///< 0 keeps everything
  std::uint64_t seed = 0;
};

class Reservoir : public FeatureBuffer {
 public:
  explicit Reservoir(const ReservoirOptions& options);

  [[nodiscard]] BatchView contents() const override { return rows_; }
  [[nodiscard]] Index capacity() const override { return options_.capacity; }
  using FeatureBuffer::add;
  void add(BatchView features, std::vector<Index>& changed, Exchange* exchange) override;
  void identify(StateOptions& options) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;

  /// How many items it was ever given.
  [[nodiscard]] std::int64_t seen() const { return seen_; }

 private:
  void draw_skip();
  void make_room(Index rows);

  ReservoirOptions options_;
  Batch rows_;
  Index room_ = 0;  // for so many rows
  std::int64_t seen_ = 0;
  std::int64_t next_ = 0;   // the number of the next item to take
  std::int64_t draws_ = 0;  // how often a skip was drawn: names the random stream
  double w_ = 1.0;          // Li's W: the largest of `capacity` uniform keys
  Index slot_ = 0;          // where the next item goes
  struct Replacement {
    Index item, slot;
  };
  std::vector<Replacement> replacements_;  // scratch
};

}  // namespace rarefy
