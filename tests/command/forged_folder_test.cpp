// Folders from elsewhere: what a small file claims costs neither memory nor time.
#include <sys/resource.h>

#include <cstring>

#include "command_line.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "run_files.hpp"

namespace {

constexpr int kNoLimits = 77;

// Little address space; the sanitizers need more than any limit leaves.
ProcessOptions in_little_memory(rlim_t bytes) {
  ProcessOptions options;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  options.prepare = [bytes] {
    const rlimit limit{bytes, bytes};
    const rlimit no_core{};
    (void)::setrlimit(RLIMIT_CORE, &no_core);
    return ::setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : kNoLimits;
  };
#else
  (void)bytes;
#endif
  return options;
}

// Replaces `name = ...` in a configuration.
std::string with_value(const std::string& config, const std::string& name,
                       const std::string& value) {
  const auto line = "\n" + name + " = ";
  const auto at = config.find(line);
  EXPECT_NE(at, std::string::npos) << name;
  const auto end = config.find('\n', at + 1);
  return config.substr(0, at) + line + value + config.substr(end);
}

// The field `name` of a state, with another text for its own.
std::string with_text(const std::string& state, const std::string& name,
                      const std::function<std::string(const std::string&)>& change) {
  const auto at = state.find(static_cast<char>(name.size()) + name + "t");
  EXPECT_NE(at, std::string::npos) << name;
  const auto place = at + 1 + name.size() + 1;
  std::uint64_t length = 0;
  std::memcpy(&length, state.data() + place, sizeof length);
  const auto begin = place + sizeof length;
  const auto text = change(state.substr(begin, length));
  const std::uint64_t new_length = text.size();
  std::string out = state.substr(0, place);
  out.append(reinterpret_cast<const char*>(&new_length), sizeof new_length);
  return out + text + state.substr(begin + length);
}

// A run that says it was begun with another value, in its configuration and in its checkpoint.
void forge(const fs::path& folder, const std::string& name, const std::string& value) {
  write_text(folder / "config.toml", with_value(bytes_of(folder / "config.toml"), name, value));
  const auto payload = rarefy::read_checkpoint(folder / "checkpoint.bin");
  const std::string state(reinterpret_cast<const char*>(payload.data()), payload.size());
  const auto forged = with_text(state, "state.config", [&](const std::string& config) {
    return with_value(config, name, value);
  });
  rarefy::write_checkpoint(folder / "checkpoint.bin", std::as_bytes(std::span(forged)));
}

struct Forgery {
  std::string name;
  Words run;
  std::string parameter, value;
};
void PrintTo(const Forgery& forgery, std::ostream* out) { *out << forgery.name; }

struct ForgedFolder : testing::TestWithParam<Forgery> {
  RunPlace place;
  fs::path folder = place / "run";

  void begin(const Words& words, int iterations = 2) const {
    const auto run = rarefy_command(
        Words{"run"} + words +
        Words{"--iterations", std::to_string(iterations), "--out", folder.string(), "--quiet"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
};

TEST_P(ForgedFolder, IsRefusedBeforeItCosts) {
  const auto& forgery = GetParam();
  begin(forgery.run);
  forge(folder, forgery.parameter, forgery.value);
  for (const auto* verb : {"show", "resume"}) {
    const auto end = rarefy_command({verb, folder.string()}, in_little_memory(rlim_t{400} << 20));
    if (end.exit_code == kNoLimits) GTEST_SKIP() << "limits cannot be set here";
    EXPECT_EQ(end.exit_code, 3) << end.err;
    EXPECT_TRUE(contains(end.err, "saved state: got ")) << end.err;
    EXPECT_TRUE(contains(end.err, "bytes, expected at least")) << end.err;
  }
}

const Words kTiny = {"lp", "--n", "6", "--emitters", "2", "--batch", "8"};

INSTANTIATE_TEST_SUITE_P(
    Claims, ForgedFolder,
    testing::Values(
        Forgery{"cells_of_a_grid", kTiny + Words{"--grid", "20"}, "grid", "30000"},
        Forgery{"thresholds", kTiny + Words{"--algorithm", "cma-mae", "--grid", "100"}, "grid",
                "20000"},
        Forgery{"matrices", kTiny, "n", "20000"},
        Forgery{"long_solutions", kTiny + Words{"--strategy", "sep-cma-es"}, "n", "1000000"},
        Forgery{"emitters", kTiny, "emitters", "100000"},
        Forgery{"network", kTiny + Words{"--algorithm", "dds-cnf", "--flow-layers", "8"},
                "flow-layers", "[10000, 10000, 10000]"},
        Forgery{"discount_network", kTiny + Words{"--algorithm", "dms", "--discount-layers", "8"},
                "discount-layers", "[10000, 10000, 10000]"},
        Forgery{"published_buffer",
                Words{"lp", "--profile", "published", "--n", "6", "--emitters", "2", "--batch", "8",
                      "--buffer", "100"},
                "buffer", "1000000000"}),
    [](const auto& each) { return each.param.name; });

// What a batch takes is not in the state: nothing of it is needed to look at a run.
TEST_F(ForgedFolder, ABatchIsNotMadeToLookAtARun) {
  for (const auto* algorithm : {"dds-kde", "dds-cnf", "dms", "map-elites"}) {
    auto config = rarefy::default_config("lp", algorithm);
    config.problem.n = 40;
    config.emitters.count = 1;
    config.emitters.batch = 1'000'000;  // 320 MB, several times
    config.density.buffer = 100'000'000;
    config.density.flow.training.batch = config.density.discount.training.batch = 1'000'000;
    const auto begun = place / algorithm;
    (void)rarefy::Run::start(config, rarefy::RunFolder::create(begun, false), 1);
    const auto shown =
        rarefy_command({"show", begun.string()}, in_little_memory(rlim_t{400} << 20));
    if (shown.exit_code == kNoLimits) GTEST_SKIP() << "limits cannot be set here";
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_TRUE(contains(shown.out, "0 of 5,000")) << shown.out;
  }
}

TEST_F(ForgedFolder, CentroidsAreNotMadeAgain) {
  begin(Words{"multi-lp", "--n", "20", "--emitters", "2", "--batch", "8", "--cells", "60",
              "--cvt-samples", "1000"});
  // With its centroids the run does not depend on how they were made ...
  forge(folder, "cvt-samples", "1000000000");
  forge(folder, "cvt-iterations", "1000000000");
  const auto shown = rarefy_command({"show", folder.string()}, in_little_memory(rlim_t{400} << 20));
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  // ... and without them it would take days.
  fs::remove(folder / "centroids.npy");
  for (const auto* verb : {"show", "resume"}) {
    const auto end = rarefy_command({verb, folder.string()}, in_little_memory(rlim_t{400} << 20));
    EXPECT_EQ(end.exit_code, 3) << end.err;
    EXPECT_TRUE(contains(end.err, "centroids.npy, were removed")) << end.err;
  }
}

TEST_F(ForgedFolder, MoreSolutionsInABatchThanCanBeCountedAreRefused) {
  const auto end = rarefy_command(
      {"run", "lp", "--emitters", "100000", "--batch", "1000000", "--out", folder.string()});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_TRUE(contains(end.err, "at most 10000000 solutions in an iteration")) << end.err;
}

// Whatever memory there is: a run ends with a word about it, and never by a signal.
TEST(CommandInLittleMemory, EndsInWordsAndLeavesWhatCanBeResumed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space than a limit leaves";
#endif
  const RunPlace place;
  int failed = 0, finished = 0, begun = 0;
  for (int megabytes = 24; megabytes <= 448; megabytes += megabytes < 128 ? 4 : 32) {
    SCOPED_TRACE(std::to_string(megabytes) + " MB");
    const auto folder = place / std::to_string(megabytes);
    const auto end =
        rarefy_command({"run", "lp", "--n", "50", "--sigma0", "1.5", "--batch", "1500", "--grid",
                        "1200", "--iterations", "3", "--threads", "2", "--out", folder.string()},
                       in_little_memory(static_cast<rlim_t>(megabytes) << 20));
    if (end.exit_code == kNoLimits) GTEST_SKIP() << "limits cannot be set here";
    if (end.exit_code == 127) continue;  // not even the libraries can be loaded
    ASSERT_EQ(end.signal, 0) << end.err;
    if (end.exit_code == 0) {
      ++finished;
      continue;
    }
    ++failed;
    EXPECT_TRUE(end.exit_code == 2 || end.exit_code == 4) << end.exit_code << ": " << end.err;
    EXPECT_TRUE(contains(end.err, "memory") || contains(end.err, "threads: got")) << end.err;
    expect_whole_files(folder);
    if (!fs::exists(folder / "config.toml")) continue;
    ++begun;
    const auto again = rarefy_command({"resume", folder.string(), "--quiet"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
  }
  EXPECT_GT(finished, 0);
  EXPECT_GT(failed, 0);
  // The same for one that is looked at.
  int refused = 0;
  const auto whole = place / "448";
  const auto before = bytes_of(whole / "checkpoint.bin");
  for (int megabytes = 24; megabytes <= 448; megabytes += megabytes < 128 ? 4 : 32) {
    const auto end = rarefy_command({"show", whole.string()},
                                    in_little_memory(static_cast<rlim_t>(megabytes) << 20));
    if (end.exit_code == 0 || end.exit_code == 127) continue;
    ++refused;
    ASSERT_EQ(end.signal, 0) << end.err;
    EXPECT_TRUE(end.exit_code == 2 || end.exit_code == 4) << end.exit_code << ": " << end.err;
    EXPECT_TRUE(contains(end.err, "memory") || contains(end.err, "threads: got")) << end.err;
  }
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(bytes_of(whole / "checkpoint.bin") == before);
  RecordProperty("begun", begun);
}

}  // namespace
