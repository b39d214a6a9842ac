#include "kernels/dense.hpp"

#include "rarefy/core/instruction_set.hpp"

namespace rarefy::kernels {

namespace baseline {
extern const DenseKernels kernels;
}
#ifdef RAREFY_HAVE_X86_LEVELS
namespace avx2 {
extern const DenseKernels kernels;
}
namespace avx512 {
extern const DenseKernels kernels;
}
#endif

const DenseKernels& dense() {
#ifdef RAREFY_HAVE_X86_LEVELS
  switch (instruction_set()) {
    case InstructionSet::avx512: return avx512::kernels;
    case InstructionSet::avx2: return avx2::kernels;
    case InstructionSet::baseline: break;
  }
#endif
  return baseline::kernels;
}

}  // namespace rarefy::kernels
