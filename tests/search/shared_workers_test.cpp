// Searches that share a team of threads, and are driven from several threads at the same time.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "rarefy/core/workers.hpp"
#include "support/every_algorithm.hpp"

namespace rarefy {
namespace {

TEST(SharedWorkers, AreThoseOfTheSearch) {
  const auto team = std::make_shared<Workers>(3);
  every::Loop loop("dds-kde", {.seed = 1, .threads = 1, .workers = team});
  EXPECT_EQ(&loop.search.workers(), team.get());
  every::Loop own("dds-kde", {.seed = 1, .threads = 2});
  EXPECT_EQ(own.search.workers().threads(), 2);
}

TEST(SharedWorkers, OutliveWhoeverMadeThem) {
  auto team = std::make_shared<Workers>(2);
  every::Loop loop("dds-kde", {.seed = 1, .workers = team});
  team.reset();
  loop.steps(3);
  EXPECT_EQ(loop.search.iteration(), 3);
}

// One search of every algorithm, all at once, each on a thread of its own: the same bits as alone.
TEST(SharedWorkers, ChangeNoBit) {
  constexpr int kIterations = 30;
  const auto names = every::algorithms();
  const auto team = std::make_shared<Workers>(2);
  std::vector<std::unique_ptr<every::Loop>> together;
  for (const auto& name : names) {
    together.push_back(
        std::make_unique<every::Loop>(name, SearchOptions{.seed = 1, .workers = team}));
  }
  std::vector<std::thread> drivers;
  drivers.reserve(together.size());
  for (auto& loop : together) drivers.emplace_back([&loop] { loop->steps(kIterations); });
  for (auto& driver : drivers) driver.join();
  for (std::size_t i = 0; i < names.size(); ++i) {
    every::Loop alone(names[i]);
    alone.steps(kIterations);
    EXPECT_TRUE(alone.state() == together[i]->state()) << names[i];
  }
}

}  // namespace
}  // namespace rarefy
