#include "evaluators/program/session.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>

#include "storage/system_calls.hpp"

namespace rarefy {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// The session of a process that lives; -1 where there is none.
pid_t session_of_living(pid_t id) {
  std::array<char, 32> name{};
  fmt::format_to_n(name.data(), name.size() - 1, "/proc/{}/stat", id);
  const auto file = open_at(AT_FDCWD, name.data(), O_RDONLY);
  std::array<char, 512> buffer{};
  const auto size = file.valid() ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
  if (size <= 0) return -1;
  // "ID (NAME) STATE PARENT GROUP SESSION ...", and a name may have anything in it.
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  const auto name_end = text.rfind(") ");
  if (name_end == std::string_view::npos) return -1;
  text.remove_prefix(name_end + 2);
  if (text.starts_with('Z') || text.starts_with('X')) return -1;
  for (int field = 0; field < 3; ++field) {
    text.remove_prefix(std::min(text.find(' '), text.size() - 1) + 1);
  }
  pid_t session = -1;
  std::from_chars(text.data(), text.data() + text.size(), session);
  return session;
}

bool is_one_of(pid_t id, std::span<const pid_t> several) {
  return std::ranges::find(several, id) != several.end();
}

/// Whether there was any left to kill.
bool kill_members(std::span<const pid_t> sessions) {
  const std::unique_ptr<DIR, CloseFolder> processes(::opendir("/proc"));
  bool any = false;
  while (processes) {
    const dirent* const entry = ::readdir(processes.get());
    if (entry == nullptr) break;
    pid_t id = 0;
    const auto* const end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, id).ptr != end || is_one_of(id, sessions)) continue;
    if (is_one_of(session_of_living(id), sessions)) any = ::kill(id, SIGKILL) == 0 || any;
  }
  return any;
}

}  // namespace

void kill_sessions(std::span<const pid_t> leaders) {
  for (const auto leader : leaders) ::kill(-leader, SIGKILL);
  if (leaders.empty()) return;
  // Again where somebody was met, who may have started another meanwhile.
  constexpr int kMostRounds = 5;
  for (int round = 0; round < kMostRounds && kill_members(leaders); ++round) {
  }
}

}  // namespace rarefy
