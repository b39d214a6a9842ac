// Parts of a search that are written in Python. The search lets go of the interpreter while it
// works, and its threads call these at the same time: each takes the interpreter for as long as it
// needs it.
#pragma once

#include <memory>

#include "python_part.hpp"
#include "rarefy/density/density.hpp"
#include "rarefy/emitters/emitter.hpp"

namespace rarefy::python {

/// A density: an object with
///   score(features) -> scores             lower is sparser
///   observe(features, objectives)         takes in a batch
/// and, where it has a state that is to be saved, __getstate__ and __setstate__ as pickle has them.
[[nodiscard]] std::unique_ptr<Density> make_python_density(std::shared_ptr<PythonPart> density,
                                                           Index feature_dim);

/// An emitter: an object with
///   batch                                                         how many solutions it proposes
///   ask(iteration) -> solutions
///   tell(solutions, features, objectives, scores, order) -> bool  true: restart
///   restart(solution)
[[nodiscard]] std::unique_ptr<Emitter> make_python_emitter(std::shared_ptr<PythonPart> emitter,
                                                           Index solution_dim);

}  // namespace rarefy::python
