// From a configuration to the search it describes.
#pragma once

#include <memory>
#include <string>

#include "rarefy/core/stop.hpp"
#include "rarefy/core/workers.hpp"
#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"
#include "rarefy/experiment/memory_estimate.hpp"
#include "rarefy/search.hpp"
#include "rarefy/tessellations/tessellation.hpp"

namespace rarefy {

/// Whether those cells, below, are a grid; they are Voronoi cells otherwise.
[[nodiscard]] bool uses_grid(const Config& config, const DomainInfo& domain);

/// Throws where there can be no such search: values that do not fit each other, or more than memory
/// can hold (experiment/memory_estimate.hpp). To be asked before anything large is made.
void check_search(const Config& config, const DomainInfo& domain, const MemoryUse& use = {});

/// The cells in which what is found is kept. Making the centroids of a large CVT takes
/// seconds; a tessellation can be shared by any number of searches.
[[nodiscard]] std::shared_ptr<const Tessellation> make_tessellation(const Config& config,
                                                                    const DomainInfo& domain,
                                                                    Workers& workers,
                                                                    StopFlag stop = nullptr);

/// The solutions that `config` names a file of, to start from; none where it names none.
[[nodiscard]] Batch read_initial_solutions(const Config& config, const DomainInfo& domain);
/// Throws Error (data) where solutions cannot be started from. `file` stands for them in messages.
void check_initial_solutions(BatchView solutions, const Config& config, const DomainInfo& domain,
                             const std::string& file);

/// The parts that `config` names, to exchange some before a Search is made of them. Emitters start
/// at the initial solutions, spread over them, or at x0 where there are none.
[[nodiscard]] SearchParts make_parts(const Config& config, const DomainInfo& domain,
                                     std::shared_ptr<const Tessellation> cells,
                                     BatchView initial_solutions = {});
[[nodiscard]] SearchOptions make_search_options(const Config& config, Batch initial_solutions = {});

/// A search for the given problem, which need not be one of ours: name, solution_dim and
/// feature_space of `domain` are enough. What `config` says of the domain is not looked at.
[[nodiscard]] std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain,
                                                  Index threads = 0);
/// With a thread team, and cells, that may be shared with other searches.
[[nodiscard]] std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain,
                                                  std::shared_ptr<Workers> team,
                                                  std::shared_ptr<const Tessellation> cells = {});
/// With initial solutions at hand, too: no file is read.
[[nodiscard]] std::unique_ptr<Search> make_search(const Config& config, const DomainInfo& domain,
                                                  std::shared_ptr<Workers> team,
                                                  std::shared_ptr<const Tessellation> cells,
                                                  Batch initial_solutions);

}  // namespace rarefy
