// metrics.csv without what clocks say, which differs from one time to the next.
#pragma once

#include <sstream>
#include <string>
#include <vector>

inline std::string without_seconds(const std::string& csv) {
  std::istringstream lines(csv);
  std::vector<bool> kept;
  std::string line, out;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    const bool header = kept.empty();
    std::size_t column = 0;
    for (std::string word; std::getline(words, word, ','); ++column) {
      if (header) kept.push_back(!word.ends_with("seconds"));
      if (column >= kept.size() || kept[column]) out += word + ",";
    }
    out += "\n";
  }
  return out;
}
