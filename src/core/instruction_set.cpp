#include "rarefy/core/instruction_set.hpp"

#include <hwy/highway.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

struct Level {
  InstructionSet set;
  std::int64_t needs;  // the Highway targets of which one must be there; 0: nothing
};

constexpr std::array kLevels = {
    Level{InstructionSet::baseline, 0},
#if HWY_ARCH_X86
    Level{InstructionSet::avx2, HWY_AVX2},
    Level{InstructionSet::avx512, HWY_AVX3},
#endif
};

std::atomic<int> pinned{-1};

}  // namespace

InstructionSet instruction_set_named(std::string_view name) {
  if (name == "auto") return best_instruction_set();
  std::vector<std::string_view> known = {"auto"};
  for (const auto& [set, its_name] : EnumNames<InstructionSet>::all) {
    if (its_name == name) return set;
    known.push_back(its_name);
  }
  throw unknown_name(EnumNames<InstructionSet>::thing, name, known);
}

InstructionSet best_instruction_set() {
  static const InstructionSet best = [] {
    auto found = InstructionSet::baseline;
    const auto supported = hwy::SupportedTargets();
    for (const auto& level : kLevels) {
      if (level.needs == 0 || (supported & level.needs) != 0) found = level.set;
    }
    return found;
  }();
  return best;
}

InstructionSet instruction_set() {
  const int set = pinned.load(std::memory_order_relaxed);
  return set < 0 ? best_instruction_set() : static_cast<InstructionSet>(set);
}

void pin_instruction_set(InstructionSet set) {
  if (set > best_instruction_set()) {
    throw Error(
        ErrorKind::parameter, "instruction set", name_of(set),
        "one that this processor has; its best is " + std::string(name_of(best_instruction_set())));
  }
  std::int64_t too_new = 0;
  for (const auto& level : kLevels) {
    if (level.set > set) too_new |= level.needs;
  }
  // Highway ranks newer targets by lower bits: whatever is below the lowest
  // unwanted one is newer still.
  if (too_new != 0) too_new |= (too_new & -too_new) - 1;
  hwy::DisableTargets(too_new);
  hwy::GetChosenTarget().DeInit();
  pinned.store(static_cast<int>(set), std::memory_order_relaxed);
}

}  // namespace rarefy
