// The page of results that are still growing: what a browser is told, piece by piece. Knows
// nothing of networks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rarefy {

/// What a server sends.
struct LiveEvent {
  std::string name;  ///< all, rows or wait: see web/src/live.js
  std::string data;  ///< JSON, in one line
};

/// One thread may look while others ask.
class LivePage {
 public:
  explicit LivePage(std::vector<std::filesystem::path> folders);
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  /// The document itself, which asks for the rest. Error (state) without a page: see has_page.
  [[nodiscard]] static std::string document();

  /// Looks at the folders again. What has changed since the last time, if anything: reading only
  /// where a file is new or another, sending only rows that are different.
  [[nodiscard]] std::optional<LiveEvent> look();

  /// What somebody who has come just now must be told to know everything.
  [[nodiscard]] LiveEvent everything() const;

  /// Frames of a row as they are now, as JSON; none where there are none.
  [[nodiscard]] std::optional<std::string> frames(std::size_t row) const;

  /// Everything as a document that needs no server any more (reports/page.hpp). Error (state) while
  /// there is nothing to show.
  [[nodiscard]] std::string as_report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rarefy
