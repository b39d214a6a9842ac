// What the tests of the command share: runs small enough to be quick, and readers of the files
// that they leave.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline Words command_words(const Words& arguments) {
  return Words{RAREFY_COMMAND_PATH} + arguments;
}

inline ProcessResult rarefy_command(const Words& arguments, ProcessOptions options = {}) {
  Process process(command_words(arguments), std::move(options));
  return process.wait();
}

/// A folder for runs, in memory where there is such a place: writes are brought to the disk one
/// by one, and some of these tests make thousands.
class RunPlace {
 public:
  RunPlace() {
    std::error_code ignored;
    const bool memory = ::access("/dev/shm", W_OK) == 0 && fs::is_directory("/dev/shm", ignored);
    auto name = ((memory ? fs::path("/dev/shm") : fs::temp_directory_path()) / "rarefy-test-XXXXXX")
                    .string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  RunPlace(const RunPlace&) = delete;
  RunPlace& operator=(const RunPlace&) = delete;
  ~RunPlace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] fs::path operator/(std::string_view name) const { return path_ / name; }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// A problem and a profile, small.
struct SmallCase {
  std::string domain;
  std::string profile;

  [[nodiscard]] Words arguments(int iterations = 200) const {
    Words words = {"run",        domain, "--profile",    profile,
                   "--n",        "20",   "--batch",      "12",
                   "--emitters", "3",    "--seed",       "7",
                   "--buffer",   "500",  "--iterations", std::to_string(iterations)};
    if (domain == "multi-lp") words = words + Words{"--cells", "60", "--cvt-samples", "1000"};
    return words;
  }
  [[nodiscard]] bool has_grid() const { return domain != "multi-lp"; }
  [[nodiscard]] std::size_t cells() const { return has_grid() ? 10'000 : 60; }
  [[nodiscard]] std::string name() const {
    auto text = domain + "_" + profile;
    for (char& c : text) c = c == '-' ? '_' : c;
    return text;
  }
};

inline std::vector<SmallCase> all_small_cases() {
  return {{"lp", "default"},   {"arm", "default"},   {"multi-lp", "default"},
          {"lp", "published"}, {"arm", "published"}, {"multi-lp", "published"}};
}

inline void PrintTo(const SmallCase& small, std::ostream* out) { *out << small.name(); }

struct SmallCaseName {
  std::string operator()(const testing::TestParamInfo<SmallCase>& each) const {
    return each.param.name();
  }
};

/// The whole file; fails the test when there is none.
inline std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path << " cannot be read";
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A CSV file of numbers: its rows, by the names in its header.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;

  [[nodiscard]] double at(std::size_t row, std::string_view name) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return rows.at(row).at(i);
    }
    ADD_FAILURE() << "no column " << name;
    return -1;
  }
  [[nodiscard]] double last(std::string_view name) const { return at(rows.size() - 1, name); }
};

/// Fails the test for a line that is not whole.
inline Table table_of(const std::string& text) {
  EXPECT_TRUE(text.ends_with('\n')) << "the last line is cut short: " << text;
  Table table;
  std::istringstream lines(text);
  std::string line, word;
  std::getline(lines, line);
  for (std::istringstream words(line); std::getline(words, word, ',');) table.names.push_back(word);
  while (std::getline(lines, line)) {
    auto& row = table.rows.emplace_back();
    for (std::istringstream words(line); std::getline(words, word, ',');) {
      std::size_t used = 0;
      row.push_back(std::stod(word, &used));
      EXPECT_EQ(used, word.size()) << "not a number: " << word;
    }
    EXPECT_EQ(row.size(), table.names.size()) << line;
  }
  return table;
}

/// `name = VALUE` in a configuration, replaced.
inline void change_config(const fs::path& file, const std::string& name, const std::string& value) {
  const auto before = bytes_of(file);
  std::istringstream lines(before);
  std::string line, after;
  bool found = false;
  while (std::getline(lines, line)) {
    if (line.starts_with(name + " = ")) {
      line = name + " = " + value;
      found = true;
    }
    after += line + "\n";
  }
  ASSERT_TRUE(found) << name << " is not in " << file;
  write_text(file, after);
}

inline constexpr std::array<const char*, 5> kFilesOfARun = {
    "config.toml", "metrics.csv", "archive.npz", "heatmap.png", "checkpoint.bin"};
