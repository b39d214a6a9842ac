#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "evaluators/mpi/mail.hpp"
#include "evaluators/mpi/pause.hpp"
#include "evaluators/mpi/workbench.hpp"
#include "rarefy/evaluators/mpi_evaluator.hpp"

namespace rarefy {
namespace {

class MpiServant {
 public:
  MpiServant(MpiSession::Mail& mail, const MakeEvaluator& make) : mail_(mail), make_(make) {}

  bool serve() {
    Pause pause;
    while (!leaving_) {
      bool any = false;
      while (auto received = mail_.receive()) {
        read(received->letter);
        any = true;
      }
      const auto wait = any ? Pause::Microseconds(0) : pause.next();
      if (bench_ != nullptr) {
        for (auto& letter : bench_->take(wait)) {
          mail_.send(0, std::move(letter));
          any = true;
        }
      } else {
        std::this_thread::sleep_for(wait);
      }
      mail_.sweep();
      if (any) pause.reset();
    }
    return bench_ == nullptr || bench_->leave();
  }

 private:
  // Whatever happens, rank 0 hears of it: if this rank left alone, all others would wait for it.
  void read(const Letter& letter) {
    LetterReader reader(letter);
    try {
      obey(reader);
    } catch (...) {
      mail_.send(0, LetterWriter(LetterKind::error, reader.epoch())
                        .exception(std::current_exception())
                        .take());
    }
  }

  void obey(LetterReader& reader) {
    switch (reader.kind()) {
      case LetterKind::greet: greet(reader); break;
      case LetterKind::evaluate: take_task(reader); break;
      case LetterKind::abandon:
        if (bench_ != nullptr) bench_->abandon(reader.epoch());
        break;
      case LetterKind::works:
        if (bench_ != nullptr) bench_->it_works();
        break;
      case LetterKind::leave: leaving_ = true; break;
      default: break;
    }
  }

  void greet(LetterReader& letter) {
    const auto epoch = letter.epoch();
    greeting_.solution_dim = letter.count();
    greeting_.feature_dim = letter.count();
    greeting_.text = letter.text();
    bench_.reset();
    auto evaluator = make_(greeting_);
    const auto places = evaluator->capacity();
    bench_ = std::make_unique<Workbench>(std::move(evaluator), greeting_.feature_dim, epoch);
    mail_.send(0, LetterWriter(LetterKind::ready, epoch).count(places).take());
  }

  void take_task(LetterReader& letter) {
    if (bench_ == nullptr) return;
    const auto ticket = letter.count();
    const auto rows = letter.count();
    const auto values = letter.values(rows * greeting_.solution_dim);
    bench_->add({.ticket = ticket,
                 .solutions = Batch({values.begin(), values.end()}, rows, greeting_.solution_dim)});
  }

  MpiSession::Mail& mail_;
  const MakeEvaluator& make_;
  MpiGreeting greeting_;
  std::unique_ptr<Workbench> bench_;
  bool leaving_ = false;
};

}  // namespace

bool serve_mpi(MpiSession& session, const MakeEvaluator& make) {
  return MpiServant(session.mail(), make).serve();
}

}  // namespace rarefy
