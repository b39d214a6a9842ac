// Evaluation by MPI, tried from rank 0 of several: mpirun -n 4 test_mpi_ranks FOLDER. Says what is
// wrong, and "all is well" otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Evaluation;
using rarefy::EvaluationSpan;
using rarefy::Index;
using rarefy::MpiEvaluator;
using rarefy::MpiSession;

constexpr Index kSolution = 3;
constexpr Index kFeatures = 2;

int wrong = 0;

void check(bool holds, const std::string& what) {
  if (holds) return;
  fmt::print("wrong: {}\n", what);
  std::fflush(stdout);
  ++wrong;
}

void sleep_for(double milliseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

// ---- on the ranks that evaluate -----------------------------------------------------------------

// A row (a, b, milliseconds) has features (a + b, rank) and objective a. Rows whose b is one of
// these fail, each in its way.
constexpr double kInvalid = -1, kError = -2, kException = -3, kNoMemory = -4;

class Arithmetic : public rarefy::Evaluator {
 public:
  explicit Arithmetic(Index rank) : rank_(rank) {}
  void evaluate(BatchView solutions, const EvaluationSpan& out) override {
    for (Index i = 0; i < solutions.rows(); ++i) {
      const auto row = solutions.row(i);
      if (row[2] > 0) sleep_for(row[2]);
      if (row[1] == kError) {
        throw Error(ErrorKind::data, "number", fmt::format("{}", row[0]), "another");
      }
      if (row[1] == kException) throw std::runtime_error("not one of ours");
      if (row[1] == kNoMemory) throw std::bad_alloc();
      out.features(i, 0) = row[0] + row[1];
      out.features(i, 1) = static_cast<double>(rank_);
      out.objectives[static_cast<std::size_t>(i)] = row[0];
      if (row[1] == kInvalid) out.valid[static_cast<std::size_t>(i)] = 0;
    }
  }

 private:
  Index rank_;
};

// On rank 2 the program fails ten times before it works; elsewhere it works, but takes its time at
// first.
std::string lucky_program(Index rank, const std::string& folder) {
  if (rank == 2) {
    return fmt::format(
        "echo >>{0}/attempts; [ $(wc -l <{0}/attempts) -gt 10 ] || {{ echo no luck >&2; exit 3; "
        "}}; "
        "while read -r x y z; do echo $x $y; done",
        folder);
  }
  return fmt::format(
      "while ! [ -s {0}/attempts ] || [ $(wc -l <{0}/attempts) -lt 8 ]; do sleep 0.05; done; "
      "sleep 0.3; while read -r x y z; do echo $x $y; done",
      folder);
}

std::shared_ptr<rarefy::Evaluator> make_evaluator(Index rank, const std::string& wish) {
  if (wish == "refuse") {
    if (rank == 2) throw Error(ErrorKind::parameter, "wish", "this one", "another");
  } else if (wish.starts_with('/')) {
    return std::make_shared<rarefy::ProgramEvaluator>(
        rarefy::ProgramOptions{.command = lucky_program(rank, wish),
                               .solution_dim = kSolution,
                               .feature_dim = kFeatures,
                               .workers = 2,
                               .retries = 1000});
  }
  return std::make_shared<Arithmetic>(rank);
}

// ---- on rank 0 ----------------------------------------------------------------------------------

struct Job {
  explicit Job(Index rows) : solutions(rows, kSolution), out(rows, kFeatures) {}
  Batch solutions;
  Evaluation out;
  std::set<Index> done;
};

// Rows that tell jobs and rounds apart, some of which take a while, and some of which fail.
std::unique_ptr<Job> make_job(Index number, Index rows, double milliseconds) {
  auto job = std::make_unique<Job>(rows);
  for (Index i = 0; i < rows; ++i) {
    job->solutions(i, 0) = static_cast<double>(1000 * number + i);
    job->solutions(i, 1) = (number + i) % 7 == 6 ? kInvalid : 0.25 * static_cast<double>(i);
    job->solutions(i, 2) = (number * 31 + i * 17) % 5 == 0 ? milliseconds : 0;
  }
  return job;
}

void check_job(const Job& job, const std::string& name) {
  for (Index i = 0; i < job.solutions.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool valid = job.solutions(i, 1) != kInvalid;
    check(job.out.valid[at] == (valid ? 1 : 0), fmt::format("{}: validity of row {}", name, i));
    check(!valid || (job.out.features(i, 0) == job.solutions(i, 0) + job.solutions(i, 1) &&
                     job.out.objectives[at] == job.solutions(i, 0)),
          fmt::format("{}: result of row {}", name, i));
  }
}

// As an asynchronous search would: several jobs under way, and another as soon as one is done.
void try_many_jobs(MpiEvaluator& evaluator) {
  constexpr Index kJobs = 40, kAtATime = 6;
  std::map<Index, std::unique_ptr<Job>> under_way;
  Index begun = 0, ended = 0, out_of_turn = 0;
  const auto begin = [&] {
    auto job = make_job(begun, 1 + begun * 7 % 36, 2);
    evaluator.begin(begun, job->solutions, job->out.span());
    under_way.emplace(begun++, std::move(job));
  };
  while (begun < kAtATime) begin();
  while (!under_way.empty()) {
    const auto done = evaluator.wait();
    check(!done.empty(), "rows are under way, but none is named");
    if (done.empty()) return;
    for (const auto& [number, row] : done) {
      const auto found = under_way.find(number);
      check(found != under_way.end(), fmt::format("job {} is not under way", number));
      if (found == under_way.end()) return;
      auto& job = *found->second;
      check(job.done.insert(row).second, fmt::format("job {}: row {} twice", number, row));
      if (static_cast<Index>(job.done.size()) < job.solutions.rows()) continue;
      check_job(job, fmt::format("job {}", number));
      if (found != under_way.begin()) ++out_of_turn;
      under_way.erase(found);
      ++ended;
      if (begun < kJobs) begin();
    }
  }
  check(ended == kJobs, fmt::format("{} jobs of {} ended", ended, kJobs));
  check(evaluator.wait().empty(), "a row is named though nothing is under way");
}

void try_abandoning(MpiEvaluator& evaluator) {
  for (Index round = 0; round < 30; ++round) {
    std::vector<std::unique_ptr<Job>> jobs;
    for (Index i = 0; i < 3; ++i) {
      jobs.push_back(make_job(100 * round + i, 40, 1));
      evaluator.begin(i, jobs.back()->solutions, jobs.back()->out.span());
    }
    if (round % 2 == 0) (void)evaluator.wait();
    evaluator.abandon();
    jobs.clear();  // whoever writes there now is found out
    auto job = make_job(100 * round + 50, 20, 1);
    evaluator.evaluate(job->solutions, job->out.span());
    check_job(*job, fmt::format("after abandoning, round {}", round));
  }
}

template <typename Exception>
std::string caught(MpiEvaluator& evaluator, double kind) {
  auto job = make_job(1, 200, 0);
  job->solutions(150, 1) = kind;
  try {
    evaluator.evaluate(job->solutions, job->out.span());
  } catch (const Exception& exception) {
    return exception.what();
  }
  return "nothing";
}

void try_errors(MpiEvaluator& evaluator) {
  for (int round = 0; round < 5; ++round) {
    auto words = caught<Error>(evaluator, kError);
    check(words == "number: got 1150, expected another", "an Error arrives as " + words);
    words = caught<std::runtime_error>(evaluator, kException);
    check(words == "not one of ours", "an exception arrives as " + words);
    check(caught<std::bad_alloc>(evaluator, kNoMemory) != "nothing", "no bad_alloc arrives");
    auto job = make_job(7, 50, 0);
    evaluator.evaluate(job->solutions, job->out.span());
    check_job(*job, "after an error");
  }
}

void try_stopping(MpiEvaluator& evaluator) {
  constexpr Index kRows = 120;
  auto job = make_job(3, kRows, 0);
  for (Index i = 0; i < kRows; ++i) job->solutions(i, 2) = 20;
  auto few = make_job(4, 9, 0);  // so that it is known what a row takes
  for (Index i = 0; i < 9; ++i) few->solutions(i, 2) = 20;
  evaluator.evaluate(few->solutions, few->out.span());
  std::atomic<bool> stop{false};
  Index told = 0;
  const bool complete = evaluator.evaluate_telling(
      job->solutions, job->out.span(),
      [&](Index, Index count) {
        told += count;
        stop = true;
      },
      &stop);
  check(!complete && told > 0 && told < kRows, fmt::format("stopped after {} rows", told));
}

void try_wrong_calls(MpiEvaluator& evaluator) {
  const auto refused = [&](Index number, Index rows, Index cols, Index room) {
    const Batch solutions(rows, cols);
    Evaluation out(room, kFeatures);
    try {
      evaluator.begin(number, solutions, out.span());
    } catch (const Error&) {
      return true;
    }
    evaluator.abandon();
    return false;
  };
  check(refused(0, 5, kSolution + 1, 5), "solutions that are too long are taken");
  check(refused(0, 5, kSolution, 4), "room that is too small is taken");
  auto job = make_job(2, 20, 1);
  evaluator.begin(4, job->solutions, job->out.span());
  check(refused(4, 5, kSolution, 5), "a number that is in use is taken");
  evaluator.abandon();
}

// Each rank has some, and what is slow is never handed out in heaps.
void try_sharing(MpiEvaluator& evaluator, Index others) {
  auto job = make_job(0, 40, 0);
  for (Index i = 0; i < 40; ++i) {
    job->solutions(i, 1) = 0;
    job->solutions(i, 2) = 20;
  }
  evaluator.evaluate(job->solutions, job->out.span());
  std::map<double, int> rows;
  for (Index i = 0; i < 40; ++i) ++rows[job->out.features(i, 1)];
  check(static_cast<Index>(rows.size()) == others, fmt::format("{} ranks evaluated", rows.size()));
}

void try_refusal(MpiSession& session) {
  try {
    const MpiEvaluator evaluator(
        session, {.text = "refuse", .solution_dim = kSolution, .feature_dim = kFeatures});
    check(false, "a rank that cannot begin is not told of");
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::parameter &&
              std::string(error.what()) == "wish: got this one, expected another",
          error.what());
  }
}

// A rank on which nothing works at first, though it does on others.
void try_bad_luck(MpiSession& session, const std::string& folder) {
  MpiEvaluator evaluator(session,
                         {.text = folder, .solution_dim = kSolution, .feature_dim = kFeatures});
  check(evaluator.capacity() == 2 * (session.size() - 1), "capacity of programs");
  auto job = make_job(0, 60, 0);
  evaluator.evaluate(job->solutions, job->out.span());
  for (Index i = 0; i < 60; ++i) {
    check(job->out.features(i, 0) == job->solutions(i, 0) &&
              job->out.features(i, 1) == job->solutions(i, 1),
          fmt::format("the program's row {}", i));
  }
  const auto& counts = evaluator.counts();
  check(counts.rows_done == 60 && counts.rows_failed == 0,
        fmt::format("{} rows done, {} failed", counts.rows_done, counts.rows_failed));
  // Two that were under way may have been ended when the rank began anew.
  const auto died = counts.count(rarefy::ProgramFault::died);
  check(died >= 8 && died <= 10, fmt::format("{} attempts failed, of 10", died));
}

void try_all(MpiSession& session, const std::string& folder) {
  const auto others = session.size() - 1;
  try_refusal(session);
  {
    MpiEvaluator evaluator(session, {.solution_dim = kSolution, .feature_dim = kFeatures});
    check(evaluator.capacity() == others, "capacity");
    try_many_jobs(evaluator);
    try_abandoning(evaluator);
    try_errors(evaluator);
    try_stopping(evaluator);
    try_wrong_calls(evaluator);
    try_sharing(evaluator, others);
    try_many_jobs(evaluator);
  }
  try_bad_luck(session, folder);
  // Left in the middle of an evaluation that nobody could wait for.
  MpiEvaluator evaluator(session, {.solution_dim = kSolution, .feature_dim = kFeatures});
  auto job = make_job(1, 3, 0);
  for (Index i = 0; i < 3; ++i) job->solutions(i, 2) = 1e7;
  evaluator.begin(0, job->solutions, job->out.span());
  std::atomic<bool> stop{true};
  check(evaluator.wait(&stop).empty(), "a row is done before its time");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  bool ended = true;
  {
    MpiSession session;
    if (session.rank() == 0) {
      try_all(session, argv[1]);
    } else {
      ended = rarefy::serve_mpi(session, [&](const rarefy::MpiGreeting& greeting) {
        return make_evaluator(session.rank(), greeting.text);
      });
    }
    if (session.rank() == 0 && wrong == 0) fmt::print("all is well\n");
  }
  std::fflush(stdout);
  if (!ended) std::_Exit(0);
  return wrong == 0 ? 0 : 1;
}
