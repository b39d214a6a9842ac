// Memory that runs out when a test says so.
//
// The C library's functions are replaced for this executable, so that what C libraries and Eigen
// allocate fails as well. Not under the sanitizers, which replace them, too.
#pragma once

#include <dirent.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "rarefy/core/error.hpp"
#include "support/sanitized.hpp"

/// Which allocations count.
enum class Counted {
  all,
  ours,   ///< those by `new`: a foreign library may not survive without memory (fontconfig)
  large,  ///< those by `new` of a page or more: toml++ does not survive without the small ones
};

/// Begins and ends the time in which allocation number `first`, and all after it where `onwards`,
/// finds no memory.
void let_memory_fail(long first, bool onwards, Counted counted);
/// Returns whether any allocation failed.
bool let_memory_be();

inline long threads_of_this_process() {
  long count = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), &::closedir);
  while (tasks != nullptr) {
    const auto* entry = ::readdir(tasks.get());  // NOLINT(concurrency-mt-unsafe)
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') ++count;
  }
  return count;
}

struct MemoryOutcome {
  bool failed = false;     ///< an allocation did
  std::string unexpected;  ///< what was thrown, if it was neither of memory nor an Error
};

/// Calls `work` while allocation number `first` (and those after it) fails.
template <typename Work>
MemoryOutcome without_memory(long first, bool onwards, Counted counted, Work work) {
  MemoryOutcome outcome;
  const char* unexpected = nullptr;
  std::string text;
  text.reserve(1000);
  let_memory_fail(first, onwards, counted);
  try {
    work();
  } catch (const std::bad_alloc&) {
  } catch (const rarefy::Error&) {
  } catch (const std::exception& error) {
    unexpected = "another exception";
    text.assign(error.what(),
                std::min<std::size_t>(std::char_traits<char>::length(error.what()), 900));
  }
  outcome.failed = let_memory_be();
  if (unexpected != nullptr) outcome.unexpected = std::string(unexpected) + ": " + text;
  return outcome;
}

/// Calls `work` again and again, without its first, second, third, ... allocation, until it has all
/// that it asks for; after the first `closely` in steps that grow. `check` comes after each.
template <typename Work, typename Check>
long sweep(Counted counted, long closely, Work work, Check check) {
  long tried = 0;
  for (const bool onwards : {false, true}) {
    for (long first = 1;; first += std::max(1L, (first - closely) / 8)) {
      const auto outcome = without_memory(first, onwards, counted, work);
      EXPECT_EQ(outcome.unexpected, "") << "without allocation " << first;
      check(outcome, first);
      ++tried;
      if (!outcome.failed || testing::Test::HasFailure()) break;
    }
  }
  return tried;
}
