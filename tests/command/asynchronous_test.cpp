// rarefy run --asynchronous, --order
#include <csignal>

#include "command_line.hpp"
#include "run_files.hpp"

namespace {

struct CommandAsynchronous : testing::Test {
  RunPlace place;
  Words small = {"--emitters", "4",      "--batch", "8",       "--iterations",   "30",     "--grid",
                 "10",         "--seed", "3",       "--quiet", "--asynchronous", "--n",    "3",
                 "--low",      "-2,-2",  "--high",  "2,2",     "--command",      command()};

  // Rows take unlike times, and answers have their first two numbers.
  static std::string command() {
    return "i=0; while read a b c; do i=$((i + 1)); "
           "[ $((i % 7)) -ne 0 ] || sleep 0.002; echo $a $b; done";
  }
  [[nodiscard]] ProcessResult run(const std::string& name, const Words& more = {}) const {
    return rarefy_command(Words{"run", "--out", (place / name).string()} + small + more);
  }
  void expect_same(const std::string& a, const std::string& b) const {
    EXPECT_TRUE(bytes_of(place / a / "archive.npz") == bytes_of(place / b / "archive.npz"));
  }
};

TEST_F(CommandAsynchronous, IsRepeatedByItsOrder) {
  auto result = run("first", {"--workers", "3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(bytes_of(place / "first/config.toml"), "asynchronous = true"));
  result = run("again", {"--workers", "1", "--order", (place / "first").string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_same("first", "again");
  result = rarefy_command({"show", (place / "first").string()});
  EXPECT_TRUE(contains(result.out, "order.bin repeats the run")) << result.out;
}

TEST_F(CommandAsynchronous, InterruptedAndResumedItCanBeRepeatedAsAWhole) {
  const auto words =
      Words{"run", "--out", (place / "run").string(), "--workers", "2", "--journal", "on"} + small;
  Process process(command_words(words), {});
  while (!fs::exists(place / "run/order.bin")) ::usleep(500);
  process.send(SIGINT);
  const auto stopped = process.wait();
  EXPECT_TRUE(stopped.exit_code == 130 || stopped.exit_code == 0) << stopped.err;
  if (stopped.exit_code != 0) {
    EXPECT_TRUE(contains(stopped.err, "stopping and saving")) << stopped.err;
  }
  const auto resumed = rarefy_command({"resume", (place / "run").string(), "--quiet"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto again =
      run("again", {"--workers", "2", "--order", (place / "run/order.bin").string()});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  expect_same("run", "again");
}

TEST_F(CommandAsynchronous, MistakesAreNamed) {
  auto result = rarefy_command({"run", "lp", "--order", "somewhere"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "rarefy: --order has no effect here: emitters wait for each other, unless the run is "
            "asynchronous\n");
  result = run("refused", {"--order", (place / "nowhere").string()});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_TRUE(contains(result.err, "expected the folder of an asynchronous run")) << result.err;
  EXPECT_FALSE(fs::exists(place / "refused/config.toml"));
  result = rarefy_command({"run", "lp", "--asynchronous", ""});
  EXPECT_EQ(result.err, "rarefy: --asynchronous: got an empty text, expected a value\n");
  result = rarefy_command({"run", "lp", "--asynchronous", "perhaps"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.err, "asynchronous: got 'perhaps', expected true or false"))
      << result.err;
}

}  // namespace
