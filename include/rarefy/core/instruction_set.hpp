// Which vector instructions the kernels use.
//
// The best set that the processor has is picked when the program starts. The
// same seed gives the same bits on one instruction set, whichever the processor
// and the system's mathematical library; between sets, sums may be rounded
// differently. A run records the set it used, and it can be pinned to repeat
// that run on another machine.
#pragma once

#include <string_view>
#include <utility>

#include "rarefy/core/names.hpp"

namespace rarefy {

enum class InstructionSet {
  baseline,  ///< SSE4.2 on x86 (any since 2009), NEON on Arm
  avx2,      ///< AVX2 and FMA
  avx512,    ///< AVX-512 F, BW, CD, DQ and VL
};

template <>
struct EnumNames<InstructionSet> {
  static constexpr std::string_view thing = "instruction set";
  static constexpr std::pair<InstructionSet, std::string_view> all[] = {
      {InstructionSet::baseline, "baseline"},
      {InstructionSet::avx2, "avx2"},
      {InstructionSet::avx512, "avx512"}};
};

/// The set named `name`; "auto" is the best one here. Throws on an unknown name.
[[nodiscard]] InstructionSet instruction_set_named(std::string_view name);

/// The best set of this processor.
[[nodiscard]] InstructionSet best_instruction_set();
/// The set in use.
[[nodiscard]] InstructionSet instruction_set();
/// Uses `set` from now on; throws where the processor does not have it.
/// Call it before work starts, not while another thread is in a kernel.
void pin_instruction_set(InstructionSet set);

}  // namespace rarefy
