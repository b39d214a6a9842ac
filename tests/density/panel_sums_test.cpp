#include "density/panels/panel_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "density/plane_crowds.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "support/every_instruction_set.hpp"

namespace {

using plane::Points;
using rarefy::Index;
using rarefy::PanelField;
using rarefy::PanelSums;
using rarefy::PlanePoint;
using rarefy::Workers;

constexpr Index kManyQueries = 1 << 30;  // more than any field is worth
constexpr Index kCount = kSanitized ? 400 : 2000;

std::vector<double> log_sums(const PanelSums& sums, const Points& queries) {
  std::vector<double> out(queries.size());
  sums.log_sums(queries.data(), static_cast<Index>(queries.size()), out.data());
  return out;
}

PanelSums settled(double side, const Points& points) {
  Workers alone(1);
  PanelSums sums(side, side);
  sums.change(points, {}, alone);
  sums.settle(kManyQueries, alone);
  return sums;
}

// Everything within reach, whatever the crowd: by field, by cells, and by loose points.
void expect_close(const PanelSums& sums, const Points& points, const Points& queries,
                  double tolerance, std::string_view what) {
  const auto out = log_sums(sums, queries);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const double exact = plane::log_sum(points, queries[i]);
    if (std::isnan(out[i])) {
      ASSERT_LT(exact, -0.5 * 11.0 * 11.0 + std::log(static_cast<double>(points.size()))) << what;
    } else {
      ASSERT_NEAR(out[i], exact, tolerance) << what << ", query " << i;
    }
  }
}

using PanelAccuracy = WithInstructionSet;

TEST_P(PanelAccuracy, IsWithinTheToleranceForEveryCrowd) {
  for (const double side : {0.7, 5.3, 16.08, 41.0}) {
    for (const auto crowd : plane::kCrowds) {
      const Points points = plane::crowd_of(crowd, side, kCount, 3);
      const auto queries = plane::queries_for(points, side, 300, 4);
      expect_close(settled(side, points), points, queries, 2e-6, crowd);
    }
  }
}

// Boxes with other numbers of panels across than up, from two to many.
TEST_P(PanelAccuracy, IsWithinTheToleranceInOblongBoxes) {
  Workers alone(1);
  for (const auto& [width, height] : {std::pair{30.0, 9.0}, {4.0, 27.0}, {16.31, 2.0}}) {
    Points points = plane::crowd_of("even", 1.0, kCount, 5);
    Points queries = plane::queries_for(points, 1.0, 300, 6);
    for (auto* crowd : {&points, &queries}) {
      for (auto& point : *crowd) point = {width * point.x, height * point.y};
    }
    PanelSums sums(width, height);
    sums.change(points, {}, alone);
    sums.settle(kManyQueries, alone);
    expect_close(sums, points, queries, 2e-6, "oblong");
  }
}

INSTANTIATE_TEST_SUITE_P(All, PanelAccuracy, testing::ValuesIn(instruction_sets_for_parts()),
                         instruction_set_of_test);

// The figure by which a sum is believed or not: the error of the field relative to its peak.
TEST(PanelSums, FieldErrorIsWhatItSays) {
  for (const double side :
       {4.89, 10.59, 16.29, 16.31, 27.69}) {  // panels as wide as can be; 16.31: not
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto crowd = plane::kCrowds[seed];
      const Points points = plane::crowd_of(crowd, side, 300, seed);
      const auto sums = settled(side, points);
      double peak = 0.0;
      for (const auto point : points)
        peak = std::max(peak, std::exp(plane::log_sum(points, point)));
      const auto queries = plane::queries_for(points, side, kSanitized ? 200 : 2000, 6);
      const auto out = log_sums(sums, queries);
      for (std::size_t i = 0; i < queries.size(); ++i) {
        if (std::isnan(out[i])) continue;
        ASSERT_NEAR(std::exp(out[i]), std::exp(plane::log_sum(points, queries[i])),
                    PanelField::kError * peak)
            << crowd << ", side " << side;
      }
    }
  }
}

TEST(PanelSums, CountLoosePointsAtOnce) {
  Workers alone(1);
  const double side = 16.0;
  Points points = plane::crowd_of("even", side, 1000, 7);
  auto sums = settled(side, points);
  const Points came = plane::crowd_of("middle", side, 300, 8);
  const Points went(points.begin() + 700, points.end());
  sums.change(came, went, alone);  // and no field is made
  points.erase(points.begin() + 700, points.end());
  points.insert(points.end(), came.begin(), came.end());
  EXPECT_EQ(sums.count(), 1000);
  expect_close(sums, points, plane::queries_for(points, side, 400, 9), 1e-5, "loose");
}

// Single precision knows places far from the middle of a large box only roughly.
TEST(PanelSums, CountLoosePointsAtOnceInALargeBox) {
  Workers alone(1);
  PanelSums sums(3000.0, 1.0);
  Points points;
  rarefy::RandomStream random({.seed = 21, .purpose = rarefy::Purpose::user});
  for (int i = 0; i < 200; ++i) points.push_back({1490.0 + 10.0 * random.uniform(), 0.0});
  sums.change(points, {}, alone);
  ASSERT_EQ(sums.loose(), 200);
  Points queries;
  for (int i = 0; i < 300; ++i) queries.push_back({1480.0 + 20.0 * random.uniform(), 0.0});
  expect_close(sums, points, queries, PanelSums::kTolerance, "a large box");
}

// What single precision would leave of it is noise: the cells know better.
TEST(PanelSums, SeeThroughACrowdThatHasJustLeft) {
  Workers alone(1);
  const double side = 16.0;
  const Points leave = plane::crowd_of("middle", side, 1500, 10);
  Points stay = {{-4.0, 1.0}, {5.0, 2.0}, {-0.3, -6.0}};
  Points all = stay;
  all.insert(all.end(), leave.begin(), leave.end());
  auto sums = settled(side, all);
  sums.change({}, leave, alone);
  const auto queries = plane::queries_for(leave, side, 300, 11);
  expect_close(sums, stay, queries, 1e-5, "loose");
  sums.settle(kManyQueries, alone);
  expect_close(sums, stay, queries, 1e-5, "settled");
}

TEST(PanelSums, TakePointsAndQueriesOutsideTheBox) {
  Workers alone(1);
  const double side = 6.0;
  Points points = plane::crowd_of("even", side, 200, 12);
  for (const PlanePoint outside : {PlanePoint{3.5, 0.1}, PlanePoint{-40.0, 7.0}, PlanePoint{0, 1e9},
                                   PlanePoint{1e150, -1e150}}) {
    points.push_back(outside);
  }
  auto sums = settled(side, points);
  EXPECT_EQ(sums.count(), 204);
  const Points queries = {{0, 0}, {3.6, 0.0}, {-8.0, 2.0}, {-41.0, 7.5}, {1.0, 1e9 + 2.0}, {5, 5}};
  expect_close(sums, points, queries, 1e-6, "outside");
  EXPECT_TRUE(std::isnan(log_sums(sums, {{100.0, 0.0}})[0]));
  sums.change({}, {{-40.0, 7.0}}, alone);
  EXPECT_EQ(sums.count(), 203);
  EXPECT_TRUE(std::isnan(log_sums(sums, {{-41.0, 7.5}})[0]));
}

// The features of many domains are now and then a little outside the box that is looked at.
// They must not pile up among the points that are summed one by one.
TEST(PanelSums, TakeWhatIsALittleOutsideLikeWhatIsInside) {
  const double side = 6.0;
  Points points = plane::crowd_of("even", side, 200, 12);
  const double edge = 0.5 * side + PanelSums::kMargin;
  const Points beside = {{edge, 0.3}, {-edge, -1.0}, {0.2, edge}, {-edge, -edge}, {3.1, -3.1}};
  points.insert(points.end(), beside.begin(), beside.end());
  const auto sums = settled(side, points);
  EXPECT_EQ(sums.count(), 205);
  EXPECT_EQ(sums.outside(), 0);
  expect_close(sums, points, beside, 1e-6, "beside");
  points.push_back({edge + 0.01, 0.0});
  EXPECT_EQ(settled(side, points).outside(), 1);
}

TEST(PanelSums, OrderWhatIsOutOfReachByCellsTakenForTheirMean) {
  const double side = 30.0;
  const Points points = plane::crowd_of("corner", side, 500, 13);
  const auto sums = settled(side, points);
  double before = std::numeric_limits<double>::infinity();
  for (double away = 13.0; away < 40.0; away += 0.5) {
    const PlanePoint query{0.5 * side - away, 0.5 * side - 0.3 * away};
    const double value = sums.log_sum_of_crowds(query);
    EXPECT_LT(value, before);
    // Half a cell's diagonal, at most, is what a point is moved by.
    const double distance = std::hypot(away, 0.3 * away);
    EXPECT_NEAR(value, plane::log_sum(points, query), 0.36 * (distance + 0.36));
    before = value;
  }
  // The same without any points at all would be a matter of taste; empty sums say NaN.
  EXPECT_TRUE(std::isnan(log_sums(PanelSums(4.0, 4.0), {{0.0, 0.0}})[0]));
}

// One feature: all points on a line.
TEST(PanelSums, ServeOneFeature) {
  Workers alone(1);
  Points points = plane::crowd_of("even", 20.0, 500, 14);
  for (auto& point : points) point.y = 0.0;
  PanelSums sums(20.0, 1.0);
  sums.change(points, {}, alone);
  sums.settle(kManyQueries, alone);
  Points queries = plane::queries_for(points, 20.0, 300, 15);
  for (auto& query : queries) query.y = 0.0;
  expect_close(sums, points, queries, 1e-8, "a line");
}

TEST(PanelSums, GiveTheSameBitsForAnyNumberOfThreads) {
  const auto with = [](Index threads) {
    Workers workers(threads);
    PanelSums sums(16.0, 13.0);
    Points before;
    std::vector<double> all;
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Points came = plane::crowd_of(plane::kCrowds[i % 8], 13.0, 200, i);
      sums.change(came, before, workers);
      sums.settle(300, workers);
      before = came;
      const auto out = log_sums(sums, plane::queries_for(came, 13.0, 100, i));
      all.insert(all.end(), out.begin(), out.end());
    }
    for (double& v : all) {
      if (std::isnan(v)) v = -1.0;
    }
    return all;
  };
  EXPECT_EQ(with(1), with(2));
  EXPECT_EQ(with(1), with(5));
}

TEST(PanelSums, GoOnFromASavedStateToTheSameBits) {
  Workers alone(1);
  const auto step = [&](PanelSums& sums, std::uint64_t i) {
    const Points none;
    Points came = plane::crowd_of("even", 9.0, 90, i);
    came.push_back({7.0, static_cast<double>(i)});
    const Points gone = i > 4 ? plane::crowd_of("even", 9.0, 90, i - 4) : none;
    sums.change(came, gone, alone);
    sums.settle(100, alone);
  };
  PanelSums original(9.0, 9.0);
  for (std::uint64_t i = 0; i < 25; ++i) step(original, i);
  rarefy::StateWriter out;
  original.save(out);
  PanelSums copy(9.0, 9.0);
  step(copy, 77);  // must be forgotten
  rarefy::StateReader in(out.bytes());
  copy.load(in);
  for (std::uint64_t i = 25; i < 60; ++i) {
    const auto queries = plane::crowd_of("even", 9.0, 20, i);
    ASSERT_EQ(log_sums(original, queries), log_sums(copy, queries)) << i;
    step(original, i);
    step(copy, i);
  }
}

TEST(PanelSums, RefuseAStateWithImpossibleCounts) {
  const auto load = [](std::int64_t count) {
    rarefy::StateWriter out;
    out.integers("panels.counts", std::vector<std::int64_t>{0, count, 0, 0});
    PanelSums sums(4.0, 4.0);
    rarefy::StateReader in(out.bytes());
    sums.load(in);
  };
  for (const std::int64_t count : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    try {
      load(count);
      FAIL() << count;
    } catch (const rarefy::Error& error) {
      EXPECT_NE(std::string(error.what()).find("points on a panel"), std::string::npos)
          << error.what();
    }
  }
}

TEST(PanelSums, RefuseAStateOfAnotherPlane) {
  Workers alone(1);
  PanelSums small(4.0, 4.0);
  small.change(plane::crowd_of("even", 4.0, 30, 1), {}, alone);
  rarefy::StateWriter out;
  small.save(out);
  PanelSums other(40.0, 40.0);
  rarefy::StateReader in(out.bytes());
  EXPECT_THROW(other.load(in), rarefy::Error);
}

// However many points come and go, those summed one by one stay few.
TEST(PanelSums, BoundTheCostOfLoosePoints) {
  Workers alone(1);
  PanelSums sums(16.0, 16.0);
  for (std::uint64_t i = 0; i < 30; ++i) {
    sums.change(plane::crowd_of("even", 16.0, 540, i), {}, alone);
    sums.settle(540, alone);
    EXPECT_LE(sums.loose(), 3 * 540) << i;
  }
  for (std::uint64_t i = 0; i < 300; ++i) {  // few at a time
    sums.change(plane::crowd_of("even", 16.0, 5, i), {}, alone);
    sums.settle(540, alone);
    EXPECT_LE(sums.loose(), 400) << i;
  }
}

TEST(PanelSums, FitWhereTheBoxHasNotTooManyPanels) {
  EXPECT_TRUE(PanelSums::fits(16.0, 16.0));
  EXPECT_TRUE(PanelSums::fits(100.0, 100.0));
  EXPECT_FALSE(PanelSums::fits(200.0, 200.0));
  EXPECT_FALSE(PanelSums::fits(1e9, 1.0));
  EXPECT_FALSE(PanelSums::fits(1e300, 1e300));
}

// Ten million points that come and go, while the crowd moves from one side to the other: what
// rounding leaves behind must stay within the tolerance, where the crowd was as well.
TEST(SlowPanelDrift, TenMillionSwapsStayWithinTheTolerance) {
  Workers workers(2);
  const double side = 16.0;
  const Index held = 10'000;
  const Index batch = 10'000;
  PanelSums sums(side, side);
  Points points = plane::crowd_of("even", side, held, 1);
  sums.change(points, {}, workers);
  rarefy::RandomStream random({.seed = 2, .purpose = rarefy::Purpose::user});
  Points came, went;
  for (int round = 0; round < 1000; ++round) {
    came.clear();
    went.clear();
    // At first everywhere, then ever closer to the left edge.
    const double reach = round < 300 ? 1.0 : std::max(0.02, 1.0 - (round - 300) / 600.0);
    for (Index i = 0; i < batch; ++i) {
      auto& point = points[random.below(points.size())];
      const PlanePoint next{-0.5 * side + reach * side * random.uniform(),
                            side * (random.uniform() - 0.5)};
      went.push_back(point);
      came.push_back(next);
      point = next;
    }
    sums.change(came, went, workers);
    sums.settle(540, workers);
  }
  EXPECT_EQ(sums.count(), held);
  expect_close(sums, points, plane::queries_for(points, side, 500, 3), PanelSums::kTolerance,
               "after ten million swaps");
}

}  // namespace
