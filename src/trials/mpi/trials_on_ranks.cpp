// Rank 0's side: who has which trial.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "evaluators/mpi/mail.hpp"
#include "evaluators/mpi/pause.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/trials/mpi_trials.hpp"
#include "trials/attempt.hpp"

namespace rarefy {
namespace {

class TrialDesk {
 public:
  TrialDesk(TrialBoard& board, const ExperimentPlaces& places, MpiSession::Mail& mail,
            StopFlag stop)
      : board_(board),
        shared_(std::filesystem::absolute(places.shared()).string()),
        mail_(mail),
        stop_(stop),
        trials_(static_cast<std::size_t>(mail.size())) {}

  void run(const ProgressWatcher& watch) {
    constexpr auto kLook = std::chrono::milliseconds(200);
    auto last = std::chrono::steady_clock::now();
    const auto look = [&] {
      last = std::chrono::steady_clock::now();
      if (watch) watch(board_.progress(trials_.size() - 1));
    };
    Pause pause;
    while (true) {
      if (!stopping_ && stop_asked(stop_)) stop();
      if (!stopping_) hand_out();
      bool any = false, ended = false;
      while (const auto received = mail_.receive()) {
        any = true;
        ended = read(received->from, LetterReader(received->letter)) || ended;
      }
      mail_.sweep();
      if (ended || std::chrono::steady_clock::now() - last >= kLook) look();
      if (under_way_ == 0 && (stopping_ || board_.waiting() == 0)) break;
      if (any) {
        pause.reset();
      } else {
        pause.rest();
      }
    }
    look();
  }

 private:
  void stop() {
    stopping_ = true;
    mail_.send_to_others(LetterWriter(LetterKind::stop_trials, 0).take());
  }

  void hand_out() {
    for (std::size_t rank = 1; rank < trials_.size(); ++rank) {
      if (trials_[rank]) continue;
      const auto trial = board_.next();
      if (!trial) return;
      trials_[rank] = trial;
      ++under_way_;
      const auto order = board_.order(*trial);
      mail_.send(static_cast<Index>(rank),
                 LetterWriter(LetterKind::trial, 0)
                     .text(kVersion)
                     .text(name_of(instruction_set()))
                     .text(to_toml(order.config))
                     .text(std::filesystem::absolute(order.folder).string())
                     .text(shared_)
                     .count(order.anew ? 1 : 0)
                     .take());
    }
  }

  // True where a trial has ended.
  bool read(Index from, LetterReader letter) {
    auto& trial = trials_[static_cast<std::size_t>(from)];
    if (!trial) return false;
    switch (letter.kind()) {
      case LetterKind::trial_news: {
        const auto iteration = letter.count();
        board_.heard(*trial, {.iteration = iteration, .coverage = letter.number()});
        return false;
      }
      case LetterKind::trial_end: {
        const auto kind = static_cast<AttemptEnd::Kind>(letter.count());
        note(board_, *trial, {.kind = kind, .error = letter.text()});
        trial.reset();
        --under_way_;
        return true;
      }
      default: return false;
    }
  }

  TrialBoard& board_;
  std::string shared_;
  MpiSession::Mail& mail_;
  StopFlag stop_;
  std::vector<std::optional<std::size_t>> trials_;  // by rank
  std::size_t under_way_ = 0;
  bool stopping_ = false;
};

}  // namespace

ExperimentOutcome run_experiment_on_ranks(TrialBoard& board, const ExperimentPlaces& places,
                                          MpiSession& session, StopFlag stop,
                                          const ProgressWatcher& watch) {
  if (session.size() < 2) {
    throw Error(ErrorKind::state, "trials on ranks", "one rank", "two at least");
  }
  TrialDesk(board, places, session.mail(), stop).run(watch);
  return board.outcome();
}

}  // namespace rarefy
