// The operators of MAP-Elites: offspring of a fixed archive against theory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/emitters/gaussian_emitter.hpp"
#include "rarefy/emitters/iso_line_emitter.hpp"
#include "rarefy/tessellations/grid.hpp"
#include "support/chi_square.hpp"
#include "support/critical_values.hpp"
#include "support/naive_matrix.hpp"

namespace rarefy {
namespace {

using naive::Matrix;
using naive::Vector;

// An archive that holds just these solutions.
Archive archive_of(const Matrix& solutions) {
  const auto count = static_cast<Index>(solutions.size());
  const auto dimension = static_cast<Index>(solutions.front().size());
  const auto cells = std::make_shared<Grid>(FeatureSpace{{0}, {static_cast<double>(count)}},
                                            std::vector<Index>{count});
  Archive archive(cells, dimension);
  Batch batch(count, dimension), features(count, 1);
  for (Index i = 0; i < count; ++i) {
    const auto& row = solutions[static_cast<std::size_t>(i)];
    std::copy(row.begin(), row.end(), batch.row(i).begin());
    features(i, 0) = static_cast<double>(i) + 0.5;
  }
  Workers workers(1);
  std::vector<Outcome> outcomes(solutions.size());
  archive.record(batch, {features, Vector(solutions.size(), 1.0)}, workers, outcomes);
  return archive;
}

Archive empty_archive(Index dimension) {
  return Archive(std::make_shared<Grid>(FeatureSpace{{0}, {1}}, std::vector<Index>{4}), dimension);
}

Matrix offspring(Emitter& emitter, const Archive& archive, int iterations) {
  Matrix rows;
  Batch out(emitter.batch(), emitter.dimension());
  for (int i = 0; i < iterations; ++i) {
    emitter.ask(archive, static_cast<std::uint64_t>(i), out);
    for (auto& row : naive::from(out)) rows.push_back(std::move(row));
  }
  return rows;
}

Vector mean_of(const Matrix& rows) {
  Vector mean(rows.front().size(), 0.0);
  for (const auto& row : rows) {
    for (std::size_t d = 0; d < mean.size(); ++d) {
      mean[d] += row[d] / static_cast<double>(rows.size());
    }
  }
  return mean;
}

// With divisor N: exact for a population that is known completely.
Matrix covariance_of(const Matrix& rows) {
  const Vector mean = mean_of(rows);
  Matrix c = naive::zeros(mean.size());
  for (const auto& row : rows) {
    for (std::size_t a = 0; a < mean.size(); ++a) {
      for (std::size_t b = 0; b < mean.size(); ++b) {
        c[a][b] += (row[a] - mean[a]) * (row[b] - mean[b]) / static_cast<double>(rows.size());
      }
    }
  }
  return c;
}

// Numbers whose mean should be `expected`: within kNormalLimit standard errors, which are
// estimated from the numbers, so a false alarm once in a million.
void expect_mean(const Vector& numbers, double expected) {
  const auto count = static_cast<double>(numbers.size());
  double sum = 0, squares = 0;
  for (const double number : numbers) sum += number;
  const double mean = sum / count;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  EXPECT_NEAR(mean, expected, kNormalLimit * std::sqrt(squares / count / count));
}

const Matrix kElites = {{1, 0, -2}, {3, 1, 0}, {-4, 2, 2}, {0, 5, 1}, {2, -3, 7}};

// Offspring of x_i, x_j drawn uniformly from elites with mean m and covariance S have mean m and
// covariance S + sigma_iso^2 I + 2 sigma_line^2 S, since E (x_j - x_i)(x_j - x_i)' = 2 S. 9
// numbers for each of 3 operators: false alarms below 3e-5 in all.
TEST(MapElitesEmitters, OffspringHaveTheMeanAndCovarianceOfTheTheory) {
  const Archive archive = archive_of(kElites);
  const Vector m = mean_of(kElites);
  const Matrix s = covariance_of(kElites);
  struct Operator {
    double iso, line;
  };
  for (const auto& [iso, line] : {Operator{0.5, 0.0}, {0.3, 0.4}, {2.0, 1.5}}) {
    SCOPED_TRACE(std::to_string(iso) + ", " + std::to_string(line));
    IsoLineEmitter emitter({.dimension = 3, .batch = 50, .sigma_iso = iso, .sigma_line = line}, 7,
                           2);
    const Matrix rows = offspring(emitter, archive, 800);
    for (std::size_t a = 0; a < 3; ++a) {
      Vector numbers;
      for (const auto& row : rows) numbers.push_back(row[a]);
      expect_mean(numbers, m[a]);
      for (std::size_t b = 0; b <= a; ++b) {
        SCOPED_TRACE(std::to_string(a) + ", " + std::to_string(b));
        Vector products;
        for (const auto& row : rows) products.push_back((row[a] - m[a]) * (row[b] - m[b]));
        expect_mean(products, s[a][b] * (1 + 2 * line * line) + (a == b ? iso * iso : 0.0));
      }
    }
  }
}

// The formula as it stands, with numbers from two streams: `sampling` gives n + 1 normals a
// row, the last for the line; `parents` two elites a row.
TEST(MapElitesEmitters, OffspringAreWhatTheFormulaGives) {
  const Archive archive = archive_of(kElites);
  const double iso = 0.3, line = 0.7;
  IsoLineEmitter emitter({.dimension = 3, .batch = 8, .sigma_iso = iso, .sigma_line = line}, 21, 4);
  Batch out(8, 3);
  for (const std::uint64_t iteration : {0, 1, 1000}) {
    emitter.ask(archive, iteration, out);
    StreamKey key = {.seed = 21, .purpose = Purpose::sampling, .index = 4, .iteration = iteration};
    Vector normals(8 * 4);
    fill_normals(key, normals);
    key.purpose = Purpose::parents;
    RandomStream random(key);
    for (Index i = 0; i < 8; ++i) {
      const Vector& x = kElites[random.below(kElites.size())];
      const Vector& other = kElites[random.below(kElites.size())];
      const double* z = normals.data() + 4 * i;
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_NEAR(out.row(i)[d], x[d] + iso * z[d] + line * z[3] * (other[d] - x[d]), 1e-14);
      }
    }
  }
}

TEST(MapElitesEmitters, TheGaussianOperatorIsTheLineOperatorWithoutALine) {
  const Archive archive = archive_of(kElites);
  GaussianEmitter gaussian({.dimension = 3, .batch = 9, .sigma = 0.7}, 3, 1);
  IsoLineEmitter line({.dimension = 3, .batch = 9, .sigma_iso = 0.7, .sigma_line = 0.0}, 3, 1);
  IsoLineEmitter other({.dimension = 3, .batch = 9, .sigma_iso = 0.7, .sigma_line = 0.1}, 3, 1);
  EXPECT_EQ(offspring(gaussian, archive, 5), offspring(line, archive, 5));
  EXPECT_NE(offspring(gaussian, archive, 5), offspring(other, archive, 5));
}

// Elites at the corners of a simplex, and little noise: a row tells both its parents and where on
// the line between them it lies.
struct Descent {
  std::size_t from, towards;
  double along;  // in parts of the distance
};

constexpr double kFar = 1000.0;

Matrix corners(std::size_t count) {
  Matrix elites(count, Vector(count, 0.0));
  for (std::size_t i = 0; i < count; ++i) elites[i][i] = kFar;
  return elites;
}

Descent descent(const Vector& row) {
  const auto from =
      static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  Descent result{from, from, 0.0};
  for (std::size_t d = 0; d < row.size(); ++d) {
    if (d != from && std::abs(row[d]) > std::max(1e-6, kFar * std::abs(result.along))) {
      result.towards = d;
      result.along = row[d] / kFar;
    }
  }
  return result;
}

// Every pair equally likely, both the same included; the place on the line normal. (A row within
// 1e-6 of its first parent would be taken for one with two equal parents: 1 in 10^7.) Pearson's
// test: a false alarm once in a million.
TEST(MapElitesEmitters, ParentsAreChosenUniformlyAndIndependently) {
  constexpr std::size_t kCount = 5;
  const Archive archive = archive_of(corners(kCount));
  IsoLineEmitter emitter({.dimension = kCount, .batch = 40, .sigma_iso = 1e-9, .sigma_line = 0.01},
                         11, 0);
  const Matrix rows = offspring(emitter, archive, 600);
  Vector pairs(kCount * kCount, 0.0), along, squares;
  for (const auto& row : rows) {
    const auto [from, towards, place] = descent(row);
    pairs[from * kCount + towards] += 1;
    if (from == towards) continue;
    along.push_back(place / 0.01);
    squares.push_back(along.back() * along.back());
    // Nothing but the two parents' coordinates moved.
    ASSERT_NEAR(row[from], kFar * (1 - place), 1e-7);
  }
  const auto cells = static_cast<double>(pairs.size());
  EXPECT_LT(chi_square(pairs, static_cast<double>(rows.size()) / cells),
            chi_square_limit(cells - 1));
  expect_mean(along, 0.0);
  expect_mean(squares, 1.0);
}

// An elite in a corner of the box, one at a wall and one in the middle: the noise of the first is
// drawn again far more often, but it is no less often a parent.
TEST(MapElitesEmitters, BoundsDoNotChangeWhoIsAParent) {
  const Matrix elites = {{1, 1, 1}, {-1, -1, 1}, {0, 0, 1}, {0, 0, 0}, {0, -1, 0}};
  const Archive archive = archive_of(elites);
  for (const auto repair : {Repair::reflect, Repair::clip}) {
    GaussianEmitter emitter(
        {.dimension = 3,
         .batch = 40,
         .sigma = 0.02,
         .bounds = {.lower = {-1}, .upper = {1}, .resamples = 30, .repair = repair}},
        12, 0);
    Vector counts(elites.size(), 0.0);
    const Matrix rows = offspring(emitter, archive, 150);
    for (const auto& row : rows) {
      std::size_t parent = elites.size();
      for (std::size_t i = 0; i < elites.size(); ++i) {
        Vector step = row;
        for (std::size_t d = 0; d < 3; ++d) step[d] -= elites[i][d];
        if (naive::norm(step) < 0.3) parent = i;
      }
      ASSERT_LT(parent, elites.size());
      counts[parent] += 1;
      for (const double x : row) ASSERT_LE(std::abs(x), 1.0);
    }
    EXPECT_LT(chi_square(counts, static_cast<double>(rows.size()) / 5), chi_square_limit(4));
  }
}

TEST(MapElitesEmitters, RowsInsideTheBoxAreNotTouched) {
  const Archive archive = archive_of(kElites);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const IsoLineOptions free = {.dimension = 3, .batch = 30, .sigma_iso = 1, .sigma_line = 0.3};
  for (const Index resamples : {0, 1, 20}) {
    for (const auto repair : {Repair::reflect, Repair::clip}) {
      auto options = free;
      options.bounds = {
          .lower = {-1, -kInf, 0}, .upper = {3, 2, kInf}, .resamples = resamples, .repair = repair};
      IsoLineEmitter open(free, 4, 0), fenced(options, 4, 0);
      const Matrix a = offspring(open, archive, 20), b = offspring(fenced, archive, 20);
      int outside = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(lies_inside(b[i], options.bounds));
        if (lies_inside(a[i], options.bounds)) {
          ASSERT_EQ(a[i], b[i]);
          continue;
        }
        ++outside;
        // Not drawn again: each value on its own is what was drawn, or repaired.
        for (std::size_t d = 0; d < 3 && resamples == 0; ++d) {
          const double low = options.bounds.lower[d], high = options.bounds.upper[d];
          if (a[i][d] >= low && a[i][d] <= high) {
            ASSERT_EQ(a[i][d], b[i][d]);
          } else if (repair == Repair::clip) {
            ASSERT_EQ(b[i][d], std::clamp(a[i][d], low, high));
          }
        }
      }
      EXPECT_GT(outside, 100);
    }
  }
}

// While there is nothing to vary, the initial solution is varied; then never again. 5 standard
// errors and less: kNormalLimit, false alarms 1e-6 for each of 9 numbers.
TEST(MapElitesEmitters, BeginAtTheInitialSolution) {
  const Archive nothing = empty_archive(3);
  IsoLineEmitter emitter({.dimension = 3, .batch = 100, .sigma_iso = 0.5, .sigma_line = 9}, 5, 0);
  Vector start(3, 0.0);
  for (const Vector& next : {Vector{0, 0, 0}, Vector{1, -2, 30}}) {
    if (next != start) emitter.restart(next);
    start = next;
    const Matrix rows = offspring(emitter, nothing, 50);
    for (std::size_t d = 0; d < 3; ++d) {
      Vector steps, squares;
      for (const auto& row : rows) {
        steps.push_back((row[d] - start[d]) / 0.5);
        squares.push_back(steps.back() * steps.back());
      }
      expect_mean(steps, 0.0);
      expect_mean(squares, 1.0);
    }
  }
  const Archive one = archive_of({{-500, -500, -500}});
  for (const auto& row : offspring(emitter, one, 3)) {
    for (const double x : row) ASSERT_LT(x, -490) << "far from the initial solution";
  }
}

TEST(MapElitesEmitters, DrawFromStreamsOfTheirIterationAlone) {
  const Archive archive = archive_of(kElites);
  const IsoLineOptions options = {.dimension = 3, .batch = 6, .sigma_iso = 0.1, .sigma_line = 0.2};
  const auto rows = [&](std::uint64_t seed, std::uint32_t index, std::uint64_t iteration,
                        bool used) {
    IsoLineEmitter emitter(options, seed, index);
    Batch out(6, 3);
    if (used) emitter.ask(archive, 77, out);
    emitter.ask(archive, iteration, out);
    return naive::from(out);
  };
  const Matrix first = rows(1, 0, 5, false);
  EXPECT_EQ(rows(1, 0, 5, true), first);
  EXPECT_NE(rows(2, 0, 5, false), first);
  EXPECT_NE(rows(1, 1, 5, false), first);
  EXPECT_NE(rows(1, 0, 6, false), first);
}

// Other solutions in the archive, other offspring; but it says itself nothing about going on.
TEST(MapElitesEmitters, NeverStopByThemselves) {
  GaussianEmitter emitter({.dimension = 3, .batch = 2, .sigma = 1}, 1, 0);
  const Vector scores = {0, 0};
  const std::vector<Index> order = {0, 1};
  EXPECT_FALSE(emitter.tell({.solutions = {},
                             .features = {},
                             .objectives = {},
                             .scores = scores,
                             .order = order,
                             .outcomes = {}}));
}

TEST(MapElitesEmitters, RefuseWhatCannotBe) {
  const auto refused = [](const IsoLineOptions& options) {
    try {
      const IsoLineEmitter emitter(options, 1, 0);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::parameter;
    }
    return false;
  };
  EXPECT_FALSE(refused({.dimension = 1, .batch = 1, .sigma_iso = 1}));
  EXPECT_TRUE(refused({.dimension = 0, .batch = 1, .sigma_iso = 1}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 0, .sigma_iso = 1}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 1, .sigma_iso = 0}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 1, .sigma_iso = -1}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 1, .sigma_iso = NAN}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 1, .sigma_iso = INFINITY}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 1, .sigma_iso = 1, .sigma_line = -0.1}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 1, .sigma_iso = 1, .sigma_line = NAN}));
  EXPECT_TRUE(refused({.dimension = 1, .batch = 1, .sigma_iso = 1, .sigma_line = INFINITY}));
  EXPECT_TRUE(refused(
      {.dimension = 1, .batch = 1, .sigma_iso = 1, .bounds = {.lower = {1}, .upper = {0}}}));

  IsoLineEmitter emitter({.dimension = 3, .batch = 4, .sigma_iso = 1}, 1, 0);
  const Archive archive = archive_of(kElites);
  Batch few(3, 3), narrow(4, 2);
  EXPECT_THROW(emitter.ask(archive, 0, few), Error);
  EXPECT_THROW(emitter.ask(archive, 0, narrow), Error);
  EXPECT_THROW(emitter.restart(Vector(2, 0.0)), Error);
}

TEST(MapElitesEmitters, GoOnFromASavedStateAndRefuseACorruptOne) {
  const IsoLineOptions options = {.dimension = 3, .batch = 4, .sigma_iso = 1, .sigma_line = 0.5};
  const Archive nothing = empty_archive(3);
  IsoLineEmitter original(options, 1, 0), copy(options, 1, 0);
  original.restart(Vector{4, 5, 6});
  StateWriter out;
  original.save(out);
  StateReader in(out.bytes());
  copy.load(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(offspring(original, nothing, 3), offspring(copy, nothing, 3));

  const auto refused = [](IsoLineOptions of, const std::vector<std::byte>& bytes,
                          std::size_t length) {
    IsoLineEmitter other(std::move(of), 1, 0);
    StateReader reader(std::span<const std::byte>(bytes).first(length));
    try {
      other.load(reader);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::corrupt;
    }
    return false;
  };
  for (std::size_t length = 0; length < out.bytes().size(); ++length) {
    EXPECT_TRUE(refused(options, out.bytes(), length)) << length;
  }
  EXPECT_FALSE(refused(options, out.bytes(), out.bytes().size()));
  StateWriter forged;
  forged.reals("iso_line.initial", Vector{0, NAN, 0});
  EXPECT_TRUE(refused(options, forged.bytes(), forged.bytes().size()));
}

}  // namespace
}  // namespace rarefy
