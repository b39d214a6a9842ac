#include "evaluators/program/ending.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

namespace rarefy {
namespace {

std::string signal_name(int signal) {
  // Null for signals without a name, those for real-time use.
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace

std::string Ending::text() const {
  if (!known) return "ended";
  if (by_signal) return "was ended by " + signal_name(number);
  switch (number) {
    case 126: return "ended with exit status 126 (a shell's for a program that cannot be run)";
    case 127: return "ended with exit status 127 (a shell's for a program that is not there)";
    default: break;
  }
  // A shell that waited for a program gives its signal in this way.
  if (number > 128 && ::sigabbrev_np(number - 128) != nullptr) {
    return fmt::format("ended with exit status {} (a shell's for {})", number,
                       signal_name(number - 128));
  }
  return fmt::format("ended with exit status {}", number);
}

}  // namespace rarefy
