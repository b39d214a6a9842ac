// The program that a configuration names.
#pragma once

#include <memory>

#include "rarefy/evaluators/program_evaluator.hpp"
#include "rarefy/experiment/config.hpp"

namespace rarefy {

/// Nothing where no program evaluates.
[[nodiscard]] std::shared_ptr<ProgramEvaluator> make_program(const Config& config);

}  // namespace rarefy
