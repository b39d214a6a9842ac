// Sees to it that no worker outlives this process, even where that is killed.
#pragma once

#include <sys/types.h>

#include <vector>

#include "storage/system_calls.hpp"

namespace rarefy {

/// A small process (a shell) that knows the process groups of all workers. It reads from a socket
/// whose other end only we hold. When we are gone, it ends, and kills all groups that are left.
class Keeper {
 public:
  Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  /// Starts it where there is none, or somebody has killed it; it is then told of `groups`. False
  /// where no process can be made now.
  bool keep(const std::vector<pid_t>& groups);
  /// Where a new process announces itself (SpawnRequest::announce_to).
  [[nodiscard]] int socket() const { return socket_.get(); }
  /// A group that is no more.
  void forget(pid_t group);
  [[nodiscard]] pid_t id() const { return id_; }

 private:
  [[nodiscard]] bool alive() const;
  void end();

  Descriptor socket_;
  pid_t id_ = -1;
  pid_t owner_ = -1;  // a fork of this process has no part in it
};

/// Waits for a child that is about to end.
void reap_child(pid_t child);
/// The descriptor where it is none of the standard streams, else another number for it.
[[nodiscard]] Descriptor above_standard_streams(Descriptor descriptor);

}  // namespace rarefy
