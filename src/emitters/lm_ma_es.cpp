#include "rarefy/emitters/lm_ma_es.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/at.hpp"
#include "core/maths.hpp"
#include "core/squared_norm.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

namespace {
constexpr Index kTogether = 6;
}  // namespace

LmMaEs::LmMaEs(const LinearStrategyOptions& options, Index directions) : LinearStrategy(options) {
  if (directions < 0) {
    throw Error(ErrorKind::parameter, "LM-MA-ES: directions", fmt::format("{}", directions),
                "at least 1, or 0 for the default");
  }
  if (directions == 0) {
    const auto n = static_cast<double>(dimension());
    directions = 4 + static_cast<Index>(std::floor(3 * maths::log(n)));
  }
  directions_.resize(directions, dimension());
  reset(std::vector<double>(at(dimension()), 0.0));
}

void LmMaEs::reset_shape() {
  std::fill(directions_.values().begin(), directions_.values().end(), 0.0);
  path_sigma_.assign(at(dimension()), 0.0);
}

// Algorithm 1, lines 8 to 10: d = (1 - c_j) d + c_j m_j (m_j' d), with c_j = 1 / (1.5^(j-1) n).
void LmMaEs::shape(BatchSpan rows) const {
  Index first = 0;
  for (; first + kTogether <= rows.rows(); first += kTogether) {
    shape_some<kTogether>(rows.rows(first, kTogether));
  }
  for (; first < rows.rows(); ++first) shape_some<1>(rows.rows(first, 1));
}

// A product with a direction is one sum in order, in which each term waits for the last. Those of
// several rows do not wait for each other.
template <Index kRows>
void LmMaEs::shape_some(BatchSpan rows) const {
  const auto n = at(dimension());
  double* row[kRows];
  for (Index i = 0; i < kRows; ++i) row[i] = rows.row(i).data();
  double rate = 1.0 / static_cast<double>(dimension());
  const Index known = std::min<Index>(directions_.rows(), generation());
  for (Index j = 0; j < known; ++j, rate /= 1.5) {
    const double* const m = directions_.view().row(j).data();
    double along[kRows] = {};
    for (std::size_t d = 0; d < n; ++d) {
      for (Index i = 0; i < kRows; ++i) along[i] += m[d] * row[i][d];
    }
    for (Index i = 0; i < kRows; ++i) {
      const double pull = rate * along[i];
      double* const values = row[i];
      for (std::size_t d = 0; d < n; ++d) values[d] = (1 - rate) * values[d] + pull * m[d];
    }
  }
}

// Lines 12 to 15. The rates are meant for n much larger than lambda; none may pass 1.
double LmMaEs::adapt(const Lesson& lesson) {
  const auto n = static_cast<double>(dimension());
  const auto lambda = static_cast<double>(batch());
  const double mueff = parameters().mueff;
  follow(path_sigma_, lesson.mean_normal, path_rate(), mueff);
  double rate = lambda / n;
  for (Index j = 0; j < directions_.rows(); ++j, rate /= 4) {
    follow(directions_.row(j), lesson.mean_normal, std::min(1.0, rate), mueff);
  }
  return step_factor(squared_norm(path_sigma_));
}

double LmMaEs::path_rate() const {
  return std::min(1.0, 2 * static_cast<double>(batch()) / static_cast<double>(dimension()));
}

double LmMaEs::step_factor(double squared_length) const {
  const auto n = static_cast<double>(dimension());
  return maths::exp(std::min(1.0, path_rate() / 2 * (squared_length / n - 1)));
}

Stop LmMaEs::stop(std::span<const double> scores, const StopTests& tests) const {
  return stop_by(sigma(), scores, tests);
}

void LmMaEs::save(StateWriter& out) const {
  LinearStrategy::save(out);
  out.reals("lm.directions", directions_.values());
  out.reals("lm.path_sigma", path_sigma_);
}

void LmMaEs::load(StateReader& in) {
  LinearStrategy::load(in);
  in.finite_reals("lm.directions", directions_.values());
  in.finite_reals("lm.path_sigma", path_sigma_);
}

}  // namespace rarefy
