// Features however far away, and errors in the middle of tell().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/experiment/make_search.hpp"

namespace rarefy {
namespace {

DomainInfo plain_domain() {
  DomainInfo domain;
  domain.name = "plain";
  domain.solution_dim = 4;
  domain.feature_space = {{-1, -1}, {1, 1}};
  return domain;
}

Config small_config(const std::string& kernel) {
  Config config;
  config.emitters.count = 1;
  config.emitters.batch = 12;
  config.emitters.sigma0 = 1.5;
  config.density.buffer = 24;
  config.archive.intervals = 5;
  config.density.kde.kernel = named<Kernel>(kernel);
  config.density.outside = Outside::as_is;
  return config;
}

// Row i lies 10^(first + 12 i) away.
Batch far_features(Index rows, int first) {
  Batch features(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    features(i, 0) = std::pow(10.0, first + 12 * static_cast<int>(i));
    features(i, 1) = -0.5 * features(i, 0);
  }
  return features;
}

TEST(FarFeatures, AreScoredFinitelyFarthestLeastAndTheStateCanBeLoaded) {
  for (const auto* kernel : {"gaussian", "triangular", "epanechnikov"}) {
    SCOPED_TRACE(kernel);
    const auto config = small_config(kernel);
    const auto domain = plain_domain();
    const auto search = make_search(config, domain, 1);
    (void)search->ask();
    search->tell(Batch(12, 2));
    (void)search->ask();
    search->tell(far_features(12, 170));  // up to 1e302: squares overflow from 1e154 on
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_TRUE(std::isfinite(search->scores()[i])) << i;
    }
    for (std::size_t i = 1; i < 12; ++i) {
      EXPECT_LT(search->scores()[i], search->scores()[i - 1]) << i;
    }
    StateWriter out;
    search->save(out);
    const auto again = make_search(config, domain, 1);
    StateReader in(out.bytes());
    EXPECT_NO_THROW(again->load(in));
    EXPECT_EQ(again->iteration(), 2);
  }
}

// A density whose observe() fails when it is told to.
class FailingDensity : public Density {
 public:
  explicit FailingDensity(const bool& fails) : fails_(fails) {}
  [[nodiscard]] std::string_view name() const override { return "failing"; }
  [[nodiscard]] Index feature_dim() const override { return 2; }
  [[nodiscard]] bool informed() const override { return false; }
  void score(const Evaluated& /*batch*/, std::span<double> /*scores*/,
             Workers& /*workers*/) override {}
  void observe(const Evaluated& /*batch*/, Workers& /*workers*/) override {
    if (fails_) throw std::bad_alloc();
  }
  void save(StateWriter& /*out*/) const override {}
  void load(StateReader& /*in*/) override {}

 private:
  const bool& fails_;
};

TEST(HalfTold, ASearchIsNotSaved) {
  const auto config = small_config("gaussian");
  const auto domain = plain_domain();
  Workers workers(1);
  auto parts = make_parts(config, domain, make_tessellation(config, domain, workers));
  bool fails = false;
  parts.density = std::make_unique<FailingDensity>(fails);
  Search search(std::move(parts), make_search_options(config));
  (void)search.ask();
  search.tell(Batch(12, 2));
  StateWriter out;
  EXPECT_NO_THROW(search.save(out));
  fails = true;
  (void)search.ask();
  EXPECT_THROW(search.tell(Batch(12, 2)), std::bad_alloc);
  EXPECT_THROW(search.save(out), Error) << "half a batch is no state to go on from";
}

}  // namespace
}  // namespace rarefy
