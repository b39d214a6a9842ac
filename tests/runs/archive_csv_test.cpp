#include "rarefy/runs/archive_csv.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rarefy/tessellations/grid.hpp"

namespace {

using rarefy::Archive;
using rarefy::Index;

std::string csv_of(const Archive& archive) {
  std::string text;
  rarefy::write_archive_csv(archive, [&](std::string_view piece) { text += piece; });
  return text;
}

Archive small_archive() {
  return {std::make_shared<rarefy::Grid>(rarefy::FeatureSpace{{0.0, 0.0}, {1.0, 1.0}},
                                         std::vector<Index>{2, 2}),
          2};
}

void record(Archive& archive, std::vector<double> solution, std::vector<double> features,
            double objective) {
  rarefy::Workers alone(1);
  rarefy::Outcome outcome{};
  archive.record({solution.data(), 1, 2}, {{features.data(), 1, 2}, std::span(&objective, 1)},
                 alone, std::span(&outcome, 1));
}

TEST(ArchiveAsCsv, HasALineForEveryCellThatWasReachedByNumber) {
  auto archive = small_archive();
  record(archive, {0.1, -2.0}, {0.75, 0.9}, 0.3);
  record(archive, {1e-300, 1.0 / 3.0}, {0.2, 0.6}, 1.0);
  record(archive, {9.0, 9.0}, {0.8, 0.8}, 0.2);  // no better: a visit
  EXPECT_EQ(csv_of(archive),
            "cell,visits,objective,feature_1,feature_2,solution_1,solution_2\n"
            "1,1,1,0.2,0.6,1e-300,0.3333333333333333\n"
            "3,2,0.3,0.75,0.9,0.1,-2\n");
}

TEST(ArchiveAsCsv, OfAnEmptyArchiveIsTheHeader) {
  EXPECT_EQ(csv_of(small_archive()),
            "cell,visits,objective,feature_1,feature_2,solution_1,solution_2\n");
}

}  // namespace
