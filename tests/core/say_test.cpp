#include "rarefy/core/say.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace {

/// Standard error is another file while this lives.
class StandardError {
 public:
  explicit StandardError(int file) : kept_(::dup(STDERR_FILENO)) { ::dup2(file, STDERR_FILENO); }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  ~StandardError() {
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

std::string told(void (*talk)()) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  {
    const StandardError to_pipe(pipe[1]);
    talk();
  }
  ::close(pipe[1]);
  std::string text(1000, '\0');
  const auto got = ::read(pipe[0], text.data(), text.size());
  ::close(pipe[0]);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

int signals_seen = 0;

}  // namespace

TEST(Say, MakesTextPrintableButForOurOwn) {
  EXPECT_EQ(told([] { rarefy::say("a\x1b[1mb\n"); }), "a\\x1b[1mb\n");
  EXPECT_EQ(told([] { rarefy::say_as_is("\r\x1b[Kc"); }), "\r\x1b[Kc");
}

TEST(Say, SurvivesAFullDiskAndAClosedStream) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no /dev/full here";
  {
    const StandardError to_full(full);
    rarefy::say("lost\n");
    ::close(STDERR_FILENO);
    errno = ERANGE;
    rarefy::say("lost, too\n");
    const int after = errno;
    EXPECT_EQ(after, ERANGE);
  }
  ::close(full);
}

TEST(Say, APipeThatNobodyReadsSendsNoSignal) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::close(pipe[0]);
  signals_seen = 0;
  auto* const before = std::signal(SIGPIPE, [](int) { ++signals_seen; });
  {
    const StandardError to_nobody(pipe[1]);
    rarefy::say("lost\n");
  }
  EXPECT_EQ(signals_seen, 0);
  // The signal comes as ever for the program's own writes.
  EXPECT_LT(::write(pipe[1], "x", 1), 0);
  EXPECT_EQ(signals_seen, 1);
  std::signal(SIGPIPE, before);
  ::close(pipe[1]);
}
