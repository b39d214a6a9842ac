// A number that tells one set of values from another.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "rarefy/core/batch.hpp"
#include "rarefy/core/feature_space.hpp"

namespace rarefy {

/// 64 bits, the same on every machine; two different sets agree by chance once in 2^64 times.
/// It finds mistakes, not forgeries. Every word goes through the finaliser of splitmix64 (Steele,
/// Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Fingerprint {
 public:
  Fingerprint& add(std::uint64_t word) {
    std::uint64_t z = value_ ^ (word + 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    value_ = (z ^ (z >> 31U)) + 0x9e3779b97f4a7c15U;
    return *this;
  }
  Fingerprint& add(double value) { return add(std::bit_cast<std::uint64_t>(value)); }
  Fingerprint& add(Index value) { return add(static_cast<std::uint64_t>(value)); }
  template <typename Value>
  Fingerprint& add(std::span<const Value> values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const auto value : values) add(value);
    return *this;
  }
  Fingerprint& add(const FeatureSpace& space) {
    add(std::span<const double>(space.lower));
    return add(std::span<const double>(space.upper));
  }

  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace rarefy
