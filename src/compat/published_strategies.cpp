#include "rarefy/compat/published_strategies.hpp"

#include <algorithm>
#include <cmath>

#include "core/maths.hpp"

namespace rarefy::compat {

PublishedSeparableCmaEs::PublishedSeparableCmaEs(const LinearStrategyOptions& options)
    : SeparableCmaEs(options) {
  weigh_by_parents();
}

SeparableCmaEs::Rates PublishedSeparableCmaEs::rates() const {
  const auto& p = parameters();
  const auto n = static_cast<double>(dimension());
  const double root = std::sqrt(n);
  const double c1 = p.c1 / (n + 2 * root + p.mueff / n);
  const double cmu = (p.mueff - 2 + 1 / p.mueff) / (n + 4 * root + p.mueff / 2);
  return {.cc = (1 + (1 + p.mueff) / n) / (root + (1 + 2 * p.mueff) / n),
          .c1 = c1,
          .cmu = std::min(1 - c1, cmu),
          .rank_one = c1 * c1};
}

bool PublishedSeparableCmaEs::path_is_short(double length) const {
  const auto n = static_cast<double>(dimension());
  const double decay =
      1 - maths::power(1 - parameters().csigma, 2.0 * static_cast<double>(generation()));
  return length * length / n / decay < 2 + 4 / (n + 1);
}

double PublishedSeparableCmaEs::step_change(double length) const {
  const auto n = static_cast<double>(dimension());
  return parameters().csigma / parameters().dsigma * (length * length / n - 1) / 2;
}

PublishedLmMaEs::PublishedLmMaEs(const LinearStrategyOptions& options, Index directions)
    : LmMaEs(options, directions) {
  weigh_by_parents();
}

double PublishedLmMaEs::path_rate() const {
  return 2 * static_cast<double>(batch()) / static_cast<double>(dimension());
}

double PublishedLmMaEs::step_factor(double squared_length) const {
  const auto n = static_cast<double>(dimension());
  return maths::exp(path_rate() / 2 * (squared_length / n - 1));
}

}  // namespace rarefy::compat
