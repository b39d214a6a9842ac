// An evaluator whose rows come back in an order that its seed decides, one or a few at a time.
#pragma once

#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "rarefy/domains/domain.hpp"
#include "rarefy/evaluators/stream_evaluator.hpp"

class ShuffledStream : public rarefy::StreamEvaluator {
 public:
  /// `before_each` is called before each row.
  explicit ShuffledStream(const rarefy::Domain& domain, unsigned seed,
                          std::function<void()> before_each = {})
      : domain_(domain), random_(seed), before_each_(std::move(before_each)) {}

  void begin(rarefy::Index job, rarefy::BatchView solutions,
             const rarefy::EvaluationSpan& out) override {
    for (rarefy::Index row = 0; row < solutions.rows(); ++row) {
      waiting_.push_back({{job, row}, solutions, out});
    }
  }
  std::span<const rarefy::RowDone> wait(rarefy::StopFlag stop) override {
    named_.clear();
    const auto some = 1 + random_() % 5;
    while (named_.size() < some && !waiting_.empty() && !rarefy::stop_asked(stop)) {
      if (before_each_) before_each_();
      std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
      const auto [done, solutions, out] = waiting_.back();
      waiting_.pop_back();
      domain_.evaluate(solutions.rows(done.row, 1), out.features.rows(done.row, 1),
                       out.objectives.subspan(static_cast<std::size_t>(done.row), 1));
      named_.push_back(done);
    }
    return named_;
  }
  void abandon() override { waiting_.clear(); }
  [[nodiscard]] rarefy::Index capacity() const override { return 1; }

 private:
  struct Row {
    rarefy::RowDone done;
    rarefy::BatchView solutions;
    rarefy::EvaluationSpan out;
  };
  const rarefy::Domain& domain_;
  std::mt19937 random_;
  std::function<void()> before_each_;
  std::vector<Row> waiting_;
  std::vector<rarefy::RowDone> named_;
};
