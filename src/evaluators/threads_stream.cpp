#include "rarefy/evaluators/threads_stream.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "core/thread_clock.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy {

ThreadsStream::ThreadsStream(const Domain& domain, Index threads) : domain_(domain) {
  if (threads <= 0) threads = std::max<Index>(1, std::thread::hardware_concurrency());
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    for (Index i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& refusal) {
    dismiss();
    throw Error(ErrorKind::io, "threads", std::to_string(threads),
                std::string("fewer: the system says ") + refusal.what());
  } catch (...) {  // no memory: those that have started must not be left behind
    dismiss();
    throw;
  }
}

ThreadsStream::~ThreadsStream() { dismiss(); }

void ThreadsStream::dismiss() {
  {
    const std::lock_guard lock(mutex_);
    queue_.clear();
    over_ = true;
  }
  work_there_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadsStream::begin(Index job, BatchView solutions, const EvaluationSpan& out) {
  // Some domains treat rows of a piece together (the maze, a robot a lane).
  const Index size = std::max(domain_.rows_together(), solutions.rows() / (4 * capacity()));
  {
    const std::lock_guard lock(mutex_);
    for (Index first = 0; first < solutions.rows(); first += size) {
      const Index count = std::min(size, solutions.rows() - first);
      const auto from = static_cast<std::size_t>(first);
      queue_.push_back({.job = job,
                        .first = first,
                        .solutions = solutions.rows(first, count),
                        .out = {out.features.rows(first, count),
                                out.objectives.subspan(from, static_cast<std::size_t>(count))}});
    }
  }
  work_there_.notify_all();
}

std::span<const RowDone> ThreadsStream::wait(StopFlag stop) {
  std::unique_lock lock(mutex_);
  // A signal's handler can set a flag, but wakes nobody.
  constexpr auto kLook = std::chrono::milliseconds(20);
  const auto something = [&] {
    return !done_.empty() || trouble_ || (queue_.empty() && in_hand_ == 0);
  };
  while (!something() && !stop_asked(stop)) {
    if (something_done_.wait_for(lock, kLook, something)) break;
    lock.unlock();  // nobody who works is kept waiting
    still_waiting();
    lock.lock();
  }
  if (stop_asked(stop)) {
    // Nobody can take from the threads what they have in hand, so it may as well be used.
    queue_.clear();
    something_done_.wait(lock, [&] { return in_hand_ == 0; });
  }
  if (trouble_) std::rethrow_exception(std::exchange(trouble_, nullptr));
  named_.clear();
  std::swap(named_, done_);
  return named_;
}

double ThreadsStream::processor_seconds() const {
  double sum = 0;
  for (auto& thread : threads_) sum += ThreadClock::of(thread).seconds();
  return sum;
}

void ThreadsStream::abandon() {
  std::unique_lock lock(mutex_);
  queue_.clear();
  something_done_.wait(lock, [&] { return in_hand_ == 0; });
  done_.clear();
  trouble_ = nullptr;
}

void ThreadsStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_there_.wait(lock, [&] { return over_ || !queue_.empty(); });
    if (over_) return;
    const Piece piece = queue_.front();
    queue_.pop_front();
    ++in_hand_;
    lock.unlock();
    std::exception_ptr trouble;
    try {
      evaluate_piece(piece);
    } catch (...) {
      trouble = std::current_exception();
    }
    lock.lock();
    --in_hand_;
    if (trouble && !trouble_) trouble_ = trouble;
    for (Index i = 0; !trouble && i < piece.solutions.rows(); ++i) {
      done_.push_back({.job = piece.job, .row = piece.first + i});
    }
    something_done_.notify_all();
  }
}

void ThreadsStream::evaluate_piece(const Piece& piece) const {
  domain_.evaluate(piece.solutions, piece.out.features, piece.out.objectives);
}

}  // namespace rarefy
