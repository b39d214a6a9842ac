// The cells of a batch are found once, whoever needs them.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "rarefy/density/annealed_thresholds.hpp"
#include "rarefy/density/improvement.hpp"
#include "rarefy/search.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/random_batches.hpp"

namespace rarefy {
namespace {

// A grid that knows how many rows it was asked about.
class CountedGrid : public Grid {
 public:
  using Grid::assign;
  using Grid::Grid;
  void assign(BatchView features, std::span<Index> cells) const override {
    rows += features.rows();
    Grid::assign(features, cells);
  }
  mutable Index rows = 0;
};

// Emits nothing worth mentioning.
class Still : public Emitter {
 public:
  [[nodiscard]] Index batch() const override { return 20; }
  [[nodiscard]] Index dimension() const override { return 1; }
  void ask(const Archive& /*archive*/, std::uint64_t /*iteration*/, BatchSpan out) override {
    for (double& value : out.values()) value = 0.0;
  }
  bool tell(const Feedback& /*feedback*/) override { return false; }
  void restart(std::span<const double> /*solution*/) override {}
  void save(StateWriter& /*out*/) const override {}
  void load(StateReader& /*in*/) override {}
};

TEST(CellsOfABatch, AreFoundOnceForDensityAndArchive) {
  const auto grid =
      std::make_shared<CountedGrid>(FeatureSpace{{0, 0}, {1, 1}}, std::vector<Index>{5, 5});
  for (const bool annealed : {true, false}) {
    SearchParts parts;
    parts.emitters.push_back(std::make_unique<Still>());
    parts.triggers.push_back(std::make_unique<BasicTrigger>());
    parts.restart_point = std::make_unique<RestartAtElite>();
    if (annealed) {
      parts.density = std::make_unique<AnnealedThresholds>(AnnealedThresholdsOptions{}, grid);
    } else {
      parts.density = std::make_unique<Improvement>(grid);
    }
    parts.archive = std::make_unique<Archive>(grid, 1);
    Search search(std::move(parts), {.threads = 1});
    grid->rows = 0;
    for (std::uint64_t step = 1; step <= 3; ++step) {
      search.ask();
      search.tell(uniform_batch(20, 2, 0, 1, step));
      EXPECT_EQ(grid->rows, static_cast<Index>(20 * step));
    }
  }
}

}  // namespace
}  // namespace rarefy
