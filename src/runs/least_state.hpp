// How small the saved state of a run cannot be.
#pragma once

#include <cstddef>

#include "rarefy/core/batch.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"

namespace rarefy {

/// The bytes that the large fields alone take in any state of such a search.
[[nodiscard]] double least_state_bytes(const Config& config, const DomainInfo& problem,
                                       Index cells);

/// Error (corrupt) where a state of `bytes` cannot be one of such a search. To be asked before one
/// is made: whoever forges a small file must not get a large search for it.
void check_state_size(const Config& config, const DomainInfo& problem, Index cells,
                      std::size_t bytes);

}  // namespace rarefy
