// What the user of a program sees while a run goes on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rarefy/runs/observer.hpp"
#include "rarefy/runs/run.hpp"

namespace rarefy {

/// On a terminal a bar that is drawn again a few times a second; elsewhere a plain line now
/// and then. Both on standard error, where what a user should be warned of is told, too.
class Progress : public Observer {
 public:
  /// Quiet: nothing but warnings.
  explicit Progress(const Run& run, bool quiet = false);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void begin(const Search& search) override;
  /// Where a batch takes long: how far it is; and a word where a program says nothing at all.
  void waiting(const Search& search, const Awaited& batch) override;
  Next iteration_done(const Search& search) override;
  /// Ends the bar's line.
  void end(const Search& search, DriveEnd end) override;

 private:
  /// What there is to say, in at most `room` columns.
  [[nodiscard]] std::string status(std::size_t room) const;
  void draw(const Search& search);
  /// A bar with `text` behind it.
  void draw_line(const Search& search, const std::function<std::string(std::size_t room)>& text);
  void warn_of_silence(const Awaited& batch);
  void warn(const Search& search);
  void end_line();

  const Run& run_;
  std::vector<std::string> warned_;  // kinds of warnings already told
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::int64_t began_at_ = 0;  // iteration
  std::chrono::steady_clock::time_point began_, last_;
  std::int64_t last_tenth_ = 0;
};

/// 75 seconds as "1:15".
[[nodiscard]] std::string as_clock(double seconds);

}  // namespace rarefy
