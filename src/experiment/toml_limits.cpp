#include "experiment/toml_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <new>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

// Our own files have at most three levels, and a few kilobytes. The two limits multiply.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr int kMostParts = 8;      // of a key, a.b.c
constexpr int kMostBrackets = 16;  // open at a time

// Where strings and comments end is all that must be known to count dots and brackets. What is
// not valid TOML may be counted wrongly; the parser stops where it is not.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  void check() {
    while (!text_.empty()) {
      const char c = text_.front();
      if (c == '#') {
        skip_to(text_.find('\n'));
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        count(c);
        skip_to(1);
      }
    }
  }

 private:
  void skip_to(std::size_t position) {
    const auto skipped = text_.substr(0, std::min(position, text_.size()));
    line_ += std::count(skipped.begin(), skipped.end(), '\n');
    text_.remove_prefix(skipped.size());
  }

  // A string of one line, or of many between three quotes.
  void skip_string(char quote) {
    const std::string three(3, quote);
    if (text_.starts_with(three)) {
      std::size_t at = 3;
      while (at < text_.size() && !text_.substr(at).starts_with(three)) {
        at += quote == '"' && text_[at] == '\\' ? 2 : 1;
      }
      at = std::min(at + 3, text_.size());
      while (at < text_.size() && text_[at] == quote) ++at;  // quotes just before the end
      skip_to(at);
      return;
    }
    std::size_t at = 1;
    while (at < text_.size() && text_[at] != quote && text_[at] != '\n') {
      at += quote == '"' && text_[at] == '\\' ? 2 : 1;
    }
    skip_to(at + 1);
  }

  void count(char c) {
    if (c == '.') {
      if (++dots_ >= kMostParts) refuse(fmt::format("keys of at most {} parts", kMostParts));
    } else if (c == '=' || c == ',' || c == '\n' || c == '[' || c == ']' || c == '{' || c == '}') {
      dots_ = 0;
    }
    if (c == '[' || c == '{') {
      if (++brackets_ > kMostBrackets) {
        refuse(fmt::format("at most {} lists and tables within each other", kMostBrackets));
      }
    } else if ((c == ']' || c == '}') && brackets_ > 0) {
      --brackets_;
    }
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    throw Error(ErrorKind::parameter,
                fmt::format("{}:{}: nested too deeply, expected {}", file_, line_, expected));
  }

  std::string_view text_, file_;
  std::ptrdiff_t line_ = 1;
  int dots_ = 0;
  int brackets_ = 0;
};

// The parser ends the process where it finds no memory, so some must be there beforehand: throws
// std::bad_alloc where there are not so many bytes.
void expect_room(std::size_t bytes) {
  void* const room = ::operator new(bytes);
  *static_cast<volatile char*>(room) = 0;  // so that it is not optimised away
  ::operator delete(room);
}

}  // namespace

void check_toml_limits(std::string_view text, std::string_view file) {
  if (text.size() > kMostBytes) {
    throw Error(ErrorKind::parameter, file, fmt::format("{} bytes", text.size()),
                fmt::format("at most {} bytes of TOML", kMostBytes));
  }
  Scanner(text, file).check();
  expect_room(128 * text.size() + (std::size_t{1} << 18));
}

}  // namespace rarefy
