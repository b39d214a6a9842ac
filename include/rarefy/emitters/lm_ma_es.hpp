// LM-MA-ES, which remembers a few directions instead of a matrix: linear time and memory.
#pragma once

#include <span>
#include <vector>

#include "rarefy/emitters/linear_strategy.hpp"

namespace rarefy {

/// Limited-memory matrix adaptation: I. Loshchilov, T. Glasmachers and H.-G. Beyer, "Large scale
/// black-box optimization by limited-memory matrix adaptation", IEEE Trans. Evol. Comput. 23(2),
/// 2019. A product of 4 + floor(3 ln n) rank-one matrices stands for the square root of C.
class LmMaEs : public LinearStrategy {
 public:
  explicit LmMaEs(const LinearStrategyOptions& options);
  [[nodiscard]] Stop stop(std::span<const double> scores, const StopTests& tests) const override;
  void save(StateWriter& out) const override;
  void load(StateReader& in) override;
  [[nodiscard]] Index directions() const { return directions_.rows(); }

 protected:
  void reset_shape() override;
  void shape(std::span<double> row) const override;
  double adapt(const Lesson& lesson) override;

 private:
  Batch directions_;  // m_1, m_2, ...: each slower than the one before
  std::vector<double> path_sigma_;
};

}  // namespace rarefy
