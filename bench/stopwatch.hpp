// Time that adds up over many short pieces of work.
#pragma once

#include <chrono>

namespace rarefy::bench {

class Stopwatch {
 public:
  template <typename Work>
  auto time(Work&& work) {
    const Piece piece(*this);
    return work();
  }
  [[nodiscard]] double seconds() const { return seconds_; }
  void reset() { seconds_ = 0; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Piece {
    explicit Piece(Stopwatch& watch) : watch_(watch), began_(Clock::now()) {}
    ~Piece() { watch_.seconds_ += std::chrono::duration<double>(Clock::now() - began_).count(); }
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    Stopwatch& watch_;
    Clock::time_point began_;
  };
  double seconds_ = 0;
};

/// The least of several timings of `work`, in seconds for one call: the one least disturbed.
template <typename Work>
double best_time(int rounds, int calls, Work&& work) {
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    Stopwatch watch;
    watch.time([&] {
      for (int call = 0; call < calls; ++call) work();
    });
    if (watch.seconds() / calls < best) best = watch.seconds() / calls;
  }
  return best;
}

}  // namespace rarefy::bench
