// The one exception type of the library. It says which thing was wrong, what
// was given and what was expected; its kind tells a program what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace rarefy {

enum class ErrorKind {
  parameter,    ///< an option whose value is impossible: the caller should change it
  data,         ///< values that cannot be used: wrong shape, NaN, infinite
  corrupt,      ///< a file that is not what it claims to be
  io,           ///< the system refused to read or write
  state,        ///< a call that does not fit the moment (tell before ask, for example)
  interrupted,  ///< somebody asked to stop before it was done
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  /// "`thing`: got `given`, expected `expected`".
  Error(ErrorKind kind, std::string_view thing, std::string_view given, std::string_view expected)
      : Error(kind, std::string(thing) + ": got " + std::string(given) + ", expected " +
                        std::string(expected)) {}

  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace rarefy
