#include "rarefy/archives/last_cells.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "support/random_batches.hpp"

namespace rarefy {
namespace {

// Unit cells on [0, 10) that know how often they were looked for.
class CountedCells : public Tessellation {
 public:
  [[nodiscard]] std::string_view name() const override { return "counted"; }
  [[nodiscard]] Index cells() const override { return 10; }
  [[nodiscard]] const FeatureSpace& space() const override { return space_; }
  using Tessellation::assign;
  void assign(BatchView features, std::span<Index> cells) const override {
    ++calls;
    if (fail_next) {
      fail_next = false;
      throw std::runtime_error("no cells today");
    }
    for (Index i = 0; i < features.rows(); ++i) {
      cells[static_cast<std::size_t>(i)] = static_cast<Index>(features(i, 0));
    }
  }

  mutable int calls = 0;
  mutable bool fail_next = false;

 private:
  FeatureSpace space_{{0}, {10}};
};

std::vector<Index> expected(BatchView features) {
  std::vector<Index> cells;
  for (Index i = 0; i < features.rows(); ++i) cells.push_back(static_cast<Index>(features(i, 0)));
  return cells;
}

std::vector<Index> found(LastCells& last, BatchView features, Workers& workers) {
  const auto cells = last.of(features, workers);
  return {cells.begin(), cells.end()};
}

TEST(LastCells, AreFoundOnceForABatchWhereverItLies) {
  const auto tessellation = std::make_shared<CountedCells>();
  LastCells last(tessellation);
  Workers workers(1);
  Batch features = uniform_batch(30, 1, 0, 10, 1);
  EXPECT_EQ(found(last, features, workers), expected(features));
  EXPECT_EQ(tessellation->calls, 1);
  EXPECT_EQ(found(last, features, workers), expected(features));
  const Batch copy = features;
  EXPECT_EQ(found(last, copy, workers), expected(features));
  EXPECT_EQ(tessellation->calls, 1);

  features(29, 0) = features(29, 0) > 5 ? 1.5 : 8.5;  // the same memory, another batch
  EXPECT_EQ(found(last, features, workers), expected(features));
  EXPECT_EQ(tessellation->calls, 2);
  EXPECT_EQ(found(last, features.view().rows(0, 29), workers),
            expected(features.view().rows(0, 29)));
  EXPECT_EQ(tessellation->calls, 3);
  EXPECT_EQ(found(last, copy, workers), expected(copy));
  EXPECT_EQ(tessellation->calls, 4) << "only the last batch is remembered";
}

TEST(LastCells, OfAFailureAreNotRemembered) {
  const auto tessellation = std::make_shared<CountedCells>();
  LastCells last(tessellation);
  Workers workers(1);
  const Batch one = uniform_batch(20, 1, 0, 10, 1), other = uniform_batch(20, 1, 0, 10, 2);
  last.of(one, workers);
  tessellation->fail_next = true;
  EXPECT_THROW(last.of(other, workers), std::runtime_error);
  EXPECT_EQ(found(last, other, workers), expected(other));
  EXPECT_EQ(found(last, one, workers), expected(one));
}

}  // namespace
}  // namespace rarefy
