#include "evaluators/program/row_queue.hpp"

#include <algorithm>

namespace rarefy {

void RowQueue::begin(const ProgramJob& job) {
  if (job.left == 0) return;
  jobs_.push_back(job);
  fresh_.push_back(&jobs_.back());
}

bool RowQueue::has(Index number) const {
  return std::ranges::any_of(jobs_, [&](const auto& job) { return job.number == number; });
}

void RowQueue::take(std::vector<RowUnderWay>& rows, Index together, bool new_ones_first) {
  rows.clear();
  if (!again_.empty() && (!new_ones_first || fresh_.empty())) {
    rows.push_back(again_.front());
    again_.pop_front();
    return;
  }
  if (fresh_.empty()) return;
  auto& job = *fresh_.front();
  const auto count = std::min({job.chunk, together, job.solutions.rows() - job.next});
  for (Index i = 0; i < count; ++i) rows.push_back({.job = &job, .row = job.next + i});
  job.next += count;
  if (job.next == job.solutions.rows()) fresh_.pop_front();
}

void RowQueue::again(std::span<const RowUnderWay> rows) {
  again_.insert(again_.end(), rows.begin(), rows.end());
}

void RowQueue::done(const RowUnderWay& row) {
  auto* const job = row.job;
  if (--job->left > 0) return;
  jobs_.remove_if([&](const auto& known) { return &known == job; });
}

void RowQueue::clear() {
  again_.clear();
  fresh_.clear();
  jobs_.clear();
}

}  // namespace rarefy
