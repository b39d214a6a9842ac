#include "evaluators/program/spawn.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace rarefy {
namespace {

// Everything between vfork and exec is written down before, since the new process shares our
// memory until then: it must not allocate, and leaves its errors here.
struct SpawnPlan {
  char* const* arguments = nullptr;
  const char* folder = nullptr;
  int in = -1, out = -1, err = -1, announce_to = -1;
  pid_t parent = -1;
  bool dies_with_us = false;
  volatile int error = 0;
  volatile bool entered_folder = true;
};

void announce(int socket) {
  std::array<char, 24> text{};
  std::size_t first = text.size();
  text[--first] = '\n';
  for (auto rest = ::getpid(); rest > 0; rest /= 10) {
    text[--first] = static_cast<char>('0' + rest % 10);
  }
  text[--first] = ' ';
  text[--first] = '+';
  while (::send(socket, text.data() + first, text.size() - first, MSG_NOSIGNAL) < 0 &&
         errno == EINTR) {
  }
}

// In the new process, by calls alone that may be made after vfork.
[[noreturn]] void become_program(SpawnPlan& plan) {
  ::setsid();
  if (plan.dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(127);  // it died before that
  }
  // All signals are blocked. Handlers of ours must not run here, and what is ignored would stay so.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &by_default, nullptr);
  if (plan.announce_to >= 0) announce(plan.announce_to);

  bool ok = ::dup2(plan.in, STDIN_FILENO) >= 0 && ::dup2(plan.out, STDOUT_FILENO) >= 0 &&
            ::dup2(plan.err, STDERR_FILENO) >= 0;
#ifdef SYS_close_range
  // Ours are all closed by exec; those of others in this process need not be.
  constexpr unsigned kWhenExecuted = 4;
  ::syscall(SYS_close_range, 3U, ~0U, kWhenExecuted);
#endif
  if (ok && plan.folder != nullptr && ::chdir(plan.folder) != 0) {
    plan.entered_folder = false;
    ok = false;
  }
  if (ok) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(plan.arguments[0], plan.arguments);
  }
  plan.error = errno;
  ::_exit(127);
}

// Alone in a function that does nothing else: whatever it kept in registers may change.
[[gnu::noinline]] pid_t start_process(SpawnPlan& plan) {
  const pid_t id = ::vfork();
  if (id == 0) become_program(plan);
  return id;
}

}  // namespace

Spawned spawn(const SpawnRequest& request) {
  std::vector<char*> arguments;
  arguments.reserve(request.arguments.size() + 1);
  for (const auto& word : request.arguments) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  SpawnPlan plan;
  plan.arguments = arguments.data();
  plan.folder = request.folder.empty() ? nullptr : request.folder.c_str();
  plan.in = request.in;
  plan.out = request.out;
  plan.err = request.err;
  plan.announce_to = request.announce_to;
  plan.parent = ::getpid();
  // The signal comes when the thread ends that started the process. The main thread stays.
  plan.dies_with_us = request.dies_with_us && ::syscall(SYS_gettid) == plan.parent;

  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Spawned spawned;
  spawned.id = start_process(plan);
  if (spawned.id < 0) {
    spawned.error = errno;
    spawned.out_of_resources = true;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (spawned.id > 0 && plan.error != 0) {
    spawned.error = plan.error;
    spawned.entered_folder = plan.entered_folder;
  }
  return spawned;
}

}  // namespace rarefy
