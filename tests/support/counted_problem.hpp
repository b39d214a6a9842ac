// A problem whose evaluations are counted, and two evaluators that hand rows back one by one.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

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

/// Threads of its own, each with a row at a time, that come back in any order.
class ManyAtATime : public rarefy::StreamEvaluator {
 public:
  ManyAtATime(const rarefy::Domain& domain, rarefy::Index threads) : domain_(domain) {
    for (rarefy::Index i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ManyAtATime() override {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void begin(rarefy::Index job, rarefy::BatchView solutions,
             const rarefy::EvaluationSpan& out) override {
    const std::lock_guard lock(mutex_);
    solutions_ = solutions;
    out_ = out;
    for (rarefy::Index row = 0; row < solutions.rows(); ++row) todo_.push_back({job, row});
    changed_.notify_all();
  }
  std::span<const rarefy::RowDone> wait(rarefy::StopFlag stop) override {
    std::unique_lock lock(mutex_);
    const auto something = [&] { return !done_.empty() || (todo_.empty() && under_way_ == 0); };
    while (!something() && !rarefy::stop_asked(stop)) {
      changed_.wait_for(lock, std::chrono::milliseconds(5), something);
    }
    named_ = std::exchange(done_, {});
    return named_;
  }
  void abandon() override {
    std::unique_lock lock(mutex_);
    todo_.clear();
    changed_.wait(lock, [&] { return under_way_ == 0; });
    done_.clear();
  }
  [[nodiscard]] rarefy::Index capacity() const override {
    return static_cast<rarefy::Index>(threads_.size());
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return over_ || !todo_.empty(); });
      if (over_) return;
      const auto one = todo_.front();
      todo_.pop_front();
      ++under_way_;
      lock.unlock();
      domain_.evaluate(solutions_.rows(one.row, 1), out_.features.rows(one.row, 1),
                       out_.objectives.subspan(static_cast<std::size_t>(one.row), 1));
      lock.lock();
      --under_way_;
      done_.push_back(one);
      changed_.notify_all();
    }
  }

  const rarefy::Domain& domain_;
  std::mutex mutex_;
  std::condition_variable changed_;
  rarefy::BatchView solutions_;
  rarefy::EvaluationSpan out_;
  std::deque<rarefy::RowDone> todo_;
  std::vector<rarefy::RowDone> done_, named_;
  rarefy::Index under_way_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};
