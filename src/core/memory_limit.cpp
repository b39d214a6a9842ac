#include "rarefy/core/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "rarefy/core/numbers.hpp"

namespace rarefy {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
// What the first version of control groups says where there is no limit: 2^63 less a page.
constexpr double kAsGoodAsNone = 0x1p62;

// What a limit's file says: bytes, or "max".
double limit_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  if (!std::getline(in, text)) return kNoLimit;
  const auto bytes = parse_number(trimmed(text));
  return bytes && *bytes < kAsGoodAsNone ? *bytes : kNoLimit;
}

// Limits hold for all groups below: the least of those from `group` up to the root.
double least_limit(const std::filesystem::path& hierarchy, std::filesystem::path group,
                   const char* file) {
  double least = limit_in(hierarchy / file);
  // In a container, the group may be named as it is seen from outside, and be nowhere in here.
  for (group = group.lexically_normal().relative_path(); !group.empty();
       group = group.parent_path()) {
    least = std::min(least, limit_in(hierarchy / group / file));
  }
  return least;
}

double resource_limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return kNoLimit;
  }
  return static_cast<double>(limit.rlim_cur);
}

double physical_memory() {
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<double>(pages) * static_cast<double>(page) : kNoLimit;
}

}  // namespace

double control_group_limit(const std::filesystem::path& root) {
  const auto groups = root / "sys/fs/cgroup";
  std::ifstream in(root / "proc/self/cgroup");
  double least = kNoLimit;
  // Lines of cgroups(7): number:controllers:path. The second version has number 0, no controllers.
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const std::filesystem::path group = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, least_limit(groups, group, "memory.max"));
      least = std::min(least, least_limit(groups / "unified", group, "memory.max"));
    } else if (std::ranges::count(split(controllers, ','), "memory") > 0) {
      least = std::min(least, least_limit(groups / "memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

MemoryLimit memory_limit() {
  const MemoryLimit limits[] = {
      {physical_memory(), "this machine"},
      {control_group_limit(), "this container (its control group)"},
      {resource_limit(RLIMIT_AS), "ulimit -v"},
      {resource_limit(RLIMIT_DATA), "ulimit -d"},
  };
  return *std::ranges::min_element(limits, {}, &MemoryLimit::bytes);
}

}  // namespace rarefy
