// The loop allocates nothing once it runs, so neither may what it calls every iteration.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "rarefy/core/random.hpp"
#include "rarefy/core/workers.hpp"

namespace {

std::atomic<long> allocations{0};

template <typename Work>
long allocations_during(Work work) {
  const long before = allocations;
  work();
  return allocations - before;
}

}  // namespace

#if defined(__GNUC__) && !defined(__clang__)
// g++ sees the free() of our own operator delete inlined where it did not inline the new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST(Allocations, AreCounted) {
  EXPECT_GE(allocations_during([] { std::vector<double> values(1000); }), 1);
}

TEST(Allocations, AreNotMadeByHandingOutWork) {
  rarefy::Workers workers(2);
  std::atomic<rarefy::Index> sum = 0;
  const std::array<double, 64> large{};  // a closure too large for std::function's own buffer
  EXPECT_EQ(allocations_during([&] {
              for (int round = 0; round < 100; ++round) {
                workers.for_each(20, [&, large](rarefy::Index i) {
                  sum += i + static_cast<rarefy::Index>(large[0]);
                });
                workers.for_pieces(100, 7, [&](rarefy::Index, rarefy::Index size) { sum += size; });
              }
            }),
            0);
  EXPECT_EQ(sum, 100 * (190 + 100));
}

TEST(Allocations, AreNotMadeByRandomNumbers) {
  std::vector<double> numbers(1001);
  std::vector<rarefy::Index> order(540);
  rarefy::fill_normals({.seed = 1}, numbers);  // picks the instruction set
  EXPECT_EQ(allocations_during([&] {
              rarefy::RandomStream random({.seed = 2});
              rarefy::fill_normals({.seed = 1}, numbers);
              rarefy::random_permutation(random, order);
              numbers[0] = random.uniform() + random.uniform_open();
            }),
            0);
}
