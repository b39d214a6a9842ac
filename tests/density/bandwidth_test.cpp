#include "rarefy/density/bandwidth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"

namespace {

using rarefy::Bandwidth;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::FeatureSpace;
using rarefy::Index;

FeatureSpace box(Index dims, double low, double high) {
  const auto count = static_cast<std::size_t>(dims);
  return {std::vector<double>(count, low), std::vector<double>(count, high)};
}

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Bandwidth, AbsoluteIsTheSameForEveryFeature) {
  const FeatureSpace space{{0, -100}, {1, 100}};
  EXPECT_EQ(Bandwidth::absolute(25.6).resolve(space, 10), (std::vector<double>{25.6, 25.6}));
}

TEST(Bandwidth, NormalisedFollowsTheWidthOfEachFeature) {
  const FeatureSpace space{{0, -100, 3}, {1, 100, 3.5}};
  EXPECT_EQ(Bandwidth::normalised(0.25).resolve(space, 10), (std::vector<double>{0.25, 50, 0.125}));
}

TEST(Bandwidth, ThePapersLinearProjectionBandwidthIsATwentiethOfTheWidth) {
  EXPECT_DOUBLE_EQ(Bandwidth::normalised(0.05).resolve(box(2, -256, 256), 10'000)[0], 25.6);
  EXPECT_DOUBLE_EQ(Bandwidth::normalised(0.05).resolve(box(2, -100, 100), 10'000)[0], 10.0);
  EXPECT_DOUBLE_EQ(Bandwidth::normalised(0.05).resolve(box(10, -51.2, 51.2), 10'000)[0], 5.12);
}

TEST(Bandwidth, ScottGivesTheValuesOfTheConfirmedRecipe) {
  const auto h0 = [](Index dims) { return Bandwidth::scott().resolve(box(dims, 0, 1), 10'000)[0]; };
  // To the three digits in which the recipe is printed.
  EXPECT_NEAR(h0(2), 0.062, 0.0005);
  EXPECT_NEAR(h0(4), 0.091, 0.0005);
  EXPECT_NEAR(h0(10), 0.150, 0.0005);
}

TEST(Bandwidth, ScottFollowsItsFormulaForAnySizeAndDimension) {
  for (Index dims = 1; dims <= 12; ++dims) {
    for (const Index samples : {1, 2, 100, 10'000, 1'000'000}) {
      const auto h = Bandwidth::scott().resolve(box(dims, -3, 5), samples);
      const double expected =
          8.0 / std::sqrt(12.0) /
          std::pow(static_cast<double>(samples), 1.0 / (static_cast<double>(dims) + 4.0));
      ASSERT_EQ(static_cast<Index>(h.size()), dims);
      for (const double value : h) EXPECT_NEAR(value, expected, 1e-13 * expected);
    }
  }
}

// By its definition, on features whose deviation and quartiles are known: 0 .. 400 a hundredth of
// the width apart, and for the second feature with a few so far out that they stretch the
// deviation.
TEST(Bandwidth, SpreadFollowsTheBufferAndNotItsOutliers) {
  const FeatureSpace space = box(2, 0, 100);
  rarefy::Batch features(401, 2);
  for (Index i = 0; i < 401; ++i) {
    features(i, 0) = 0.1 * static_cast<double>(i);
    features(i, 1) = i < 5 ? 5000.0 : 0.1 * static_cast<double>(i);
  }
  const auto h = Bandwidth::spread().fit(space, features);
  const double factor = std::pow(401.0, -1.0 / 6.0);
  // Of a uniform distribution the deviation (width / sqrt(12)) is less than the range / 1.349.
  EXPECT_NEAR(h[0], 40.1 / std::sqrt(12.0) * factor, 0.01 * h[0]);
  EXPECT_NEAR(h[1], 20.0 / 1.349 * factor, 0.05 * h[1]);
  // Without any data, and no narrower than a twentieth of it: that of Scott's rule.
  const auto scott = Bandwidth::scott().resolve(space, 401);
  EXPECT_EQ(Bandwidth::spread().resolve(space, 401), scott);
  const rarefy::Batch same(std::vector<double>(802, 3.0), 401, 2);
  EXPECT_DOUBLE_EQ(Bandwidth::spread().fit(space, same)[0], scott[0] / 20.0);
  EXPECT_EQ(Bandwidth::parse("spread"), Bandwidth::spread());
  EXPECT_EQ(Bandwidth::spread().text(), "spread");
  EXPECT_TRUE(Bandwidth::spread().follows_data());
  EXPECT_FALSE(Bandwidth::scott().follows_data());
}

// The factors that sweeps found, docs/reproduction.md: none with detail, then narrower, then wider.
TEST(Bandwidth, AutomaticCorrectsScottWithThreeFeaturesOrMore) {
  for (Index dims = 1; dims <= 40; ++dims) {
    const auto space = box(dims, -3, 5);
    const double scott = Bandwidth::scott().resolve(space, 10'000)[0];
    const double part = Bandwidth::automatic().resolve(space, 10'000)[0] / scott;
    const double wanted =
        dims <= 2 ? 1.0 : std::min(1.1, std::pow(static_cast<double>(dims) / 6.0, 0.25));
    EXPECT_NEAR(part, wanted, 1e-12) << dims;
  }
  EXPECT_EQ(Bandwidth::parse("auto"), Bandwidth::automatic());
  EXPECT_FALSE(Bandwidth::automatic().follows_data());
}

// Of many widths, one by one, the likeliest: for a wide and for a narrow distribution, whose best
// width spread does not know. By the definition, with nothing taken out of the exponents.
TEST(Bandwidth, LikelihoodFindsTheWidthUnderWhichFeaturesAreLikeliest) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const FeatureSpace space{{0, -10}, {1, 10}};
  for (const int clusters : {1, 2, 9}) {
    rarefy::Batch features(120, 2);
    for (Index i = 0; i < features.rows(); ++i) {
      const double at = static_cast<double>(i % clusters) / 10.0;
      features(i, 0) = at + 0.02 * normal(random);
      features(i, 1) = 20 * at - 10 + 0.3 * normal(random);
    }
    const auto spread = Bandwidth::spread().fit(space, features);
    const auto likelihood = [&](double c) {
      double total = 0;
      for (Index i = 0; i < features.rows(); ++i) {
        double sum = 0;
        for (Index j = 0; j < features.rows(); ++j) {
          if (j == i) continue;
          const double x = (features(i, 0) - features(j, 0)) / (c * spread[0]);
          const double y = (features(i, 1) - features(j, 1)) / (c * spread[1]);
          sum += std::exp(-(x * x + y * y) / 2) / (c * c);
        }
        total += std::log(sum);
      }
      return total;
    };
    double best = 1.0;
    for (int step = -12; step <= 4; ++step) {
      const double c = std::pow(2.0, step / 2.0);
      if (likelihood(c) > likelihood(best)) best = c;
    }
    const auto h = Bandwidth::likelihood().fit(space, features);
    EXPECT_NEAR(h[0], best * spread[0], 1e-9 * h[0]) << clusters;
    EXPECT_NEAR(h[1], best * spread[1], 1e-9 * h[1]) << clusters;
    if (clusters == 9) {
      EXPECT_LT(best, 0.5) << "clusters are narrower than all of them together";
    }
  }
}

TEST(Bandwidth, LikelihoodOfRepeatedOrFarFeaturesStaysWithinItsLimits) {
  const auto space = box(2, 0, 1);
  const auto scott = Bandwidth::scott().resolve(space, 400);
  rarefy::Batch features(400, 2);
  for (Index i = 0; i < 400; ++i) {  // four places: infinitely likely with kernels of no width
    features(i, 0) = i % 2 == 0 ? 0.2 : 0.8;
    features(i, 1) = i % 4 < 2 ? 0.2 : 0.8;
  }
  const double h = Bandwidth::likelihood().fit(space, features)[0];
  EXPECT_GE(h, scott[0] / Bandwidth::kNarrowest);
  EXPECT_LT(h, scott[0]);
  features(0, 0) = 1e300;
  features(1, 1) = -1e300;
  for (const double value : Bandwidth::likelihood().fit(space, features)) {
    EXPECT_TRUE(std::isfinite(value) && value > 0) << value;
  }
  const rarefy::Batch one(std::vector<double>{0.5, 0.5}, 1, 2);
  EXPECT_EQ(Bandwidth::likelihood().fit(space, one), Bandwidth::scott().resolve(space, 1));
  EXPECT_EQ(Bandwidth::parse("likelihood"), Bandwidth::likelihood());
  EXPECT_TRUE(Bandwidth::likelihood().follows_data());
}

TEST(Bandwidth, ScottNeedsToKnowHowManySamplesThereWillBe) {
  EXPECT_NE(message_of([] { (void)Bandwidth::scott().resolve(box(2, 0, 1), 0); }).find("unlimited"),
            std::string::npos);
}

TEST(Bandwidth, IsReadFromText) {
  const auto space = box(2, 0, 10);
  const auto read = [&](std::string_view text) {
    return Bandwidth::parse(text).resolve(space, 50)[0];
  };
  EXPECT_EQ(read("scott"), Bandwidth::scott().resolve(space, 50)[0]);
  EXPECT_EQ(read("25.6"), 25.6);
  EXPECT_EQ(read("1e-3"), 1e-3);
  EXPECT_EQ(read("0.5 width"), 5.0);
  EXPECT_EQ(read("0.5width"), 5.0);
}

TEST(Bandwidth, TextReadsBackAsTheSameRule) {
  const auto space = box(3, -1, 2);
  for (const auto& rule : {Bandwidth::scott(), Bandwidth::automatic(), Bandwidth::spread(),
                           Bandwidth::likelihood(), Bandwidth::local(), Bandwidth::absolute(0.1),
                           Bandwidth::absolute(1e-300), Bandwidth::absolute(1.0 / 3.0),
                           Bandwidth::normalised(0.05), Bandwidth::normalised(2.0 / 3.0)}) {
    const auto again = Bandwidth::parse(rule.text());
    EXPECT_EQ(again.text(), rule.text());
    EXPECT_EQ(again.resolve(space, 77), rule.resolve(space, 77)) << rule.text();
  }
}

TEST(Bandwidth, TextThatIsNoBandwidthIsRefusedAndQuoted) {
  for (const std::string text :
       {"", " ", "scot", "Scott", "0", "-1", "-0.05 width", "0 width", "nan", "inf", "infinity",
        "1e999", "width", "0.05 widths", "0.05 height", "5 5", "5,0", "1e", "0x1p3"}) {
    const auto message = message_of([&] { (void)Bandwidth::parse(text); });
    EXPECT_NE(message.find("'" + text + "'"), std::string::npos) << message;
  }
}

TEST(Bandwidth, ValuesThatCannotBeAreRefusedWhenTheyAreUsed) {
  for (const double value : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    message_of([&] { (void)Bandwidth::absolute(value).resolve(box(1, 0, 1), 10); });
    message_of([&] { (void)Bandwidth::normalised(value).resolve(box(1, 0, 1), 10); });
  }
}

// Stretching features by a factor must stretch by the same what rules give that know the width of
// the space.
TEST(Bandwidth, RulesThatFollowTheWidthAreAffine) {
  const FeatureSpace space{{-1, 10}, {3, 11}};
  for (const double factor : {0.125, 3.7, 1000.0}) {
    FeatureSpace stretched = space;
    for (auto& bound : stretched.lower) bound *= factor;
    for (auto& bound : stretched.upper) bound *= factor;
    for (const auto& rule : {Bandwidth::normalised(0.05), Bandwidth::scott()}) {
      const auto before = rule.resolve(space, 500);
      const auto after = rule.resolve(stretched, 500);
      for (std::size_t d = 0; d < before.size(); ++d) {
        EXPECT_NEAR(after[d], factor * before[d], 1e-12 * after[d]) << rule.text();
      }
    }
  }
}

TEST(FeatureSpaceCheck, AcceptsBoxesAndNamesTheFeatureThatIsNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NO_THROW((FeatureSpace{{-1, 0}, {1, 1e-9}}.check()));
  message_of([] { FeatureSpace{}.check(); });
  message_of([] { FeatureSpace{{0, 0}, {1}}.check(); });
  for (const auto& [low, high] : {std::pair{1.0, 1.0},
                                  {2.0, 1.0},
                                  {kNan, 1.0},
                                  {0.0, kNan},
                                  {-kInfinity, 0.0},
                                  {0.0, kInfinity}}) {
    const auto message = message_of([&] { FeatureSpace{{0, low}, {1, high}}.check(); });
    EXPECT_NE(message.find("feature 1"), std::string::npos) << message;
  }
}

// Both ends can be finite and their distance not; a bandwidth must never come out infinite.
TEST(FeatureSpaceCheck, RefusesABoxWhoseWidthIsNotFinite) {
  message_of([] { FeatureSpace{{-1.5e308}, {1.5e308}}.check(); });
}

}  // namespace
