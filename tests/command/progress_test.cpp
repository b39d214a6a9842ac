// What a user sees while a run goes on.
#include <algorithm>
#include <chrono>
#include <regex>

#include "command_line.hpp"

namespace {

Words endless(const fs::path& folder) {
  return SmallCase{"lp", "default"}.arguments(1000000) + Words{"--out", folder.string()};
}

const std::regex kStatus(
    R"([0-9,]+/1,000,000  coverage [0-9.]+ %  cross-entropy [0-9.]+  [0-9,]+ solutions/s  [0-9:]+ left)");

TEST(CommandProgress, WithoutATerminalIsPlainLines) {
  const RunPlace place;
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  // How long a tenth takes is the machine's business: more iterations, until a line comes.
  for (int iterations = 2000; iterations <= 2'000'000; iterations *= 4) {
    const auto begin = std::chrono::steady_clock::now();
    Process process(command_words(SmallCase{"lp", "default"}.arguments(iterations) +
                                  Words{"--overwrite", "--out", (place / "run").string()}));
    const auto& end = process.wait();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    ASSERT_EQ(end.exit_code, 0) << end.err;
    EXPECT_EQ(end.err.find_first_of("\r\x1b"), std::string::npos) << end.err;
    EXPECT_EQ(end.out.find_first_of("\r\x1b"), std::string::npos) << end.out;
    EXPECT_LE(static_cast<double>(lines(end.err)), spent.count()) << "more than one a second";
    if (lines(end.err) == 0) continue;
    const auto line = end.err.substr(0, end.err.find('\n'));
    EXPECT_TRUE(std::regex_match(
        line, std::regex(R"([0-9,]+/[0-9,]+  coverage [0-9.]+ %  cross-entropy [0-9.]+  )"
                         R"([0-9,]+ solutions/s  [0-9:]+ left)")))
        << line;
    return;
  }
  FAIL() << "no line at all";
}

TEST(CommandProgress, OnATerminalIsABar) {
  if (!have_terminal()) GTEST_SKIP() << kNoTerminal;
  const RunPlace place;
  Process process(command_words(endless(place / "run")), {.terminal = true, .columns = 160});
  // The bar is drawn again and again.
  ASSERT_TRUE(process.wait_until([&] {
    const auto& text = process.so_far().out;
    return std::count(text.begin(), text.end(), '\r') >= 4;
  }));
  process.send(SIGINT);
  const auto& end = process.wait();
  EXPECT_EQ(end.exit_code, 130) << end.out;

  const auto first = end.out.find("\r\x1b[K");
  ASSERT_NE(first, std::string::npos) << end.out;
  const auto second = end.out.find('\r', first + 1);
  const auto line = end.out.substr(first + 4, second - first - 4);
  EXPECT_EQ(line.front(), '[') << line;
  EXPECT_NE(line.find(']'), std::string::npos) << line;
  EXPECT_LT(line.size(), 160U) << "would not fit on its line";
  EXPECT_TRUE(std::regex_search(line, kStatus)) << line;
  // The bar's line is ended before anything else is written.
  EXPECT_TRUE(std::regex_search(end.out, std::regex("left[ ]*\r\n"))) << end.out;
  EXPECT_TRUE(contains(end.out, "rarefy resume")) << end.out;
}

TEST(CommandProgress, ANarrowTerminalGetsOneLineToo) {
  if (!have_terminal()) GTEST_SKIP() << kNoTerminal;
  const RunPlace place;
  for (const auto columns : std::vector<unsigned short>{1, 10, 40, 90, 100}) {
    Process process(command_words(SmallCase{"lp", "default"}.arguments(30) +
                                  Words{"--overwrite", "--out", (place / "run").string()}),
                    {.terminal = true, .columns = columns});
    const auto& end = process.wait();
    EXPECT_EQ(end.exit_code, 0) << end.out;
    std::size_t at = 0;
    while ((at = end.out.find("\r\x1b[K", at)) != std::string::npos) {
      at += 4;
      const auto length = end.out.find_first_of("\r\n", at) - at;
      EXPECT_LT(length, columns) << end.out;
    }
  }
}

TEST(CommandProgress, TheLastStateOfTheBarIsTheEnd) {
  if (!have_terminal()) GTEST_SKIP() << kNoTerminal;
  const RunPlace place;
  Process process(command_words(SmallCase{"lp", "default"}.arguments(300) +
                                Words{"--out", (place / "run").string()}),
                  {.terminal = true, .columns = 160});
  const auto& end = process.wait();
  EXPECT_EQ(end.exit_code, 0);
  const auto last = end.out.rfind("\r\x1b[K");
  ASSERT_NE(last, std::string::npos) << end.out;
  EXPECT_TRUE(contains(end.out.substr(last), "300/300")) << end.out;
  EXPECT_TRUE(std::regex_search(end.out.substr(last), std::regex(R"(\[#+\])")));
}

TEST(CommandProgress, ADumbTerminalGetsNoEscapeCodes) {
  if (!have_terminal()) GTEST_SKIP() << kNoTerminal;
  const RunPlace place;
  ProcessOptions options;
  options.terminal = true;
  options.prepare = [] { return ::setenv("TERM", "dumb", 1); };
  Process process(command_words(SmallCase{"lp", "default"}.arguments(300) +
                                Words{"--out", (place / "run").string()}),
                  options);
  const auto& end = process.wait();
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.out.find('\x1b'), std::string::npos) << end.out;
}

const Words kQuiet = SmallCase{"lp", "default"}.arguments(300) + Words{"--quiet", "--out"};

TEST(CommandProgress, QuietIsSilent) {
  const RunPlace place;
  const auto end = rarefy_command(kQuiet + Words{(place / "run").string()});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.out + end.err, "");
  const auto resumed =
      rarefy_command({"resume", (place / "run").string(), "--quiet", "--iterations", "310"});
  EXPECT_EQ(resumed.exit_code, 0);
  EXPECT_EQ(resumed.out + resumed.err, "");
}

TEST(CommandProgress, QuietIsSilentOnATerminal) {
  if (!have_terminal()) GTEST_SKIP() << kNoTerminal;
  const RunPlace place;
  const auto end = rarefy_command(kQuiet + Words{(place / "run").string()}, {.terminal = true});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.out, "");
}

}  // namespace
