// Who is told what happens while a search goes on; the library itself never prints.
#pragma once

#include <filesystem>

#include "rarefy/search.hpp"

namespace rarefy {

/// What an observer wishes after an iteration.
enum class Next { go_on, stop };

/// How a loop came to its end.
enum class DriveEnd {
  finished,  ///< all iterations are done
  stopped,   ///< somebody asked for it; it can be gone on with
  failed,    ///< an exception is under way
};

/// A batch that is being evaluated.
struct Awaited {
  Index done = 0;      ///< rows that are back
  Index rows = 0;      ///< of the batch; 0 where emitters do not wait for each other
  double seconds = 0;  ///< since it was handed out
};

/// All calls come from the thread that runs the loop. What an observer throws ends the loop; the
/// search stays usable.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Before the first iteration of a drive().
  virtual void begin(const Search& /*search*/) {}
  /// Now and then while a batch is evaluated, where the evaluator hands rows back one by one.
  virtual void waiting(const Search& /*search*/, const Awaited& /*batch*/) {}
  /// After every iteration. `stop` ends the loop without haste: nothing is lost.
  virtual Next iteration_done(const Search& /*search*/) { return Next::go_on; }
  /// A run has put its state into that file.
  virtual void checkpoint_written(const Search& /*search*/, const std::filesystem::path& /*file*/) {
  }
  /// After the last iteration, however it came about. (A run writes its last checkpoint after
  /// that.)
  virtual void end(const Search& /*search*/, DriveEnd /*end*/) {}
};

}  // namespace rarefy
