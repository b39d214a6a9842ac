#include "rarefy/domains/domain.hpp"

#include <fmt/format.h>

#include "rarefy/core/error.hpp"

namespace rarefy {

void DomainInfo::check() const {
  if (solution_dim < 1) {
    throw Error(ErrorKind::parameter, "domain: values in a solution",
                fmt::format("{}", solution_dim), "at least 1");
  }
  feature_space.check();
  if (!feature_names.empty() && static_cast<Index>(feature_names.size()) != feature_dim()) {
    throw Error(ErrorKind::parameter, "domain: names of features",
                fmt::format("{}", feature_names.size()),
                fmt::format("{}, one for each feature, or none", feature_dim()));
  }
}

}  // namespace rarefy
