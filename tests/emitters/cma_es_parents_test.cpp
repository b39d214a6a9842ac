// CMA-ES with any number of parents: `filter` selection.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/minimise.hpp"
#include "support/naive_matrix.hpp"

namespace rarefy {
namespace {

using minimise::sampling_key;
using naive::Matrix;
using naive::Vector;

std::vector<std::byte> state_of(const rarefy::EvolutionStrategy& optimizer) {
  StateWriter out;
  optimizer.save(out);
  return out.bytes();
}

Vector weights_of(double top, Index parents) {
  Vector weights;
  double sum = 0;
  for (Index i = 1; i <= parents; ++i) {
    weights.push_back(std::log(top) - std::log(static_cast<double>(i)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

TEST(CmaEsParents, HaveWeightsThatSumToOneAndFall) {
  for (const Index batch : {2, 5, 9, 36}) {
    for (Index parents = 1; parents <= batch; ++parents) {
      SCOPED_TRACE(std::to_string(parents) + " of " + std::to_string(batch));
      const CmaEsParameters p(12, batch, parents);
      EXPECT_EQ(p.mu, parents);
      EXPECT_EQ(p.lambda, batch);
      // The tutorial's own for half the batch, else as if the batch were 2 mu.
      const double top = parents == batch / 2 ? (static_cast<double>(batch) + 1) / 2
                                              : static_cast<double>(parents) + 0.5;
      const Vector expected = weights_of(top, parents);
      ASSERT_EQ(p.weights.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(p.weights[i], expected[i], 1e-15);
        EXPECT_GT(p.weights[i], 0);
        EXPECT_TRUE(i == 0 || p.weights[i] < p.weights[i - 1]);
      }
      EXPECT_NEAR(std::accumulate(p.weights.begin(), p.weights.end(), 0.0), 1.0, 1e-14);
      EXPECT_NEAR(p.mueff * naive::dot(expected, expected), 1.0, 1e-13);
      EXPECT_GE(p.cmu, 0);
      EXPECT_LE(p.c1 + p.cmu, 1);
    }
  }
  EXPECT_DOUBLE_EQ(CmaEsParameters(12, 36, 1).mueff, 1.0);
  EXPECT_EQ(CmaEsParameters(12, 36, 1).cmu, 0.0);
}

// Of as many parents as a batch of twice their number has by itself: the same parameters.
TEST(CmaEsParents, HaveTheParametersOfABatchOfTwiceTheirNumber) {
  for (const Index parents : {1, 2, 5, 17, 18, 30, 36}) {
    const CmaEsParameters found(66, 36, parents), expected(66, 2 * parents);
    EXPECT_EQ(found.weights, expected.weights);
    for (const auto member : {&CmaEsParameters::mueff, &CmaEsParameters::cc,
                              &CmaEsParameters::csigma, &CmaEsParameters::c1, &CmaEsParameters::cmu,
                              &CmaEsParameters::dsigma, &CmaEsParameters::chi_n}) {
      EXPECT_EQ(found.*member, expected.*member);
    }
  }
}

// Hansen's equations with the parameters of each generation's own number of parents.
struct NaiveCmaEs {
  NaiveCmaEs(Index n, double sigma0)
      : mean(static_cast<std::size_t>(n), 0.0),
        path_sigma(mean),
        path_c(mean),
        c(naive::identity(mean.size())),
        sigma(sigma0) {}

  void tell(const Matrix& solutions, std::span<const Index> order, Index batch, Index parents) {
    ++generation;
    if (parents == 0) return;
    const auto n = static_cast<double>(mean.size());
    const double top = parents == batch / 2 ? (static_cast<double>(batch) + 1) / 2
                                            : static_cast<double>(parents) + 0.5;
    const Vector w = weights_of(top, parents);
    const double mueff = 1 / naive::dot(w, w);
    const double cs = (mueff + 2) / (n + mueff + 5);
    const double ds = 1 + 2 * std::max(0.0, std::sqrt((mueff - 1) / (n + 1)) - 1) + cs;
    const double cc = (4 + mueff / n) / (n + 4 + 2 * mueff / n);
    const double c1 = 2 / (std::pow(n + 1.3, 2) + mueff);
    const double cmu = std::min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / (std::pow(n + 2, 2) + mueff));
    const double chi = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));

    Matrix y;
    Vector average(mean.size(), 0.0);
    for (std::size_t i = 0; i < w.size(); ++i) {
      Vector step = solutions[static_cast<std::size_t>(order[i])];
      for (std::size_t d = 0; d < step.size(); ++d) {
        step[d] = (step[d] - mean[d]) / sigma;
        average[d] += w[i] * step[d];
      }
      y.push_back(step);
    }
    const Vector white = naive::times(naive::inverse_root(c), average);
    for (std::size_t d = 0; d < mean.size(); ++d) {
      mean[d] += sigma * average[d];
      path_sigma[d] = (1 - cs) * path_sigma[d] + std::sqrt(cs * (2 - cs) * mueff) * white[d];
    }
    const double length = naive::norm(path_sigma);
    const bool hsig =
        length / std::sqrt(1 - std::pow(1 - cs, 2.0 * generation)) < (1.4 + 2 / (n + 1)) * chi;
    for (std::size_t d = 0; d < mean.size(); ++d) {
      path_c[d] =
          (1 - cc) * path_c[d] + (hsig ? std::sqrt(cc * (2 - cc) * mueff) * average[d] : 0.0);
    }
    const double delta = hsig ? 0.0 : cc * (2 - cc);
    for (std::size_t a = 0; a < mean.size(); ++a) {
      for (std::size_t b = 0; b < mean.size(); ++b) {
        c[a][b] *= 1 + c1 * delta - c1 - cmu;
        c[a][b] += c1 * path_c[a] * path_c[b];
        for (std::size_t i = 0; i < w.size(); ++i) c[a][b] += cmu * w[i] * y[i][a] * y[i][b];
      }
    }
    sigma *= std::exp(std::min(1.0, cs / ds * (length / chi - 1)));
  }

  Vector mean, path_sigma, path_c;
  Matrix c;
  double sigma;
  int generation = 0;
};

// The number changes from generation to generation, from none to all.
TEST(CmaEsParents, AnyNumberOfThemFollowsHansensEquations) {
  struct Case {
    Index n, batch;
  };
  for (const auto& [n, batch] : {Case{2, 6}, {5, 9}, {7, 24}}) {
    SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(batch));
    CmaEs optimizer({.dimension = n,
                     .batch = batch,
                     .sigma0 = 0.4,
                     .factor = Factor::eigen,
                     .decompose_every = 1});
    NaiveCmaEs expected(n, 0.4);
    Batch solutions(batch, n);
    std::vector<bool> met(static_cast<std::size_t>(batch) + 1);
    for (int generation = 0; generation < 60; ++generation) {
      const auto key = sampling_key(3, static_cast<std::uint64_t>(generation));
      optimizer.ask(key, solutions);
      std::vector<double> values;
      for (Index i = 0; i < batch; ++i) {
        const auto row = solutions.view().row(i);
        values.push_back(minimise::ellipsoid(row) + row[0]);
      }
      const auto order = minimise::ranked(values);
      const Index parents = (11 * generation) % (batch + 1);
      met[static_cast<std::size_t>(parents)] = true;
      optimizer.tell(solutions, order, parents);
      expected.tell(naive::from(solutions), order, batch, parents);
      ASSERT_EQ(optimizer.generation(), generation + 1);
      // Backward stable kernels: a few n 2^-53 for each generation, with conditions below 1e4.
      ASSERT_NEAR(optimizer.sigma(), expected.sigma, 1e-10 * expected.sigma) << generation;
      const double reach = expected.sigma * std::sqrt(naive::largest_entry(expected.c));
      for (std::size_t d = 0; d < expected.mean.size(); ++d) {
        ASSERT_NEAR(optimizer.mean()[d], expected.mean[d],
                    1e-10 * (std::abs(expected.mean[d]) + reach));
      }
      ASSERT_LE(naive::largest_difference(naive::from(optimizer.covariance()), expected.c),
                1e-10 * naive::largest_entry(expected.c));
    }
    EXPECT_TRUE(std::ranges::all_of(met, [](bool was) { return was; }));
  }
}

// The hooks of the published profile see the parameters of this generation's parents.
TEST(CmaEsParents, ThePublishedUpdateUsesTheirParametersToo) {
  constexpr Index kN = 6, kBatch = 36;
  for (const Index parents : {1, 4, 18, 36}) {
    SCOPED_TRACE(parents);
    compat::PublishedCmaEs es({.dimension = kN, .batch = kBatch, .sigma0 = 0.5});
    Batch x(kBatch, kN);
    es.ask(sampling_key(5, 0), x);
    std::vector<Index> order(kBatch);
    std::iota(order.begin(), order.end(), Index{0});
    es.tell(x, order, parents);

    // One generation from C = I and m = 0, as the header of compat/ describes it.
    const double n = kN, sigma = 0.5;
    const Vector w = weights_of(static_cast<double>(parents) + 0.5, parents);
    const double mueff = 1 / naive::dot(w, w);
    const double cs = (mueff + 2) / (n + mueff + 5);
    const double ds = 1 + 2 * std::max(0.0, std::sqrt((mueff - 1) / (n + 1)) - 1) + cs;
    const double cc = (4 + mueff / n) / (n + 4 + 2 * mueff / n);
    const double c1 = 2 / (std::pow(n + 1.3, 2) + mueff);
    const double cmu = std::min(1 - c1, 2 * (mueff - 2 + 1 / mueff) / (std::pow(n + 2, 2) + mueff));
    Vector mean(kN, 0.0);
    for (std::size_t i = 0; i < w.size(); ++i) {
      for (std::size_t d = 0; d < kN; ++d)
        mean[d] += w[i] * x(static_cast<Index>(i), static_cast<Index>(d));
    }
    const double squared = cs * (2 - cs) * mueff * naive::dot(mean, mean) / sigma / sigma;
    const bool hsig = squared / n / (1 - std::pow(1 - cs, 2)) < 2 + 4 / (n + 1);
    const double push = hsig ? std::sqrt(cc * (2 - cc) * mueff) : 0.0;
    const double keep = 1 - c1 * (1 - (hsig ? 0.0 : cc * (2 - cc))) - cmu;
    EXPECT_NEAR(es.sigma(), sigma * std::exp(std::min(1.0, cs / ds * (squared / n - 1) / 2)),
                1e-14);
    for (std::size_t a = 0; a < kN; ++a) {
      EXPECT_NEAR(es.mean()[a], mean[a], 1e-14);
      for (std::size_t b = 0; b < kN; ++b) {
        double c = (a == b ? keep : 0.0) + c1 * c1 * push * push * mean[a] * mean[b];
        for (std::size_t i = 0; i < w.size(); ++i) {
          const auto row = x.view().row(static_cast<Index>(i));
          c += cmu * w[i] * row[a] * row[b] / sigma / sigma;
        }
        EXPECT_NEAR(es.covariance()(static_cast<Index>(a), static_cast<Index>(b)), c, 1e-14);
      }
    }
  }
}

TEST(CmaEsParents, HalfTheBatchIsTheDefaultToTheLastBit) {
  for (const Index batch : {2, 7, 12}) {
    for (const auto factor : {Factor::cholesky, Factor::eigen}) {
      const CmaEsOptions options = {
          .dimension = 5, .batch = batch, .sigma0 = 0.5, .factor = factor};
      CmaEs plain(options), told(options), varied(options);
      Batch a(batch, 5);
      for (std::uint64_t g = 0; g < 30; ++g) {
        // What another number of parents did to the parameters leaves no trace.
        const auto before = state_of(varied);
        varied.ask(sampling_key(2, g), a);
        std::vector<Index> order(static_cast<std::size_t>(batch));
        std::iota(order.begin(), order.end(), Index{0});
        varied.tell(a, order, 1);
        StateReader in(before);
        varied.load(in);

        plain.ask(sampling_key(1, g), a);
        varied.ask(sampling_key(1, g), a);
        told.ask(sampling_key(1, g), a);
        std::vector<double> values;
        for (Index i = 0; i < batch; ++i) values.push_back(minimise::ellipsoid(a.view().row(i)));
        order = minimise::ranked(values);
        plain.tell(a, order);
        told.tell(a, order, batch / 2);
        varied.tell(a, order);
      }
      EXPECT_TRUE(state_of(plain) == state_of(told));
      EXPECT_TRUE(state_of(plain) == state_of(varied));
    }
  }
}

// Without parents the distribution stays; the generation counts, also for when the covariance
// matrix is decomposed next.
TEST(CmaEsParents, NoneOfThemLeavesTheDistributionAsItIs) {
  CmaEs optimizer({.dimension = 4, .batch = 8, .sigma0 = 0.3, .decompose_every = 2});
  Batch x(8, 4);
  std::vector<Index> order(8);
  std::iota(order.begin(), order.end(), Index{0});
  optimizer.ask(sampling_key(1, 0), x);
  optimizer.tell(x, order);
  const Vector mean(optimizer.mean().begin(), optimizer.mean().end());
  const Matrix c = naive::from(optimizer.covariance());
  const double sigma = optimizer.sigma();
  optimizer.ask(sampling_key(1, 1), x);
  optimizer.tell(x, order, 0);
  EXPECT_EQ(optimizer.generation(), 2);
  EXPECT_EQ(optimizer.sigma(), sigma);
  EXPECT_TRUE(std::ranges::equal(optimizer.mean(), mean));
  EXPECT_EQ(naive::from(optimizer.covariance()), c);
  EXPECT_EQ(optimizer.parameters().mu, 4);
  // Two generations have passed: samples come from the C of the first now.
  optimizer.ask(sampling_key(1, 2), x);
  Vector normals(32);
  fill_normals(sampling_key(1, 2), normals);
  const Matrix l = naive::cholesky(c);
  for (Index i = 0; i < 8; ++i) {
    Vector step(4);
    for (std::size_t d = 0; d < 4; ++d) step[d] = (x.row(i)[d] - mean[d]) / sigma;
    const Vector z = naive::forward_substitution(l, step);
    for (std::size_t d = 0; d < 4; ++d) {
      EXPECT_NEAR(z[d], normals[static_cast<std::size_t>(i) * 4 + d], 1e-12);
    }
  }
}

TEST(CmaEsParents, ImpossibleNumbersAreRefusedAndChangeNothing) {
  CmaEs optimizer({.dimension = 3, .batch = 6});
  Batch x(6, 3);
  optimizer.ask(sampling_key(1, 0), x);
  const std::vector<Index> order = {0, 1, 2, 3, 4, 5};
  const auto before = state_of(optimizer);
  for (const Index parents : {-1, 7, 1000}) {
    try {
      optimizer.tell(x, order, parents);
      ADD_FAILURE() << parents;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data);
      EXPECT_NE(std::string(error.what()).find(std::to_string(parents)), std::string::npos);
    }
  }
  EXPECT_TRUE(state_of(optimizer) == before);
  EXPECT_THROW(CmaEsParameters(3, 6, 0), Error);
  EXPECT_THROW(CmaEsParameters(3, 6, 7), Error);
}

// The emitter's choice: half the rows, or those that were accepted.
TEST(CmaEsSelection, FilterTakesTheAcceptedAndMuTakesHalf) {
  const CmaEsOptions options = {.dimension = 4, .batch = 10, .sigma0 = 0.5};
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{4}), 4);
  for (const Index accepted : {0, 1, 3, 5, 10}) {
    for (const auto selection : {Selection::mu, Selection::filter}) {
      EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options), 9, 1, {}, selection);
      CmaEs expected(options);
      Batch x(10, 4);
      for (std::uint64_t g = 0; g < 5; ++g) {
        emitter.ask(archive, g, x);
        std::vector<double> scores;
        for (Index i = 0; i < 10; ++i) scores.push_back(minimise::sphere(x.view().row(i)));
        const auto order = minimise::ranked(scores);
        const std::vector<Outcome> outcomes(10, Outcome::rejected);
        EXPECT_FALSE(emitter.tell({.solutions = x,
                                   .features = {},
                                   .objectives = {},
                                   .scores = scores,
                                   .order = order,
                                   .outcomes = outcomes,
                                   .ranked = 10,
                                   .accepted = accepted}));
        Batch same(10, 4);
        expected.ask({.seed = 9, .purpose = Purpose::sampling, .index = 1, .iteration = g}, same);
        expected.tell(same, order, selection == Selection::mu ? 5 : accepted);
      }
      EXPECT_TRUE(state_of(emitter.optimizer()) == state_of(expected))
          << accepted << (selection == Selection::mu ? ", mu" : ", filter");
    }
  }
}

// Selection is mu unless said otherwise.
TEST(CmaEsSelection, IsMuByDefault) {
  const CmaEsOptions options = {.dimension = 2, .batch = 6, .sigma0 = 0.5};
  EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options), 1, 0);
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{4}), 2);
  Batch x(6, 2);
  emitter.ask(archive, 0, x);
  const std::vector<Index> order = {0, 1, 2, 3, 4, 5};
  const std::vector<double> scores = {0, 1, 2, 3, 4, 5};
  emitter.tell({.solutions = x,
                .features = {},
                .objectives = {},
                .scores = scores,
                .order = order,
                .outcomes = {},
                .ranked = 6,
                .accepted = 1});
  EXPECT_EQ(dynamic_cast<const CmaEs&>(emitter.optimizer()).parameters().mu, 3);
}

// Rows that could not be evaluated come last, and nobody learns from them.
TEST(CmaEsSelection, TakesNoParentsBeyondTheRowsThatWereRanked) {
  const CmaEsOptions options = {.dimension = 4, .batch = 10, .sigma0 = 0.5};
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{4}), 4);
  for (const Index ranked : {0, 1, 2, 4, 5, 8, 10}) {
    EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options), 9, 1);
    CmaEs expected(options);
    Batch x(10, 4), same(10, 4);
    for (std::uint64_t g = 0; g < 5; ++g) {
      emitter.ask(archive, g, x);
      std::vector<double> scores;
      for (Index i = 0; i < 10; ++i) scores.push_back(minimise::sphere(x.view().row(i)));
      const auto order = minimise::ranked(scores);
      for (auto i = static_cast<std::size_t>(ranked); i < 10; ++i) {
        scores[static_cast<std::size_t>(order[i])] = std::nan("");
      }
      const std::vector<Outcome> outcomes(10, Outcome::rejected);
      EXPECT_FALSE(emitter.tell({.solutions = x,
                                 .features = {},
                                 .objectives = {},
                                 .scores = scores,
                                 .order = order,
                                 .outcomes = outcomes,
                                 .ranked = ranked,
                                 .accepted = ranked}))
          << ranked;
      expected.ask({.seed = 9, .purpose = Purpose::sampling, .index = 1, .iteration = g}, same);
      expected.tell(same, order, std::min<Index>(5, ranked));
    }
    EXPECT_TRUE(state_of(emitter.optimizer()) == state_of(expected)) << ranked;
  }
}

// Whether scores are flat is seen by those that were ranked; a single one cannot be.
TEST(CmaEsSelection, LooksForFlatScoresAmongTheRowsThatWereRanked) {
  const CmaEsOptions options = {.dimension = 4, .batch = 6, .sigma0 = 0.5};
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{4}), 4);
  const auto stopped = [&](const std::vector<double>& scores, Index ranked) {
    EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options), 9, 1);
    Batch x(6, 4);
    emitter.ask(archive, 0, x);
    const std::vector<Index> order = {5, 4, 3, 2, 1, 0};
    return emitter.tell({.solutions = x,
                         .features = {},
                         .objectives = {},
                         .scores = scores,
                         .order = order,
                         .outcomes = {},
                         .ranked = ranked});
  };
  const double nan = std::nan("");
  EXPECT_TRUE(stopped({7, 7, 7, 7, 7, 7}, 6));
  EXPECT_TRUE(stopped({nan, nan, nan, 7, 7, 7}, 3)) << "all that were ranked are equal";
  EXPECT_FALSE(stopped({nan, nan, nan, 8, 7, 7}, 3));
  EXPECT_FALSE(stopped({0, 0, 0, 8, 7, 7}, 3));
  EXPECT_FALSE(stopped({nan, nan, nan, nan, nan, 7}, 1));
  EXPECT_FALSE(stopped({nan, nan, nan, nan, nan, nan}, 0));
}

// Inside or outside is a difference in itself. Where all lie outside, it is their distances that
// may be flat.
TEST(CmaEsSelection, LooksForFlatDistancesWhereAllLieOutside) {
  const CmaEsOptions options = {.dimension = 4, .batch = 4, .sigma0 = 0.5};
  const Archive archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{4}), 4);
  const auto stopped = [&](Index outside, const std::vector<double>& distances) {
    EvolutionStrategyEmitter emitter(std::make_unique<CmaEs>(options), 9, 1);
    Batch x(4, 4);
    emitter.ask(archive, 0, x);
    const std::vector<Index> order = {3, 2, 1, 0};
    const std::vector<double> scores = {7, 7, 7, 7};
    return emitter.tell({.solutions = x,
                         .features = {},
                         .objectives = {},
                         .scores = scores,
                         .order = order,
                         .outcomes = {},
                         .ranked = 4,
                         .outside = outside,
                         .distances = distances});
  };
  EXPECT_TRUE(stopped(0, {}));
  EXPECT_FALSE(stopped(1, {1, 0, 0, 0}));
  EXPECT_FALSE(stopped(3, {1, 1, 1, 0}));
  EXPECT_FALSE(stopped(4, {3, 2, 1, 1}));
  EXPECT_TRUE(stopped(4, {1, 1, 1, 1}));
}

}  // namespace
}  // namespace rarefy
