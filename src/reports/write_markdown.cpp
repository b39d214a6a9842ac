#include <string_view>

#include "reports/report_document.hpp"

namespace rarefy::reports {
namespace {

// What would be markup otherwise.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\|*_<>`[]#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void put_words(std::string& out, const std::vector<std::string>& words) {
  out += "|";
  for (const auto& word : words) out += " " + plain(word) + " |";
  out += "\n";
}

void put_piped(std::string& out, const WordTable& table) {
  out += plain(table.caption) + "\n\n";
  put_words(out, table.heading);
  out += "|";
  for (std::size_t i = 0; i < table.heading.size(); ++i) {
    out += i < table.left_columns ? "---|" : table.signs ? ":-:|" : "---:|";
  }
  out += "\n";
  for (const auto& row : table.rows) put_words(out, row);
  out += "\n";
}

void put_list(std::string& out, const std::vector<std::string>& lines) {
  for (const auto& line : lines) out += "- " + plain(line) + "\n";
}

}  // namespace

std::string as_markdown(const Document& document) {
  std::string out = document.title.empty() ? "" : "# " + plain(document.title) + "\n\n";
  for (const auto& section : document.sections) {
    out += "## " + plain(section.title) + "\n\n";
    for (const auto& table : section.tables) put_piped(out, table);
    put_list(out, section.lines);
    put_list(out, section.notes);
    out += "\n";
  }
  put_list(out, document.lines);
  put_list(out, document.notes);
  return out;
}

}  // namespace rarefy::reports
