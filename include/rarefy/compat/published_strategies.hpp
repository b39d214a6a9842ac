// The relatives of CMA-ES as pyribs 0.12 has them, beside PublishedCmaEs. No profile uses them:
// they are for programs that are to behave as with pyribs.
#pragma once

#include "rarefy/emitters/lm_ma_es.hpp"
#include "rarefy/emitters/separable_cma_es.hpp"

namespace rarefy::compat {

/// Departures from Ros and Hansen's sep-CMA-ES:
///  1. to 4. and 6. of PublishedCmaEs;
///  5. other rates: c_c = (1 + (1 + mueff) / n) / (sqrt(n) + (1 + 2 mueff) / n),
///     c_1 = c_1 of the full matrix / (n + 2 sqrt(n) + mueff / n),
///     c_mu = (mueff - 2 + 1 / mueff) / (n + 4 sqrt(n) + mueff / 2).
class PublishedSeparableCmaEs : public SeparableCmaEs {
 public:
  explicit PublishedSeparableCmaEs(const LinearStrategyOptions& options);
  void identify(StateOptions& options) const override {
    options.text("published.emitter", "sep-CMA-ES");
    SeparableCmaEs::identify(options);
  }

 protected:
  [[nodiscard]] Rates rates() const override;
  [[nodiscard]] double path_unit() const override { return sigma(); }
  [[nodiscard]] bool path_is_short(double length) const override;
  [[nodiscard]] double step_change(double length) const override;
};

/// Departures from LmMaEs: neither the rate of the step-size path nor the change of the step size
/// is limited; weights are those of PublishedCmaEs.
class PublishedLmMaEs : public LmMaEs {
 public:
  explicit PublishedLmMaEs(const LinearStrategyOptions& options, Index directions = 0);
  void identify(StateOptions& options) const override {
    options.text("published.emitter", "LM-MA-ES");
    LmMaEs::identify(options);
  }

 protected:
  [[nodiscard]] double path_rate() const override;
  [[nodiscard]] double step_factor(double squared_length) const override;
};

}  // namespace rarefy::compat
