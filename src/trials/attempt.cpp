#include "trials/attempt.hpp"

#include <exception>
#include <new>
#include <stdexcept>

#include "rarefy/core/error.hpp"

namespace rarefy {

AttemptEnd attempt(const TrialOrder& order, const TrialTeam& team) {
  using Kind = AttemptEnd::Kind;
  try {
    const auto end = run_trial(order, team);
    return {.kind = end == DriveEnd::finished ? Kind::finished : Kind::stopped};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) return {.kind = Kind::stopped};
    return {.kind = Kind::failed, .error = error.what()};
  } catch (const std::bad_alloc&) {
    return {.kind = Kind::failed, .error = "not enough memory"};
  } catch (const std::length_error&) {  // more than any memory could hold
    return {.kind = Kind::failed, .error = "not enough memory"};
  } catch (const std::exception& error) {
    return {.kind = Kind::failed, .error = error.what()};
  } catch (...) {
    return {.kind = Kind::failed, .error = "something unforeseen"};
  }
}

void note(TrialBoard& board, std::size_t trial, const AttemptEnd& end) {
  switch (end.kind) {
    case AttemptEnd::Kind::finished: return board.finished(trial);
    case AttemptEnd::Kind::stopped: return board.stopped(trial);
    case AttemptEnd::Kind::failed: break;
  }
  board.failed(trial, end.error);
}

}  // namespace rarefy
