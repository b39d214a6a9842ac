// The copy of the paper's numbers: what must hold of it if nothing was mistyped.
#include "rarefy/reports/paper_values.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rarefy {
namespace {

TEST(PaperValues, AreThereByOurNames) {
  ASSERT_NE(paper_value("dds-kde", "lp", "coverage"), nullptr);
  EXPECT_EQ(paper_value("dds-kde", "lp", "coverage")->mean, 67.67);
  EXPECT_EQ(paper_value("dds-kde", "lp", "coverage")->standard_error, 2.13);
  EXPECT_EQ(paper_value("map-elites-line", "multi-lp", "cross_entropy")->mean, 29.61);
  EXPECT_EQ(paper_value("cma-me", "maze", "coverage")->mean, 79.97);
  EXPECT_EQ(paper_ablation(1, "multi-lp", "cross_entropy")->mean, 27.77);
  EXPECT_EQ(paper_ablation(0.1, "maze", "coverage")->standard_error, 8.59);
  EXPECT_EQ(paper_f("multi-lp", "coverage"), 3350);
  EXPECT_EQ(paper_verdict("maze", "coverage", "dds-cnf", "cma-mae"), Verdict::less);
  EXPECT_EQ(paper_value("map-elites", "lp", "coverage"), nullptr);
  EXPECT_EQ(paper_value("ns", "lander", "coverage"), nullptr);
  EXPECT_EQ(paper_value("ns", "lp", "qd_score"), nullptr);
  EXPECT_EQ(paper_ablation(0.06, "lp", "coverage"), nullptr);
  EXPECT_FALSE(paper_f("lp", "qd_score"));
  EXPECT_FALSE(paper_verdict("lp", "coverage", "ns", "ns"));
}

TEST(PaperValues, AreAsManyAsItPrints) {
  int means = 0, ablations = 0, signs = 0;
  for (const auto domain : paper_domains()) {
    for (const auto metric : paper_metrics()) {
      for (const auto a : paper_algorithms()) {
        means += paper_value(a, domain, metric) != nullptr ? 1 : 0;
        for (const auto b : paper_algorithms()) {
          signs += paper_verdict(domain, metric, a, b).has_value() ? 1 : 0;
        }
      }
      for (const auto h : paper_bandwidths()) {
        ablations += paper_ablation(h, domain, metric) != nullptr ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(means, 48);
  EXPECT_EQ(ablations, 13 * 8);
  EXPECT_EQ(signs, 240);
}

TEST(PaperValues, SignsAreTheSameFromBothSides) {
  for (const auto domain : paper_domains()) {
    for (const auto metric : paper_metrics()) {
      for (const auto a : paper_algorithms()) {
        for (const auto b : paper_algorithms()) {
          if (a == b) continue;
          EXPECT_EQ(*paper_verdict(domain, metric, a, b),
                    turned(*paper_verdict(domain, metric, b, a)))
              << domain << " " << metric << " " << a << " " << b;
        }
      }
    }
  }
}

// "Highlighted cells are results from the main experiments."
TEST(PaperValues, OfTheAblationRepeatThoseOfTheMainTable) {
  for (const auto domain : paper_domains()) {
    const double highlighted = domain == "maze" ? 0.01 : 0.05;
    for (const auto metric : paper_metrics()) {
      const auto* const main = paper_value("dds-kde", domain, metric);
      const auto* const ablation = paper_ablation(highlighted, domain, metric);
      EXPECT_EQ(main->mean, ablation->mean) << domain << " " << metric;
      EXPECT_EQ(main->standard_error, ablation->standard_error) << domain << " " << metric;
    }
  }
}

}  // namespace
}  // namespace rarefy
