#include "trials/shared_cells.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include "rarefy/core/error.hpp"
#include "rarefy/core/fingerprint.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/storage/folder.hpp"
#include "rarefy/storage/npy.hpp"
#include "rarefy/tessellations/cvt.hpp"
#include "storage/system_calls.hpp"

namespace rarefy {
namespace {

// All that decides the centroids, to the last bit.
std::uint64_t key_of(const CvtOptions& options, const FeatureSpace& space) {
  Fingerprint all;
  for (const std::string_view text : {std::string_view(kVersion), name_of(instruction_set())}) {
    for (const char c : text) all.add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  all.add(space).add(options.cells).add(options.samples).add(options.iterations);
  return all.add(options.tolerance).add(options.seed).value();
}

// Another process that is making them is waited for. Where the system has no locks, they may be
// made twice, and are the same.
void lock_folder(const Folder& folder, StopFlag stop) {
  const auto lock = [&] {
    return uninterrupted([&] { return ::flock(folder.descriptor(), LOCK_EX | LOCK_NB); });
  };
  while (lock() != 0 && errno == EWOULDBLOCK) {
    heed(stop, "cells were being made");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

std::shared_ptr<const Tessellation> SharedCells::get(const Config& config, const DomainInfo& domain,
                                                     StopFlag stop) {
  if (uses_grid(config, domain) || !config.archive.centroids.empty()) return nullptr;
  const auto key = key_of(config.archive.cvt, domain.feature_space);
  Entry* entry = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    entry = &entries_[key];  // a map's entries stay where they are
  }
  const std::scoped_lock lock(entry->mutex);
  if (entry->cells == nullptr) entry->cells = read_or_make(config, domain, key, stop);
  return entry->cells;
}

std::shared_ptr<const Tessellation> SharedCells::read_or_make(const Config& config,
                                                              const DomainInfo& domain,
                                                              std::uint64_t key,
                                                              StopFlag stop) const {
  const auto folder = Folder::make(folder_);
  lock_folder(*folder, stop);
  const FilePlace file(folder, fmt::format("cvt-{:016x}.npy", key));
  if (file.exists()) {
    try {
      auto cells = std::make_shared<Cvt>(domain.feature_space, read_npy_batch(file));
      if (cells->cells() == config.archive.cvt.cells) return cells;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): they are made anew
    }
  }
  check_search(config, domain);
  Workers workers;  // all of them: others wait for it
  auto cells = make_tessellation(config, domain, workers, stop);
  write_npy(file, cells->centroids());
  return cells;
}

}  // namespace rarefy
