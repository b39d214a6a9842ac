// What the user sees while a run goes on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "rarefy/experiment/driver.hpp"
#include "rarefy/experiment/run.hpp"

namespace rarefy::command {

/// On a terminal a bar that is drawn again a few times a second; elsewhere a plain line now
/// and then. Both on standard error, where trouble that the search survives is told, too.
class Progress : public Observer {
 public:
  Progress(const Run& run, bool quiet);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void iteration_done(const Search& search) override;
  /// Ends the bar's line.
  void finish();

 private:
  /// What there is to say, in at most `room` columns.
  [[nodiscard]] std::string status(std::size_t room) const;

  void warn(const Search& search);

  const Run& run_;
  bool warned_ = false;  // of trouble with the density
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::int64_t began_at_;  // iteration
  std::chrono::steady_clock::time_point began_, last_;
  std::int64_t last_tenth_ = 0;
};

/// 75 seconds as "1:15".
[[nodiscard]] std::string as_clock(double seconds);

}  // namespace rarefy::command
