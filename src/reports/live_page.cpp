#include "rarefy/reports/live_page.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/trials/results.hpp"
#include "reports/folder_marks.hpp"
#include "reports/page_data.hpp"
#include "reports/page_frames.hpp"
#include "reports/page_shell.hpp"

namespace rarefy {
namespace {

// What was found at one look.
struct Snapshot {
  Results results;
  std::vector<const ResultRow*> sources;
  std::vector<DomainInfo> domains;
  std::vector<std::size_t> domain_of;
  std::string head, comparisons;
  std::vector<std::string> rows;
  std::vector<std::uint64_t> frame_marks;
  std::string waiting;  // why there is nothing to show
};

// Another number whenever other frames would be made. No number that JavaScript could not hold.
std::uint64_t frame_mark(const ResultRow& row) {
  const auto shown = shown_trial(row);
  if (!shown) return 0;
  const auto& folder = row.trials[*shown].folder;
  const auto mark = mark_of_file(folder / "frames.npz") * 31 + mark_of_file(folder / "archive.npz");
  return mark == 0 ? 0 : (mark * 31 + *shown) >> 12U | 1U;
}

// The folders with what was found in them put into words for who waits.
std::string why_nothing(std::span<const std::filesystem::path> folders, std::string_view error) {
  std::string names;
  for (const auto& folder : folders) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", folder.string());
  }
  auto text = fmt::format("Waiting for a run in {}.", names);
  if (!error.empty()) text += fmt::format(" ({})", error);
  return text;
}

void take_data(Snapshot& now, ComparisonCache& cache) {
  auto data = page_data(now.results, cache);
  data.head["notes"] = now.results.notes;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    now.frame_marks.push_back(frame_mark(*data.sources[i]));
    if (now.frame_marks.back() != 0) {
      data.rows[i]["frames"]["version"] = now.frame_marks.back();
    }
    now.rows.push_back(text_of_json(data.rows[i]));
  }
  now.head = text_of_json(data.head);
  now.comparisons = text_of_json(data.comparisons);
  now.sources = std::move(data.sources);
  now.domains = std::move(data.domains);
  now.domain_of = std::move(data.domain_of);
}

LiveEvent all_of(const Snapshot& now) {
  if (!now.waiting.empty()) return {"wait", text_of_json(now.waiting)};
  auto text = now.head;
  text.pop_back();  // its closing brace
  text += fmt::format(R"(,"comparisons":{},"rows":[)", now.comparisons);
  for (std::size_t i = 0; i < now.rows.size(); ++i) {
    if (i > 0) text += ',';
    text += now.rows[i];
  }
  text += "]}";
  return {"all", std::move(text)};
}

std::optional<LiveEvent> difference(const Snapshot& before, const Snapshot& now) {
  if (!now.waiting.empty()) {
    return before.waiting == now.waiting ? std::nullopt : std::optional(all_of(now));
  }
  if (before.head != now.head || before.rows.size() != now.rows.size()) return all_of(now);
  std::string rows;
  for (std::size_t i = 0; i < now.rows.size(); ++i) {
    if (now.rows[i] == before.rows[i]) continue;
    rows += fmt::format(R"({}"{}":{})", rows.empty() ? "" : ",", i, now.rows[i]);
  }
  if (rows.empty() && before.comparisons == now.comparisons) return std::nullopt;
  return LiveEvent{"rows",
                   fmt::format(R"({{"rows":{{{}}},"comparisons":{}}})", rows, now.comparisons)};
}

}  // namespace

struct LivePage::State {
  std::vector<std::filesystem::path> folders;
  std::uint64_t mark = 0;  // of the folders; only look() uses it

  mutable std::mutex guard;  // of all below
  std::shared_ptr<const Snapshot> now = std::make_shared<Snapshot>();
  struct Made {
    std::uint64_t mark = 0;
    std::string text;
  };
  std::map<std::size_t, Made> frames;  // by rows, for there may be many readers

  ComparisonCache comparisons;

  [[nodiscard]] std::shared_ptr<const Snapshot> current() const {
    const std::lock_guard lock(guard);
    return now;
  }
};

LivePage::LivePage(std::vector<std::filesystem::path> folders) : state_(std::make_unique<State>()) {
  state_->folders = std::move(folders);
  auto first = std::make_shared<Snapshot>();
  first->waiting = why_nothing(state_->folders, "");
  state_->now = std::move(first);
}

LivePage::~LivePage() = default;

std::string LivePage::document() { return page_around("<meta id=\"live\">\n", ""); }

std::optional<LiveEvent> LivePage::look() {
  const auto mark = mark_of_folders(state_->folders);
  if (mark == state_->mark) return std::nullopt;
  auto now = std::make_shared<Snapshot>();
  try {
    now->results = read_results(state_->folders);
    take_data(*now, state_->comparisons);
    if (now->rows.empty()) now->waiting = why_nothing(state_->folders, "");
  } catch (const Error& error) {
    now->waiting = why_nothing(state_->folders, error.what());
  }
  state_->mark = mark;
  const auto before = state_->current();
  auto news = difference(*before, *now);
  const std::lock_guard lock(state_->guard);
  state_->now = std::move(now);
  return news;
}

LiveEvent LivePage::everything() const { return all_of(*state_->current()); }

std::optional<std::string> LivePage::frames(std::size_t row) const {
  const auto now = state_->current();
  if (row >= now->sources.size() || now->frame_marks[row] == 0) return std::nullopt;
  {
    const std::lock_guard lock(state_->guard);
    const auto known = state_->frames.find(row);
    if (known != state_->frames.end() && known->second.mark == now->frame_marks[row]) {
      return known->second.text;
    }
  }
  try {
    auto made = page_frames(*now->sources[row], now->domains[now->domain_of[row]]);
    if (!made) return std::nullopt;
    made->head["data"] = std::move(made->data);
    auto text = text_of_json(made->head);
    const std::lock_guard lock(state_->guard);
    state_->frames[row] = {now->frame_marks[row], text};
    return text;
  } catch (const Error&) {  // a file that is not there any more, or not whole
    return std::nullopt;
  }
}

std::string LivePage::as_report() const {
  const auto now = state_->current();
  if (!now->waiting.empty()) throw Error(ErrorKind::state, now->waiting);
  return report_with(now->results, state_->comparisons);
}

}  // namespace rarefy
