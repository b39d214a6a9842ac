// Are the files of a run whole?
#pragma once

#include <cstdint>
#include <cstring>
#include <set>

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include "command_line.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/experiment/parameters.hpp"
#include "rarefy/storage/checkpoint.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/storage/npz.hpp"

/// Walks through a PNG file and returns (width, height); fails the test for one that is not whole.
inline std::pair<std::uint32_t, std::uint32_t> png_size(const std::string& bytes) {
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
    }
    return value;
  };
  if (bytes.size() < 33 || bytes.substr(0, 8) != "\x89PNG\r\n\x1a\n") {
    ADD_FAILURE() << "not a PNG file";
    return {0, 0};
  }
  std::string kind;
  std::size_t at = 8;
  while (at + 12 <= bytes.size()) {
    kind = bytes.substr(at + 4, 4);
    at += 12 + std::size_t{number(at)};
  }
  EXPECT_EQ(kind, "IEND");
  EXPECT_EQ(at, bytes.size()) << "the PNG file is cut short or goes on after its end";
  return {number(16), number(20)};
}

/// The configuration of a run, read by the TOML library alone, must have every parameter and
/// nothing else.
inline void expect_complete_config(const fs::path& file) {
  toml::table table;
  try {
    table = toml::parse(bytes_of(file));
  } catch (const toml::parse_error& error) {
    FAIL() << file << ": " << error.description();
  }
  std::set<std::string> expected, found;
  for (const auto& parameter : rarefy::parameters()) {
    expected.insert(std::string(parameter.section) + "." + std::string(parameter.name));
  }
  for (const auto& [section, values] : table) {
    if (section.str() == "rarefy") continue;  // the version
    if (section.str() == "chosen" || section.str() == "defaults-of") continue;
    ASSERT_TRUE(values.is_table()) << section.str();
    for (const auto& [name, value] : *values.as_table()) {
      found.insert(std::string(section.str()) + "." + std::string(name.str()));
    }
  }
  EXPECT_EQ(found, expected);
}

/// Every file that is there can be read to its end; no other file is there, but for the
/// temporary of a writer that was killed.
inline void expect_whole_files(const fs::path& folder) {
  if (!fs::exists(folder)) return;  // killed before it was made
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    SCOPED_TRACE(name);
    try {
      if (name == "config.toml") {
        expect_complete_config(entry.path());
      } else if (name == "metrics.csv") {
        (void)table_of(bytes_of(entry.path()));
      } else if (name == "archive.npz") {
        EXPECT_GE(rarefy::read_npz(entry.path()).size(), 9U);
      } else if (name == "heatmap.png") {
        (void)png_size(bytes_of(entry.path()));
      } else if (name == "checkpoint.bin") {
        EXPECT_FALSE(rarefy::read_checkpoint(entry.path()).empty());
      } else if (name == "centroids.npy") {
        EXPECT_GE(rarefy::read_npy_batch(entry.path()).rows(), 1);
      } else {
        EXPECT_TRUE(name.starts_with(".") && contains(name, ".tmp-")) << "what is this?";
      }
    } catch (const rarefy::Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

/// All that a finished run leaves, and nothing else.
inline void expect_finished_folder(const fs::path& folder, bool has_centroids) {
  std::set<std::string> expected(kFilesOfARun.begin(), kFilesOfARun.end());
  if (has_centroids) expected.insert("centroids.npy");
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    found.insert(entry.path().filename().string());
  }
  EXPECT_EQ(found, expected);
  expect_whole_files(folder);
}

/// How far the run in a folder has got, from its archive.
inline std::int64_t iteration_in(const fs::path& folder) {
  const auto path = folder / "archive.npz";
  const auto arrays = rarefy::read_npz(path);
  return rarefy::array_of(arrays, "iteration", path.string()).integers()[0];
}

/// archive.npz of a run that nothing disturbs.
inline std::string undisturbed_archive(const Words& arguments, const fs::path& folder) {
  const auto run = rarefy_command(arguments + Words{"--out", folder.string(), "--quiet"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return bytes_of(folder / "archive.npz");
}

/// Goes on with the run in a folder. Begun in vain, it is begun again: without a configuration
/// there is nothing to resume.
inline Words begin_or_resume(const Words& arguments, const fs::path& folder) {
  if (fs::exists(folder / "config.toml")) return {"resume", folder.string(), "--quiet"};
  return arguments + Words{"--out", folder.string(), "--quiet", "--overwrite"};
}

/// When the run in a folder last wrote its checkpoint.
inline fs::file_time_type last_checkpoint(const fs::path& folder) {
  std::error_code none;
  return fs::last_write_time(folder / "checkpoint.bin", none);  // the least where there is none
}
