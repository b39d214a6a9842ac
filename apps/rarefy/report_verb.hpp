// What `rarefy experiment report` and `rarefy compare` have in common: all but whose results.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): another library's
class App;
}

namespace rarefy::command {

struct ReportVerb {
  std::vector<std::string> folders;
  std::string format;  ///< empty: by the ending of `out`
  std::string out, page, plots;
  std::optional<double> reach;
  double level = 0.05;

  /// Puts all options on the verb but the folders.
  void add_options(CLI::App& verb);
  [[nodiscard]] int run() const;
};

}  // namespace rarefy::command
