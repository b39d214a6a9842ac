#include "rarefy/restarts/common_shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/state.hpp"

namespace rarefy {
namespace {

std::vector<double> values_of(const CommonShape& common) {
  return {common.values().begin(), common.values().end()};
}

void learn(CommonShape& common, const std::vector<double>& values, double mean_variance) {
  common.learn({.values = values, .mean_variance = mean_variance});
}

TEST(CommonShape, BeginsWithTheFirstThatIsLearned) {
  CommonShape common(0.25, 2);
  EXPECT_TRUE(common.values().empty());
  common.learn({});
  EXPECT_TRUE(common.values().empty()) << "there was nothing to learn";
  learn(common, {8, 24}, 16);
  EXPECT_EQ(values_of(common), (std::vector<double>{0.5, 1.5}));
}

TEST(CommonShape, MovesTowardsEveryOtherByTheRate) {
  CommonShape common(0.25, 2);
  learn(common, {0.5, 1.5}, 1);
  learn(common, {3e-9, 1e-9}, 2e-9);
  EXPECT_NEAR(common.values()[0], 0.75 * 0.5 + 0.25 * 1.5, 1e-15);
  EXPECT_NEAR(common.values()[1], 0.75 * 1.5 + 0.25 * 0.5, 1e-15);
  common.learn({});
  EXPECT_NEAR(common.values()[0], 0.75, 1e-15);
}

TEST(CommonShape, WithARateOfOneIsTheLast) {
  CommonShape common(1, 2);
  learn(common, {0.5, 1.5}, 1);
  learn(common, {1.25, 0.75}, 1);
  EXPECT_EQ(values_of(common), (std::vector<double>{1.25, 0.75}));
}

TEST(CommonShape, PassesOverScalesThatAreNone) {
  CommonShape common(0.5, 2);
  learn(common, {0.5, 1.5}, 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double scale : {0.0, -1.0, kInfinity, std::nan("")}) {
    learn(common, {1, 1}, scale);
    EXPECT_EQ(values_of(common), (std::vector<double>{0.5, 1.5})) << scale;
  }
}

TEST(CommonShape, RefusesWhatItCannotBe) {
  const auto refusal = [](auto make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const double rate : {0.0, -0.5, 1.5, std::nan("")}) {
    EXPECT_NE(refusal([&] { CommonShape(rate, 4); }).find("shape-rate: got"), std::string::npos);
  }
  EXPECT_NE(refusal([] { CommonShape(0.5, 0); }), "");
  CommonShape common(0.5, 2);
  EXPECT_EQ(refusal([&] {
              learn(common, {1, 1, 1}, 1);
            }),
            "common shape: numbers in a shape: got 3, expected 2");
}

TEST(CommonShape, IsSaved) {
  CommonShape common(0.5, 2), again(0.5, 2);
  for (const bool learned : {false, true}) {
    if (learned) learn(common, {0.5, 1.5}, 1);
    StateWriter out;
    common.save(out);
    StateReader in(out.bytes());
    again.load(in);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(values_of(again), values_of(common));
  }
}

TEST(CommonShape, DistrustsWhatItLoads) {
  for (const auto& values : {std::vector<double>{1}, std::vector<double>{1, 1, 1},
                             std::vector<double>{1, std::nan("")}}) {
    StateWriter out;
    out.reals("common_shape.values", values);
    StateReader in(out.bytes());
    CommonShape common(0.5, 2);
    EXPECT_THROW(common.load(in), Error);
  }
}

}  // namespace
}  // namespace rarefy
