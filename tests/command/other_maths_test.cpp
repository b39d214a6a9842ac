// Does a run depend on the system's mathematical library? That library picks its functions by
// processor, and changes with its version; with one instruction set, a run must not.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "command_line.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "support/every_instruction_set.hpp"
#include "support/without_seconds.hpp"

namespace {

struct MathsCase {
  std::string name;
  Words words;
};

void PrintTo(const MathsCase& each, std::ostream* out) { *out << each.name; }

std::vector<MathsCase> maths_cases() {
  std::vector<MathsCase> cases;
  const auto add = [&](const std::string& algorithm, const std::string& domain,
                       const Words& more = {}) {
    auto name = algorithm + "_" + domain;
    for (const auto& word : more) name += "_" + word;
    std::erase_if(name, [](char c) { return c == '-' || c == ','; });
    Words words = {"run",        domain, "--algorithm", algorithm, "--batch",      "12",
                   "--emitters", "3",    "--seed",      "7",       "--iterations", "80"};
    if (domain != "maze") words = words + Words{"--n", "20"};
    if (domain == "multi-lp") words = words + Words{"--cells", "60", "--cvt-samples", "1000"};
    if (algorithm == "dds-cnf")
      words = words + Words{"--flow-layers", "16,16", "--flow-batch", "32"};
    if (algorithm == "dms") words = words + Words{"--discount-layers", "16,16"};
    cases.push_back({name, words + more});
  };
  for (const auto* algorithm : {"dds-kde", "dds-cnf", "dds-gmm", "dds-qd", "ns", "cma-mae", "dms",
                                "cma-me", "map-elites-line", "map-elites"}) {
    for (const auto* domain : {"lp", "arm", "multi-lp", "maze"}) add(algorithm, domain);
    add(algorithm, "maze", {"--profile", "published"});
  }
  add("dds-kde", "multi-lp", {"--profile", "published"});
  add("dds-kde", "multi-lp", {"--kernel", "triangular"});
  add("dds-kde", "lp", {"--buffer", "unlimited", "--restart-at", "sparsest"});
  add("dds-kde", "lp", {"--buffer", "200"});  // direct sums, and a reservoir that is soon full
  add("dds-kde", "lp", {"--strategy", "sep-cma-es"});
  add("dds-kde", "lp", {"--strategy", "lm-ma-es"});
  add("dds-cnf", "lp", {"--flow-integrator", "dopri5"});
  add("cma-mae", "lp", {"--objective", "rastrigin"});
  return cases;
}

/// What a run found and would go on with, without how long it took.
struct Bytes {
  std::string archive, metrics, state;

  bool operator==(const Bytes&) const = default;
};

Bytes results_of(const fs::path& folder) {
  Bytes out{.archive = bytes_of(folder / "archive.npz"),
            .metrics = without_seconds(bytes_of(folder / "metrics.csv")),
            .state = {}};
  // A state has seconds in its metrics; what decides the rest of the run comes after them. A field
  // is its name, a letter for its type, the number of its values, and these.
  const auto checkpoint = rarefy::read_checkpoint(folder / "checkpoint.bin");
  const std::string state(reinterpret_cast<const char*>(checkpoint.data()), checkpoint.size());
  constexpr std::string_view kLast = "metrics.values";
  const auto at = state.find(kLast) + kLast.size() + 1;
  std::uint64_t values = 0;
  std::memcpy(&values, state.data() + at, sizeof values);
  out.state = state.substr(at + sizeof values + values * sizeof(double));
  EXPECT_GT(out.state.size(), 1000U);
  return out;
}

class CommandMaths : public testing::TestWithParam<MathsCase> {
 protected:
  /// A run with one more variable in its environment.
  Bytes run(rarefy::InstructionSet set, const char* variable, const char* value) const {
    const auto folder = place_ / "run";
    ProcessOptions options;
    options.prepare = [&] { return ::setenv(variable, value, 1); };
    const auto result =
        rarefy_command(GetParam().words + Words{"--instruction-set", std::string(name_of(set)),
                                                "--out", folder.string(), "--overwrite", "--quiet"},
                       options);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");  // such as that a library could not be loaded
    return results_of(folder);
  }

 private:
  RunPlace place_;
};

TEST_P(CommandMaths, OfTheSystemDecidesNothing) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be loaded first";
  for (const auto set : available_instruction_sets()) {
    SCOPED_TRACE(name_of(set));
    const Bytes plain = run(set, "RAREFY_TEST", "plain");
    const Bytes other = run(set, "LD_PRELOAD", RAREFY_OTHER_MATHS_PATH);
    EXPECT_TRUE(plain.archive == other.archive) << "the archive";
    EXPECT_EQ(plain.metrics, other.metrics);
    EXPECT_TRUE(plain.state == other.state) << "the state of the search";
    // As on an older processor.
    EXPECT_TRUE(plain == run(set, "GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CommandMaths, testing::ValuesIn(maths_cases()),
                         [](const auto& each) { return each.param.name; });

// Else the test above says nothing.
TEST(CommandOtherMaths, IsAnother) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer wants to be loaded first";
  void* const library = ::dlopen(RAREFY_OTHER_MATHS_PATH, RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto* const logarithm = reinterpret_cast<double (*)(double)>(::dlsym(library, "log"));
  ASSERT_NE(logarithm, nullptr);
  EXPECT_NE(logarithm(2.0), std::log(2.0));
  EXPECT_NEAR(logarithm(2.0), std::log(2.0), 1e-9);
  ::dlclose(library);
}

}  // namespace
