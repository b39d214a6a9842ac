#include "memory/failing_memory.hpp"

#include <cerrno>
#include <cstdlib>
#include <vector>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

std::atomic<bool> armed{false}, onwards_too{false}, ours_only{false}, any_failed{false};
std::atomic<std::size_t> least{0};  // bytes, of those by `new`
std::atomic<long> left{0};

// Whether this allocation shall find no memory.
bool fails() {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const long number = left.fetch_sub(1, std::memory_order_relaxed);
  const bool now = number == 1 || (number < 1 && onwards_too.load(std::memory_order_relaxed));
  if (now) any_failed.store(true, std::memory_order_relaxed);
  return now;
}

}  // namespace

void let_memory_fail(long first, bool onwards, Counted counted) {
  left = first;
  onwards_too = onwards;
  ours_only = counted != Counted::all;
  least = counted == Counted::large ? 4096 : 0;
  any_failed = false;
  armed = true;
}

bool let_memory_be() {
  armed = false;
  return any_failed;
}

#if defined(__GNUC__) && !defined(__clang__)
// g++ sees the free() of our own operator delete inlined where it did not inline the new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)

static void* refused() {
  errno = ENOMEM;
  return nullptr;
}
static bool foreign_fails() { return !ours_only.load(std::memory_order_relaxed) && fails(); }

void* malloc(std::size_t size) { return foreign_fails() ? refused() : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return foreign_fails() ? refused() : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  return foreign_fails() ? refused() : __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return foreign_fails() ? refused() : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return foreign_fails() ? refused() : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  if (foreign_fails()) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

static bool ours_fails(std::size_t size) {
  return size >= least.load(std::memory_order_relaxed) && fails();
}

void* operator new(std::size_t size) {
  if (ours_fails(size)) throw std::bad_alloc();
  if (void* memory = __libc_malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (ours_fails(size)) throw std::bad_alloc();
  if (void* memory = __libc_memalign(static_cast<std::size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

TEST(FailingMemory, FailsWhenTold) {
  const auto use = [] { std::vector<double> values(1000); };
  EXPECT_TRUE(without_memory(1, false, Counted::ours, use).failed);
  EXPECT_TRUE(without_memory(1, true, Counted::all, use).failed);
  EXPECT_FALSE(without_memory(2, true, Counted::ours, use).failed);
  EXPECT_TRUE(without_memory(1, false, Counted::all, [] { std::free(std::malloc(10)); }).failed);
  EXPECT_FALSE(without_memory(1, false, Counted::ours, [] { std::free(std::malloc(10)); }).failed);
}
#endif
