// A report as headings, lines and tables of words: what the formats for people have in common.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rarefy/reports/report.hpp"

namespace rarefy::reports {

struct WordTable {
  std::string caption;
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> rows;
  std::size_t left_columns = 1;  ///< so many are words; those after them are numbers
  bool signs = false;            ///< the others are single signs, to be centred
};

struct Section {
  std::string title;
  std::vector<WordTable> tables;
  std::vector<std::string> lines;  ///< below the tables
  std::vector<std::string> notes;  ///< what a reader must know of them
};

struct Document {
  std::string title;
  std::vector<Section> sections;
  std::vector<std::string> lines, notes;
};

[[nodiscard]] Document document_of(const Report& report);

/// Bytes that a terminal shows in one column each; of UTF-8, characters.
[[nodiscard]] std::size_t width_of(const std::string& text);

[[nodiscard]] std::string as_text(const Document& document);
[[nodiscard]] std::string as_markdown(const Document& document);
[[nodiscard]] std::string as_latex(const Document& document);
[[nodiscard]] std::string as_csv(const Report& report);
[[nodiscard]] std::string as_json(const Report& report);

}  // namespace rarefy::reports
