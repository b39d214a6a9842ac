// Programs that do what they should, and the order of things around them.
#include "rarefy/evaluators/program_evaluator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <locale>
#include <set>
#include <string>

#include "evaluators/program/answers.hpp"
#include "evaluators/program/command_line.hpp"
#include "evaluators/programs.hpp"
#include "support/temporary_folder.hpp"

namespace {

using rarefy::Batch;
using rarefy::Evaluation;
using rarefy::Index;
using rarefy::ProgramEvaluator;
using rarefy::ProgramOptions;
using rarefy::ProgramProtocol;

// Numbers of all sizes that a text could lose digits of.
Batch awkward_rows() {
  using Limits = std::numeric_limits<double>;
  return {{0.1, -0.0, 1.0 / 3, 1e300, -1e-300, 123456789.123456789, Limits::denorm_min(),
           Limits::max(), Limits::lowest(), Limits::min(), 1e21, 5e-324, 2, 0x1p-1074, 1e15, -7},
          8,
          2};
}

void expect_echo(const ProgramOptions& options, const Batch& solutions) {
  ProgramEvaluator evaluator(options);
  Evaluation out(solutions.rows(), 2);
  evaluator.evaluate(solutions, out.span());
  for (Index i = 0; i < solutions.rows(); ++i) {
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(out.features(i, j), solutions(i, j)) << i << ", " << j;
    EXPECT_EQ(out.objectives[static_cast<std::size_t>(i)], 1.0);
    EXPECT_EQ(out.valid[static_cast<std::size_t>(i)], 1);
  }
  EXPECT_EQ(evaluator.counts().rows_done, solutions.rows());
  EXPECT_EQ(evaluator.counts().rows_retried, 0);
  EXPECT_LE(evaluator.counts().workers_started,
            options.protocol == ProgramProtocol::once ? solutions.rows() : options.workers);
}

TEST(ProgramEvaluator, KeepsEveryBitThroughAShell) {
  expect_echo({.command = kEcho, .solution_dim = 2, .feature_dim = 2, .workers = 3},
              awkward_rows());
}

TEST(ProgramEvaluator, KeepsEveryBitThroughArguments) {
  expect_echo({.command = "echo",
               .protocol = ProgramProtocol::once,
               .solution_dim = 2,
               .feature_dim = 2,
               .workers = 3},
              awkward_rows());
  expect_echo({.arguments = {"echo"},
               .protocol = ProgramProtocol::once,
               .solution_dim = 2,
               .feature_dim = 2,
               .workers = 2},
              awkward_rows());
}

TEST(ProgramEvaluator, KeepsEveryBitThroughArrays) {
  expect_echo({.command = python() + " " + program("npy.py") + " good",
               .protocol = ProgramProtocol::npy,
               .solution_dim = 2,
               .feature_dim = 2,
               .workers = 2},
              awkward_rows());
  // As they are, through many chunks that are larger than a pipe.
  expect_echo({.arguments = {"cat"},
               .protocol = ProgramProtocol::npy,
               .solution_dim = 2,
               .feature_dim = 2,
               .workers = 2,
               .longest_chunk = 100'000},
              numbered_rows(1'000'000));
}

TEST(ProgramEvaluator, TakesLongLines) {
  // A question that no pipe holds at once, and an answer as long.
  const Index n = 20'000;
  ProgramEvaluator evaluator({.command = "cat", .solution_dim = n, .feature_dim = n, .workers = 1});
  const auto solutions = numbered_rows(2, {}, n);
  Evaluation out(2, n);
  evaluator.evaluate(solutions, out.span());
  EXPECT_TRUE(std::ranges::equal(out.features.values(), solutions.values()));
}

TEST(ProgramEvaluator, RunsAwk) {
  // mawk waits for more input than a line otherwise.
  ProgramEvaluator evaluator(
      {.command = "awk -W interactive '{ print $1 + $2, $3; fflush() }' 2>/dev/null",
       .solution_dim = 3,
       .feature_dim = 1,
       .with_objective = true,
       .workers = 2});
  const auto solutions = numbered_rows(20, {}, 3);
  Evaluation out(20, 1);
  evaluator.evaluate(solutions, out.span());
  for (Index i = 0; i < 20; ++i) {
    EXPECT_EQ(out.features(i, 0), solutions(i, 0) + solutions(i, 1));
    EXPECT_EQ(out.objectives[static_cast<std::size_t>(i)], solutions(i, 2));
  }
}

TEST(ProgramEvaluator, RunsPython) {
  ProgramEvaluator evaluator({.command = python() + " square.py",
                              .folder = program(""),
                              .solution_dim = 2,
                              .feature_dim = 2,
                              .with_objective = true,
                              .workers = 2});
  const Batch solutions({0.1, 0.3, -7.7, 1e-5}, 2, 2);
  Evaluation out(2, 2);
  evaluator.evaluate(solutions, out.span());
  for (Index i = 0; i < 2; ++i) {
    const double x = solutions(i, 0), y = solutions(i, 1);
    EXPECT_EQ(out.features(i, 0), x * x);
    EXPECT_EQ(out.features(i, 1), y * y);
    EXPECT_EQ(out.objectives[static_cast<std::size_t>(i)], x * x + y * y);
  }
}

TEST(ProgramEvaluator, ToleratesBlanksSignsAndOtherLineEnds) {
  ProgramEvaluator evaluator(
      {.command = "while read -r x; do printf '\\t +1.5   -2E-1 \\r\\n'; done",
       .solution_dim = 1,
       .feature_dim = 2,
       .workers = 1});
  Evaluation out(1, 2);
  evaluator.evaluate(Batch({0}, 1, 1), out.span());
  EXPECT_EQ(out.features(0, 0), 1.5);
  EXPECT_EQ(out.features(0, 1), -0.2);
}

TEST(ProgramEvaluator, IsNotStoppedByMuchOnStandardError) {
  ProgramEvaluator evaluator(
      {.command = "while read -r x; do head -c 500000 /dev/zero >&2; echo \"$x\"; done",
       .solution_dim = 1,
       .feature_dim = 1,
       .workers = 2});
  Evaluation out(6, 1);
  evaluator.evaluate(numbered_rows(6, {}, 1), out.span());
  EXPECT_EQ(evaluator.counts().rows_done, 6);
}

// A locale that writes numbers with a comma.
class CommaPunctuation : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(ProgramEvaluator, DoesNotHeedTheLocale) {
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  const auto before = std::locale::global(std::locale(std::locale(), new CommaPunctuation));
  for (const auto* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;  // few machines have one
  }
  expect_echo({.command = kEcho, .solution_dim = 2, .feature_dim = 2, .workers = 1},
              awkward_rows());
  std::locale::global(before);
  std::setlocale(LC_ALL, c_before.c_str());
}

TEST(ProgramEvaluator, TakesSeveralJobsAndNamesEachRowOnce) {
  ProgramEvaluator evaluator({.command = kEcho, .solution_dim = 2, .feature_dim = 2, .workers = 2});
  EXPECT_EQ(evaluator.capacity(), 2);
  const auto first = numbered_rows(7), second = numbered_rows(5);
  Evaluation out_first(7, 2), out_second(5, 2);
  evaluator.begin(3, first, out_first.span());
  evaluator.begin(8, second, out_second.span());
  EXPECT_THROW(evaluator.begin(3, second, out_second.span()), rarefy::Error);
  std::set<std::pair<Index, Index>> seen;
  for (auto done = evaluator.wait(); !done.empty(); done = evaluator.wait()) {
    for (const auto& row : done) EXPECT_TRUE(seen.emplace(row.job, row.row).second);
  }
  EXPECT_EQ(seen.size(), 12U);
  EXPECT_EQ(seen.count({8, 4}), 1U);
  EXPECT_EQ(seen.count({3, 6}), 1U);
  EXPECT_TRUE(evaluator.wait().empty());
}

TEST(ProgramEvaluator, RefusesRoomOfAnotherShape) {
  ProgramEvaluator evaluator({.command = "cat", .solution_dim = 2, .feature_dim = 2});
  Evaluation small(3, 2), narrow(4, 1);
  const auto message = [&](rarefy::BatchView solutions, const rarefy::EvaluationSpan& out) {
    try {
      evaluator.begin(0, solutions, out);
    } catch (const rarefy::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(numbered_rows(4, {}, 3), small.span()), "solutions: got 3 columns, expected 2");
  EXPECT_EQ(message(numbered_rows(4), small.span()),
            "room for an evaluation: got 3 x 2 features, 3 objectives, 3 flags, expected 4 x 2, 4, "
            "and 0 or 4");
  EXPECT_EQ(message(numbered_rows(4), narrow.span()),
            "room for an evaluation: got 4 x 1 features, 4 objectives, 4 flags, expected 4 x 2, 4, "
            "and 0 or 4");
  EXPECT_TRUE(evaluator.wait().empty());
}

TEST(ProgramEvaluator, StopsWhenAskedAndGoesOn) {
  const TemporaryFolder folder;
  // Waits for a file before it answers.
  ProgramEvaluator evaluator(
      {.command = "while read -r x; do until [ -e go ]; do sleep 0.01; done; echo $x; done",
       .folder = folder.path(),
       .solution_dim = 1,
       .feature_dim = 1,
       .workers = 1});
  const auto solutions = numbered_rows(2, {}, 1);
  Evaluation out(2, 1);
  evaluator.begin(1, solutions, out.span());
  std::atomic<bool> stop = false;
  std::thread other([&] { stop = true; });
  EXPECT_TRUE(evaluator.wait(&stop).empty());
  other.join();
  std::ofstream(folder.path() / "go") << "";
  std::size_t rows = 0;
  while (rows < 2) rows += evaluator.wait().size();
  EXPECT_EQ(out.features(1, 0), solutions(1, 0));
  EXPECT_EQ(evaluator.counts().workers_started, 1);
}

TEST(ProgramEvaluator, AbandonsWhatIsUnderWay) {
  const TemporaryFolder folder;
  ProgramEvaluator evaluator(
      {.command = "while read -r x; do if [ $x = 13 ]; then sleep 1000; fi; echo $x; done",
       .folder = folder.path(),
       .solution_dim = 1,
       .feature_dim = 1,
       .workers = 2});
  Evaluation out(3, 1);
  const auto stuck = numbered_rows(3, {0, 1, 2}, 1);
  evaluator.begin(0, stuck, out.span());
  evaluator.abandon();
  EXPECT_TRUE(evaluator.wait().empty());
  const auto fine = numbered_rows(3, {}, 1);
  evaluator.evaluate(fine, out.span());
  EXPECT_TRUE(std::ranges::equal(out.features.values(), fine.values()));
}

TEST(ProgramEvaluator, DoesNotTakeAnUnaskedLineForAnAnswer) {
  const TemporaryFolder folder;
  ProgramEvaluator evaluator({.command = "read -r x; echo $x; echo 99; touch $$; sleep 1000",
                              .folder = folder.path(),
                              .solution_dim = 1,
                              .feature_dim = 1,
                              .workers = 1,
                              .retries = 1000});
  const auto solutions = numbered_rows(1, {}, 1);
  Evaluation out(1, 1);
  try {
    evaluator.evaluate(solutions, out.span());
  } catch (const rarefy::Error&) {
    return;  // both lines came at once, each time: it never worked
  }
  EXPECT_EQ(out.features(0, 0), solutions(0, 0));
  // The second line of the worker that answered is there when it is asked again.
  EXPECT_TRUE(comes_true([&] {
    return std::ranges::any_of(children_of(::getpid()), [&](pid_t child) {
      return std::filesystem::exists(folder.path() / std::to_string(child));
    });
  }));
  const auto before = evaluator.counts().count(rarefy::ProgramFault::unasked);
  evaluator.evaluate(solutions, out.span());
  EXPECT_EQ(out.features(0, 0), solutions(0, 0));
  EXPECT_GT(evaluator.counts().count(rarefy::ProgramFault::unasked), before);
}

TEST(ProgramEvaluator, ReplacesWorkersThatEndAfterEachRow) {
  ProgramEvaluator evaluator({.command = "read -r x y; echo $x $y",
                              .solution_dim = 2,
                              .feature_dim = 2,
                              .workers = 2,
                              .retries = 1000});
  Evaluation out(20, 2);
  const auto solutions = numbered_rows(20);
  evaluator.evaluate(solutions, out.span());
  EXPECT_TRUE(std::ranges::equal(out.features.values(), solutions.values()));
  EXPECT_GE(evaluator.counts().workers_started, 20);
}

TEST(ProgramEvaluator, TriesTheRowsOfADeadChunkOneByOne) {
  ProgramEvaluator evaluator({.command = python() + " " + program("npy.py") + " dies",
                              .protocol = ProgramProtocol::npy,
                              .solution_dim = 2,
                              .feature_dim = 2,
                              .workers = 1,
                              .retries = 0});
  Evaluation out(80, 2);
  const auto solutions = numbered_rows(80, {33});
  evaluator.evaluate(solutions, out.span());
  for (Index i = 0; i < 80; ++i) {
    EXPECT_EQ(out.valid[static_cast<std::size_t>(i)], i == 33 ? 0 : 1);
    if (i != 33) {
      EXPECT_EQ(out.features(i, 0), solutions(i, 0));
    }
  }
  EXPECT_LE(evaluator.counts().rows_retried, 20);    // a quarter of all is the largest chunk
  EXPECT_LE(evaluator.counts().workers_started, 3);  // it killed one with its chunk, one alone
}

TEST(ProgramEvaluator, MarksRowsOfAnArrayByNaN) {
  ProgramEvaluator evaluator({.command = python() + " " + program("npy.py") + " nan",
                              .protocol = ProgramProtocol::npy,
                              .solution_dim = 2,
                              .feature_dim = 2,
                              .workers = 1});
  Evaluation out(80, 2);
  evaluator.evaluate(numbered_rows(80, {33, 34}), out.span());
  EXPECT_EQ(std::ranges::count(out.valid, 0), 2);
  EXPECT_EQ(out.valid[33], 0);
  EXPECT_EQ(evaluator.counts().rows_retried, 0);
  EXPECT_EQ(evaluator.counts().workers_started, 1);
}

TEST(CommandLine, IsBecomeWhereItIsSimple) {
  for (const auto* simple : {"./simulate", "python3 'a;b.py' --x=1", "awk '{ print $1; }'",
                             "./a \"it's | fine\"", "./a 2>/dev/null", "a\\;b"}) {
    EXPECT_TRUE(rarefy::is_simple_command(simple)) << simple;
  }
  for (const auto* other : {"a; b", "a | b", "A=1 ./a", "cd x && ./a", "(a)", "! a", "a # b",
                            "while read x; do echo $x; done", "a 'b", "a\nb"}) {
    EXPECT_FALSE(rarefy::is_simple_command(other)) << other;
  }
}

TEST(ReadNumbers, ReadsBackWhatIsWritten) {
  const auto rows = awkward_rows();
  std::string line;
  rarefy::append_line(line, rows.values());
  std::vector<double> values(16);
  EXPECT_FALSE(rarefy::read_numbers(line, values).has_value());
  EXPECT_TRUE(std::ranges::equal(values, rows.values()));
  EXPECT_TRUE(std::signbit(values[1]));
  EXPECT_FALSE(rarefy::read_numbers("1e-400", std::span(values).first(1)).has_value());
  EXPECT_EQ(values[0], 0.0);
}

}  // namespace
