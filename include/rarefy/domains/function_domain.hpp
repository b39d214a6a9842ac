// A problem made of a description and a function.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "rarefy/domains/domain.hpp"

namespace rarefy {

class FunctionDomain : public Domain {
 public:
  /// Fills the features of one solution and returns its objective (1 where there is none). It is
  /// called by several threads at a time.
  using Function =
      std::function<double(std::span<const double> solution, std::span<double> features)>;

  FunctionDomain(DomainInfo info, Function function)
      : Domain(std::move(info)), function_(std::move(function)) {}

  void evaluate(BatchView solutions, BatchSpan features,
                std::span<double> objectives) const override {
    for (Index i = 0; i < solutions.rows(); ++i) {
      objectives[static_cast<std::size_t>(i)] = function_(solutions.row(i), features.row(i));
    }
  }
  [[nodiscard]] Index rows_together() const override { return 1; }

 private:
  Function function_;
};

}  // namespace rarefy
