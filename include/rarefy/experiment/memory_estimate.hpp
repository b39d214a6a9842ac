// How much memory a configuration takes, before any of it is taken.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/memory_limit.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"

namespace rarefy {

/// A part of what is taken, in bytes.
struct MemoryShare {
  std::string what;            ///< "10,000,000 cells"
  std::string_view parameter;  ///< whose value decides it
  double first = 0;            ///< from the first iterations on
  double last = 0;             ///< in the end, at most: archives and buffers fill
};

struct MemoryEstimate {
  std::vector<MemoryShare> shares;  ///< what is there at the same time, the largest first
  MemoryShare preparing;            ///< what is there before: a CVT while it is made

  [[nodiscard]] double first() const;
  [[nodiscard]] double last() const;
};

struct MemoryUse {
  Index threads = 0;  ///< 0: one for each core
  /// States are saved, as those of a run are. They are written from where they lie, but lie in
  /// memory once more when they are read back: a run that begins should be one that can be resumed.
  bool saves = true;
  /// The number of cells, where it is not the configuration that says it (`centroids`).
  std::optional<Index> cells = {};
};

/// To within a quarter of what is really taken, where that is a lot; archives of novelty may take
/// less than half of it. (What the program itself and a domain take is not counted.)
[[nodiscard]] MemoryEstimate estimate_memory(const Config& config, const DomainInfo& domain,
                                             const MemoryUse& use = {});

/// Throws an Error that names what takes most, and the values that would fit, where a search
/// cannot even begin within the limit.
void check_memory(const Config& config, const DomainInfo& domain, const MemoryUse& use = {},
                  const MemoryLimit& limit = memory_limit());

/// What to tell a user whose run can begin, but may outgrow the limit; empty where it cannot.
[[nodiscard]] std::string memory_warning(const Config& config, const DomainInfo& domain,
                                         const MemoryUse& use = {},
                                         const MemoryLimit& limit = memory_limit());

/// 1,230,000,000 bytes as "1.2 GB".
[[nodiscard]] std::string memory_text(double bytes);

}  // namespace rarefy
