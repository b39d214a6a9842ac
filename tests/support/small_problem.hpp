// A problem with the features that a picture has to label.
#pragma once

#include <string>

#include "rarefy/domains/domain.hpp"

/// Feature d, "name d", goes from 0 to 10 (d + 1).
inline rarefy::DomainInfo problem(rarefy::Index features) {
  rarefy::DomainInfo info;
  info.name = "mine";
  info.title = "My problem";
  info.solution_dim = 1;
  for (rarefy::Index d = 0; d < features; ++d) {
    info.feature_space.lower.push_back(0.0);
    info.feature_space.upper.push_back(static_cast<double>(d + 1) * 10.0);
    info.feature_names.push_back("name " + std::to_string(d));
  }
  return info;
}
