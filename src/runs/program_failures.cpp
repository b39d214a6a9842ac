#include "runs/program_failures.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "rarefy/core/text.hpp"
#include "rarefy/storage/atomic_file.hpp"

namespace rarefy {
namespace {

constexpr std::size_t kMost = 256 << 10;  // bytes of the file

// From the first whole line on.
std::string newest(std::string text) {
  if (text.size() <= kMost) return text;
  text.erase(0, text.size() - kMost);
  text.erase(0, text.find('\n') + 1);
  return text;
}

}  // namespace

ProgramFailures::ProgramFailures(ProgramRecord& program, FilePlace file)
    : program_(program), file_(std::move(file)) {}

void ProgramFailures::take(const Search& search, std::int64_t iteration) {
  for (const auto& failure : program_.take_failures()) {
    // A job is a batch of all emitters, number 0, or of the one of that number.
    const Index row = search.rows_of(failure.job).first + failure.row;
    fmt::format_to(std::back_inserter(news_), "iteration {}, solution {}: {}\n", iteration, row,
                   printable(failure.message));
    if (!failure.error_output.empty()) {
      fmt::format_to(std::back_inserter(news_), "  standard error: {}\n",
                     printable(failure.error_output));
    }
  }
  news_ = newest(std::move(news_));
}

void ProgramFailures::write() {
  if (news_.empty()) return;
  std::string text;
  if (file_.exists()) {
    const auto bytes = read_file(file_, 2 * kMost);
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  write_file_atomically(file_, newest(text + news_));
  news_.clear();
}

Next ProgramFailures::iteration_done(const Search& search) {
  take(search, search.iteration());
  return Next::go_on;
}

void ProgramFailures::checkpoint_written(const Search& /*search*/,
                                         const std::filesystem::path& /*file*/) {
  write();
}

void ProgramFailures::end(const Search& search, DriveEnd /*end*/) {
  take(search, search.iteration() + 1);  // of a batch that was not told
  write();
}

}  // namespace rarefy
