#include "rarefy/domains/domain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"
#include "rarefy/core/text.hpp"

namespace rarefy {
namespace {

// All that is shown to people.
std::vector<std::string> texts_of(const DomainInfo& info) {
  std::vector<std::string> texts = {info.name, info.title};
  texts.insert(texts.end(), info.feature_names.begin(), info.feature_names.end());
  for (const auto& place : info.places) texts.push_back(place.name);
  return texts;
}

}  // namespace

void DomainInfo::check() const {
  if (solution_dim < 1) {
    throw Error(ErrorKind::parameter, "domain: values in a solution",
                fmt::format("{}", solution_dim), "at least 1");
  }
  feature_space.check();
  for (const auto& number : {solution_low, solution_high, least_objective, greatest_objective}) {
    if (number && !std::isfinite(*number)) {
      throw Error(ErrorKind::parameter, "domain: range of solutions or objectives",
                  fmt::format("{}", *number), "finite numbers, or none");
    }
  }
  if (constant_objective && (least_objective || greatest_objective)) {
    throw Error(ErrorKind::parameter, "domain: least or greatest objective",
                "one, though constant_objective is true",
                "constant_objective = false where objectives vary, or no such numbers");
  }
  for (const auto& text : texts_of(*this)) {
    if (!is_plain_line(text)) {
      throw Error(ErrorKind::parameter, "domain: a name or title",
                  fmt::format("'{}'", printable(text)), "one line of UTF-8 to print");
    }
  }
  if (!feature_names.empty() && static_cast<Index>(feature_names.size()) != feature_dim()) {
    throw Error(ErrorKind::parameter, "domain: names of features",
                fmt::format("{}", feature_names.size()),
                fmt::format("{}, one for each feature, or none", feature_dim()));
  }
}

std::string difference(const DomainInfo& a, const DomainInfo& b) {
  const auto box = [](const FeatureSpace& space) {
    return fmt::format("[{}] to [{}]", text_of(space.lower, ", "), text_of(space.upper, ", "));
  };
  const auto number = [](const std::optional<double>& value) {
    return value ? text_of(*value) : std::string("none");
  };
  const auto told = [](std::string_view thing, const auto& one, const auto& other) {
    return fmt::format("{} {} and {}", thing, one, other);
  };
  if (a.name != b.name) return told("name", a.name, b.name);
  if (a.solution_dim != b.solution_dim) {
    return told("values in a solution", a.solution_dim, b.solution_dim);
  }
  if (!(a.feature_space == b.feature_space)) {
    return told("feature space", box(a.feature_space), box(b.feature_space));
  }
  if (a.solution_low != b.solution_low || a.solution_high != b.solution_high) {
    return told("range of solutions from", number(a.solution_low), number(b.solution_low));
  }
  if (a.constant_objective != b.constant_objective) {
    return told("constant objective", a.constant_objective, b.constant_objective);
  }
  if (a.least_objective != b.least_objective) {
    return told("least objective", number(a.least_objective), number(b.least_objective));
  }
  return "";
}

}  // namespace rarefy
