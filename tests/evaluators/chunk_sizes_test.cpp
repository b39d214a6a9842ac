// How rows are shared out over the ranks of a job under mpirun.
#include "evaluators/mpi/chunk_sizes.hpp"

#include <gtest/gtest.h>

namespace {

using rarefy::ChunkSizes;
using rarefy::Index;

TEST(ChunkSizes, BeginWithARowForEachPlace) {
  const ChunkSizes sizes(10);
  EXPECT_EQ(sizes.next(1, 0, 0, 500, 4), 1);
  EXPECT_EQ(sizes.next(1, 1, 1, 500, 4), 0);
  EXPECT_EQ(sizes.next(8, 0, 0, 500, 32), 8);
  EXPECT_EQ(sizes.next(8, 0, 0, 0, 32), 0);
}

TEST(ChunkSizes, AreSingleRowsWhereTheyTakeLong) {
  ChunkSizes sizes(10);
  sizes.learn(1, 0.1);
  EXPECT_EQ(sizes.next(1, 0, 0, 500, 4), 1);
  EXPECT_EQ(sizes.next(1, 1, 1, 500, 4), 0);  // nothing waits behind it
  // With several places, one row waits for whoever is done first.
  EXPECT_EQ(sizes.next(3, 2, 2, 500, 12), 1);
  EXPECT_EQ(sizes.next(3, 3, 3, 500, 12), 1);
  EXPECT_EQ(sizes.next(3, 4, 4, 500, 12), 0);
}

TEST(ChunkSizes, TakeMillisecondsWhereRowsDoNot) {
  ChunkSizes sizes(10);
  sizes.learn(1000, 0.01);  // 10 microseconds each
  const auto first = sizes.next(1, 0, 0, 100'000, 4);
  EXPECT_EQ(first, 200);
  EXPECT_EQ(sizes.next(1, first, 1, 100'000, 4), 200);  // a second one waits
  EXPECT_EQ(sizes.next(1, 2 * first, 2, 100'000, 4), 0);
  EXPECT_EQ(sizes.next(2, 0, 0, 100'000, 8), 400);
  // Towards the end they get smaller, but not so small that letters would be most of the work.
  EXPECT_EQ(sizes.next(1, 0, 0, 400, 4), 50);
  EXPECT_EQ(sizes.next(1, 0, 0, 40, 4), 10);
  EXPECT_EQ(sizes.next(1, 0, 0, 4, 4), 1);
}

TEST(ChunkSizes, AreNeverMoreThanAnEqualShare) {
  ChunkSizes sizes(10);
  sizes.learn(1000, 1e-5);  // next to nothing
  EXPECT_EQ(sizes.next(1, 0, 0, 40, 4), 10);
}

TEST(ChunkSizes, HaveALimit) {
  ChunkSizes sizes(1 << 16);
  sizes.learn(1000, 1e-5);
  EXPECT_EQ(sizes.next(1, 0, 0, 1000, 2), 2);
  ChunkSizes large(1 << 20);
  large.learn(1000, 1e-5);
  EXPECT_EQ(large.next(1, 0, 0, 1000, 2), 1);
}

TEST(ChunkSizes, FearDearRowsAmongCheapOnes) {
  ChunkSizes sizes(10);
  sizes.learn(1000, 1e-3);
  sizes.learn(1, 0.5);
  EXPECT_EQ(sizes.next(1, 0, 0, 1000, 4), 1);
  for (int i = 0; i < 10; ++i) sizes.learn(1000, 1e-3);
  EXPECT_EQ(sizes.next(1, 0, 0, 1000, 4), 1);  // not forgotten at once
  for (int i = 0; i < 100; ++i) sizes.learn(1000, 1e-3);
  EXPECT_GT(sizes.next(1, 0, 0, 1000, 4), 50);
}

}  // namespace
