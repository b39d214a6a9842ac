// The published profile's CMA-ES, against a naive implementation of what is written down about
// the software it imitates: plain loops, double precision, its own eigenvectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "rarefy/compat/published.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/core/state.hpp"
#include "rarefy/emitters/cma_es.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::CmaEsOptions;
using rarefy::Index;
using rarefy::StreamKey;
using rarefy::compat::PublishedCmaEs;

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

CmaEsOptions options_for(Index n, Index lambda, double sigma0 = 0.5) {
  CmaEsOptions options;
  options.dimension = n;
  options.batch = lambda;
  options.sigma0 = sigma0;
  return options;
}

StreamKey key(std::uint64_t iteration) {
  return {.seed = 5, .purpose = rarefy::Purpose::sampling, .index = 0, .iteration = iteration};
}

// From the description: n = 100 and 66, lambda = 36.
TEST(PublishedCmaEs, HasTheMeasuredParameters) {
  const PublishedCmaEs hundred(options_for(100, 36));
  const auto& p = hundred.parameters();
  EXPECT_EQ(p.mu, 18);
  EXPECT_NEAR(p.mueff, 10.246418104958256, 1e-13);
  EXPECT_NEAR(p.cc, .03936919534932196, 1e-16);
  EXPECT_NEAR(p.csigma, .10626289568327484, 1e-15);
  EXPECT_NEAR(p.c1, 1.9470525503593165e-4, 1e-18);
  EXPECT_NEAR(p.cmu, 1.6024228447240976e-3, 1e-17);
  EXPECT_NEAR(p.dsigma, 1.1062628956832747, 1e-14);
  EXPECT_EQ(hundred.options().decompose_every, 3);
  const PublishedCmaEs maze(options_for(66, 36));
  const auto& q = maze.parameters();
  EXPECT_NEAR(q.cc, .0590985544, 1e-10);
  EXPECT_NEAR(q.csigma, .1507317909, 1e-10);
  EXPECT_NEAR(q.c1, 4.405736216e-4, 1e-13);
  EXPECT_NEAR(q.cmu, 3.601022662e-3, 1e-12);
  EXPECT_NEAR(q.dsigma, 1.1507317909, 1e-10);
  EXPECT_EQ(maze.options().decompose_every, 2);
}

// Weights are ln(mu + 1/2) - ln i; which of them are wrong, if any.
int wrong_weights(const PublishedCmaEs& es, Index lambda) {
  const Index mu = lambda / 2;
  Vector weights;
  double sum = 0;
  for (Index i = 1; i <= mu; ++i) {
    weights.push_back(std::log(static_cast<double>(mu) + 0.5) - std::log(static_cast<double>(i)));
    sum += weights.back();
  }
  EXPECT_EQ(es.parameters().weights.size(), weights.size());
  int wrong = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    wrong += std::abs(es.parameters().weights[i] - weights[i] / sum) > 1e-14 ? 1 : 0;
  }
  return wrong;
}

TEST(PublishedCmaEs, WeightsAreThoseOfTheDescription) {
  for (const Index lambda : {2, 6, 20, 36}) {
    EXPECT_EQ(wrong_weights(PublishedCmaEs(options_for(10, lambda)), lambda), 0) << lambda;
  }
}

// Hansen's ln((lambda + 1) / 2) is the same for even batches only.
TEST(PublishedCmaEs, AnOddBatchHasTheDescribedWeights) {
  for (const Index lambda : {3, 7, 35}) {
    EXPECT_EQ(wrong_weights(PublishedCmaEs(options_for(10, lambda)), lambda), 0) << lambda;
  }
}

// With the default batch the gap must follow from that batch, not from none.
TEST(PublishedCmaEs, TheDefaultBatchDecidesWhenToDecompose) {
  const PublishedCmaEs standard(options_for(60, 0));
  ASSERT_EQ(standard.options().batch, 16);  // 4 + floor(3 ln 60)
  const PublishedCmaEs spelt_out(options_for(60, 16));
  EXPECT_EQ(standard.options().decompose_every, spelt_out.options().decompose_every);
}

// Jacobi's rotations: slow, and right.
void eigen(Matrix a, Vector& values, Matrix& vectors) {
  const std::size_t n = a.size();
  vectors.assign(n, Vector(n, 0.0));
  for (std::size_t i = 0; i < n; ++i) vectors[i][i] = 1.0;
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (std::abs(a[p][q]) < 1e-300) continue;
        const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        const double t =
            (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
          const double vp = vectors[k][p], vq = vectors[k][q];
          vectors[k][p] = c * vp - s * vq;
          vectors[k][q] = s * vp + c * vq;
        }
      }
    }
  }
  values.resize(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a[i][i];
}

/// Line by line what is described, with evaluations counted as there.
class Naive {
 public:
  Naive(Index n, Index lambda, double sigma0) : n_(static_cast<double>(n)), lambda_(lambda) {
    const Index mu = lambda / 2;
    double sum = 0;
    for (Index i = 1; i <= mu; ++i) {
      w_.push_back(std::log(static_cast<double>(mu) + 0.5) - std::log(static_cast<double>(i)));
      sum += w_.back();
    }
    double squares = 0;
    for (double& w : w_) {
      w /= sum;
      squares += w * w;
    }
    mueff_ = 1 / squares;
    cc_ = (4 + mueff_ / n_) / (n_ + 4 + 2 * mueff_ / n_);
    cs_ = (mueff_ + 2) / (n_ + mueff_ + 5);
    c1_ = 2 / ((n_ + 1.3) * (n_ + 1.3) + mueff_);
    cmu_ = std::min(1 - c1_, 2 * (mueff_ - 2 + 1 / mueff_) / ((n_ + 2) * (n_ + 2) + mueff_));
    damps_ = 1 + 2 * std::max(0.0, std::sqrt((mueff_ - 1) / (n_ + 1)) - 1) + cs_;
    gap_ = 0.5 * static_cast<double>(lambda) / (n_ * (c1_ + cmu_));
    const auto size = static_cast<std::size_t>(n);
    mean.assign(size, 0.0);
    pc_ = ps_ = mean;
    covariance.assign(size, Vector(size, 0.0));
    for (std::size_t i = 0; i < size; ++i) covariance[i][i] = 1.0;
    inverse_root_ = covariance;
    sigma = sigma0;
  }

  /// True when the matrix was decomposed.
  bool before_ask() {
    if (!(evaluations_ > last_eigen_ + gap_)) return false;
    Vector values;
    Matrix vectors;
    eigen(covariance, values, vectors);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      for (std::size_t j = 0; j < mean.size(); ++j) {
        inverse_root_[i][j] = 0.0;
        for (std::size_t k = 0; k < mean.size(); ++k) {
          inverse_root_[i][j] += vectors[i][k] / std::sqrt(values[k]) * vectors[j][k];
        }
      }
    }
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    worst_condition = std::max(worst_condition, *most / *least);
    last_eigen_ = evaluations_;
    return true;
  }

  void tell(BatchView solutions, std::span<const Index> order) {
    evaluations_ += static_cast<double>(lambda_);
    const std::size_t n = mean.size();
    Vector next(n, 0.0), y(n), z(n, 0.0);
    for (std::size_t i = 0; i < w_.size(); ++i) {
      for (std::size_t d = 0; d < n; ++d) next[d] += w_[i] * solutions.row(order[i])[d];
    }
    for (std::size_t d = 0; d < n; ++d) y[d] = next[d] - mean[d];
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) z[i] += inverse_root_[i][j] * y[j];
    }
    double length = 0;
    for (std::size_t d = 0; d < n; ++d) {
      ps_[d] = (1 - cs_) * ps_[d] + std::sqrt(cs_ * (2 - cs_) * mueff_) / sigma * z[d];
      length += ps_[d] * ps_[d];
    }
    const double decay = 1 - std::pow(1 - cs_, 2 * evaluations_ / static_cast<double>(lambda_));
    hsig = length / n_ / decay < 2 + 4 / (n_ + 1) ? 1.0 : 0.0;
    for (std::size_t d = 0; d < n; ++d) {
      pc_[d] = (1 - cc_) * pc_[d] + hsig * std::sqrt(cc_ * (2 - cc_) * mueff_) * y[d];
    }
    const double c1a = c1_ * (1 - (1 - hsig * hsig) * cc_ * (2 - cc_));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double rank_mu = 0;
        for (std::size_t k = 0; k < w_.size(); ++k) {
          const auto x = solutions.row(order[k]);
          rank_mu += w_[k] * (x[i] - mean[i]) * (x[j] - mean[j]);
        }
        covariance[i][j] = (1 - c1a - cmu_) * covariance[i][j] + c1_ * c1_ * pc_[i] * pc_[j] +
                           cmu_ * rank_mu / (sigma * sigma);
      }
    }
    sigma *= std::exp(std::min(1.0, cs_ / damps_ * (length / n_ - 1) / 2));
    mean = next;
  }

  Vector mean;
  Matrix covariance;
  double sigma;
  double hsig = 1.0;
  double worst_condition = 1.0;  // of all matrices that were decomposed

 private:
  double n_;
  Index lambda_;
  Vector w_, pc_, ps_;
  double mueff_, cc_, cs_, c1_, cmu_, damps_, gap_;
  double evaluations_ = 0, last_eigen_ = 0;
  Matrix inverse_root_;
};

std::vector<Index> ranking(BatchView solutions, double pull) {
  // An ellipsoid, far away when `pull` is large: steps then go on in one direction.
  Vector values;
  for (Index i = 0; i < solutions.rows(); ++i) {
    double sum = 0;
    for (Index d = 0; d < solutions.cols(); ++d) {
      const double x = solutions(i, d) - pull;
      sum += std::pow(10.0, static_cast<double>(d % 4)) * x * x;
    }
    values.push_back(sum);
  }
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order;
}

void expect_same(const PublishedCmaEs& es, const Naive& naive, double tolerance, int generation) {
  ASSERT_NEAR(es.sigma(), naive.sigma, tolerance * naive.sigma) << "generation " << generation;
  for (std::size_t i = 0; i < naive.mean.size(); ++i) {
    ASSERT_NEAR(es.mean()[i], naive.mean[i], tolerance * (1 + std::abs(naive.mean[i])))
        << "generation " << generation;
    for (std::size_t j = 0; j < naive.mean.size(); ++j) {
      ASSERT_NEAR(es.covariance()(static_cast<Index>(i), static_cast<Index>(j)),
                  naive.covariance[i][j], tolerance * (1 + std::abs(naive.covariance[i][j])))
          << "generation " << generation;
    }
  }
}

// One step from the start, so that nothing but the update itself is compared: one with a weak
// pull, where p_c moves, and one with a strong pull, where h_sigma stalls it.
TEST(PublishedCmaEs, OneUpdateIsWhatTheDescriptionGives) {
  for (const auto& [pull, hsig] : {std::pair{0.0, 1.0}, {3.0, 0.0}}) {
    PublishedCmaEs es(options_for(8, 36, 0.7));
    Naive naive(8, 36, 0.7);
    Batch solutions(36, 8);
    es.ask(key(0), solutions);
    const auto order = ranking(solutions, pull);
    es.tell(solutions, order);
    naive.tell(solutions, order);
    EXPECT_EQ(naive.hsig, hsig);
    expect_same(es, naive, 1e-13, 1);
  }
}

TEST(PublishedCmaEs, ManyGenerationsFollowTheDescription) {
  struct Case {
    Index n, lambda;
    double sigma0, pull;
  };
  bool stalled = false;
  for (const auto& [n, lambda, sigma0, pull] :
       {Case{2, 6, 0.5, 1.0}, {5, 36, 0.5, 1000.0}, {12, 36, 2.0, 0.3}, {30, 12, 0.1, 50.0}}) {
    PublishedCmaEs es(options_for(n, lambda, sigma0));
    Naive naive(n, lambda, sigma0);
    Batch solutions(lambda, n);
    int decompositions = 0;
    for (int generation = 1; generation <= 40; ++generation) {
      decompositions += naive.before_ask() ? 1 : 0;
      es.ask(key(static_cast<std::uint64_t>(generation)), solutions);
      const auto order = ranking(solutions, pull);
      es.tell(solutions, order);
      naive.tell(solutions, order);
      stalled = stalled || naive.hsig == 0.0;
      // The axes of C are known to rounding times its condition, and every generation is
      // measured in those of the last.
      expect_same(es, naive, 1e-14 * generation * naive.worst_condition, generation);
      // p_c without division by sigma soon makes C so ill-conditioned that nothing can be said.
      if (naive.worst_condition > 1e7) break;
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GE(decompositions, 3);
  }
  EXPECT_TRUE(stalled) << "h_sigma = 0 was never met";
}

// n = 100: after generations 3, 6, 9, ... and between them the old axes are used.
TEST(PublishedCmaEs, DecomposesEveryThirdGenerationForAHundredVariables) {
  constexpr Index kN = 100, kLambda = 36;
  PublishedCmaEs es(options_for(kN, kLambda, 0.5));
  Batch solutions(kLambda, kN), normals(kLambda, kN);
  for (std::uint64_t generation = 0; generation < 6; ++generation) {
    es.ask(key(generation), solutions);
    rarefy::fill_normals(key(generation), normals.values());
    // While C = I is in use, samples are the normal numbers themselves.
    double worst = 0.0;
    for (Index i = 0; i < kLambda; ++i) {
      for (Index d = 0; d < kN; ++d) {
        const double plain = es.mean()[static_cast<std::size_t>(d)] + es.sigma() * normals(i, d);
        worst = std::max(worst, std::abs(solutions(i, d) - plain));
      }
    }
    if (generation < 3) {
      EXPECT_LT(worst, 1e-12) << "generation " << generation;
    } else {
      EXPECT_GT(worst, 1e-3) << "generation " << generation;
    }
    es.tell(solutions, ranking(solutions, 2.0));
  }
}

// p_c without division by sigma and c1 squared: with a large sigma the rank-one term grows as
// its square, which is how it can be told from Hansen's.
TEST(PublishedCmaEs, DepartsFromTheCanonicalUpdate) {
  PublishedCmaEs published(options_for(6, 36, 30.0));
  auto options = options_for(6, 36, 30.0);
  options.factor = rarefy::Factor::eigen;
  rarefy::CmaEs canonical(options);
  Batch a(36, 6), b(36, 6);
  published.ask(key(0), a);
  canonical.ask(key(0), b);
  const auto order = ranking(a, 100.0);
  published.tell(a, order);
  canonical.tell(a, order);
  const auto& p = published.parameters();
  // C_published - C_canonical = (c1^2 sigma^2 - c1) q q', q the canonical p_c after one step
  // (h_sigma is 1 for both here).
  Vector q(6, 0.0);
  for (Index i = 0; i < p.mu; ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (std::size_t d = 0; d < 6; ++d) q[d] += p.weights[at] * a.row(order[at])[d] / 30.0;
  }
  const double factor = p.cc * (2 - p.cc) * p.mueff;
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const double expected = (p.c1 * p.c1 * 900.0 - p.c1) * factor *
                              q[static_cast<std::size_t>(i)] * q[static_cast<std::size_t>(j)];
      EXPECT_NEAR(published.covariance()(i, j) - canonical.covariance()(i, j), expected, 1e-12);
    }
  }
}

TEST(PublishedCmaEs, ALoadedOneGoesOnTheSame) {
  const auto options = options_for(10, 20);
  for (const std::uint64_t cut : {0, 1, 5, 8}) {
    PublishedCmaEs es(options);
    Batch solutions(20, 10), others(20, 10);
    for (std::uint64_t generation = 0; generation < cut; ++generation) {
      es.ask(key(generation), solutions);
      es.tell(solutions, ranking(solutions, 1.0));
    }
    rarefy::StateWriter out;
    es.save(out);
    PublishedCmaEs copy(options);
    rarefy::StateReader in(out.bytes());
    copy.load(in);
    EXPECT_TRUE(in.at_end());
    for (std::uint64_t generation = cut; generation < cut + 10; ++generation) {
      es.ask(key(generation), solutions);
      copy.ask(key(generation), others);
      ASSERT_TRUE(std::equal(solutions.values().begin(), solutions.values().end(),
                             others.values().begin()));
      const auto order = ranking(solutions, 1.0);
      es.tell(solutions, order);
      copy.tell(others, order);
    }
    EXPECT_EQ(copy.sigma(), es.sigma());
  }
}

}  // namespace
