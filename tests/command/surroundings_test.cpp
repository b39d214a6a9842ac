// What a run must survive of the world around it: streams, signals, limits, and folders that move.
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "command_line.hpp"
#include "run_files.hpp"

namespace {

// Longer than any machine takes: such a run ends only when it is told to.
Words endless_run(const fs::path& folder) {
  return SmallCase{"lp", "default"}.arguments(1'000'000'000) +
         Words{"--checkpoint-seconds", "0", "--out", folder.string()};
}

Words finished_run(const fs::path& folder) {
  return SmallCase{"lp", "default"}.arguments(20) + Words{"--out", folder.string()};
}

bool has_begun(const fs::path& folder) { return fs::exists(folder / "config.toml"); }

/// A stream of the new process becomes that file.
int redirect(int stream, const char* file) {
  const int opened = ::open(file, O_WRONLY);
  return opened >= 0 && ::dup2(opened, stream) == stream ? 0 : 120;
}

void expect_resumable(const fs::path& folder) {
  expect_whole_files(folder);
  const auto show = rarefy_command({"show", folder.string()});
  EXPECT_EQ(show.exit_code, 0) << show.err;
}

// ---- streams -----------------------------------------------------------------------------------

// A daemon, or a job of cron, may have no standard streams: no file may get their numbers.
TEST(CommandStreams, ClosedOnesCostNothing) {
  for (unsigned closed = 1; closed < 8; ++closed) {
    const RunPlace place;
    ProcessOptions options;
    options.prepare = [closed] {
      for (int stream = 0; stream < 3; ++stream) {
        if ((closed >> static_cast<unsigned>(stream) & 1U) != 0) ::close(stream);
      }
      return 0;
    };
    const auto folder = place / "run";
    Process process(command_words(endless_run(folder)), options);
    ASSERT_TRUE(process.wait_until([&] { return has_begun(folder); })) << process.wait().err;
    for (int stream = 0; stream < 3; ++stream) {
      const auto link =
          fs::path("/proc") / std::to_string(process.id()) / "fd" / std::to_string(stream);
      if ((closed >> static_cast<unsigned>(stream) & 1U) == 0) continue;
      std::error_code gone;
      EXPECT_EQ(fs::read_symlink(link, gone), "/dev/null") << stream;
    }
    process.send(SIGTERM);
    EXPECT_EQ(process.wait().exit_code, 130) << closed;
    expect_resumable(folder);
  }
}

TEST(CommandStreams, WhatCannotBeSaidHasItsExitCode) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  ProcessOptions full;
  full.prepare = [] { return redirect(STDERR_FILENO, "/dev/full"); };
  EXPECT_EQ(rarefy_command({"run", "nosuch"}, full).exit_code, 2);
  EXPECT_EQ(rarefy_command({"show", "/nowhere"}, full).exit_code, 4);
  const RunPlace place;
  Process process(command_words(endless_run(place / "run")), full);
  ASSERT_TRUE(process.wait_until([&] { return has_begun(place / "run"); }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  expect_resumable(place / "run");
}

TEST(CommandStreams, AFullDiskBehindStandardOutputIsTold) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  ProcessOptions full;
  full.prepare = [] { return redirect(STDOUT_FILENO, "/dev/full"); };
  for (const auto& words :
       {Words{"--help"}, Words{"--version"}, Words{"run", "--help"}, Words{}, Words{"list"}}) {
    const auto end = rarefy_command(words, full);
    EXPECT_EQ(end.exit_code, 4) << testing::PrintToString(words);
    EXPECT_TRUE(contains(end.err, "No space left")) << end.err;
  }
  // The run is well; its summary is not to be seen.
  const RunPlace place;
  const auto run = rarefy_command(finished_run(place / "run"), full);
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_TRUE(contains(run.err, "the run is whole in " + (place / "run").string())) << run.err;
  expect_finished_folder(place / "run", false);
  // An interrupt is an interrupt all the same.
  Process process(command_words(endless_run(place / "stopped")), full);
  ASSERT_TRUE(process.wait_until([&] { return has_begun(place / "stopped"); }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
}

// rarefy run ... 2>&1 | head -1
TEST(CommandStreams, AReaderWhoLeavesEndsNothing) {
  const RunPlace place;
  const auto folder = place / "run";
  Process process(command_words(endless_run(folder)));
  ASSERT_TRUE(process.wait_until([&] { return has_begun(folder); }));
  process.stop_reading();
  process.send(SIGINT);  // which is told, and nobody reads it
  const auto& end = process.wait();
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.exit_code, 130);
  expect_resumable(folder);

  Process finishing(command_words(finished_run(place / "other")));
  finishing.stop_reading();
  EXPECT_EQ(finishing.wait().exit_code, 0) << "signal " << finishing.wait().signal;
  expect_finished_folder(place / "other", false);
}

TEST(CommandStreams, ATerminalThatIsClosedLeavesARunToResume) {
  if (!have_terminal()) GTEST_SKIP() << kNoTerminal;
  const RunPlace place;
  const auto folder = place / "run";
  Process process(command_words(endless_run(folder)), {.terminal = true});
  ASSERT_TRUE(process.wait_for_text("coverage"));
  process.stop_reading();  // sends SIGHUP, too
  const auto& end = process.wait();
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.exit_code, 130);
  expect_resumable(folder);
}

// ---- signals -----------------------------------------------------------------------------------

// As nohup starts a program, and a shell one in the background.
TEST(CommandSignals, ThoseThatWereIgnoredStayIgnored) {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    const RunPlace place;
    const auto folder = place / "run";
    ProcessOptions ignoring;
    ignoring.prepare = [signal] { return ::signal(signal, SIG_IGN) == SIG_ERR ? 120 : 0; };
    Process process(command_words(endless_run(folder)), ignoring);
    ASSERT_TRUE(process.wait_until([&] { return has_begun(folder); }));
    for (int i = 0; i < 3; ++i) process.send(signal);
    const auto seen = fs::last_write_time(folder / "checkpoint.bin");
    ASSERT_TRUE(process.wait_until([&] {
      std::error_code between;
      return fs::last_write_time(folder / "checkpoint.bin", between) > seen;
    })) << "it goes on; signal "
        << signal;
    process.send(signal == SIGTERM ? SIGINT : SIGTERM);
    EXPECT_EQ(process.wait().exit_code, 130) << signal;
  }
}

// A CVT that takes hours to make.
Words huge_cvt(const fs::path& folder) {
  return {"run",           "multi-lp", "--cells", "200000",
          "--cvt-samples", "2000000",  "--out",   folder.string()};
}

TEST(CommandSignals, AnInterruptEndsTheMakingOfCells) {
  const RunPlace place;
  const auto folder = place / "run";
  Process process(command_words(huge_cvt(folder)));
  ASSERT_TRUE(process.wait_for_text("making 200,000 cells"));
  process.send(SIGINT);
  const auto& end = process.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_TRUE(contains(end.err, "interrupted while the cells were made")) << end.err;
  EXPECT_FALSE(contains(end.err, "resume")) << "there is nothing to resume: " << end.err;
  EXPECT_FALSE(fs::exists(folder)) << "nothing was begun";
}

TEST(CommandSignals, AnInterruptOfAnOverwritingRunKeepsTheOldOne) {
  const RunPlace place;
  const auto folder = place / "run";
  ASSERT_EQ(rarefy_command(finished_run(folder)).exit_code, 0);
  const auto before = bytes_of(folder / "checkpoint.bin");
  Process process(command_words(huge_cvt(folder) + Words{"--overwrite"}));
  ASSERT_TRUE(process.wait_for_text("making"));
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_EQ(bytes_of(folder / "checkpoint.bin"), before);
  expect_finished_folder(folder, false);
}

TEST(CommandSignals, TheSecondInterruptPromisesNothingWhileCellsAreMade) {
  const RunPlace place;
  Process process(command_words(huge_cvt(place / "run")));
  ASSERT_TRUE(process.wait_for_text("making"));
  ::kill(process.id(), SIGSTOP);  // so that both are there at once
  process.send(SIGINT);
  process.send(SIGTERM);
  ::kill(process.id(), SIGCONT);
  const auto& end = process.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_TRUE(contains(end.err, "left at once, while the run was being prepared")) << end.err;
  EXPECT_FALSE(contains(end.err, "resume")) << end.err;
}

// ---- folders and files -------------------------------------------------------------------------

TEST(CommandFiles, ALinkInARunFolderIsReplaced) {
  const RunPlace place;
  const auto folder = place / "run";
  ASSERT_EQ(rarefy_command(finished_run(folder)).exit_code, 0);
  const auto precious = place / "precious.txt";
  for (const auto* name : {"archive.npz", "metrics.csv", "heatmap.png"}) {
    write_text(precious, "precious");
    fs::remove(folder / name);
    fs::create_symlink(precious, folder / name);
    ASSERT_EQ(rarefy_command({"show", folder.string()}).exit_code, 0);
    EXPECT_EQ(bytes_of(precious), "precious") << name;
    EXPECT_FALSE(fs::is_symlink(folder / name)) << name;
  }
  // What is read first is read through the link, and replaced after that.
  for (const auto* name : {"config.toml", "checkpoint.bin"}) {
    const auto moved = place / "moved";
    fs::rename(folder / name, moved);
    fs::create_symlink(moved, folder / name);
    const auto before = bytes_of(moved);
    const auto end = rarefy_command({"resume", folder.string(), "--iterations",
                                     std::string(name) == "config.toml" ? "30" : "40"});
    ASSERT_EQ(end.exit_code, 0) << end.err;
    EXPECT_EQ(bytes_of(moved), before) << name;
    EXPECT_FALSE(fs::is_symlink(folder / name)) << name;
  }
  expect_finished_folder(folder, false);
}

TEST(CommandFiles, ARunStaysInItsFolderWhenThatIsMoved) {
  const RunPlace place;
  const auto folder = place / "run", moved = place / "run.old";
  const auto expected =
      undisturbed_archive(SmallCase{"lp", "default"}.arguments(20), place / "alone");
  Process first(command_words(endless_run(folder)));
  ASSERT_TRUE(first.wait_until([&] { return has_begun(folder); }));
  fs::rename(folder, moved);
  EXPECT_EQ(undisturbed_archive(SmallCase{"lp", "default"}.arguments(20), folder), expected);
  const auto seen = fs::last_write_time(moved / "checkpoint.bin");
  ASSERT_TRUE(first.wait_until([&] {
    std::error_code between;
    return fs::last_write_time(moved / "checkpoint.bin", between) > seen;
  })) << "it goes on where it is now";
  const auto busy = rarefy_command({"resume", moved.string()});
  EXPECT_EQ(busy.exit_code, 4);
  EXPECT_TRUE(contains(busy.err, "in use")) << busy.err;
  first.send(SIGINT);
  const auto& end = first.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  EXPECT_TRUE(contains(end.err, "rarefy resume " + moved.string())) << end.err;
  expect_resumable(moved);
  EXPECT_EQ(bytes_of(folder / "archive.npz"), expected);
  expect_finished_folder(folder, false);
}

TEST(CommandFiles, SomebodysOwnFilesAreNotReplaced) {
  const RunPlace place;
  const auto folder = place / "mine";
  fs::create_directory(folder);
  const Words names = {"metrics.csv", "archive.npz",          "heatmap.png",      "centroids.npy",
                       "density.npz", "initial.npy",          "trajectory-3.csv", "checkpoint.bin",
                       "journal.bin", ".notes.tmp-2024-01-05"};
  for (const auto& name : names) write_text(folder / name, "mine");
  const auto refused = rarefy_command(finished_run(folder));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "archive.npz") && contains(refused.err, "--overwrite"))
      << refused.err;
  for (const auto& name : names) EXPECT_EQ(bytes_of(folder / name), "mine") << name;
  ASSERT_EQ(rarefy_command(finished_run(folder) + Words{"--overwrite"}).exit_code, 0);
  EXPECT_EQ(bytes_of(folder / ".notes.tmp-2024-01-05"), "mine");
}

TEST(CommandFiles, ALimitOnTheirSizeIsAnError) {
  for (const rlim_t limit : {rlim_t{0}, rlim_t{1000}, rlim_t{40'000}}) {
    const RunPlace place;
    ProcessOptions options;
    options.prepare = [limit] {
      const rlimit most{limit, limit};
      const rlimit no_core{0, 0};
      (void)::setrlimit(RLIMIT_CORE, &no_core);
      return ::setrlimit(RLIMIT_FSIZE, &most) == 0 ? 0 : 77;
    };
    const auto end = rarefy_command(finished_run(place / "run"), options);
    if (end.exit_code == 77) GTEST_SKIP() << "limits cannot be set here";
    EXPECT_EQ(end.exit_code, 4) << end.err;
    EXPECT_TRUE(contains(end.err, "File too large")) << end.err;
    if (!fs::exists(place / "run")) continue;
    for (const auto& entry : fs::directory_iterator(place / "run")) {
      EXPECT_FALSE(contains(entry.path().string(), ".tmp-")) << entry.path();
    }
  }
}

TEST(CommandFiles, WhatTheSystemRefusesIsFour) {
  const RunPlace place;
  fs::create_symlink("loop", place / "loop");
  fs::create_directory(place / "config-loop");
  fs::create_symlink("config.toml", place / "config-loop" / "config.toml");
  const std::string long_name(300, 'a');
  for (const auto& path : {place / "loop", place / long_name, place / "config-loop",
                           place / "loop" / "below", place / "missing"}) {
    for (const auto* verb : {"show", "resume"}) {
      const auto end = rarefy_command({verb, path.string()});
      EXPECT_EQ(end.exit_code, 4) << verb << " " << path << ": " << end.err;
    }
  }
  for (const auto& path : {place / "loop", place / "loop" / "below", place / long_name}) {
    const auto end = rarefy_command(finished_run(path));
    EXPECT_EQ(end.exit_code, 4) << path << ": " << end.err;
    EXPECT_TRUE(contains(end.err, path.string())) << end.err;
  }
  const auto end = rarefy_command({"run", "lp", "--config", (place / "loop").string()});
  EXPECT_EQ(end.exit_code, 4) << end.err;
}

TEST(CommandFiles, FoldersWithoutPermissionAreFour) {
  const RunPlace place;
  const auto folder = place / "closed" / "run";
  fs::create_directory(place / "closed");
  ASSERT_EQ(rarefy_command(finished_run(folder)).exit_code, 0);
  fs::permissions(place.path(), static_cast<fs::perms>(0755));
  fs::permissions(place / "closed", fs::perms::none);
  ProcessOptions nobody;
  nobody.prepare = [] {
    if (::geteuid() != 0) return 0;
    constexpr unsigned kNobody = 65534;
    return ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0 ? 0
                                                                                            : 77;
  };
  for (const auto& words : {Words{"show", folder.string()}, Words{"resume", folder.string()},
                            Words{"show", (place / "closed").string()}, finished_run(folder),
                            finished_run(place / "closed" / "new")}) {
    const auto end = rarefy_command(words, nobody);
    if (end.exit_code == 77 || end.exit_code == 127) {
      fs::permissions(place / "closed", fs::perms::owner_all);
      GTEST_SKIP() << "no other user can run the command here";
    }
    EXPECT_EQ(end.exit_code, 4) << testing::PrintToString(words) << end.err;
    EXPECT_TRUE(contains(end.err, "Permission denied")) << end.err;
  }
  fs::permissions(place / "closed", fs::perms::owner_all);
}

TEST(CommandFiles, KeepTheirPermissions) {
  const RunPlace place;
  const auto folder = place / "run";
  ASSERT_EQ(rarefy_command(finished_run(folder)).exit_code, 0);
  for (const auto* name : kFilesOfARun) fs::permissions(folder / name, fs::perms::owner_read);
  ASSERT_EQ(rarefy_command({"resume", folder.string(), "--iterations", "30"}).exit_code, 0);
  for (const auto* name : kFilesOfARun) {
    EXPECT_EQ(fs::status(folder / name).permissions(), fs::perms::owner_read) << name;
  }
}

// ---- what files and names say ------------------------------------------------------------------

bool has_control_characters(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f';
  });
}

TEST(CommandTexts, EscapeSequencesFromNamesDoNotReachTheTerminal) {
  const RunPlace place;
  const auto folder = place / "run\x1b[31m\x9b\r";
  const auto run = rarefy_command(finished_run(folder));
  ASSERT_EQ(run.exit_code, 0);
  EXPECT_FALSE(has_control_characters(run.out)) << run.out;
  EXPECT_TRUE(contains(run.out, "run\\x1b[31m\\x9b\\x0d")) << run.out;
  const auto json = rarefy_command({"show", folder.string(), "--json"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_FALSE(has_control_characters(json.out)) << json.out;
  EXPECT_TRUE(contains(json.out, "run\\u001b[31m\\ufffd\\r")) << json.out;

  write_text(place / "bad.toml", "[run]\n'\x1b]0;gone\x07' = 1\ndomain = \"l\\u001b[2Jp\"\n");
  const auto bad = rarefy_command({"run", "--config", (place / "bad.toml").string()});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_FALSE(has_control_characters(bad.err)) << bad.err;
  const auto word = rarefy_command({"run", "lp\x1b[1m"});
  EXPECT_FALSE(has_control_characters(word.err)) << word.err;
}

TEST(CommandTexts, AFileNestedTooDeeplyIsRefused) {
  const RunPlace place;
  std::string key = "a";
  for (int i = 0; i < 40'000; ++i) key += ".a";
  for (const auto& text : {key + " = 1\n", "[" + key + "]\n", "[[" + key + "]]\n",
                           "a = " + std::string(40'000, '['), "x = {" + key + " = 1}\n"}) {
    write_text(place / "deep.toml", text);
    const auto end = rarefy_command({"run", "--config", (place / "deep.toml").string()});
    EXPECT_EQ(end.exit_code, 2) << end.signal;
    EXPECT_TRUE(contains(end.err, "deep.toml:1: nested too deeply")) << end.err.substr(0, 300);
  }
}

TEST(CommandTexts, AnEmptyOptionIsRefused) {
  for (const auto& words :
       {Words{"run", "lp", "--config", ""}, Words{"run", "lp", "--out", ""},
        Words{"run", "maze", "--walls", ""}, Words{"run", "multi-lp", "--centroids", ""},
        Words{"run", "lp", "--initial-solutions", ""}, Words{"evaluate", "lp", "--solutions", ""},
        Words{"show", ""}, Words{"resume", ""}}) {
    const auto end = rarefy_command(words);
    EXPECT_EQ(end.exit_code, 2) << testing::PrintToString(words) << end.err;
    EXPECT_TRUE(contains(end.err, "got an empty text, expected a value")) << end.err;
  }
  const auto end = rarefy_command({"run", "lp", "--seed"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_TRUE(contains(end.err, "--seed: got no value, expected one")) << end.err;
  const auto twice = rarefy_command({"run", "lp", "--seed", "1", "--seed", "2"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(contains(twice.err, "--seed: got more than one value, expected one")) << twice.err;
}

}  // namespace
