// Voronoi cells that many trials need, made once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "rarefy/core/stop.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

/// Keeps centroids in a folder, too, so that an experiment that is started again, or another
/// process of it, need not make them again. Thread-safe.
class SharedCells {
 public:
  explicit SharedCells(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The cells that `config` describes; null where none have to be made: a grid takes no time,
  /// and centroids from a file are there already.
  [[nodiscard]] std::shared_ptr<const Tessellation> get(const Config& config,
                                                        const DomainInfo& domain, StopFlag stop);

 private:
  struct Entry {
    std::mutex mutex;  // held while they are made
    std::shared_ptr<const Tessellation> cells;
  };
  [[nodiscard]] std::shared_ptr<const Tessellation> read_or_make(const Config& config,
                                                                 const DomainInfo& domain,
                                                                 std::uint64_t key,
                                                                 StopFlag stop) const;

  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace rarefy
