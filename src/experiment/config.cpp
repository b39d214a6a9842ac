#include "rarefy/experiment/config.hpp"

#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/domain_table.hpp"

namespace rarefy {

std::string_view meaning_of(Profile profile) {
  switch (profile) {
    case Profile::standard:
      return "the algorithms with correct parts; density descent with the additions in README";
    case Profile::published:
      return "made to come near the paper's own figures; see docs/published-profile.md";
    case Profile::text: break;
  }
  return "what the paper's text says, with correct parts and its printed hyperparameters";
}

Config::Config() { algorithm_named(algorithm).set_defaults(*this); }

Config default_config(std::string_view domain, std::string_view algorithm, Profile profile) {
  const auto& problem = domain_named(domain);
  const auto& row = algorithm_named(algorithm);
  Config config;
  config.domain = domain;
  config.algorithm = algorithm;
  config.profile = profile;
  problem.set_defaults(config.problem);
  row.set_defaults(config);
  switch (profile) {
    case Profile::standard: break;
    case Profile::published: row.set_published(config, problem.published()); break;
    case Profile::text: set_text(config, row, problem.printed); break;
  }
  return config;
}

}  // namespace rarefy
