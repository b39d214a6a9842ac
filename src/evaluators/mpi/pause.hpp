// Between two looks for a letter: MPI's own waiting takes a whole core.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace rarefy {

/// None at first, for an answer may be on its way; then longer and longer ones.
class Pause {
 public:
  using Microseconds = std::chrono::microseconds;

  void reset() { looks_ = 0; }
  [[nodiscard]] Microseconds next() {
    constexpr int kEager = 50;  // looks without a pause
    constexpr Microseconds kShortest(10), kLongest(1000);
    ++looks_;
    if (looks_ <= kEager) return Microseconds(0);
    return std::min(kShortest * (looks_ - kEager), kLongest);
  }
  void rest() {
    const auto pause = next();
    if (pause.count() == 0) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  int looks_ = 0;
};

}  // namespace rarefy
