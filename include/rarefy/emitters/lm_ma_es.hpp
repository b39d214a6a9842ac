// LM-MA-ES, which remembers a few directions instead of a matrix: linear time and memory.
#pragma once

#include <span>
#include <vector>

#include "rarefy/emitters/linear_strategy.hpp"

namespace rarefy {

/// Limited-memory matrix adaptation: I. Loshchilov, T. Glasmachers and H.-G. Beyer, "Large scale
/// black-box optimization by limited-memory matrix adaptation", IEEE Trans. Evol. Comput. 23(2),
/// 2019. A product of rank-one matrices, one for each of a few directions, stands for the square
/// root of C.
class LmMaEs : public LinearStrategy {
 public:
  /// 0 directions: 4 + floor(3 ln n).
  explicit LmMaEs(const LinearStrategyOptions& options, Index directions = 0);
  [[nodiscard]] Stop stop(std::span<const double> scores, const StopTests& tests) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  void identify(StateOptions& options) const override {
    options.text("es.strategy", name_of(Strategy::lm_ma_es));
    LinearStrategy::identify(options);
  }
  [[nodiscard]] Index directions() const { return directions_.rows(); }

 protected:
  void reset_shape() override;
  void shape(BatchSpan rows) const override;
  double adapt(const Lesson& lesson) override;

  // The published profile (compat/) replaces these two.
  /// The rate of the step-size path.
  [[nodiscard]] virtual double path_rate() const;
  /// The factor by which the step size changes, given the squared length of its path.
  [[nodiscard]] virtual double step_factor(double squared_length) const;

 private:
  template <Index kRows>
  void shape_some(BatchSpan rows) const;

  Batch directions_;  // m_1, m_2, ...: each slower than the one before
  std::vector<double> path_sigma_;
};

}  // namespace rarefy
