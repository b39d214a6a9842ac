#include "rarefy/reports/page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "rarefy/core/error.hpp"
#include "reports/packing.hpp"
#include "reports/page_data.hpp"
#include "reports/page_frames.hpp"
#include "reports/page_shell.hpp"

namespace rarefy {
namespace {

constexpr std::string_view kDataPlace = "<!--data-->";
constexpr std::string_view kTitlePlace = "<title>Rarefy</title>";

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '&': html += "&amp;"; break;
      default: html += c;
    }
  }
  return html;
}

std::string block(std::string_view id, std::string_view data) {
  return fmt::format("<script type=\"application/octet-stream\" id=\"{}\">{}</script>\n", id, data);
}

}  // namespace

bool has_page() { return !page_shell().empty(); }

std::string page_around(std::string_view data, std::string_view title) {
  const auto shell = page_shell();
  if (shell.empty()) {
    throw Error(ErrorKind::state,
                "this rarefy was built without its page: make web, then make build");
  }
  const auto place = shell.find(kDataPlace);
  const auto title_place = shell.find(kTitlePlace);
  if (place == std::string_view::npos || title_place == std::string_view::npos ||
      title_place > place) {
    throw Error(ErrorKind::state, "the page that is compiled in has no place for data");
  }
  std::string page(shell.substr(0, title_place));
  page += fmt::format("<title>{}</title>", escaped(title.empty() ? "Rarefy" : title));
  const auto rest = title_place + kTitlePlace.size();
  page += shell.substr(rest, place - rest);
  page += data;
  page += shell.substr(place + kDataPlace.size());
  return page;
}

std::string report_page(const Results& results) {
  ComparisonCache cache;
  return report_with(results, cache);
}

std::string report_with(const Results& results, ComparisonCache& cache) {
  auto data = page_data(results, cache);
  auto notes = PageJson::array();
  for (const auto& note : results.notes) notes.push_back(note);
  std::string frames;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    try {
      auto made = page_frames(*data.sources[i], data.domains[data.domain_of[i]]);
      if (!made) continue;
      data.rows[i]["frames"] = std::move(made->head);
      frames += block(fmt::format("frames-{}", i), made->data);
    } catch (const Error& error) {  // a heat map less; the rest is worth showing
      notes.push_back(error.what());
    }
  }
  PageJson all = std::move(data.head);
  all["notes"] = std::move(notes);
  all["rows"] = std::move(data.rows);
  all["comparisons"] = std::move(data.comparisons);
  return page_around(block("data", packed(text_of_json(all))) + frames, results.title);
}

}  // namespace rarefy
