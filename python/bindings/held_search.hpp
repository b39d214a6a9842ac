// A search as Python holds it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "python_part.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/search.hpp"

namespace rarefy::python {

/// Methods of one object may be called by several threads at a time, for they let go of the
/// interpreter while they work. One at a time is let in; others are told.
struct HeldSearch {
  Config config;
  DomainInfo problem;
  std::shared_ptr<Search> search;
  std::vector<std::shared_ptr<PythonPart>> own_parts;  // those that are written in Python
  std::atomic<bool> busy = false;
  std::atomic<std::thread::id> owner{};  // who keeps it busy
};

/// For whoever changes it.
class InUse {
 public:
  explicit InUse(HeldSearch& held) : held_(held) {
    if (held.busy.exchange(true)) {
      throw Error(ErrorKind::state,
                  "the search is in use: by another thread, or by a run that is under way");
    }
    held.owner = std::this_thread::get_id();
  }
  ~InUse() {
    held_.owner = std::thread::id();
    held_.busy = false;
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  HeldSearch& held_;
};

/// For whoever looks at it, which the functions that a run calls may do, too.
class Looking {
 public:
  explicit Looking(HeldSearch& held) {
    if (held.owner.load() != std::this_thread::get_id()) in_use_.emplace(held);
  }

 private:
  std::optional<InUse> in_use_;
};

}  // namespace rarefy::python
