// The steady-state loop allocates nothing.
//
// malloc and its relatives are replaced here, for the whole test program, by functions that
// count and pass on; operator new ends in malloc, so nothing escapes, on any thread.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/every_algorithm.hpp"
#include "support/small_search.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RAREFY_COUNTS_ALLOCATIONS 1
#else
#define RAREFY_COUNTS_ALLOCATIONS 0
#endif

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> allocations{0};

}  // namespace

#if RAREFY_COUNTS_ALLOCATIONS
extern "C" {

// glibc's own, under the names it keeps for those who replace them.
void* __libc_malloc(std::size_t size);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* block, std::size_t size);             // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT

static void count_one() {
  if (counting.load(std::memory_order_relaxed)) {
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
}

void* malloc(std::size_t size) noexcept {
  count_one();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  count_one();
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  count_one();
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count_one();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count_one();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  count_one();
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"
#endif

namespace rarefy {
namespace {

struct Counted {
  std::int64_t plain = 0;       // allocations in iterations without a restart
  std::int64_t restarting = 0;  // and in those with one
  int restarts = 0;             // iterations with a restart
};

Counted count(small::Loop& loop, int iterations) {
  Counted counted;
  for (int i = 0; i < iterations; ++i) {
    const auto before = loop.search.restarts();
    allocations.store(0);
    counting.store(true);
    loop.step();
    counting.store(false);
    if (loop.search.restarts() == before) {
      counted.plain += allocations.load();
    } else {
      counted.restarting += allocations.load();
      ++counted.restarts;
    }
  }
  return counted;
}

class NoAllocation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RAREFY_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "allocations cannot be counted here";
  }
};

TEST_F(NoAllocation, TheCounterCounts) {
  allocations.store(0);
  counting.store(true);
  const auto block = std::make_unique<std::vector<double>>(100);
  counting.store(false);
  EXPECT_EQ(allocations.load(), 2);
  ASSERT_EQ(block->size(), 100U);
}

// The setting of the linear projection experiment but for the buffer, which is filled early:
// 15 emitters of 36, n = 100, a grid of 100 x 100. Restarts are frequent after 100 iterations.
small::Options experiment(Index threads) {
  return {.threads = threads,
          .n = 100,
          .emitters = 15,
          .batch = 36,
          .buffer = 1000,
          .cells = 100,
          .stagnation = {.patience = 15, .patience_rate = 0.2}};
}

TEST_F(NoAllocation, InTheSteadyStateOfTheLoop) {
  for (const Index threads : {1, 2}) {
    for (const auto point : {small::Point::average, small::Point::adaptive, small::Point::sparsest,
                             small::Point::rarest}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, restart point " +
                   std::to_string(static_cast<int>(point)));
      auto options = experiment(threads);
      options.point = point;
      small::Loop loop(options);
      loop.steps(120);
      ASSERT_GT(loop.search.restarts(), 0);
      const auto found = loop.search.archive().size();
      const auto counted = count(loop, 50);
      EXPECT_EQ(counted.plain, 0);
      EXPECT_EQ(counted.restarting, 0) << "in " << counted.restarts << " iterations with restarts";
      EXPECT_GT(counted.restarts, 0) << "no restart among those counted";
      EXPECT_GT(loop.search.archive().size(), found) << "new cells must be among what is counted";
    }
  }
}

// Even the first restart of all: a run of few restarts has only first ones.
TEST_F(NoAllocation, InTheFirstRestart) {
  for (const auto point : {small::Point::origin, small::Point::elite, small::Point::average,
                           small::Point::sparsest, small::Point::rarest, small::Point::adaptive}) {
    SCOPED_TRACE("restart point " + std::to_string(static_cast<int>(point)));
    small::Loop loop({.batch = 24, .point = point});
    loop.steps(3);
    ASSERT_EQ(loop.search.restarts(), 0);
    const auto counted = count(loop, 150);
    EXPECT_GT(counted.restarts, 0);
    EXPECT_EQ(counted.plain, 0);
    EXPECT_EQ(counted.restarting, 0);
  }
}

// The one exception: Eigen's solver takes a small workspace for every decomposition. The
// eigen factor decomposes in every generation here, the published parts in every third.
TEST_F(NoAllocation, ButForTheWorkspaceOfEigenvectors) {
  for (const bool published : {false, true}) {
    SCOPED_TRACE(published ? "published" : "eigen");
    small::Loop loop({.n = 100,
                      .emitters = 3,
                      .batch = 36,
                      .buffer = 500,
                      .factor = Factor::eigen,
                      .trigger = published ? small::Trigger::basic : small::Trigger::stagnation,
                      .point = published ? small::Point::origin : small::Point::average,
                      .published = published});
    loop.steps(60);
    const auto counted = count(loop, 30);
    EXPECT_LE(counted.plain + counted.restarting, published ? 3 * 30 / 3 : 3 * 30);
  }
}

// A resumed run is a run like any other.
TEST_F(NoAllocation, AfterLoading) {
  small::Loop original({.batch = 24});
  original.steps(20);
  small::Loop loop({.batch = 24});
  loop.load(original.state());
  loop.steps(3);
  const auto found = loop.search.archive().size();
  const auto counted = count(loop, 100);
  EXPECT_EQ(counted.plain, 0);
  EXPECT_EQ(counted.restarting, 0);
  EXPECT_GT(loop.search.archive().size(), found);
}

TEST_F(NoAllocation, InTheTrainingOfADiscountModel) {
  for (const Index threads : {1, 2}) {
    every::Loop loop("dms", {.seed = 1, .threads = threads});
    loop.steps(40);
    allocations.store(0);
    counting.store(true);
    loop.steps(30);
    counting.store(false);
    EXPECT_EQ(allocations.load(), 0) << threads << " threads";
  }
}

// Room for what they need is made the first time.
TEST_F(NoAllocation, ForFailuresAndFeaturesOutside) {
  every::Loop loop("dds-kde", {.seed = 1, .threads = 1, .outside = Outside::last});
  std::vector<std::uint8_t> valid(every::kEmitters * every::kRows, 1);
  std::int64_t counted = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    valid[i % valid.size()] = i % 3 == 0 ? 1 : 0;
    every::evaluate(loop.search.ask(), loop.features, loop.objectives);
    for (double& value : loop.features.values()) value *= 3;
    allocations.store(0);
    counting.store(i >= 30);
    loop.search.tell(loop.features, loop.objectives, valid);
    counting.store(false);
    counted += allocations.load();
  }
  EXPECT_GT(loop.search.failed(), 0);
  EXPECT_GT(loop.search.outside(), 0);
  EXPECT_GT(loop.search.restarts(), 0);
  EXPECT_EQ(counted, 0);
}

}  // namespace
}  // namespace rarefy
