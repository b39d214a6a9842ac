#include "reports/page_shell.hpp"

namespace rarefy {

std::string_view page_shell() { return {}; }

}  // namespace rarefy
