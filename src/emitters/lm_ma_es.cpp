#include "rarefy/emitters/lm_ma_es.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/at.hpp"
#include "core/maths.hpp"
#include "core/squared_norm.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

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
void LmMaEs::shape(std::span<double> row) const {
  double rate = 1.0 / static_cast<double>(dimension());
  const Index known = std::min<Index>(directions_.rows(), generation());
  for (Index j = 0; j < known; ++j, rate /= 1.5) {
    const auto m = directions_.view().row(j);
    const double along = std::inner_product(m.begin(), m.end(), row.begin(), 0.0);
    for (std::size_t d = 0; d < row.size(); ++d) row[d] = (1 - rate) * row[d] + rate * along * m[d];
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
