#include "rarefy/evaluators/mpi_evaluator.hpp"

#include <utility>

#include "evaluators/mpi/desk.hpp"

namespace rarefy {

MpiEvaluator::MpiEvaluator(MpiSession& session, const MpiGreeting& greeting)
    : desk_(std::make_unique<Desk>(session.mail(), greeting)) {}
MpiEvaluator::~MpiEvaluator() = default;

void MpiEvaluator::begin(Index job, BatchView solutions, const EvaluationSpan& out) {
  desk_->begin(job, solutions, out);
}
std::span<const RowDone> MpiEvaluator::wait(StopFlag stop) {
  return desk_->wait(stop, [this] { still_waiting(); });
}
void MpiEvaluator::abandon() { desk_->abandon(); }
Index MpiEvaluator::capacity() const { return desk_->places(); }
std::string MpiEvaluator::description() const { return desk_->description(); }
const ProgramCounts& MpiEvaluator::counts() const { return desk_->counts(); }
std::deque<ProgramFailure> MpiEvaluator::take_failures() {
  return std::exchange(desk_->failures(), {});
}

}  // namespace rarefy
