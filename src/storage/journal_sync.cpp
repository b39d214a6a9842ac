#include "storage/journal_sync.hpp"

#include <chrono>
#include <system_error>
#include <utility>

namespace rarefy {
namespace {

constexpr std::chrono::milliseconds kBetweenSyncs{500};

}  // namespace

JournalSync::~JournalSync() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void JournalSync::wanted(std::shared_ptr<const Descriptor> file) {
  std::unique_lock lock(mutex_);
  const bool waits_for_it = file_ != nullptr;
  file_ = std::move(file);
  if (waits_for_it) return;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      return sync(lock);  // no thread to be had: it is done here
    }
  }
  changed_.notify_all();
}

void JournalSync::forget() {
  const std::lock_guard lock(mutex_);
  file_ = nullptr;
}

int JournalSync::trouble() {
  const std::lock_guard lock(mutex_);
  return std::exchange(trouble_, 0);
}

void JournalSync::sync(std::unique_lock<std::mutex>& lock) {
  const auto file = std::exchange(file_, nullptr);
  lock.unlock();
  const bool well = uninterrupted([&] { return ::fdatasync(file->get()); }) == 0;
  const int reason = well ? 0 : errno;
  lock.lock();
  if (!well) trouble_ = reason;
}

void JournalSync::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return over_ || file_ != nullptr; });
    changed_.wait_for(lock, kBetweenSyncs, [&] { return over_; });
    if (file_ != nullptr) sync(lock);
    if (over_) return;
  }
}

}  // namespace rarefy
