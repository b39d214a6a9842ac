#include "rarefy/core/instruction_set.hpp"

#include <hwy/highway.h>

#include <array>
#include <atomic>
#include <string>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

struct Level {
  InstructionSet set;
  std::string_view name;
  std::int64_t needs;  // the Highway targets of which one must be there; 0: nothing
};

constexpr std::array kLevels = {
    Level{InstructionSet::baseline, "baseline", 0},
#if HWY_ARCH_X86
    Level{InstructionSet::avx2, "avx2", HWY_AVX2},
    Level{InstructionSet::avx512, "avx512", HWY_AVX3},
#endif
};

std::atomic<int> pinned{-1};

}  // namespace

std::string_view name_of(InstructionSet set) {
  for (const auto& level : kLevels) {
    if (level.set == set) return level.name;
  }
  return "unknown";
}

InstructionSet instruction_set_named(std::string_view name) {
  if (name == "auto") return best_instruction_set();
  std::string known = "auto";
  for (const auto& level : kLevels) {
    if (level.name == name) return level.set;
    known += ", " + std::string(level.name);
  }
  throw Error(ErrorKind::parameter, "instruction set", "'" + std::string(name) + "'",
              "one of " + known);
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
