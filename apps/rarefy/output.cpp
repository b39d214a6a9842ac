#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "rarefy/core/error.hpp"

namespace rarefy::command {

void print_out(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole || std::fflush(stdout) != 0) {
    throw Error(ErrorKind::io,
                std::string("cannot write to standard output: ") + std::strerror(errno));
  }
}

}  // namespace rarefy::command
