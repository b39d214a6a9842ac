// How long processors have worked for a thread, whatever else the machine did meanwhile.
#pragma once

#include <ctime>
#include <optional>
#include <thread>

namespace rarefy {

/// Can be read from any thread, for as long as its own is there.
class ThreadClock {
 public:
  [[nodiscard]] static ThreadClock of_this_thread();
  /// Of one that has not been joined.
  [[nodiscard]] static ThreadClock of(std::thread& thread);

  /// Seconds, user and system, since the thread began. Not a number where the system cannot tell.
  [[nodiscard]] double seconds() const;

 private:
  explicit ThreadClock(std::optional<clockid_t> clock) : clock_(clock) {}
  std::optional<clockid_t> clock_;
};

}  // namespace rarefy
