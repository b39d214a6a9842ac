// Everything that programs do wrong, each with the message that it gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "evaluators/programs.hpp"
#include "support/temporary_folder.hpp"

namespace {

using rarefy::Evaluation;
using rarefy::Index;
using rarefy::ProgramEvaluator;
using rarefy::ProgramFault;
using rarefy::ProgramOptions;
using rarefy::ProgramProtocol;
using testing::AllOf;
using testing::EndsWith;
using testing::StartsWith;

// ---- rows that a program cannot do, among others that it can ------------------------------------

struct BadRow {
  const char* kind;
  ProgramFault fault;
  std::string message;
  std::string error_output = "";
};
std::string name_of_case(const testing::TestParamInfo<BadRow>& info) {
  std::string name = info.param.kind;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// One row of five is bad. It alone fails, after as many attempts as it should have.
void expect_one_bad_row(ProgramOptions options, const BadRow& bad, Index retries) {
  options.solution_dim = options.feature_dim = options.workers = 2;
  options.retries = retries;
  ProgramEvaluator evaluator(options);
  const auto solutions = numbered_rows(5, {2});
  Evaluation out(5, 2);
  evaluator.evaluate(solutions, out.span());
  EXPECT_THAT(out.valid, testing::ElementsAre(1, 1, 0, 1, 1));
  for (const Index i : {0, 1, 3, 4}) {
    EXPECT_EQ(out.features(i, 0), solutions(i, 0));
    EXPECT_EQ(out.features(i, 1), solutions(i, 1));
    EXPECT_EQ(out.objectives[static_cast<std::size_t>(i)], 1.0);
  }
  ASSERT_EQ(evaluator.failures().size(), 1U);
  const auto& failure = evaluator.failures().front();
  EXPECT_EQ(failure.row, 2);
  EXPECT_EQ(failure.message, bad.message);
  EXPECT_EQ(failure.fault, bad.fault) << name_of(failure.fault);
  EXPECT_EQ(failure.error_output, bad.error_output);
  EXPECT_EQ(evaluator.counts().rows_done, 4);
  EXPECT_EQ(evaluator.counts().rows_failed, 1);
  EXPECT_EQ(evaluator.counts().count(bad.fault), retries + 1);
  EXPECT_EQ(evaluator.take_failures().size(), 1U);
  EXPECT_TRUE(evaluator.failures().empty());
}

class BadLines : public testing::TestWithParam<BadRow> {};
TEST_P(BadLines, FailAloneAndAreNamed) {
  const std::string kind = GetParam().kind;
  // Where a moment is given to end by itself, one attempt is enough to wait for.
  const Index retries = kind == "output-closed" ? 0 : 1;
  expect_one_bad_row({.command = "sh " + program("bad.sh") + " " + kind, .longest_answer = 1000},
                     GetParam(), retries);
}
const std::string kSixtyOnes(60, '1');
INSTANTIATE_TEST_SUITE_P(
    Kinds, BadLines,
    testing::Values(
        BadRow{"exit-3", ProgramFault::died, "ended with exit status 3 before it had answered",
               "mesh is broken"},
        BadRow{"exit-0", ProgramFault::died, "ended with exit status 0 before it had answered"},
        BadRow{"exit-139", ProgramFault::died,
               "ended with exit status 139 (a shell's for SIGSEGV) before it had answered"},
        BadRow{"segv", ProgramFault::died, "was ended by SIGSEGV before it had answered"},
        BadRow{"kill", ProgramFault::died, "was ended by SIGKILL before it had answered"},
        BadRow{"half", ProgramFault::died, "ended with exit status 0 in the middle of an answer"},
        BadRow{"few", ProgramFault::count, "answered 1 number, expected 2: \"13\""},
        BadRow{"many", ProgramFault::count, "answered 3 numbers, expected 2: \"13 0 1\""},
        BadRow{"nan", ProgramFault::not_finite,
               "answered nan, expected finite numbers: \"13 nan\""},
        BadRow{"infinite", ProgramFault::not_finite,
               "answered -inf, expected finite numbers: \"-inf 0\""},
        BadRow{"too-large", ProgramFault::not_finite,
               "answered 1e999, expected finite numbers: \"1e999 0\""},
        BadRow{"text", ProgramFault::text,
               "answered \"Segmentation\" where a number was expected: \"Segmentation fault\""},
        BadRow{"mixed", ProgramFault::text,
               "answered \"0x10\" where a number was expected: \"13 0x10\""},
        BadRow{"comma", ProgramFault::text,
               "answered \"13,5\" where a number was expected: \"13,5 0,5\""},
        BadRow{"comment", ProgramFault::text,
               "answered \"#\" where a number was expected: \"13 0 # fine\""},
        BadRow{"empty", ProgramFault::count, "answered nothing, expected 2 numbers"},
        BadRow{"blank", ProgramFault::count, "answered nothing, expected 2 numbers"},
        BadRow{"control", ProgramFault::text,
               "answered \"\\x1b[31m13\\x1b[0m\" where a number was expected: "
               "\"\\x1b[31m13\\x1b[0m 0\""},
        BadRow{"endless", ProgramFault::too_long,
               "answered more than 1000 bytes without an end of line, expected 2 numbers: \"" +
                   kSixtyOnes + "...\""},
        BadRow{"two-lines", ProgramFault::unasked,
               "answered more than one line, expected one for each: \"13 0\\n13 0\\n\""},
        BadRow{"flood", ProgramFault::unasked,
               "answered more than one line, expected one for each: \"13 0\\n13 0\\n13 0\\n13 0\\n"
               "13 0\\n13 0\\n13 0\\n13 0\\n13 0\\n13 0\\n13 0\\n13 0\\n...\""},
        BadRow{"output-closed", ProgramFault::closed,
               "closed its standard output before it had answered"},
        BadRow{"orphan", ProgramFault::died, "ended with exit status 4 before it had answered"}),
    name_of_case);

class BadRuns : public testing::TestWithParam<BadRow> {};
TEST_P(BadRuns, FailAloneAndAreNamed) {
  expect_one_bad_row({.command = "sh " + program("once.sh") + " " + GetParam().kind,
                      .protocol = ProgramProtocol::once,
                      .longest_answer = 1000},
                     GetParam(), 1);
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, BadRuns,
    testing::Values(
        BadRow{"exit-5", ProgramFault::died, "ended with exit status 5", "did not converge"},
        BadRow{"nothing", ProgramFault::count, "answered nothing, expected 2 numbers"},
        BadRow{"few", ProgramFault::count, "answered 1 number, expected 2: \"13\""},
        BadRow{"text", ProgramFault::text,
               "answered \"usage:\" where a number was expected: \"usage: once\""},
        BadRow{"abort", ProgramFault::died, "was ended by SIGABRT"},
        BadRow{"flood", ProgramFault::too_long,
               "answered more than 1000 bytes, expected 2 numbers: "
               "\"13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13\\n13"
               "\\n13\\n13\\n13\\n13\\n...\""}),
    name_of_case);

class BadArrays : public testing::TestWithParam<BadRow> {};
TEST_P(BadArrays, FailAloneAndAreNamed) {
  expect_one_bad_row({.command = python() + " " + program("npy.py") + " " + GetParam().kind,
                      .protocol = ProgramProtocol::npy},
                     GetParam(), GetParam().kind == std::string("nan") ? 0 : 1);
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, BadArrays,
    testing::Values(
        BadRow{"dies", ProgramFault::died, "ended with exit status 9 before it had answered"},
        BadRow{"text", ProgramFault::text,
               "answered no .npy array: \"Traceback (most recent call last):\\n\""},
        BadRow{"shape", ProgramFault::count, "answered an array of shape (1, 3), expected (1, 2)"},
        BadRow{"flat", ProgramFault::count, "answered an array of shape (2,), expected (1, 2)"},
        BadRow{"float", ProgramFault::text,
               "answered an array of \"<f4\" in C order, expected '<f8' in C order"},
        BadRow{"fortran", ProgramFault::text,
               "answered an array of \"<f8\" in Fortran order, expected '<f8' in C order"},
        BadRow{"version", ProgramFault::text, "answered version 2.0 of .npy, expected 1.0"},
        BadRow{"header", ProgramFault::text,
               "answered a broken array: got something after the header's '}', expected its end"},
        BadRow{"more", ProgramFault::unasked,
               "answered 4 bytes more than the array that was asked for"},
        BadRow{"cut", ProgramFault::died, "ended with exit status 0 in the middle of an answer"},
        BadRow{"nan", ProgramFault::not_finite, "answered nan, expected finite numbers"}),
    name_of_case);

TEST(BadProgram, LeavesNothingButTheEndOfItsErrors) {
  ProgramEvaluator evaluator({.command = "sh " + program("bad.sh") + " noisy",
                              .solution_dim = 2,
                              .feature_dim = 2,
                              .workers = 1,
                              .retries = 0});
  Evaluation out(2, 2);
  evaluator.evaluate(numbered_rows(2, {1}), out.span());
  ASSERT_EQ(evaluator.failures().size(), 1U);
  const auto& failure = evaluator.failures().front();
  EXPECT_EQ(failure.message, "ended with exit status 5 before it had answered");
  EXPECT_LE(failure.error_output.size(), 2048U);
  EXPECT_THAT(failure.error_output,
              AllOf(StartsWith("all is lost\nall is lost\n"), EndsWith("\nthe last words")));
}

TEST(BadProgram, ThatClosesItsInputIsNotWaitedFor) {
  ProgramEvaluator evaluator({.command = "sh " + program("bad.sh") + " input-closed",
                              .solution_dim = 2,
                              .feature_dim = 2,
                              .workers = 1,
                              .retries = 0});
  Evaluation out(1, 2);
  evaluator.evaluate(numbered_rows(1), out.span());
  ASSERT_EQ(evaluator.failures().size(), 1U);
  EXPECT_EQ(evaluator.failures().front().message,
            "closed its standard input before it had read the question");
}

// ---- programs that never work -------------------------------------------------------------------

struct NeverWorks {
  const char* name;
  ProgramOptions options;
  std::string message;  // after "command '...' "
};
class BadProgramFromTheStart : public testing::TestWithParam<NeverWorks> {};
TEST_P(BadProgramFromTheStart, EndsTheEvaluationWithItsWords) {
  auto options = GetParam().options;
  options.solution_dim = options.feature_dim = 2;
  if (options.workers == 0) options.workers = 1;
  ProgramEvaluator evaluator(options);
  std::vector<Index> all;
  for (Index i = 0; i < 20; ++i) all.push_back(i);
  const auto& words = options.arguments;
  const auto command = words.empty() ? options.command : words.front();
  EXPECT_EQ(error_of(evaluator, numbered_rows(20, all)),
            "command '" + command + "' " + GetParam().message);
}
const std::string kBad = "sh " + program("bad.sh") + " ";
INSTANTIATE_TEST_SUITE_P(
    Kinds, BadProgramFromTheStart,
    testing::Values(
        NeverWorks{"leaves",
                   {.command = kBad + "leaves"},
                   "has not worked once in 8 attempts; in the last it ended with exit status 7 "
                   "before it had answered; the end of its standard error:\nno licence"},
        NeverWorks{"banner",
                   {.command = kBad + "banner"},
                   "has not worked once in 8 attempts; in the last it answered \"Simulator\" "
                   "where a number was expected: \"Simulator 1.0\""},
        NeverWorks{"nan",
                   {.command = kBad + "nan", .workers = 5},
                   "has not worked once in 10 attempts; in the last it answered nan, expected "
                   "finite numbers: \"13 nan\""},
        NeverWorks{"hang",
                   {.command = kBad + "hang", .timeout = 0.125},
                   "has not worked once in 2 attempts; in the last it did not answer within "
                   "0.125 s (does it flush every answer, and read line by line?)"},
        NeverWorks{"stop",
                   {.command = kBad + "stop", .workers = 3, .timeout = 0.125},
                   "has not worked once in 3 attempts; in the last it did not answer within "
                   "0.125 s (does it flush every answer, and read line by line?)"},
        NeverWorks{"deaf",
                   {.command = kBad + "deaf", .timeout = 0.125, .start_time = 0.125},
                   "has not worked once in 2 attempts; in the last it did not answer within "
                   "0.25 s (does it flush every answer, and read line by line?)"},
        NeverWorks{
            "silent_once",
            {.command = "exec sleep 1000 #", .protocol = ProgramProtocol::once, .timeout = 0.125},
            "has not worked once in 2 attempts; in the last it did not answer within "
            "0.125 s"},
        NeverWorks{"silent_array",
                   {.command = "sleep 1000",
                    .protocol = ProgramProtocol::npy,
                    .workers = 2,
                    .timeout = 0.125},
                   "has not worked once in 2 attempts; in the last it did not answer "
                   "within 0.125 s"},
        NeverWorks{"not_there",
                   {.command = "./no-such-simulator"},
                   "ended with exit status 127 (a shell's for a program that is not there) before "
                   "it had answered; the end of its standard error:\nsh: 1: exec: "
                   "./no-such-simulator: not found"},
        NeverWorks{"not_executable",
                   {.command = program("npy.py")},
                   "ended with exit status 126 (a shell's for a program that cannot be run) "
                   "before it had answered; the end of its standard error:\nsh: 1: exec: " +
                       program("npy.py") + ": Permission denied"},
        NeverWorks{"no_file",
                   {.arguments = {"./no-such-simulator"}},
                   "cannot be started: No such file or directory"},
        NeverWorks{"a_folder", {.arguments = {"/"}}, "cannot be started: Permission denied"},
        NeverWorks{"no_folder",
                   {.command = "cat", .folder = "/no/such/folder"},
                   "cannot be started in folder /no/such/folder: No such file or directory"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(BadProgram, ThatNeedsAnInterpreterThatIsNotThere) {
  const TemporaryFolder folder;
  const auto script = folder.path() / "script";
  std::ofstream(script) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  ProgramEvaluator evaluator(
      {.arguments = {script.string()}, .solution_dim = 2, .feature_dim = 2, .workers = 2});
  EXPECT_EQ(error_of(evaluator, numbered_rows(3)),
            "command '" + script.string() + "' cannot be started: No such file or directory");
}

TEST(BadProgram, MayNotFailWhereNoRowMay) {
  ProgramEvaluator evaluator(
      {.command = kBad + "few", .solution_dim = 2, .feature_dim = 2, .workers = 1});
  Evaluation out(4, 2);
  auto span = out.span();
  span.valid = {};
  try {
    evaluator.evaluate(numbered_rows(4, {3}), span);
    ADD_FAILURE();
  } catch (const rarefy::Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "row 3: command '" + kBad + "few' answered 1 number, expected 2: \"13\"");
  }
}

TEST(BadProgram, IsNotStartedAgainAndAgainInNoTime) {
  // One row is tried nine times, and kills its worker at once.
  ProgramEvaluator evaluator({.command = kBad + "exit-3",
                              .solution_dim = 2,
                              .feature_dim = 2,
                              .workers = 1,
                              .retries = 8});
  Evaluation out(2, 2);
  const auto before = std::chrono::steady_clock::now();
  evaluator.evaluate(numbered_rows(2, {1}), out.span());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  EXPECT_EQ(evaluator.counts().workers_started, 9);
  EXPECT_EQ(evaluator.counts().rows_retried, 8);
  EXPECT_GE(took.count(), 0.127);  // 1 + 2 + 4 + ... + 64 ms
}

TEST(BadProgram, OptionsAreNamed) {
  const auto error = [](ProgramOptions options) -> std::string {
    try {
      const ProgramEvaluator evaluator(std::move(options));
    } catch (const rarefy::Error& problem) {
      return problem.what();
    }
    return "";
  };
  EXPECT_EQ(error({.solution_dim = 1, .feature_dim = 1}),
            "command of a program: got none, expected one of them");
  EXPECT_EQ(error({.command = "cat", .arguments = {"cat"}, .solution_dim = 1, .feature_dim = 1}),
            "command of a program: got a command line and a list of arguments, expected one of "
            "them");
  EXPECT_EQ(error({.command = "cat", .feature_dim = 1}),
            "solution_dim: got 0, expected at least 1");
  EXPECT_EQ(error({.command = "cat", .solution_dim = 1}),
            "feature_dim: got 0, expected at least 1");
  EXPECT_EQ(error({.command = "cat", .solution_dim = 1, .feature_dim = 1, .timeout = -1}),
            "timeout: got -1, expected seconds, at least 0");
  EXPECT_EQ(error({.command = "cat", .solution_dim = 1, .feature_dim = 1, .retries = -1}),
            "retries: got -1, expected at least 0");
}

}  // namespace
