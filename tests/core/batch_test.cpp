#include "rarefy/core/batch.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <type_traits>
#include <vector>

using rarefy::Batch;
using rarefy::BatchSpan;
using rarefy::BatchView;
using rarefy::Index;

namespace {

Batch numbered(Index rows, Index cols) {
  Batch batch(rows, cols);
  std::iota(batch.values().begin(), batch.values().end(), 0.0);
  return batch;
}

double sum(BatchView view) {
  const auto values = view.values();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

TEST(Batch, IsEmptyToBeginWith) {
  const Batch batch;
  EXPECT_EQ(batch.rows(), 0);
  EXPECT_EQ(batch.cols(), 0);
  EXPECT_TRUE(batch.values().empty());
  EXPECT_TRUE(batch.view().empty());
  EXPECT_TRUE(BatchView().empty());
  EXPECT_EQ(BatchSpan().size(), 0);
}

TEST(Batch, IsRowMajorAndContiguous) {
  const Batch batch = numbered(3, 4);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_EQ(batch.row(i).data(), batch.data() + i * 4);
    EXPECT_EQ(batch.row(i).size(), 4U);
    for (Index j = 0; j < 4; ++j) {
      EXPECT_EQ(batch(i, j), static_cast<double>(i * 4 + j));
      EXPECT_EQ(&batch.row(i)[static_cast<std::size_t>(j)], batch.data() + i * 4 + j);
    }
  }
}

TEST(Batch, StartsWithZeros) {
  const Batch batch(5, 7);
  for (const double value : batch.values()) EXPECT_EQ(value, 0.0);
}

TEST(Batch, KeepsItsRowsWhenTheirNumberChanges) {
  Batch batch = numbered(3, 2);
  batch.resize(5, 2);
  EXPECT_EQ(batch.rows(), 5);
  EXPECT_EQ(batch.values().size(), 10U);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 2; ++j) EXPECT_EQ(batch(i, j), static_cast<double>(i * 2 + j));
  }
  batch.resize(1, 2);
  EXPECT_EQ(batch.values().size(), 2U);
  EXPECT_EQ(batch(0, 1), 1.0);
}

TEST(Batch, TakesAnyShape) {
  Batch batch = numbered(3, 2);
  batch.resize(2, 5);
  EXPECT_EQ(batch.rows(), 2);
  EXPECT_EQ(batch.cols(), 5);
  EXPECT_EQ(batch.values().size(), 10U);
  batch.resize(0, 5);
  EXPECT_TRUE(batch.view().empty());
  EXPECT_EQ(batch.cols(), 5);
  batch.resize(4, 0);
  EXPECT_EQ(batch.rows(), 4);
  EXPECT_TRUE(batch.row(3).empty());
}

TEST(Batch, AppendsRows) {
  Batch batch(0, 3);
  for (int i = 0; i < 100; ++i) {
    batch.append(std::vector<double>{i + 0.25, i + 0.5, i + 0.75});
  }
  ASSERT_EQ(batch.rows(), 100);
  ASSERT_EQ(batch.values().size(), 300U);
  for (Index i = 0; i < 100; ++i) {
    EXPECT_EQ(batch(i, 0), static_cast<double>(i) + 0.25);
    EXPECT_EQ(batch(i, 2), static_cast<double>(i) + 0.75);
  }
}

TEST(Batch, DoesNotMoveWithinWhatWasReserved) {
  Batch batch(0, 3);
  batch.reserve(50);
  batch.append(std::vector<double>{1, 2, 3});
  const double* const before = batch.data();
  for (int i = 1; i < 50; ++i) batch.append(std::vector<double>{1, 2, 3});
  EXPECT_EQ(batch.data(), before);
}

TEST(Batch, OwnsItsMemory) {
  Batch batch = numbered(2, 2);
  const Batch copy = batch;
  batch(0, 0) = 42.0;
  EXPECT_EQ(copy(0, 0), 0.0);
  EXPECT_EQ(batch(0, 0), 42.0);
}

TEST(BatchSpan, WritesToTheBatchItWasTakenFrom) {
  Batch batch = numbered(3, 2);
  const BatchSpan span = batch;
  EXPECT_EQ(span.rows(), 3);
  EXPECT_EQ(span.cols(), 2);
  EXPECT_EQ(span.size(), 6);
  span(1, 0) = -1.0;
  span.row(2)[1] = -2.0;
  span.values()[0] = -3.0;
  EXPECT_EQ(batch(1, 0), -1.0);
  EXPECT_EQ(batch(2, 1), -2.0);
  EXPECT_EQ(batch(0, 0), -3.0);
}

TEST(BatchSpan, NarrowsToSomeOfItsRows) {
  Batch batch = numbered(5, 2);
  const BatchSpan middle = batch.span().rows(1, 3);
  EXPECT_EQ(middle.rows(), 3);
  EXPECT_EQ(middle.cols(), 2);
  EXPECT_EQ(middle.data(), batch.data() + 2);
  middle(0, 0) = 7.0;
  EXPECT_EQ(batch(1, 0), 7.0);
}

TEST(BatchView, NarrowsToSomeOfItsRows) {
  const Batch batch = numbered(5, 2);
  const BatchView last = batch.view().rows(3, 2);
  EXPECT_EQ(last.rows(), 2);
  EXPECT_EQ(last(0, 0), 6.0);
  EXPECT_EQ(last(1, 1), 9.0);
  EXPECT_TRUE(batch.view().rows(5, 0).empty());
  EXPECT_EQ(batch.view().rows(0, 5).data(), batch.data());
}

TEST(BatchView, IsWhatABatchAndASpanTurnInto) {
  Batch batch = numbered(2, 3);
  EXPECT_EQ(sum(batch), 15.0);
  EXPECT_EQ(sum(batch.span()), 15.0);
  static_assert(!std::is_convertible_v<BatchView, BatchSpan>, "a readable batch is not writable");
  static_assert(!std::is_convertible_v<const Batch&, BatchSpan>);
}

#ifndef NDEBUG
TEST(BatchDeathTest, AssertsItsBounds) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Batch batch = numbered(2, 3);
  EXPECT_DEATH((void)batch.row(2), "");
  EXPECT_DEATH((void)batch(0, 3), "");
  EXPECT_DEATH((void)batch(-1, 0), "");
  EXPECT_DEATH((void)batch.view().rows(1, 2), "");
  EXPECT_DEATH(batch.append(std::vector<double>{1.0}), "");
}
#endif
