// Memory that runs out in a trial of an experiment: the others go on, and so does the next start.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "memory/failing_memory.hpp"
#include "rarefy/trials/runner.hpp"
#include "support/temporary_folder.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of a trial's memory, what it takes to begin, to search, and to write its files.
constexpr std::string_view kTiny = R"(
algorithms = ['dds-kde', 'cma-mae']
domains = 'lp'
[set]
n = 6
batch = 8
emitters = 3
buffer = 1000
grid = 40
iterations = 6
metrics-every = 2
frames = 0
)";

struct TrialsOutOfMemory : testing::Test {
  TemporaryFolder place;
  rarefy::Experiment experiment = rarefy::parse_experiment(kTiny, "tiny.toml", {});
  int number = 0;

  /// One try, with the folder and the board of the experiment at hand.
  struct Try {
    Try(const rarefy::Experiment& experiment, const fs::path& path)
        : folder(path, false), board(experiment, folder, false) {}
    rarefy::ExperimentOutcome run() {
      return rarefy::run_experiment(board, folder.places(), {.jobs = 2}, {});
    }
    rarefy::ExperimentFolder folder;
    rarefy::TrialBoard board;
  };
  static bool is_without_failures(const fs::path& folder) {
    if (!fs::exists(folder / "failures")) return true;
    const fs::recursive_directory_iterator all(folder / "failures");
    return std::none_of(begin(all), end(all),
                        [](const fs::directory_entry& entry) { return entry.is_regular_file(); });
  }
  fs::path next() { return place.path() / std::to_string(++number); }
  [[nodiscard]] std::vector<std::string> archives(const fs::path& folder) const {
    const rarefy::ExperimentPlaces places{folder};
    std::vector<std::string> all;
    for (const auto& trial : experiment.trials) {
      all.push_back(content_of(places.trial(trial.name) / "archive.npz"));
    }
    return all;
  }
};

TEST_F(TrialsOutOfMemory, FailOneByOneAndGoOnWithTheNextStart) {
  const auto whole = next();
  ASSERT_EQ(Try(experiment, whole).run().finished, 2U);
  const auto expected = archives(whole);
  const long threads = threads_of_this_process();
  auto path = next();
  auto one = std::make_unique<Try>(experiment, path);
  long failures = 0;
  sweep(
      // toml++, which reads what a trial was told, does not survive without small ones.
      Counted::large, 4,
      [&] {
        const auto outcome = one->run();
        EXPECT_EQ(outcome.finished + outcome.failed, 2U);
      },
      [&](const MemoryOutcome& outcome, long first) {
        SCOPED_TRACE("without allocation " + std::to_string(first));
        failures += outcome.failed ? 1 : 0;
        for (int i = 0; i < 1000 && threads_of_this_process() > threads; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_EQ(threads_of_this_process(), threads);
        one.reset();
        EXPECT_EQ(Try(experiment, path).run().finished, 2U);
        EXPECT_EQ(archives(path), expected);
        EXPECT_TRUE(is_without_failures(path));
        fs::remove_all(path);
        path = next();
        one = std::make_unique<Try>(experiment, path);
      });
  EXPECT_GT(failures, 10);
}

}  // namespace
#endif
