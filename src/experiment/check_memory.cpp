// Whether there is memory for what a configuration asks for. Where there is not, it is better said
// than found out by whoever ends processes that take too much.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/memory_estimate.hpp"
#include "rarefy/experiment/parameters.hpp"

namespace rarefy {
namespace {

// The shares of the moment at which most is taken, the largest first.
std::vector<MemoryShare> shares_of(const MemoryEstimate& estimate, double MemoryShare::*bytes) {
  auto shares = estimate.shares;
  std::ranges::stable_sort(shares, std::greater(), bytes);
  double sum = 0;
  for (const auto& share : shares) sum += share.*bytes;
  if (estimate.preparing.*bytes > sum) shares = {estimate.preparing};
  return shares;
}

// The largest of them, as "1.6 GB for 100,000,000 cells, 0.8 GB for ...".
std::string largest(const MemoryEstimate& estimate, double MemoryShare::*bytes) {
  const auto shares = shares_of(estimate, bytes);
  std::vector<std::string> told;
  constexpr double kWorthTelling = 0.1;  // of the largest
  for (const auto& share : shares) {
    if (told.size() == 3 || share.*bytes < kWorthTelling * (shares.front().*bytes)) break;
    told.push_back(fmt::format("{} for {}", memory_text(share.*bytes), share.what));
  }
  return fmt::format("{}", fmt::join(told, ", "));
}

// With fewer digits, so that it reads well.
std::int64_t rounded_down(std::int64_t value) {
  std::int64_t unit = 1;
  while (value / unit >= 1000) unit *= 10;
  return value / unit * unit;
}

// The search for values with which a configuration would fit.
class WhatFits {
 public:
  WhatFits(Config config, DomainInfo domain, const MemoryUse& use, double bytes)
      : config_(std::move(config)), domain_(std::move(domain)), use_(use), bytes_(bytes) {}

  // "grid 4,800", or nothing where no value would do.
  [[nodiscard]] std::string by(std::string_view name) const {
    if (name == "n" && config_.own_problem) return "";
    const auto& parameter = parameter_named(name);
    const auto value = parameter.get(config_);
    const auto* const now = std::get_if<std::int64_t>(&value);
    if (now == nullptr) return "";
    auto fitting = static_cast<std::int64_t>(std::max(1.0, parameter.low));
    if (fitting >= *now || !fits_with(parameter, fitting)) return "";
    for (auto beyond = *now; beyond - fitting > 1;) {
      const auto middle = fitting + (beyond - fitting) / 2;
      (fits_with(parameter, middle) ? fitting : beyond) = middle;
    }
    fitting = rounded_down(fitting);
    auto text = fmt::format("{} {}", name, with_commas(fitting));
    if (name == "cells" && samples_for(fitting) < config_.archive.cvt.samples) {
      text += fmt::format(" with cvt-samples {}", with_commas(samples_for(fitting)));
    }
    return text;
  }

  [[nodiscard]] std::string by_strategy() const {
    if (algorithm_of(config_).emitter != &kStrategyEmitter ||
        strategy_for(config_.emitters.strategy, domain_.solution_dim) != Strategy::cma_es ||
        config_.profile == Profile::published) {
      return "";
    }
    Config other = config_;
    other.emitters.strategy = Strategy::sep_cma_es;
    return fits(other, domain_) ? "the strategy sep-cma-es or lm-ma-es, whose memory is linear in n"
                                : "";
  }

 private:
  [[nodiscard]] bool fits_with(const Parameter& parameter, std::int64_t value) const {
    Config config = config_;
    DomainInfo domain = domain_;
    parameter.put(config, value);
    if (parameter.name == "n") domain.solution_dim = value;
    if (parameter.name == "cells") config.archive.cvt.samples = samples_for(value);
    return fits(config, domain);
  }
  // Fewer cells need no more samples than the defaults have, in proportion.
  [[nodiscard]] Index samples_for(Index cells) const {
    constexpr CvtOptions kDefaults;
    return std::min(config_.archive.cvt.samples, kDefaults.samples / kDefaults.cells * cells);
  }
  [[nodiscard]] bool fits(const Config& config, const DomainInfo& domain) const {
    return estimate_memory(config, domain, use_).first() <= bytes_;
  }

  Config config_;
  DomainInfo domain_;
  MemoryUse use_;
  double bytes_;
};

// "; what would fit: ...", or nothing.
std::string what_would_fit(const MemoryEstimate& estimate, const WhatFits& fits) {
  std::vector<std::string> told;
  const auto tell = [&](std::string text) {
    if (text.empty() || told.size() == 3 || std::ranges::count(told, text) > 0) return;
    told.push_back(std::move(text));
  };
  for (const auto& share : shares_of(estimate, &MemoryShare::first)) {
    if (share.parameter == "n") tell(fits.by_strategy());
    tell(fits.by(share.parameter));
  }
  tell(fits.by("emitters"));
  if (told.empty()) tell(fits.by("n"));
  if (told.empty()) return "";
  return fmt::format("; what would fit: {}", fmt::join(told, ", or "));
}

}  // namespace

void check_memory(const Config& config, const DomainInfo& domain, const MemoryUse& use,
                  const MemoryLimit& limit) {
  const auto estimate = estimate_memory(config, domain, use);
  if (estimate.first() <= limit.bytes) return;
  const WhatFits fits(config, domain, use, limit.bytes);
  throw Error(ErrorKind::parameter, "memory",
              fmt::format("a configuration that takes {} ({})", memory_text(estimate.first()),
                          largest(estimate, &MemoryShare::first)),
              fmt::format("no more than the {} of {}{}", memory_text(limit.bytes), limit.whose,
                          what_would_fit(estimate, fits)));
}

std::string memory_warning(const Config& config, const DomainInfo& domain, const MemoryUse& use,
                           const MemoryLimit& limit) {
  const auto estimate = estimate_memory(config, domain, use);
  if (estimate.last() <= limit.bytes) return "";
  return fmt::format("memory may run out: this may come to take {} ({}), and {} has {}",
                     memory_text(estimate.last()), largest(estimate, &MemoryShare::last),
                     limit.whose, memory_text(limit.bytes));
}

}  // namespace rarefy
