#include "density/panels/cell_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "density/plane_crowds.hpp"
#include "rarefy/core/error.hpp"
#include "support/sanitized.hpp"

namespace {

using plane::Points;
using rarefy::CellMoments;
using rarefy::Workers;

constexpr double kSide = 24.0;

CellMoments cells() { return {{-0.5 * kSide, -0.5 * kSide}, {0.5, 0.5}, 48, 48}; }

TEST(CellMoments, SumsLikeThePointsAsFarAsTheyReach) {
  Workers alone(1);
  for (const auto crowd : plane::kCrowds) {
    const Points points = plane::crowd_of(crowd, kSide, 500, 7);
    auto moments = cells();
    moments.change(points, {}, alone);
    EXPECT_EQ(moments.count(), 500);
    for (const auto query : plane::queries_for(points, kSide, 200, 8)) {
      const auto sum = moments.log_sum(query);
      if (sum.nearest > CellMoments::kReach * CellMoments::kReach) continue;
      ASSERT_NEAR(sum.log_sum, plane::log_sum(points, query), 2e-6)
          << crowd << ", " << std::sqrt(sum.nearest) << " away";
    }
  }
}

// Far away digits are lost; close by hardly any.
TEST(CellMoments, AreNearlyExactCloseBy) {
  Workers alone(1);
  // Enough for the cells of a corner to have turned most of them into weights.
  Points points = plane::crowd_of("even", 4.0, kSanitized ? 4000 : 10'000, 9);
  for (auto& point : points) point.x -= 9.0;
  auto moments = cells();
  moments.change(points, {}, alone);
  Points queries = plane::crowd_of("even", 5.0, kSanitized ? 20 : 100, 10);
  for (auto& query : queries) query.x -= 9.0;
  for (const auto query : queries) {
    ASSERT_NEAR(moments.log_sum(query).log_sum, plane::log_sum(points, query), 1e-12);
  }
}

TEST(CellMoments, NearestIsALowerBoundThatIsNotFarOff) {
  Workers alone(1);
  auto moments = cells();
  EXPECT_EQ(moments.log_sum({0, 0}).nearest, CellMoments::kNothing);
  moments.change({{3.1, -2.2}}, {}, alone);
  for (const auto query : plane::crowd_of("even", kSide, 100, 11)) {
    const double exact = std::hypot(query.x - 3.1, query.y + 2.2);
    const double bound = std::sqrt(moments.log_sum(query).nearest);
    EXPECT_LE(bound, exact);
    EXPECT_GE(bound, exact - std::hypot(0.5, 0.5));
  }
}

TEST(CellMoments, ForgetWhatLeaves) {
  Workers alone(1);
  const Points stay = plane::crowd_of("edge", kSide, 50, 12);
  const Points leave = plane::crowd_of("middle", kSide, 5000, 13);
  auto moments = cells();
  moments.change(stay, {}, alone);
  moments.change(leave, {}, alone);
  moments.change({}, leave, alone);
  EXPECT_EQ(moments.count(), 50);
  // Where 5,000 points were, nothing is left but the tail of the others.
  for (const auto query : plane::queries_for(stay, kSide, 200, 14)) {
    if (moments.log_sum(query).nearest > 100.0) continue;
    ASSERT_NEAR(moments.log_sum(query).log_sum, plane::log_sum(stay, query), 1e-6);
  }
}

TEST(CellMoments, KnowTheMeanOfTheirPoints) {
  Workers alone(1);
  auto moments = cells();
  Points points = {{-5.0, 7.3}};
  for (int i = 0; i < 50; ++i) {  // more than wait to be turned into weights
    points.insert(points.end(), {{0.1, 0.2}, {0.3, 0.1}, {0.2, 0.3}});
  }
  moments.change(points, {}, alone);
  int seen = 0;
  moments.for_each_cell([&](rarefy::PlanePoint mean, double count) {
    ++seen;
    if (count == 150.0) {
      EXPECT_NEAR(mean.x, 0.2, 1e-14);
      EXPECT_NEAR(mean.y, 0.2, 1e-14);
    } else {
      EXPECT_EQ(count, 1.0);
      EXPECT_NEAR(mean.x, -5.0, 1e-13);
      EXPECT_NEAR(mean.y, 7.3, 1e-13);
    }
  });
  EXPECT_EQ(seen, 2);
}

TEST(CellMoments, TakeNoMoreMemoryForMorePoints) {
  Workers alone(1);
  auto moments = cells();
  for (std::uint64_t i = 0; i < 20; ++i) {
    moments.change(plane::crowd_of("even", kSide, 2000, i), {}, alone);
  }
  const auto bytes = moments.bytes();
  for (std::uint64_t i = 20; i < 60; ++i) {
    moments.change(plane::crowd_of("even", kSide, 2000, i), {}, alone);
  }
  EXPECT_EQ(moments.bytes(), bytes);
}

// Points that wait to be turned into weights count like the others, and so do those that have
// left again: whether both wait, one of them, or none.
TEST(CellMoments, CountPointsThatWait) {
  Workers alone(1);
  for (const std::size_t crowd : {1, 5, 31, 32, 33, 100}) {
    auto moments = cells();
    Points points;
    for (std::size_t i = 0; i < crowd; ++i) {
      points.push_back({0.01 + 0.004 * static_cast<double>(i), 0.4});
    }
    moments.change(points, {}, alone);
    for (std::size_t i = 0; i + 1 < crowd; ++i) {  // the one that is farthest stays
      const rarefy::PlanePoint query{11.5, 0.2};
      ASSERT_NEAR(moments.log_sum(query).log_sum, plane::log_sum(points, query), 1e-5);
      ASSERT_NEAR(moments.log_sum({3.0, 2.0}).log_sum, plane::log_sum(points, {3.0, 2.0}), 1e-9);
      moments.change({}, {points.back()}, alone);
      points.pop_back();
    }
    EXPECT_EQ(moments.count(), 1);
  }
}

TEST(CellMoments, RefuseAStateThatContradictsItself) {
  Workers alone(1);
  struct Saved {
    std::vector<std::int64_t> places, counts;
    std::size_t blocks;
    std::vector<std::int64_t> waiting = {};
    std::vector<double> points = {};
  };
  const auto load = [&](Saved saved) {
    if (saved.waiting.empty()) saved.waiting.resize(saved.places.size());
    rarefy::StateWriter out;
    out.integers("cells.places", saved.places);
    out.integers("cells.counts", saved.counts);
    out.reals("cells.moments", std::vector<double>(saved.blocks * 16 * 16, 0.5));
    out.integers("cells.waiting", saved.waiting);
    out.reals("cells.points", saved.points);
    auto moments = cells();
    rarefy::StateReader in(out.bytes());
    moments.load(in);
    return moments.count();
  };
  EXPECT_EQ(load({{4, 9}, {1, 2}, 2}), 3);
  EXPECT_EQ(load({{4, 9}, {1, 2}, 2, {0, 1}, {0.5, -0.5, 1.0}}), 3);
  EXPECT_THROW(load({{4, 4}, {1, 2}, 2}), rarefy::Error);        // twice the same cell
  EXPECT_THROW(load({{4, 48 * 48}, {1, 2}, 2}), rarefy::Error);  // no such cell
  EXPECT_THROW(load({{-1}, {1}, 1}), rarefy::Error);
  EXPECT_THROW(load({{4}, {-1}, 1}), rarefy::Error);
  EXPECT_THROW(load({{4, 9}, {1}, 2}), rarefy::Error);
  EXPECT_THROW(load({{4, 9}, {1, 2}, 1}), rarefy::Error);
  EXPECT_THROW(load({{4}, {1}, 1, {-1}}), rarefy::Error);
  EXPECT_THROW(load({{4}, {1}, 1, {33}, std::vector<double>(99, 0.5)}), rarefy::Error);
  EXPECT_THROW(load({{4}, {1}, 1, {1}, {0.5, 0.5}}), rarefy::Error);
  EXPECT_THROW(load({{4}, {0}, 1, {1}, {0.5, 0.5, 1.0}}), rarefy::Error);  // of an empty cell
  EXPECT_THROW(load({{4}, {1}, 1, {1}, {1.5, 0.5, 1.0}}), rarefy::Error);  // not in its cell
  EXPECT_THROW(load({{4}, {1}, 1, {1}, {0.5, 0.5, 0.7}}), rarefy::Error);  // not one point
}

}  // namespace
