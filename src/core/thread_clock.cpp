#include "core/thread_clock.hpp"

#include <limits>

#if defined(__linux__)
#include <pthread.h>
#endif

namespace rarefy {
namespace {

#if defined(__linux__)
std::optional<clockid_t> clock_of(pthread_t thread) {
  clockid_t clock = 0;
  if (pthread_getcpuclockid(thread, &clock) != 0) return {};
  return clock;
}
#endif

}  // namespace

ThreadClock ThreadClock::of_this_thread() {
#if defined(__linux__)
  return ThreadClock(clock_of(pthread_self()));
#else
  return ThreadClock(std::nullopt);
#endif
}

ThreadClock ThreadClock::of([[maybe_unused]] std::thread& thread) {
#if defined(__linux__)
  return ThreadClock(clock_of(thread.native_handle()));
#else
  return ThreadClock(std::nullopt);
#endif
}

double ThreadClock::seconds() const {
  timespec time{};
  if (!clock_ || clock_gettime(*clock_, &time) != 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace rarefy
