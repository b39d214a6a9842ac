// A cell of an archive that the user names on the command line.
#pragma once

#include <string>
#include <string_view>

#include "rarefy/archives/archive.hpp"

namespace rarefy::command {

struct ChosenCell {
  Index cell = 0;
  Index elite = 0;
};

/// The cell that `text` names, by its number or by a point in it, and its elite. Throws an Error
/// that names `option` where there is no such cell, or where nothing was found for it.
[[nodiscard]] ChosenCell find_cell(const Archive& archive, std::string_view option,
                                   const std::string& text);

}  // namespace rarefy::command
