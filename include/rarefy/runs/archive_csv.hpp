// An archive as a table.
#pragma once

#include <functional>
#include <string_view>

#include "rarefy/archives/archive.hpp"

namespace rarefy {

/// One line for every cell that was reached, by number, after the header
///
///   cell,visits,objective,feature_1,...,feature_m,solution_1,...,solution_n
///
/// Numbers have the digits that it takes to read the same ones back. Handed over piece by piece,
/// for an archive may be large.
void write_archive_csv(const Archive& archive, const std::function<void(std::string_view)>& out);

}  // namespace rarefy
