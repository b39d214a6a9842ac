#include "rarefy/core/say.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "core/no_pipe_signal.hpp"
#include "rarefy/core/text.hpp"

namespace rarefy {
namespace {

// Whoever made standard error non-blocking may be slow to read; for a moment we wait.
bool can_be_written() {
  constexpr int kMilliseconds = 200;
  pollfd error_stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&error_stream, 1, kMilliseconds) == 1;
}

void write_all(std::string_view text) {
  const NoPipeSignal quiet;
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && !(errno == EAGAIN && can_be_written())) {
      break;
    }
  }
}

}  // namespace

void say_as_is(std::string_view text) noexcept {
  const int kept = errno;
  write_all(text);
  errno = kept;
}

void say(std::string_view text) noexcept {
  try {
    say_as_is(printable(text));
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory to say it with
  }
}

}  // namespace rarefy
