// Brings what was written to the disk, now and then, while the writer goes on.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "storage/system_calls.hpp"

namespace rarefy {

/// A sync takes milliseconds, for which nobody who evaluates should wait: a thread of its own does
/// it, for all that was written within half a second together.
class JournalSync {
 public:
  JournalSync() = default;
  ~JournalSync();
  JournalSync(const JournalSync&) = delete;
  JournalSync& operator=(const JournalSync&) = delete;

  /// The file has something new.
  void wanted(std::shared_ptr<const Descriptor> file);
  /// There is no need any more.
  void forget();
  /// The number of the error of a sync that failed since the last call; 0: none.
  [[nodiscard]] int trouble();

 private:
  void work();
  void sync(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const Descriptor> file_;  // to be synced; null: nothing is
  int trouble_ = 0;
  bool over_ = false;
  std::thread thread_;  // started when it is first needed
};

}  // namespace rarefy
