// What goes wrong is told with the thing's name, and with an exit code that scripts can rely on.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "command_line.hpp"
#include "rarefy/core/batch.hpp"
#include "run_files.hpp"

namespace {

constexpr int kUsage = 2;
constexpr int kSystem = 4;

struct Mistake {
  std::string name;
  Words arguments;
  int exit_code;
  Words told;  ///< parts of the message
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class CommandErrors : public testing::TestWithParam<Mistake> {};

TEST_P(CommandErrors, NameTheThing) {
  const RunPlace place;
  const auto result = rarefy_command(GetParam().arguments, {.folder = place.path()});
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("rarefy: ")) << result.err;
  for (const auto& part : GetParam().told) {
    EXPECT_TRUE(contains(result.err, part)) << "without '" << part << "': " << result.err;
  }
  // Nothing is begun.
  EXPECT_FALSE(fs::exists(place / "runs" / "lp-dds-kde-default-seed1" / "config.toml"));
}

const std::vector<Mistake> kMistakes = {
    {"MisspeltCommand", {"rnu", "lp"}, kUsage, {"'rnu'", "did you mean 'run'?"}},
    {"WordBeforeTheCommand", {"lp", "run", "--n", "4"}, kUsage, {"'lp'"}},
    {"OptionBeforeTheCommand", {"--quiet", "run", "lp"}, kUsage, {"'--quiet'"}},
    {"MisspeltFlagOfTheCommand", {"--verson"}, kUsage, {"'--verson'", "'--version'"}},
    {"MisspeltOption",
     {"run", "lp", "--itertions", "5"},
     kUsage,
     {"'--itertions'", "'--iterations'"}},
    {"MisspeltOptionWithEquals", {"run", "lp", "--sede=5"}, kUsage, {"'--sede'", "'--seed'"}},
    {"MisspeltFlag", {"run", "lp", "--quite"}, kUsage, {"'--quite'", "'--quiet'"}},
    {"MisspeltRequiredOption",
     {"evaluate", "lp", "--solutons", "x.npy"},
     kUsage,
     {"'--solutons'", "'--solutions'"}},
    {"MisspeltOptionOfResume",
     {"resume", "x", "--iteration=5"},
     kUsage,
     {"'--iteration'", "'--iterations'"}},
    {"MisspeltOptionOfShow", {"show", "x", "--jason"}, kUsage, {"'--jason'", "'--json'"}},
    {"MisspeltOptionOfList",
     {"list", "--profil", "default"},
     kUsage,
     {"'--profil'", "'--profile'"}},
    {"OneWordTooMany", {"run", "lp", "arm"}, kUsage, {"'arm'"}},
    {"OptionWithoutValue", {"run", "lp", "--iterations"}, kUsage, {"--iterations"}},
    {"OptionTwice", {"run", "lp", "--seed", "1", "--seed", "2"}, kUsage, {"--seed"}},
    {"NoDomain", {"run"}, kUsage, {"domain", "lp", "arm"}},
    {"NoFolder", {"resume"}, kUsage, {"DIR"}},
    {"NoSolutions", {"evaluate", "lp"}, kUsage, {"--solutions"}},
    {"UnknownDomain", {"run", "lpp"}, kUsage, {"'lpp'", "did you mean 'lp'?", "multi-lp", "arm"}},
    {"UnknownDomainToEvaluate", {"evaluate", "amr", "--solutions", "x.npy"}, kSystem, {"x.npy"}},
    {"UnknownDomainToList", {"list", "amr"}, kUsage, {"'amr'", "'arm'"}},
    {"UnknownAlgorithm", {"run", "lp", "--algorithm", "dds"}, kUsage, {"'dds'", "dds-kde"}},
    {"UnknownProfile",
     {"run", "lp", "--profile", "publised"},
     kUsage,
     {"'publised'", "'published'"}},
    {"UnknownKernel",
     {"run", "lp", "--kernel", "gausian"},
     kUsage,
     {"kernel", "'gausian'", "'gaussian'", "epanechnikov"}},
    {"UnknownFactor",
     {"run", "lp", "--factor", "qr"},
     kUsage,
     {"factor", "'qr'", "cholesky, eigen"}},
    {"UnknownRestartPoint",
     {"run", "lp", "--restart-at", "orign"},
     kUsage,
     {"restart-at", "'orign'", "'origin'"}},
    {"UnknownObjective",
     {"run", "lp", "--objective", "spehre"},
     kUsage,
     {"objective", "'spehre'", "'sphere'"}},
    {"ObjectiveOfAnotherDomain",
     {"run", "arm", "--objective", "sphere"},
     kUsage,
     {"objective", "'sphere'", "even"}},
    {"UnknownArchive", {"run", "lp", "--archive", "gird"}, kUsage, {"archive", "'gird'", "'grid'"}},
    {"UnknownInstructionSet", {"run", "lp", "--instruction-set", "avx3"}, kUsage, {"avx3", "avx2"}},
    {"NotAnInteger", {"run", "lp", "--n", "2.5"}, kUsage, {"n: got '2.5'", "an integer from 1"}},
    {"NotANumber", {"run", "lp", "--sigma0", "big"}, kUsage, {"sigma0: got 'big'", "a number > 0"}},
    {"NumberWithARest", {"run", "lp", "--sigma0", "1.5x"}, kUsage, {"sigma0: got '1.5x'"}},
    {"NotANumberAtAll", {"run", "lp", "--x0", "nan"}, kUsage, {"x0: got 'nan'", "a number"}},
    {"Infinite", {"run", "lp", "--sigma0", "inf"}, kUsage, {"sigma0: got 'inf'"}},
    {"NeitherTrueNorFalse",
     {"run", "lp", "--mirrored", "yes"},
     kUsage,
     {"mirrored: got 'yes'", "true or false"}},
    {"BelowTheRange", {"run", "lp", "--emitters", "0"}, kUsage, {"emitters: got 0", "from 1"}},
    {"AtTheOpenEnd", {"run", "lp", "--sigma0", "0"}, kUsage, {"sigma0: got 0", "> 0"}},
    {"AboveTheRange",
     {"run", "lp", "--entropy-floor", "1.5"},
     kUsage,
     {"entropy-floor: got 1.5", "<= 1"}},
    {"Negative", {"run", "lp", "--seed", "-1"}, kUsage, {"seed: got -1"}},
    {"TooLargeForAnInteger",
     {"run", "lp", "--seed", "99999999999999999999"},
     kUsage,
     {"seed", "99999999999999999999"}},
    {"NegativeThreads", {"run", "lp", "--threads", "-1"}, kUsage, {"threads: got -1"}},
    {"TooManyThreads", {"run", "lp", "--threads", "100000"}, kUsage, {"threads: got 100000"}},
    {"ThreadsThatAreNoNumber", {"run", "lp", "--threads", "two"}, kUsage, {"--threads", "two"}},
    {"ImpossibleShape", {"run", "lp", "--n", "7"}, kUsage, {"n = 7, m = 2"}},
    {"ImpossibleBounds",
     {"run", "lp", "--bounds", "3,1"},
     kUsage,
     {"bounds: got '3,1'", "LOW,HIGH"}},
    {"BoundsOfOneNumber", {"run", "lp", "--bounds", "3"}, kUsage, {"bounds: got '3'"}},
    {"ImpossibleBandwidth",
     {"run", "lp", "--bandwidth", "wide"},
     kUsage,
     {"bandwidth", "'wide'", "scott"}},
    {"NegativeBandwidth", {"run", "lp", "--bandwidth", "-2"}, kUsage, {"bandwidth", "-2"}},
    {"GridThatIsTooLarge", {"run", "lp", "--grid", "1000000"}, kUsage, {"grid", "1073741824"}},
    {"MoreCellsThanSamples",
     {"run", "multi-lp", "--cells", "50", "--cvt-samples", "10"},
     kUsage,
     {"10", "50"}},
    {"UnlimitedPublishedBuffer",
     {"run", "lp", "--profile", "published", "--buffer", "0"},
     kUsage,
     {"buffer", "0"}},
    {"MissingConfiguration",
     {"run", "--config", "missing.toml"},
     kSystem,
     {"missing.toml", "No such file"}},
    {"ConfigurationThatIsAFolder", {"run", "--config", "."}, kSystem, {"a folder"}},
    {"MissingSolutions",
     {"evaluate", "lp", "--solutions", "missing.npy"},
     kSystem,
     {"missing.npy", "No such file"}},
    {"MissingCentroids",
     {"run", "lp", "--centroids", "missing.npy"},
     kSystem,
     {"missing.npy", "No such file"}},
};

INSTANTIATE_TEST_SUITE_P(Of, CommandErrors, testing::ValuesIn(kMistakes),
                         [](const auto& each) { return each.param.name; });

/// Mistakes in a configuration file.
struct BadFile {
  std::string name;
  std::string toml;
  Words told;
};

void PrintTo(const BadFile& file, std::ostream* out) { *out << file.name; }

class CommandConfigErrors : public testing::TestWithParam<BadFile> {};

TEST_P(CommandConfigErrors, NameFileLineAndThing) {
  const RunPlace place;
  write_text(place / "given.toml", GetParam().toml);
  const auto result =
      rarefy_command({"run", "--config", "given.toml", "--out", "run"}, {.folder = place.path()});
  EXPECT_EQ(result.exit_code, kUsage) << result.err;
  for (const auto& part : GetParam().told) {
    EXPECT_TRUE(contains(result.err, part)) << "without '" << part << "': " << result.err;
  }
  EXPECT_FALSE(fs::exists(place / "run"));
}

const std::vector<BadFile> kBadFiles = {
    {"MisspeltKey",
     "[run]\ndomain = 'lp'\n\nsede = 3\n",
     {"given.toml:4", "'sede'", "did you mean 'seed'?"}},
    {"MisspeltKeyOfAnotherTable",
     "[run]\ndomain = 'lp'\niteratoins = 3\n",
     {"given.toml:3", "'iterations'"}},
    {"KeyInTheWrongTable",
     "[run]\ndomain = 'lp'\nsigma0 = 1\n",
     {"given.toml:3", "'sigma0'", "[run]", "[emitters]"}},
    {"MisspeltTable",
     "[run]\ndomain = 'lp'\n[emiters]\nsigma0 = 1\n",
     {"given.toml:3", "'emiters'", "'emitters'"}},
    {"KeyOutsideOfATable", "domain = 'lp'\n", {"given.toml:1", "'domain'", "[run]"}},
    {"TextForAnInteger",
     "[run]\ndomain = 'lp'\nseed = '3'\n",
     {"given.toml:3", "seed: got '3'", "integer"}},
    {"NumberForAnInteger",
     "[run]\ndomain = 'lp'\nseed = 3.5\n",
     {"given.toml:3", "seed: got 3.5", "integer"}},
    {"IntegerForAText", "[run]\ndomain = 5\n", {"given.toml:2", "domain: got 5"}},
    {"IntegerForAFlag",
     "[run]\ndomain = 'lp'\n[emitters]\nmirrored = 1\n",
     {"given.toml:4", "mirrored: got 1", "true or false"}},
    {"ListForANumber",
     "[run]\ndomain = 'lp'\n[emitters]\nsigma0 = [1, 2]\n",
     {"given.toml:4", "sigma0", "list"}},
    {"OutOfRange",
     "[run]\ndomain = 'lp'\niterations = 0\n",
     {"given.toml:3", "iterations: got 0", "from 1"}},
    {"NotANumber", "[run]\ndomain = 'lp'\n[emitters]\nx0 = nan\n", {"given.toml:4", "x0: got nan"}},
    {"UnknownDomain", "[run]\ndomain = 'lpp'\n", {"given.toml:2", "'lpp'", "'lp'"}},
    {"UnknownKernel",
     "[run]\ndomain = 'lp'\n[density]\nkernel = 'box'\n",
     {"given.toml:4", "kernel", "'box'", "gaussian"}},
    {"NoDomain", "[run]\nseed = 3\n", {"no domain"}},
    {"NotToml", "[run]\ndomain = \n", {"given.toml:2", "TOML"}},
    {"KeyTwice", "[run]\ndomain = 'lp'\nseed = 1\nseed = 2\n", {"given.toml:4", "seed"}},
    {"NotText", std::string("\x00\xff\xfe\x01", 4), {"given.toml:1"}},
};

INSTANTIATE_TEST_SUITE_P(Of, CommandConfigErrors, testing::ValuesIn(kBadFiles),
                         [](const auto& each) { return each.param.name; });

// --- folders ---

TEST(CommandFolders, ARunThatIsThereAlreadyIsNotTouched) {
  const RunPlace place;
  const auto folder = (place / "run").string();
  const auto small = SmallCase{"lp", "default"}.arguments(20);
  const auto before = undisturbed_archive(small, folder);
  const auto result = rarefy_command(small + Words{"--out", folder});
  EXPECT_EQ(result.exit_code, kUsage);
  EXPECT_TRUE(contains(result.err, "'rarefy resume " + folder + "'")) << result.err;
  EXPECT_TRUE(contains(result.err, "--overwrite")) << result.err;
  EXPECT_TRUE(bytes_of(folder + "/archive.npz") == before);
}

TEST(CommandFolders, ThatCannotBeMadeAreNamed) {
  const RunPlace place;
  write_text(place / "file", "x");
  Words impossible = {(place / "file" / "run").string(), (place / "file").string(),
                      "/proc/rarefy-run"};
  if (::geteuid() != 0) {  // root may write anywhere
    fs::create_directory(place / "closed");
    ::chmod((place / "closed").c_str(), 0555);
    impossible.push_back((place / "closed" / "run").string());
    impossible.push_back((place / "closed").string());
  }
  for (const auto& folder : impossible) {
    const auto result =
        rarefy_command(SmallCase{"lp", "default"}.arguments(2) + Words{"--out", folder});
    EXPECT_EQ(result.exit_code, kSystem) << result.err;
    EXPECT_TRUE(contains(result.err, "'" + folder + "'")) << result.err;
  }
  EXPECT_EQ(bytes_of(place / "file"), "x");
}

// --- disks ---

constexpr int kCannot = 77;

/// In the new process: mounts of its own, which end with it.
int enter_own_mounts() {
  if (::unshare(CLONE_NEWNS) != 0) {
    const auto user = ::geteuid();
    const auto group = ::getegid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kCannot;
    const auto put = [](const char* path, const std::string& text) {
      const int file = ::open(path, O_WRONLY);
      const bool done =
          file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
      if (file >= 0) ::close(file);
      return done;
    };
    if (!put("/proc/self/setgroups", "deny") ||
        !put("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") ||
        !put("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) {
      return kCannot;
    }
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : kCannot;
}

const SmallCase kGrowing = {"lp", "default"};  // finds new cells all the time

/// After a run in `folder` has failed for want of space: what it had is whole, and goes on.
void expect_usable(const fs::path& folder, const RunPlace& place) {
  expect_whole_files(folder);
  ASSERT_TRUE(fs::exists(folder / "checkpoint.bin"));
  ASSERT_TRUE(fs::exists(folder / "config.toml"));
  const auto shown = rarefy_command({"show", folder.string()});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto done = iteration_in(folder);
  EXPECT_GE(done, 20);
  const auto all = std::to_string(done + 20);
  const auto resumed = rarefy_command({"resume", folder.string(), "--iterations", all, "--quiet"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(
      bytes_of(folder / "archive.npz") ==
      undisturbed_archive(kGrowing.arguments(static_cast<int>(done) + 20), place / "whole"));
}

TEST(CommandFullDisk, ItsPathIsNamedAndEarlierFilesStayWhole) {
  const RunPlace place;
  fs::create_directory(place / "disk");
  fs::create_directory(place / "saved");
  const auto disk = (place / "disk").string();
  ProcessOptions options;
  options.folder = place.path();
  options.prepare = [&] {
    if (const int code = enter_own_mounts(); code != 0) return code;
    return ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=900k") == 0 ? 0 : kCannot;
  };
  // The small disk is seen by this process alone, so it also saves what is left on it.
  const std::string script =
      "command=$1; shift; \"$command\" \"$@\"; code=$?; ls -a disk/run > saved/names; "
      "cp -r disk/run saved/run; exit $code";
  Process process(Words{"/bin/sh", "-c", script, "sh", RAREFY_COMMAND_PATH} +
                      kGrowing.arguments(100000) +
                      Words{"--checkpoint-seconds", "0", "--out", "disk/run"},
                  options);
  const auto& end = process.wait();
  if (end.exit_code == kCannot) GTEST_SKIP() << "no small file system can be mounted here";
  EXPECT_EQ(end.exit_code, kSystem) << end.err;
  EXPECT_TRUE(contains(end.err, "disk/run/")) << end.err;
  EXPECT_TRUE(contains(end.err, "No space left on device")) << end.err;
  EXPECT_FALSE(contains(bytes_of(place / "saved" / "names"), ".tmp-")) << "a leftover takes space";
  expect_usable(place / "saved" / "run", place);
}

TEST(CommandFullDisk, AFileSizeLimitIsToldAndEarlierFilesStayWhole) {
  const RunPlace place;
  const auto folder = place / "run";
  ProcessOptions options;
  options.prepare = [] {
    ::signal(SIGXFSZ, SIG_IGN);  // then writing fails, rather than the process
    const rlimit limit{600'000, 600'000};
    return ::setrlimit(RLIMIT_FSIZE, &limit) == 0 ? 0 : kCannot;
  };
  const auto end = rarefy_command(
      kGrowing.arguments(100000) + Words{"--checkpoint-seconds", "0", "--out", folder.string()},
      options);
  if (end.exit_code == kCannot) GTEST_SKIP() << "limits cannot be set here";
  EXPECT_EQ(end.exit_code, kSystem) << end.err;
  EXPECT_TRUE(contains(end.err, (folder / "checkpoint.bin").string())) << end.err;
  EXPECT_TRUE(contains(end.err, "File too large")) << end.err;
  expect_usable(folder, place);
}

TEST(CommandReadOnlyDisk, IsToldAndNothingChanges) {
  const RunPlace place;
  const auto folder = place / "run";
  const auto before = undisturbed_archive(kGrowing.arguments(20), folder);
  ProcessOptions options;
  options.prepare = [&] {
    if (const int code = enter_own_mounts(); code != 0) return code;
    // A read-only view of the folder, in its own place.
    const auto* path = folder.c_str();
    if (::mount(path, path, nullptr, MS_BIND, nullptr) != 0) return kCannot;
    return ::mount(nullptr, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0
               ? 0
               : kCannot;
  };
  const std::vector<Words> attempts = {
      {"resume", folder.string(), "--iterations", "30"},
      kGrowing.arguments(20) + Words{"--overwrite", "--out", folder.string()}};
  for (const auto& words : attempts) {
    const auto end = rarefy_command(words, options);
    if (end.exit_code == kCannot) GTEST_SKIP() << "nothing can be mounted here";
    EXPECT_EQ(end.exit_code, kSystem) << end.err;
    EXPECT_TRUE(contains(end.err, folder.string())) << end.err;
    EXPECT_TRUE(contains(end.err, "Read-only file system")) << end.err;
  }
  EXPECT_TRUE(bytes_of(folder / "archive.npz") == before);
  EXPECT_EQ(rarefy_command({"resume", folder.string(), "--iterations", "30"}).exit_code, 0);
}

TEST(CommandOutput, ThatCannotBeWrittenIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto code =
      std::system((std::string(RAREFY_COMMAND_PATH) + " list > /dev/full 2> /dev/null").c_str());
  ASSERT_TRUE(WIFEXITED(code));
  EXPECT_EQ(WEXITSTATUS(code), 4);
}

TEST(CommandMemory, MatricesThatCannotFitAreNotTried) {
  const RunPlace place;
  const auto end = rarefy_command(
      {"run", "lp", "--n", "100000", "--strategy", "cma-es", "--out", (place / "run").string()});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_TRUE(contains(end.err, "3600 GB for 15 full covariance matrices")) << end.err;
  EXPECT_TRUE(contains(end.err, "strategy sep-cma-es or lm-ma-es")) << end.err;
  EXPECT_FALSE(fs::exists(place / "run"));
}

TEST(CommandMemory, TooLittleIsToldInWords) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space than a limit leaves";
#endif
  const RunPlace place;
  ProcessOptions options;
  options.prepare = [] {
    const rlimit limit{rlim_t{2} << 30, rlim_t{2} << 30};
    return ::setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : kCannot;
  };
  const auto end = rarefy_command(
      {"run", "lp", "--n", "1000000", "--strategy", "lm-ma-es", "--out", (place / "run").string()},
      options);
  if (end.exit_code == kCannot) GTEST_SKIP() << "limits cannot be set here";
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_TRUE(contains(end.err, "no more than the 2.1 GB of ulimit -v; what would fit: "))
      << end.err;
  EXPECT_FALSE(fs::exists(place / "run"));
}

}  // namespace
