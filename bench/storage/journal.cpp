// What the journal costs: a record by itself, and a run with it and without.
//   bench_journal FOLDER    a folder on the disk that is meant; it must be empty or new
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/domains/function_domain.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/journal.hpp"

namespace {

using namespace rarefy;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

void print_records(const fs::path& folder, Index features) {
  constexpr Index kRecords = 200'000;
  const JournalOwner owner = {.run = 1, .feature_dim = features};
  const std::vector<double> values(static_cast<std::size_t>(features), 0.5);
  const auto time_of = [&](Index at_once) {
    const auto file = folder / fmt::format("{}-{}.bin", features, at_once);
    Journal journal(file, owner, 0, [](const JournalRecord&) {});
    const auto begin = Clock::now();
    for (Index i = 0; i < kRecords; ++i) {
      journal.add({.iteration = i / 540, .row = i % 540, .features = values});
      if ((i + 1) % at_once == 0) journal.write();
    }
    journal.write();
    return seconds(begin);
  };
  const double single = time_of(1), together = time_of(540);
  Index read = 0;
  const auto begin = Clock::now();
  read_journal(folder / fmt::format("{}-1.bin", features), owner,
               [&](const JournalRecord&) { ++read; });
  const double reading = seconds(begin);
  fmt::print(
      "  {:>2} features, {:>3} bytes: {:.2f} us a record one by one ({:.0f}/s), {:.3f} us "
      "540 at once, {:.3f} us to read\n",
      features, 40 + 8 * features, 1e6 * single / kRecords, kRecords / single,
      1e6 * together / kRecords, 1e6 * reading / static_cast<double>(std::max<Index>(read, 1)));
}

void print_sync(const fs::path& folder) {
  const JournalOwner owner = {.run = 1, .feature_dim = 2};
  const std::vector<double> values(2, 0.5);
  Journal journal(folder / "sync.bin", owner, 0, [](const JournalRecord&) {});
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    for (Index row = 0; row < 500; ++row) journal.add({.row = row, .features = values});
    journal.write();
    const auto begin = Clock::now();
    journal.sync();
    times.push_back(seconds(begin));
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  fmt::print(
      "  a sync of 500 records: {:.2f} ms (median), on a thread of its own, twice a second at "
      "most\n\n",
      1e3 * times[10]);
}

// Hands rows out one by one with a journal and without, so that nothing else differs.
class Singly : public Evaluator {
 public:
  Singly(const Domain& domain, Workers& workers) : threads_(domain, workers) {}
  void evaluate(BatchView solutions, const EvaluationSpan& out) override {
    threads_.evaluate_telling(
        solutions, out, [](Index, Index) {}, nullptr);
  }
  bool evaluate_telling(BatchView solutions, const EvaluationSpan& out, const RowsDone& done,
                        StopFlag stop) override {
    return threads_.evaluate_telling(solutions, out, done, stop);
  }

 private:
  ThreadsEvaluator threads_;
};

// Rows a second of a run on 8 threads whose evaluations wait so long.
double rate_of(const fs::path& folder, double milliseconds, KeepJournal keep,
               std::int64_t iterations) {
  DomainInfo info;
  info.name = "waiting";
  info.solution_dim = 10;
  info.feature_space = {{-1, -1}, {1, 1}};
  const auto domain = std::make_shared<FunctionDomain>(
      info, [milliseconds](std::span<const double> x, std::span<double> features) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
        features[0] = x[0];
        features[1] = x[1];
        return 1.0;
      });
  auto config = default_config("lp");
  config.iterations = iterations;
  config.output.journal = keep;
  auto run = Run::start(config, domain, RunFolder::create(folder, true), {.threads = 1});
  class Stopwatch : public Observer {
   public:
    void begin(const Search&) override { began_ = Clock::now(); }
    void end(const Search& search, DriveEnd) override {
      rate = static_cast<double>(search.evaluations()) / seconds(began_);
    }
    double rate = 0;

   private:
    Clock::time_point began_;
  } stopwatch;
  Observer* const observers[] = {&stopwatch};
  Workers workers(8);
  Singly evaluator(*domain, workers);
  run->go_with(evaluator, observers);
  return stopwatch.rate;
}

void print_runs(const fs::path& folder) {
  fmt::print("rows/s of a run on 8 threads, medians of five by turns\n");
  for (const auto& [milliseconds, iterations] :
       {std::pair{0.2, std::int64_t{120}}, {1.0, std::int64_t{30}}, {10.0, std::int64_t{4}}}) {
    std::vector<double> with, without;
    for (int round = 0; round < 5; ++round) {
      without.push_back(rate_of(folder / "run", milliseconds, KeepJournal::off, iterations));
      with.push_back(rate_of(folder / "run", milliseconds, KeepJournal::on, iterations));
    }
    std::sort(with.begin(), with.end());
    std::sort(without.begin(), without.end());
    fmt::print("  {:>4} ms: {:.0f} without, {:.0f} with, ratio {:.4f}\n", milliseconds, without[2],
               with[2], with[2] / without[2]);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw Error(ErrorKind::parameter, "expected the name of a folder");
    const fs::path folder = argv[1];
    fs::create_directories(folder);
    fmt::print("the journal\n");
    print_records(folder, 2);
    print_records(folder, 10);
    print_sync(folder);
    print_runs(folder);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_journal: {}\n", error.what());
    return 1;
  }
  return 0;
}
