#include "evaluators/program/keeper.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <string>

#include "evaluators/program/spawn.hpp"

namespace rarefy {
namespace {

// What it kills are groups, and then whatever else is in their sessions (see session.hpp).
// A shell rather than a fork of this process: that would hold on to all of our memory.
constexpr const char* kKeeperScript = R"(trap '' HUP INT QUIT TERM
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in
         *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
       esac ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s KILL -- "-$group"; done
for round in 1 2 3 4 5; do
  left=
  for process in /proc/[0-9]*; do
    read -r stat <"$process/stat" || continue
    set -- ${stat##*) }
    case $1$groups in [ZX]*) ;; *" $4 "*) kill -s KILL "${process#/proc/}"; left=1 ;; esac
  done
  [ "$left" ] || exit
done
)";

}  // namespace

void reap_child(pid_t child) {
  uninterrupted([&] { return ::waitpid(child, nullptr, 0); });
}

Descriptor above_standard_streams(Descriptor descriptor) {
  if (!descriptor.valid() || descriptor.get() > STDERR_FILENO) return descriptor;
  return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Keeper::~Keeper() { end(); }

void Keeper::end() {
  socket_ = Descriptor();
  if (id_ > 0 && owner_ == ::getpid()) reap_child(id_);
  id_ = -1;
}

bool Keeper::alive() const {
  if (id_ <= 0) return false;
  pollfd polled{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&polled, 1, 0) == 0;
}

bool Keeper::keep(const std::vector<pid_t>& groups) {
  if (alive()) return true;
  end();
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  auto ours = above_standard_streams(Descriptor(ends[0]));
  const auto theirs = above_standard_streams(Descriptor(ends[1]));
  const auto nothing = open_at(AT_FDCWD, "/dev/null", O_RDWR);
  if (!ours.valid() || !theirs.valid() || !nothing.valid()) return false;
  // Before it is there: if we were killed as soon as it is, it would know of none.
  std::string text;
  for (const auto group : groups) text += fmt::format("+ {}\n", group);
  if (!text.empty() && ::send(ours.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) return false;
  const auto spawned = spawn({.arguments = {"/bin/sh", "-c", kKeeperScript, "keeper"},
                              .folder = "/",
                              .in = theirs.get(),
                              .out = nothing.get(),
                              .err = nothing.get(),
                              .dies_with_us = false});
  if (spawned.id < 0) return false;
  if (spawned.error != 0) {
    reap_child(spawned.id);
    return false;
  }
  socket_ = std::move(ours);
  id_ = spawned.id;
  owner_ = ::getpid();
  return true;
}

void Keeper::forget(pid_t group) {
  if (id_ <= 0) return;
  std::array<char, 24> text{};
  auto* const end = fmt::format_to(text.data(), "- {}\n", group);
  uninterrupted([&] {
    return ::send(socket_.get(), text.data(), static_cast<std::size_t>(end - text.data()),
                  MSG_NOSIGNAL);
  });
}

}  // namespace rarefy
