#include <algorithm>

#include "reports/report_document.hpp"

namespace rarefy::reports {
namespace {

std::string padded(const std::string& text, std::size_t width, bool left) {
  const auto here = width_of(text);
  const std::string room(width > here ? width - here : 0, ' ');
  return left ? text + room : room + text;
}

std::string without_end_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void put_aligned(std::string& out, const WordTable& table) {
  std::vector<std::size_t> widths;
  for (const auto& word : table.heading) widths.push_back(width_of(word));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const auto put = [&](const std::vector<std::string>& words) {
    std::string line = "  ";
    for (std::size_t i = 0; i < words.size(); ++i) {
      line += padded(words[i], widths[i], i < table.left_columns) + "  ";
    }
    out += without_end_spaces(std::move(line)) + "\n";
  };
  out += table.caption + "\n";
  put(table.heading);
  for (const auto& row : table.rows) put(row);
  out += "\n";
}

}  // namespace

std::string as_text(const Document& document) {
  std::string out = document.title.empty() ? "" : document.title + "\n\n";
  for (const auto& section : document.sections) {
    out += section.title + "\n" + std::string(width_of(section.title), '=') + "\n";
    for (const auto& table : section.tables) put_aligned(out, table);
    for (const auto& line : section.lines) out += line + "\n";
    for (const auto& note : section.notes) out += "note: " + note + "\n";
    out += "\n";
  }
  for (const auto& line : document.lines) out += line + "\n";
  for (const auto& note : document.notes) out += "note: " + note + "\n";
  return out;
}

}  // namespace rarefy::reports
