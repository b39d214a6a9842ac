// A problem whose evaluations are counted, and an evaluator that hands rows back one by one.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "rarefy/domains/function_domain.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"

/// Calls `called` before each evaluation.
inline std::shared_ptr<const rarefy::Domain> counted_problem(std::function<void()> called) {
  rarefy::DomainInfo info;
  info.name = "counted";
  info.solution_dim = 4;
  info.feature_space = {{-2, -2}, {2, 2}};
  info.constant_objective = false;
  return std::make_shared<rarefy::FunctionDomain>(
      std::move(info),
      [called = std::move(called)](std::span<const double> x, std::span<double> features) {
        called();
        features[0] = x[0] + 0.5 * std::sin(x[1]);
        features[1] = std::tanh(x[2] * x[3]);
        return std::cos(x[0] + x[3]);
      });
}

/// Evaluates a row whenever somebody waits for one, from the last to the first.
class OneByOne : public rarefy::StreamEvaluator {
 public:
  /// `before_each` is called with how many rows were done, and may throw, or set a flag to stop.
  explicit OneByOne(const rarefy::Domain& domain,
                    std::function<void(rarefy::Index)> before_each = {})
      : domain_(domain), before_each_(std::move(before_each)) {}

  void begin(rarefy::Index job, rarefy::BatchView solutions,
             const rarefy::EvaluationSpan& out) override {
    job_ = job;
    solutions_ = solutions;
    out_ = out;
    left_ = solutions.rows();
  }
  std::span<const rarefy::RowDone> wait(rarefy::StopFlag stop) override {
    if (before_each_) before_each_(done_);
    if (left_ == 0 || rarefy::stop_asked(stop)) return {};
    ++done_;
    named_ = {job_, --left_};
    domain_.evaluate(solutions_.rows(left_, 1), out_.features.rows(left_, 1),
                     out_.objectives.subspan(static_cast<std::size_t>(left_), 1));
    return {&named_, 1};
  }
  void abandon() override { left_ = 0; }
  [[nodiscard]] rarefy::Index capacity() const override { return 1; }
  [[nodiscard]] rarefy::Index done() const { return done_; }

 private:
  const rarefy::Domain& domain_;
  std::function<void(rarefy::Index)> before_each_;
  rarefy::Index job_ = 0, left_ = 0, done_ = 0;
  rarefy::BatchView solutions_;
  rarefy::EvaluationSpan out_;
  rarefy::RowDone named_;
};
