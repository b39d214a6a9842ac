#include "rarefy/runs/turns.hpp"

#include <fmt/format.h>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Turns belong to nobody: the order of one run may be given to another.
constexpr JournalOwner kNobody = {.run = 0x74757273U, .feature_dim = 0};

JournalRecord record_of(std::int64_t number, const Turn& turn) {
  return {.iteration = number,
          .row = turn.emitter,
          .solution = static_cast<std::uint64_t>(turn.kind),
          .features = {}};
}

// Appends it, unless it is nothing that we write.
bool append(const JournalRecord& record, std::vector<Turn>& turns) {
  const bool follows = record.iteration == static_cast<std::int64_t>(turns.size());
  if (!follows || record.solution > static_cast<std::uint64_t>(TurnKind::asked)) return false;
  turns.push_back({record.row, static_cast<TurnKind>(record.solution)});
  return true;
}

}  // namespace

std::vector<Turn> read_turns(const FilePlace& file) {
  std::vector<Turn> turns;
  bool whole = true;
  read_journal(file, kNobody,
               [&](const JournalRecord& record) { whole = whole && append(record, turns); });
  return turns;
}

void write_turns(const FilePlace& file, const std::vector<Turn>& turns) {
  Journal journal(file, kNobody, 0, [](const JournalRecord&) {});
  for (std::size_t i = 0; i < turns.size(); ++i) {
    journal.add(record_of(static_cast<std::int64_t>(i), turns[i]));
  }
  journal.sync();
}

Turns::Turns(const FilePlace& file, std::int64_t behind) : taken_(behind) {
  auto turns = read_turns(file);
  const auto count = static_cast<std::int64_t>(turns.size());
  if (count < behind) {
    throw Error(ErrorKind::data, fmt::format("{}: turns of the emitters", file.string()),
                fmt::format("{}", count),
                fmt::format("at least the {} that the checkpoint has behind it", behind));
  }
  file_ = std::make_unique<Journal>(file, kNobody, 0, [](const JournalRecord&) {});
  forget_from(count);  // what makes no sense
  prescribed_.assign(turns.begin() + behind, turns.end());
}

std::optional<Turn> Turns::prescribed() const {
  if (next_ == prescribed_.size()) return std::nullopt;
  return prescribed_[next_];
}

void Turns::skip() {
  leave_the_file();
  ++next_;
}

void Turns::note(const Turn& turn) {
  const auto next = prescribed();
  if (next && next->emitter == turn.emitter) {
    if (*next != turn) leave_the_file();
    ++next_;
    if (in_file_) return;
  } else if (next) {
    leave_the_file();
    prescribed_.clear();
    next_ = 0;
  }
  if (file_ == nullptr) return;
  file_->add(record_of(taken_, turn));
  file_->write();
}

// What is prescribed is not what is going to be done: the file has only what was.
void Turns::leave_the_file() {
  if (in_file_) forget_from(taken_);
  in_file_ = false;
}

void Turns::forget_from(std::int64_t number) {
  if (file_ == nullptr || file_->size() <= number) return;
  file_->keep_only([number](const JournalRecord& record) { return record.iteration < number; });
}

void Turns::sync() {
  if (file_ != nullptr) file_->sync();
}

}  // namespace rarefy
