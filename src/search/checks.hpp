// What a search is made of must fit together.
#pragma once

#include "rarefy/search.hpp"

namespace rarefy {

/// Both throw an Error (parameter) that names what does not fit.
void check_parts(const SearchParts& parts);
void check_initial_solutions(BatchView solutions, Index dimension);

}  // namespace rarefy
