// The tables in tests/statistics/data, made once by make_tables.py.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct ReferenceRow {
  std::vector<std::string> words;
  [[nodiscard]] const std::string& text(std::size_t column) const { return words.at(column); }
  [[nodiscard]] double number(std::size_t column) const { return std::stod(words.at(column)); }
};

/// The lines below the heading. Fails the test where there are none.
inline std::vector<ReferenceRow> reference_table(const std::string& name) {
  std::ifstream in(std::string(RAREFY_SOURCE_DIR) + "/tests/statistics/data/" + name);
  std::vector<ReferenceRow> rows;
  std::string line, word;
  std::getline(in, line);
  while (std::getline(in, line)) {
    auto& row = rows.emplace_back();
    for (std::istringstream words(line); std::getline(words, word, ',');) row.words.push_back(word);
  }
  EXPECT_FALSE(rows.empty()) << name << " cannot be read";
  return rows;
}

/// The samples of a set in samples.csv, by group.
inline std::vector<std::vector<double>> reference_samples(const std::string& set) {
  std::vector<std::vector<double>> groups;
  for (const auto& row : reference_table("samples.csv")) {
    if (row.text(0) != set) continue;
    groups.resize(static_cast<std::size_t>(row.number(1)) + 1);
    groups.back().push_back(row.number(2));
  }
  EXPECT_FALSE(groups.empty()) << "no set " << set;
  return groups;
}
