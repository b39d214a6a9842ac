// The published profile's buffer, against numbers measured on the software it imitates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "support/random_batches.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::compat::PublishedBuffer;

std::vector<double> values_of(BatchView batch) {
  return {batch.values().begin(), batch.values().end()};
}

std::vector<std::byte> saved(const PublishedBuffer& buffer) {
  rarefy::StateWriter out;
  buffer.save(out);
  return out.bytes();
}

/// Draws as the reference needs them.
struct Draw {
  double w_factor;
  double log_uniform;
  std::int64_t slot;
};

// The description of one batch, in its closed form (not as a loop that forgets to move on):
//   nothing inserted if the skip reaches past the batch;
//   else the row at the skip, then the batch's first row, again and again, each time the
//   skips since the first insertion have not yet used up the batch.
template <typename Source>
class Literal {
 public:
  Literal(std::int64_t capacity, Source source)
      : rows(static_cast<std::size_t>(capacity), 0.0), source_(std::move(source)) {
    draw();
  }

  void add(std::span<const double> batch) {
    while (!batch.empty() && filled_ < rows.size()) {
      rows[filled_++] = batch.front();
      batch = batch.subspan(1);
    }
    auto left = static_cast<std::int64_t>(batch.size());
    if (left == 0) return;
    if (skip_ >= left) {
      skip_ -= left;
      return;
    }
    insert(batch[static_cast<std::size_t>(skip_)]);
    while (skip_ < left) {
      left -= skip_;
      insert(batch[0]);
    }
    skip_ -= left;
  }

  std::vector<double> rows;
  std::int64_t insertions = 0;

 private:
  void insert(double value) {
    rows[static_cast<std::size_t>(slot_)] = value;
    ++insertions;
    draw();
  }
  void draw() {
    const Draw now = source_();
    w_ *= now.w_factor;
    skip_ = static_cast<std::int64_t>(std::floor(now.log_uniform / std::log1p(-w_)));
    slot_ = now.slot;
  }

  Source source_;
  std::size_t filled_ = 0;
  double w_ = 1.0;
  std::int64_t skip_ = 0;
  std::int64_t slot_ = 0;
};

auto our_draws(Index capacity, std::uint64_t seed) {
  return [=, draws = std::uint64_t{0}]() mutable {
    rarefy::RandomStream random(
        {.seed = seed, .purpose = rarefy::Purpose::reservoir, .iteration = draws++});
    Draw draw{};
    draw.w_factor = std::pow(random.uniform_open(), 1.0 / static_cast<double>(capacity));
    draw.log_uniform = std::log(random.uniform_open());
    draw.slot = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(capacity)));
    return draw;
  };
}

auto their_draws(Index capacity, std::uint64_t seed) {
  return [=, random = std::mt19937_64(seed)]() mutable {
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Draw draw{};
    draw.slot = std::uniform_int_distribution<std::int64_t>(0, capacity - 1)(random);
    draw.w_factor = std::pow(1.0 - uniform(random), 1.0 / static_cast<double>(capacity));
    draw.log_uniform = std::log(1.0 - uniform(random));
    return draw;
  };
}

TEST(PublishedBuffer, DoesWhatItsDescriptionSaysRowByRow) {
  for (const Index capacity : {1, 5, 100, 1000}) {
    for (const Index rows : {1, 7, 54, 540}) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        PublishedBuffer buffer({.feature_dim = 1, .capacity = capacity, .seed = seed});
        Literal literal(capacity, our_draws(capacity, seed));
        std::vector<Index> changed;
        for (int step = 0; step < 100; ++step) {
          const Batch batch = counting_batch(rows, 1.0 + 1000.0 * step);
          buffer.add(batch, changed);
          literal.add(batch.values());
          ASSERT_EQ(values_of(buffer.contents()), literal.rows)
              << "capacity " << capacity << ", batches of " << rows << ", batch " << step;
        }
      }
    }
  }
}

TEST(PublishedBuffer, CountsEverySlotFromTheStartAtTheOrigin) {
  PublishedBuffer buffer({.feature_dim = 2, .capacity = 10, .seed = 1});
  EXPECT_EQ(buffer.contents().rows(), 10);
  EXPECT_EQ(buffer.capacity(), 10);
  EXPECT_EQ(values_of(buffer.contents()), std::vector<double>(20, 0.0));
  std::vector<Index> changed;
  const Batch batch = uniform_batch(4, 2, 1, 2, 5);
  buffer.add(batch, changed);
  EXPECT_EQ(changed, (std::vector<Index>{0, 1, 2, 3}));
  auto expected = values_of(batch);
  expected.resize(20, 0.0);
  EXPECT_EQ(values_of(buffer.contents()), expected);
}

TEST(PublishedBuffer, AMirrorKeptFromTheChangedSlotsIsAlwaysRight) {
  PublishedBuffer buffer({.feature_dim = 2, .capacity = 64, .seed = 9});
  auto mirror = values_of(buffer.contents());
  for (std::uint64_t step = 0; step < 200; ++step) {
    std::vector<Index> changed;
    buffer.add(uniform_batch(30, 2, -1, 1, step), changed);
    for (const Index slot : changed) {
      const auto row = buffer.contents().row(slot);
      std::copy(row.begin(), row.end(), mirror.begin() + 2 * slot);
    }
    ASSERT_EQ(mirror, values_of(buffer.contents()));
  }
}

/// What 15 x 36 rows an iteration leave in a buffer of 10,000. Features are numbered through:
/// row r of iteration t is 540 t + r (+ 1, so that no row is the origin).
struct Remains {
  double first_rows;  // share of rows that are row 0 of some batch
  double first_emitter;
  double distinct;
};

Remains remains_of(std::span<const double> rows) {
  double first_rows = 0, first_emitter = 0;
  std::set<double> distinct(rows.begin(), rows.end());
  for (const double value : rows) {
    const auto row = static_cast<std::int64_t>(value - 1.0) % 540;
    first_rows += row == 0 ? 1 : 0;
    first_emitter += row < 36 ? 1 : 0;
  }
  const auto count = static_cast<double>(rows.size());
  return {first_rows / count, first_emitter / count, static_cast<double>(distinct.size())};
}

struct Moments {
  double mean = 0, error = 0;  // of the mean
};

Moments moments_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

/// After so many iterations, for several seeds: ours and the literal one on other random numbers.
struct Measured {
  std::vector<double> first_rows, first_emitter, distinct, insertions;
  std::vector<double> their_first_rows, their_distinct, their_insertions;
};

Measured measure(int iterations, std::uint64_t seeds) {
  constexpr Index kCapacity = 10'000, kRows = 540;
  Measured out;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    PublishedBuffer buffer({.feature_dim = 1, .capacity = kCapacity, .seed = seed});
    Literal literal(kCapacity, their_draws(kCapacity, seed));
    double insertions = -static_cast<double>(kCapacity);  // the first fill it
    for (int step = 0; step < iterations; ++step) {
      const Batch batch = counting_batch(kRows, 1.0 + 540.0 * step);
      std::vector<Index> changed;
      buffer.add(batch, changed);
      insertions += static_cast<double>(changed.size());
      literal.add(batch.values());
    }
    const auto ours = remains_of(buffer.contents().values());
    const auto theirs = remains_of(literal.rows);
    out.first_rows.push_back(ours.first_rows);
    out.first_emitter.push_back(ours.first_emitter);
    out.distinct.push_back(ours.distinct);
    out.insertions.push_back(insertions);
    out.their_first_rows.push_back(theirs.first_rows);
    out.their_distinct.push_back(theirs.distinct);
    out.their_insertions.push_back(static_cast<double>(literal.insertions));
  }
  return out;
}

// False alarms: 5 standard errors of a difference of two means of 16, about 3e-5 (Student's t).
void expect_alike(const std::vector<double>& ours, const std::vector<double>& theirs,
                  const char* what) {
  const auto a = moments_of(ours), b = moments_of(theirs);
  EXPECT_LT(std::abs(a.mean - b.mean), 5.0 * std::hypot(a.error, b.error))
      << what << ": " << a.mean << " and " << b.mean;
}

// Measured on the software it imitates (3 seeds): 93.5 to 93.7 % of the buffer are first rows
// at iteration 500, 1,026 to 1,045 entries are distinct, 34,400 insertions, 95.7 % from the
// first emitter. Three values span 1.7 deviations on average, so deviations are about .0012 and
// 11; the mean of 16 must lie within 4 standard errors of three of theirs: false alarms 1e-3 by
// Student's t, and with these seeds none.
TEST(PublishedBuffer, After500IterationsNearlyAllOfItIsTheFirstRowOfSomeBatch) {
  const auto measured = measure(500, 16);
  EXPECT_NEAR(moments_of(measured.first_rows).mean, 0.936, 4 * 0.0012 / std::sqrt(3.0));
  EXPECT_NEAR(moments_of(measured.distinct).mean, 1036.0, 4 * 11.0 / std::sqrt(3.0));
  EXPECT_NEAR(moments_of(measured.first_emitter).mean, 0.957, 0.004);
  EXPECT_NEAR(moments_of(measured.insertions).mean, 34'400, 500);
  expect_alike(measured.first_rows, measured.their_first_rows, "first rows");
  expect_alike(measured.distinct, measured.their_distinct, "distinct entries");
  expect_alike(measured.insertions, measured.their_insertions, "insertions");
}

// At 100: 83 %, 1,449 to 1,499 distinct (deviation about 30), 20,100 insertions.
TEST(PublishedBuffer, After100IterationsItIsOnTheWayThere) {
  const auto measured = measure(100, 16);
  EXPECT_NEAR(moments_of(measured.first_rows).mean, 0.83, 0.01);
  EXPECT_NEAR(moments_of(measured.distinct).mean, 1474.0, 4 * 30.0 / std::sqrt(3.0));
  EXPECT_NEAR(moments_of(measured.insertions).mean, 20'100, 400);
  expect_alike(measured.first_rows, measured.their_first_rows, "first rows");
  expect_alike(measured.distinct, measured.their_distinct, "distinct entries");
}

// At 5,000: 78 %, 5,973 to 6,033 distinct (deviation about 35), 58,000 insertions.
TEST(PublishedBuffer, After5000IterationsOtherRowsHaveComeBack) {
  const auto measured = measure(5000, 4);
  EXPECT_NEAR(moments_of(measured.first_rows).mean, 0.78, 0.01);
  EXPECT_NEAR(moments_of(measured.first_emitter).mean, 0.82, 0.01);
  EXPECT_NEAR(moments_of(measured.distinct).mean, 6003.0, 4 * 35.0 / std::sqrt(3.0));
  EXPECT_NEAR(moments_of(measured.insertions).mean, 58'000, 600);
}

TEST(PublishedBuffer, ALoadedOneGoesOnLikeTheOneThatWasSaved) {
  for (const int cut : {0, 1, 3, 4, 50}) {
    PublishedBuffer buffer({.feature_dim = 2, .capacity = 100, .seed = 3});
    std::vector<Index> changed, changed_copy;
    for (int step = 0; step < cut; ++step) {
      buffer.add(uniform_batch(30, 2, -1, 1, static_cast<std::uint64_t>(step)), changed);
    }
    const auto bytes = saved(buffer);
    PublishedBuffer copy({.feature_dim = 2, .capacity = 100, .seed = 3});
    copy.add(uniform_batch(500, 2, -1, 1, 999), changed_copy);  // must be forgotten
    rarefy::StateReader in(bytes);
    copy.load(in);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(saved(copy), bytes);
    changed.clear();
    changed_copy.clear();
    for (std::uint64_t step = 100; step < 150; ++step) {
      const Batch batch = uniform_batch(30, 2, -1, 1, step);
      buffer.add(batch, changed);
      copy.add(batch, changed_copy);
    }
    EXPECT_EQ(changed_copy, changed);
    EXPECT_EQ(saved(copy), saved(buffer)) << "cut after " << cut;
  }
}

struct Forged {
  std::int64_t filled = 4, skip = 2, draws = 3;
  double w = 0.5;
  std::int64_t slot = 1;
  std::vector<double> rows = {1, 2, 3, 4};

  [[nodiscard]] std::vector<std::byte> bytes() const {
    rarefy::StateWriter out;
    out.integer("published_buffer.filled", filled);
    out.integer("published_buffer.skip", skip);
    out.integer("published_buffer.draws", draws);
    out.real("published_buffer.w", w);
    out.integer("published_buffer.slot", slot);
    out.reals("published_buffer.rows", rows);
    return out.bytes();
  }
};

bool refused(const Forged& state) {
  const auto bytes = state.bytes();
  PublishedBuffer buffer({.feature_dim = 1, .capacity = 4, .seed = 1});
  rarefy::StateReader in(bytes);
  try {
    buffer.load(in);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt) << error.what();
    return true;
  }
  return false;
}

TEST(PublishedBuffer, StatesThatCannotBeAreRefused) {
  EXPECT_FALSE(refused({}));
  EXPECT_TRUE(refused({.filled = 5}));
  EXPECT_TRUE(refused({.filled = -1}));
  EXPECT_TRUE(refused({.skip = -1}));
  EXPECT_TRUE(refused({.draws = -1}));
  EXPECT_TRUE(refused({.draws = std::numeric_limits<std::int64_t>::max()}));
  EXPECT_TRUE(refused({.skip = std::numeric_limits<std::int64_t>::max()}));
  EXPECT_TRUE(refused({.slot = 4}));
  EXPECT_TRUE(refused({.slot = -1}));
  EXPECT_TRUE(refused({.rows = {1, 2, 3}}));
  EXPECT_TRUE(refused({.rows = {1, 2, std::numeric_limits<double>::quiet_NaN(), 4}}));
  EXPECT_TRUE(refused({.w = std::numeric_limits<double>::quiet_NaN()}));
}

// A negative w makes negative skips, and those read rows in front of the batch.
TEST(PublishedBuffer, AWOutsideZeroToOneIsRefused) {
  EXPECT_TRUE(refused({.w = -0.5}));
  EXPECT_TRUE(refused({.w = 1.5}));
}

TEST(PublishedBuffer, ImpossibleOptionsAreRefused) {
  EXPECT_THROW(PublishedBuffer({.feature_dim = 0}), Error);
  EXPECT_THROW(PublishedBuffer({.feature_dim = 2, .capacity = 0}), Error);
  EXPECT_THROW(PublishedBuffer({.feature_dim = 2, .capacity = -1}), Error);
}

}  // namespace
