// The domains known by name: each is a row.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rarefy/domains/domain.hpp"
#include "rarefy/experiment/config.hpp"

namespace rarefy {

/// The paper's hyperparameters for one domain (its table of them).
struct PublishedValues {
  double dds_sigma0;
  double cnf_sigma0;
  double bandwidth;
  double novelty_threshold;
  double cma_mae_sigma0;
  double cma_me_sigma0;
  double iso_sigma;
};

struct DomainRow {
  std::string_view name;
  std::string_view meaning;
  std::unique_ptr<Domain> (*make)(const ProblemOptions& options);
  /// What there is to maximise besides being different, the default first. What is the least of
  /// an objective, the domain says itself (DomainInfo::least_objective).
  std::vector<std::string_view> objectives;
  /// What is different from default-constructed ProblemOptions.
  void (*set_defaults)(ProblemOptions& options);
  PublishedValues printed;
  /// Puts right what is printed where that does not give the printed results.
  void (*mend)(PublishedValues& values) = [](PublishedValues& /*values*/) {};
  /// The parameters of [domain] that it reads, besides n and objective.
  std::vector<std::string_view> parameters;
  /// The objective that `rarefy evaluate` reports unless told otherwise.
  std::string_view evaluated_objective = "constant";
  /// Solutions have this many values and no other number; 0: any.
  Index only_n = 0;

  /// What does give them.
  [[nodiscard]] PublishedValues published() const {
    auto values = printed;
    mend(values);
    return values;
  }
};

[[nodiscard]] std::span<const DomainRow> domain_rows();
/// Throws an Error with the nearest name where there is none of that name.
[[nodiscard]] const DomainRow& domain_named(std::string_view name);
/// The row of a configuration's domain; none for a problem of the user's own.
[[nodiscard]] const DomainRow* domain_row_of(const Config& config);

/// The domain that `config` names. Throws for a problem of the user's own, of which only the
/// description is known.
[[nodiscard]] std::unique_ptr<Domain> make_domain(const Config& config);
/// Its description, which is known for every problem.
[[nodiscard]] DomainInfo domain_info(const Config& config);

}  // namespace rarefy
