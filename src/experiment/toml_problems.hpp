// What is wrong with a file of TOML, told all at once.
#pragma once

#include <fmt/format.h>

#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/toml_limits.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

/// Keeps what is wrong until all has been read.
class TomlProblems {
 public:
  /// `file` stands for it in messages.
  explicit TomlProblems(std::string_view file) : file_(file) {}

  /// Throws at once for what is no TOML, or more of it than can be parsed safely.
  [[nodiscard]] toml::table parse(std::string_view text) const {
    check_toml_limits(text, file_);
    try {
      return toml::parse(text, file_);
    } catch (const toml::parse_error& error) {
      throw Error(ErrorKind::parameter, fmt::format("{}: not valid TOML: {}", place(error.source()),
                                                    error.description()));
    }
  }

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string place(const toml::source_region& region) const {
    return fmt::format("{}:{}", file_, region.begin.line);
  }

  /// Calls `call`, and keeps what it throws, with its place.
  template <typename Call>
  void collect(const toml::source_region& where, Call&& call) {
    if (problems_.size() > kMostTold) return;  // each takes a while to find the nearest name for
    try {
      call();
    } catch (const Error& error) {
      add(where, error.what());
    }
  }
  void add(const toml::source_region& where, std::string_view problem) {
    problems_.emplace_back(where.begin.line, fmt::format("{}: {}", place(where), problem));
  }
  /// Of the file as a whole.
  void add(std::string_view problem) {
    problems_.emplace_back(0, fmt::format("{}: {}", file_, problem));
  }

  /// Throws where there are any.
  void tell() {
    if (!problems_.empty()) throw Error(ErrorKind::parameter, all());
  }

 private:
  // In the order of the file: a table has its keys in that of the alphabet.
  [[nodiscard]] std::string all() {
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (std::size_t i = 0; i < std::min(problems_.size(), kMostTold); ++i) {
      text += (text.empty() ? "" : "\n") + problems_[i].second;
    }
    if (problems_.size() > kMostTold) text += fmt::format("\n{}: and more after these", file_);
    return text;
  }

  static constexpr std::size_t kMostTold = 20;

  std::string file_;
  std::vector<std::pair<toml::source_index, std::string>> problems_;  // by line
};

}  // namespace rarefy
