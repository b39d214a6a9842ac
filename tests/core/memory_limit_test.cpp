#include "rarefy/core/memory_limit.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace rarefy {
namespace {

namespace fs = std::filesystem;

// A system's /proc and /sys, as far as control groups are concerned.
class FakeSystem {
 public:
  FakeSystem() { write("proc/self/cgroup", ""); }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
  }
  [[nodiscard]] double limit() const { return control_group_limit(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

TEST(MemoryLimit, IsNoMoreThanTheMachineHas) {
  const auto limit = memory_limit();
  EXPECT_GT(limit.bytes, 0);
  EXPECT_LE(limit.bytes, static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                             static_cast<double>(sysconf(_SC_PAGE_SIZE)));
  EXPECT_FALSE(limit.whose.empty());
}

TEST(MemoryLimit, OfAControlGroupIsTheLeastOnTheWayUp) {
  const FakeSystem system;
  system.write("proc/self/cgroup", "0::/user/job/step\n");
  EXPECT_TRUE(std::isinf(system.limit())) << "no file says anything";
  system.write("sys/fs/cgroup/user/job/step/memory.max", "max\n");
  EXPECT_TRUE(std::isinf(system.limit()));
  system.write("sys/fs/cgroup/user/job/memory.max", "2000000000\n");
  EXPECT_EQ(system.limit(), 2e9);
  system.write("sys/fs/cgroup/user/memory.max", "3000000000\n");
  EXPECT_EQ(system.limit(), 2e9);
  system.write("sys/fs/cgroup/user/job/step/memory.max", "1000000000\n");
  EXPECT_EQ(system.limit(), 1e9);
}

TEST(MemoryLimit, OfAContainerThatIsItsOwnRoot) {
  const FakeSystem system;
  system.write("proc/self/cgroup", "0::/\n");
  system.write("sys/fs/cgroup/memory.max", "536870912\n");
  EXPECT_EQ(system.limit(), 536870912.0);
  // The group may be named as it is seen from outside.
  system.write("proc/self/cgroup", "0::/../../docker/0123abcd\n");
  EXPECT_EQ(system.limit(), 536870912.0);
}

TEST(MemoryLimit, OfTheFirstVersionOfControlGroups) {
  const FakeSystem system;
  system.write("proc/self/cgroup", "9:cpu,cpuacct:/other\n4:hugetlb,memory:/job\n0::/\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  system.write("sys/fs/cgroup/memory/other/memory.limit_in_bytes", "1000\n");
  EXPECT_TRUE(std::isinf(system.limit())) << "that is how it says that there is none";
  system.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000000\n");
  EXPECT_EQ(system.limit(), 1e9);
}

TEST(MemoryLimit, WhatCannotBeReadLimitsNothing) {
  const FakeSystem system;
  for (const auto* nonsense : {"", "\n", "0", "0:", "0:::", "a:b", "0::job", ":::::"}) {
    system.write("proc/self/cgroup", nonsense);
    EXPECT_TRUE(std::isinf(system.limit())) << nonsense;
  }
  system.write("proc/self/cgroup", "0::/job\n");
  for (const auto* nonsense : {"", "\n", "much", "1e400", "-"}) {
    system.write("sys/fs/cgroup/job/memory.max", nonsense);
    EXPECT_TRUE(std::isinf(system.limit())) << nonsense;
  }
}

}  // namespace
}  // namespace rarefy
