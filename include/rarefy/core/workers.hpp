// A fixed team of threads that shares out the rows or emitters of one iteration.
//
// A hand-written team rather than a task library, for three reasons: handing out
// work allocates nothing (the steady-state loop must not), thread sanitizers see
// all of its synchronisation, and it does only what the loop needs. Results never
// depend on the number of threads, because a task writes only what is its own.
//
// Several searches may share a team, so that a process has no more threads at work than it has
// cores. Whoever calls it while it is busy waits for its turn.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "rarefy/core/batch.hpp"

namespace rarefy {

class Workers {
 public:
  /// `threads` in all, the calling one included; 0 means one for each core.
  explicit Workers(Index threads = 0);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] Index threads() const;
  /// How long processors have worked for the others than the calling one since the team was made,
  /// in seconds; with whoever shares the team. Not a number where the system cannot tell.
  [[nodiscard]] double helper_seconds() const;

  /// Calls task(i) once for every i in [0, count), in any order, on any thread,
  /// and returns when all are done. The first exception a task throws is thrown
  /// again here. Calls from several threads take turns; one for which the calling
  /// thread is enough (a team of one, or a single task) waits for nobody. Not
  /// reentrant: a task must not call it.
  template <typename Task>
  void for_each(Index count, Task&& task) {
    run(count, TaskRef(task));
  }

  /// Splits [0, count) into pieces of at most `piece` and calls task(first, size).
  template <typename Task>
  void for_pieces(Index count, Index piece, Task&& task) {
    const Index pieces = (count + piece - 1) / piece;
    for_each(pieces, [&](Index i) {
      const Index first = i * piece;
      task(first, first + piece <= count ? piece : count - first);
    });
  }

 private:
  // A callable by reference: std::function could allocate.
  class TaskRef {
   public:
    template <typename Task>
    requires(!std::is_same_v<std::remove_cvref_t<Task>, TaskRef>) explicit TaskRef(Task& task)
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(task)))),
          call_([](void* object, Index i) { (*static_cast<Task*>(object))(i); }) {}
    void operator()(Index i) const { call_(object_, i); }

   private:
    void* object_;
    void (*call_)(void*, Index);
  };

  void run(Index count, TaskRef task);

  struct Team;
  std::unique_ptr<Team> team_;
};

}  // namespace rarefy
