// Asking somebody at work to stop, from another thread or a signal handler.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "rarefy/core/error.hpp"

namespace rarefy {

/// True once somebody wants it to end; null where nobody can. Whoever does something that may
/// take long looks at it now and then.
using StopFlag = const std::atomic<bool>*;

[[nodiscard]] inline bool stop_asked(StopFlag stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

/// Throws Error (interrupted) once somebody wants to end what cannot be left half done.
inline void heed(StopFlag stop, std::string_view doing) {
  if (stop_asked(stop)) {
    throw Error(ErrorKind::interrupted, "interrupted while " + std::string(doing));
  }
}

}  // namespace rarefy
