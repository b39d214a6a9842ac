#include <string_view>

#include "reports/report_document.hpp"

namespace rarefy::reports {
namespace {

std::string in_latex(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '\\': out += "\\textbackslash{}"; break;
      case '~': out += "\\textasciitilde{}"; break;
      case '^': out += "\\textasciicircum{}"; break;
      case '<': out += "$<$"; break;
      case '>': out += "$>$"; break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += '\\';
        out += c;
        break;
      default:
        if (text.substr(i, 2) == "±") {
          out += "$\\pm$";
          ++i;
        } else {
          out += c;
        }
    }
  }
  return out;
}

void put_cells(std::string& out, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    // A sign or a number alone is mathematics: its minus is no hyphen.
    const bool minus = words[i].starts_with('-');
    out += i == 0 ? "  " : " & ";
    out += minus ? "$-$" + in_latex(words[i].substr(1)) : in_latex(words[i]);
  }
  out += " \\\\\n";
}

void put_tabular(std::string& out, const WordTable& table, const std::string& section) {
  out += "\\begin{table}\n\\centering\n\\caption{" + in_latex(section + ": " + table.caption) +
         "}\n\\begin{tabular}{";
  for (std::size_t i = 0; i < table.heading.size(); ++i) {
    out += i < table.left_columns ? 'l' : table.signs ? 'c' : 'r';
  }
  out += "}\n\\toprule\n";
  put_cells(out, table.heading);
  out += "\\midrule\n";
  for (const auto& row : table.rows) put_cells(out, row);
  out += "\\bottomrule\n\\end{tabular}\n\\end{table}\n\n";
}

void put_remarks(std::string& out, const std::vector<std::string>& lines) {
  for (const auto& line : lines) out += in_latex(line) + ".\n\n";
}

}  // namespace

std::string as_latex(const Document& document) {
  std::string out = "% needs \\usepackage{booktabs}\n";
  for (const auto& section : document.sections) {
    for (const auto& table : section.tables) put_tabular(out, table, section.title);
    put_remarks(out, section.lines);
    put_remarks(out, section.notes);
  }
  put_remarks(out, document.lines);
  put_remarks(out, document.notes);
  return out;
}

}  // namespace rarefy::reports
