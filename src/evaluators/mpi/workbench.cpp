#include "evaluators/mpi/workbench.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/evaluators/program_evaluator.hpp"

namespace rarefy {
namespace {

using BenchClock = std::chrono::steady_clock;

double bench_seconds_since(BenchClock::time_point then) {
  return std::chrono::duration<double>(BenchClock::now() - then).count();
}

}  // namespace

// What both threads know. The one at work may outlive the bench.
struct Workbench::Shared {
  std::mutex mutex;
  std::condition_variable for_work, for_news;
  std::deque<ChunkTask> tasks;
  std::atomic<bool> stop{false};  // what is under way is not wanted any more
  bool leaving = false, left = false;
  bool can_end = false;  // what is under way, when it is told to
  bool works = false;
  Index epoch = 0;

  // Rows that are done, packed as in a letter, and what else there is to say.
  Letter rows, failures;
  Index row_count = 0, failure_count = 0;
  double seconds = 0;
  ProgramCounts counts;
  std::vector<Letter> letters;

  [[nodiscard]] bool any_news() const { return row_count > 0 || !letters.empty() || left; }
  void forget_news() {
    rows.clear();
    failures.clear();
    row_count = failure_count = 0;
    seconds = 0;
    letters.clear();
  }
  // Puts the rows so far into a letter, before something else is said.
  void seal_rows() {
    if (row_count == 0) return;
    letters.push_back(LetterWriter(LetterKind::rows, epoch)
                          .counts(counts)
                          .number(seconds)
                          .count(row_count)
                          .values(rows)
                          .count(failure_count)
                          .values(failures)
                          .take());
    rows.clear();
    failures.clear();
    row_count = failure_count = 0;
    seconds = 0;
  }
};

// ---- the thread at work -------------------------------------------------------------------------

class Workbench::Work {
 public:
  Work(Shared& shared, Index feature_dim) : shared_(shared), feature_dim_(feature_dim) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  /// Until it is told to leave.
  virtual void run() = 0;

 protected:
  /// One row that is done.
  void pack(Index ticket, Index row, const Evaluation& out, Index at) {
    const auto i = static_cast<std::size_t>(at);
    auto& rows = shared_.rows;
    rows.insert(rows.end(), {static_cast<double>(ticket), static_cast<double>(row),
                             static_cast<double>(out.valid[i]), out.objectives[i]});
    const auto features = out.features.row(at);
    rows.insert(rows.end(), features.begin(), features.end());
    ++shared_.row_count;
  }
  void say(Letter letter) {
    const std::scoped_lock lock(shared_.mutex);
    if (shared_.stop) return;
    shared_.seal_rows();
    shared_.letters.push_back(std::move(letter));
    shared_.for_news.notify_one();
  }
  void tell_of(const std::exception_ptr& exception) {
    say(LetterWriter(LetterKind::error, epoch()).exception(exception).take());
  }
  [[nodiscard]] Index epoch() {
    const std::scoped_lock lock(shared_.mutex);
    return shared_.epoch;
  }

  Shared& shared_;
  Index feature_dim_;
};

// A domain: one chunk after the other.
class Workbench::PlainWork : public Workbench::Work {
 public:
  PlainWork(Shared& shared, Index feature_dim, Evaluator& evaluator)
      : Work(shared, feature_dim), evaluator_(evaluator) {}

  void run() override {
    while (auto task = next_task()) {
      try {
        evaluate(*task);
      } catch (...) {
        tell_of(std::current_exception());
      }
    }
  }

 private:
  std::optional<ChunkTask> next_task() {
    std::unique_lock lock(shared_.mutex);
    shared_.for_work.wait(lock, [&] { return shared_.leaving || !shared_.tasks.empty(); });
    if (shared_.leaving) return std::nullopt;
    shared_.stop = false;
    auto task = std::move(shared_.tasks.front());
    shared_.tasks.pop_front();
    return task;
  }

  void evaluate(const ChunkTask& task) {
    const auto rows = task.solutions.rows();
    Evaluation out(rows, feature_dim_);
    const auto places = std::min(evaluator_.capacity(), rows);
    auto told = BenchClock::now();
    const auto tell = [&](Index first, Index count) {
      const std::scoped_lock lock(shared_.mutex);
      if (shared_.stop) return;
      for (Index row = first; row < first + count; ++row) pack(task.ticket, row, out, row);
      shared_.seconds += bench_seconds_since(told) * static_cast<double>(places);
      told = BenchClock::now();
      shared_.for_news.notify_one();
    };
    const auto began = told;
    // Where rows take long, each is told of as soon as it is done.
    constexpr double kLong = 0.005;
    if (per_row_ * static_cast<double>(rows) > kLong * static_cast<double>(places)) {
      evaluator_.evaluate_telling(task.solutions, out.span(), tell, &shared_.stop);
    } else {
      evaluator_.evaluate(task.solutions, out.span());
      tell(0, rows);
    }
    per_row_ = bench_seconds_since(began) * static_cast<double>(places) / static_cast<double>(rows);
  }

  Evaluator& evaluator_;
  double per_row_ = 0;
};

// Programs: as many chunks at a time as there are.
class Workbench::StreamWork : public Workbench::Work {
 public:
  StreamWork(Shared& shared, Index feature_dim, StreamEvaluator& stream)
      : Work(shared, feature_dim),
        stream_(stream),
        program_(dynamic_cast<ProgramEvaluator*>(&stream)) {}

  void run() override {
    while (attend()) {
      try {
        for (auto& task : tasks_) begin(std::move(task));
        tasks_.clear();
        if (!jobs_.empty() && !hopeless_) evaluate();
      } catch (...) {
        tasks_.clear();
        give_up(std::current_exception());
      }
    }
    stream_.abandon();
  }

 private:
  struct Job {
    Batch solutions;
    Evaluation out;
    std::vector<Index> rows;  // of the chunk, which these are
    Index left = 0;
  };

  // Waits for something to do; false when it is to leave.
  bool attend() {
    bool drop = false, works = false;
    {
      std::unique_lock lock(shared_.mutex);
      shared_.for_work.wait(lock, [&] {
        return shared_.leaving || shared_.stop || !shared_.tasks.empty() ||
               (hopeless_ ? shared_.works : !jobs_.empty());
      });
      if (shared_.leaving) return false;
      drop = shared_.stop.exchange(false);
      works = shared_.works;
      for (auto& task : shared_.tasks) tasks_.push_back(std::move(task));
      shared_.tasks.clear();
    }
    if (drop) {
      stream_.abandon();
      jobs_.clear();
      hopeless_ = false;
    }
    if (works && program_ != nullptr) program_->it_works();
    if (works && hopeless_) begin_again();
    return true;
  }

  void begin(ChunkTask task) {
    const auto rows = task.solutions.rows();
    std::vector<Index> numbers;
    for (Index row = 0; row < rows; ++row) numbers.push_back(row);
    begin(task.ticket, std::move(task.solutions), std::move(numbers));
  }
  void begin(Index ticket, Batch solutions, std::vector<Index> numbers) {
    const auto rows = solutions.rows();
    auto& job = jobs_
                    .insert_or_assign(ticket, Job{.solutions = std::move(solutions),
                                                  .out = Evaluation(rows, feature_dim_),
                                                  .rows = std::move(numbers),
                                                  .left = rows})
                    .first->second;
    stream_.begin(ticket, job.solutions, job.out.span());
  }

  // What is not done, once more.
  void begin_again() {
    hopeless_ = false;
    stream_.abandon();
    auto before = std::exchange(jobs_, {});
    for (auto& [ticket, job] : before) {
      Batch solutions(0, job.solutions.cols());
      std::vector<Index> numbers;
      for (std::size_t i = 0; i < job.rows.size(); ++i) {
        if (job.rows[i] < 0) continue;
        solutions.append(job.solutions.row(static_cast<Index>(i)));
        numbers.push_back(job.rows[i]);
      }
      begin(ticket, std::move(solutions), std::move(numbers));
    }
  }

  void evaluate() {
    Index under_way = 0;
    for (const auto& [ticket, job] : jobs_) under_way += job.left;
    const auto places = std::min(stream_.capacity(), under_way);
    const auto began = BenchClock::now();
    const auto done = stream_.wait(&shared_.stop);
    if (done.empty()) return;
    const std::scoped_lock lock(shared_.mutex);
    if (shared_.stop) return;
    shared_.seconds += bench_seconds_since(began) * static_cast<double>(places);
    pack_failures();
    for (const auto& [ticket, row] : done) {
      auto& job = jobs_.at(ticket);
      auto& number = job.rows[static_cast<std::size_t>(row)];
      pack(ticket, number, job.out, row);
      number = -1;
      --job.left;
    }
    std::erase_if(jobs_, [](const auto& each) { return each.second.left == 0; });
    shared_.for_news.notify_one();
  }

  // Before the rows are, whose numbers these are looked up by.
  void pack_failures() {
    if (program_ == nullptr) return;
    shared_.counts = program_->counts();
    for (const auto& failure : program_->take_failures()) {
      const auto job = jobs_.find(failure.job);
      if (job == jobs_.end()) continue;
      const auto number = job->second.rows[static_cast<std::size_t>(failure.row)];
      const auto packed = LetterWriter(LetterKind::rows, 0)
                              .count(failure.job)
                              .count(number)
                              .count(static_cast<Index>(failure.fault))
                              .text(failure.message)
                              .text(failure.error_output)
                              .take();
      shared_.failures.insert(shared_.failures.end(), packed.begin() + 2, packed.end());
      ++shared_.failure_count;
    }
  }

  void give_up(const std::exception_ptr& exception) {
    if (never_worked(exception)) {
      hopeless_ = true;  // until it has worked elsewhere, or rank 0 has had enough
      say(LetterWriter(LetterKind::hopeless, epoch())
              .counts(program_->counts())
              .exception(exception)
              .take());
      return;
    }
    stream_.abandon();
    jobs_.clear();
    tell_of(exception);
  }

  [[nodiscard]] bool never_worked(const std::exception_ptr& exception) const {
    if (program_ == nullptr || program_->counts().rows_done > 0) return false;
    try {
      std::rethrow_exception(exception);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::data;
    } catch (...) {
      return false;
    }
  }

  StreamEvaluator& stream_;
  ProgramEvaluator* program_;
  std::vector<ChunkTask> tasks_;
  std::map<Index, Job> jobs_;  // under way
  bool hopeless_ = false;
};

// ---- the thread that calls MPI ------------------------------------------------------------------

Workbench::Workbench(std::shared_ptr<Evaluator> evaluator, Index feature_dim, Index epoch)
    : shared_(std::make_shared<Shared>()) {
  shared_->epoch = epoch;
  shared_->can_end = dynamic_cast<StreamEvaluator*>(evaluator.get()) != nullptr;
  thread_ =
      std::thread([shared = shared_, evaluator = std::move(evaluator), feature_dim]() mutable {
        std::unique_ptr<Work> work;
        if (auto* const stream = dynamic_cast<StreamEvaluator*>(evaluator.get())) {
          work = std::make_unique<StreamWork>(*shared, feature_dim, *stream);
        } else {
          work = std::make_unique<PlainWork>(*shared, feature_dim, *evaluator);
        }
        work->run();
        work.reset();
        evaluator.reset();  // which ends its programs
        const std::scoped_lock lock(shared->mutex);
        shared->left = true;
        shared->for_news.notify_one();
      });
}

Workbench::~Workbench() { leave(); }

void Workbench::add(ChunkTask task) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->tasks.push_back(std::move(task));
  shared_->for_work.notify_one();
}

void Workbench::abandon(Index epoch) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->tasks.clear();
  shared_->forget_news();
  shared_->epoch = epoch;
  shared_->stop = true;
  shared_->for_work.notify_one();
}

void Workbench::it_works() {
  const std::scoped_lock lock(shared_->mutex);
  shared_->works = true;
  shared_->for_work.notify_one();
}

std::vector<Letter> Workbench::take(std::chrono::microseconds wait) {
  std::unique_lock lock(shared_->mutex);
  if (!shared_->any_news() && wait.count() > 0) {
    shared_->for_news.wait_for(lock, wait, [&] { return shared_->any_news(); });
  }
  shared_->seal_rows();
  return std::exchange(shared_->letters, {});
}

bool Workbench::leave() {
  if (!thread_.joinable()) return true;
  // Programs are ended; a domain's evaluation takes as long as it does.
  const std::chrono::milliseconds patience(shared_->can_end ? 5000 : 50);
  std::unique_lock lock(shared_->mutex);
  shared_->leaving = shared_->stop = true;
  shared_->tasks.clear();
  shared_->for_work.notify_one();
  const bool left = shared_->for_news.wait_for(lock, patience, [&] { return shared_->left; });
  lock.unlock();
  if (left) {
    thread_.join();
  } else {
    thread_.detach();
  }
  return left;
}

}  // namespace rarefy
