// A rank that runs trials: in a thread, so that the one that calls MPI can listen meanwhile.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evaluators/mpi/mail.hpp"
#include "evaluators/mpi/pause.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/instruction_set.hpp"
#include "rarefy/core/version.hpp"
#include "rarefy/experiment/config_file.hpp"
#include "rarefy/trials/mpi_trials.hpp"
#include "trials/attempt.hpp"
#include "trials/shared_cells.hpp"

namespace rarefy {
namespace {

class TrialServant {
 public:
  explicit TrialServant(MpiSession::Mail& mail) : mail_(mail) {}

  void serve() {
    Pause pause;
    while (!leaving_) {
      bool any = false;
      while (const auto received = mail_.receive()) {
        any = true;
        read(LetterReader(received->letter));
      }
      for (auto& letter : take_letters()) {
        any = true;
        mail_.send(0, std::move(letter));
      }
      mail_.sweep();
      if (any) {
        pause.reset();
      } else {
        pause.rest();
      }
    }
    end_ = true;  // nobody waits for what is under way; it is saved
  }

 private:
  void read(LetterReader letter) {
    switch (letter.kind()) {
      case LetterKind::trial: begin(letter); break;
      case LetterKind::stop_trials: end_ = true; break;
      case LetterKind::leave: leaving_ = true; break;
      default: break;
    }
  }

  void begin(LetterReader& letter) {
    if (thread_.joinable()) thread_.join();  // it has told its end before it was given another
    const auto version = letter.text(), set = letter.text(), config = letter.text();
    const auto folder = letter.text(), shared = letter.text();
    const bool anew = letter.count() != 0;
    TrialOrder order;
    try {
      if (version != kVersion) {
        throw Error(ErrorKind::state, "rarefy on another rank", fmt::format("version {}", kVersion),
                    fmt::format("{}, as rank 0 has", version));
      }
      pin_instruction_set(instruction_set_named(set));
      order = {.config = resolve(parse_settings(config, "the configuration of rank 0")),
               .folder = folder,
               .anew = anew};
    } catch (const Error& error) {
      return tell_end({.kind = AttemptEnd::Kind::failed, .error = error.what()});
    }
    if (cells_ == nullptr) cells_ = std::make_unique<SharedCells>(shared);
    thread_ = std::jthread([this, order = std::move(order)] {
      tell_end(attempt(order, {.threads = 1,
                               .cells = cells_.get(),
                               .stop = &end_,
                               .hear = [this](const TrialNews& news) { tell_news(news); }}));
    });
  }

  void tell_news(const TrialNews& news) {
    add(LetterWriter(LetterKind::trial_news, 0).count(news.iteration).number(news.coverage).take());
  }
  void tell_end(const AttemptEnd& end) {
    add(LetterWriter(LetterKind::trial_end, 0)
            .count(static_cast<Index>(end.kind))
            .text(end.error)
            .take());
  }

  void add(Letter letter) {
    const std::scoped_lock lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  [[nodiscard]] std::vector<Letter> take_letters() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(letters_, {});
  }

  MpiSession::Mail& mail_;
  bool leaving_ = false;
  std::atomic<bool> end_ = false;
  std::unique_ptr<SharedCells> cells_;
  std::mutex mutex_;
  std::vector<Letter> letters_;  // to rank 0
  std::jthread thread_;          // last: it uses all the others
};

}  // namespace

void serve_trials(MpiSession& session) { TrialServant(session.mail()).serve(); }

}  // namespace rarefy
