#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "rarefy/core/error.hpp"
#include "rarefy/core/text.hpp"

namespace rarefy::command {

void print_data(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (whole && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) return;  // the reader has seen enough
  throw Error(ErrorKind::io,
              "cannot write to standard output: " + std::generic_category().message(errno));
}

void print_out(std::string_view text) { print_data(printable(text)); }

}  // namespace rarefy::command
