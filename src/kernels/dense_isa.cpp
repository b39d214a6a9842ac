// Compiled once for each instruction set, with RAREFY_ISA set to its name; see
// cmake/InstructionSets.cmake. Only Eigen may be included here, under a name of
// its own, and nothing but `kernels` may be visible from outside.
#define RAREFY_JOIN_AGAIN(a, b) a##b
#define RAREFY_JOIN(a, b) RAREFY_JOIN_AGAIN(a, b)
#define Eigen RAREFY_JOIN(Eigen_, RAREFY_ISA)
// Temporaries of products stay on the stack, so that the loop allocates nothing.
#define EIGEN_STACK_ALLOCATION_LIMIT (1 << 20)
// Small products by the same algorithm as large ones: Eigen's other one rounds differently
// depending on how its output is aligned in memory.
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 1

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "kernels/dense.hpp"

namespace rarefy::kernels::RAREFY_ISA {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix>;

// Eigen cuts products by the sizes of the processor's caches, and where it cuts a sum, the sum
// rounds differently. With sizes of our own the same bits come out of any machine; these are
// large enough that products of layers up to 300 wide are not cut. Every function begins with
// this: the sizes are shared, and must not change while another thread reads them.
void fix_cache_sizes() {
  [[maybe_unused]] static const bool done = [] {
    constexpr std::ptrdiff_t kKiB = 1024;
    Eigen::setCpuCacheSizes(64 * kKiB, 1024 * kKiB, 8192 * kKiB);
    return true;
  }();
}

void solve_transposed(const double* factor, double* x, std::ptrdiff_t n) {
  fix_cache_sizes();
  Eigen::Map<Eigen::VectorXd> b(x, n);
  ConstMap(factor, n, n).transpose().triangularView<Eigen::Lower>().solveInPlace(b);
}

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

struct KeptSolver {
  explicit KeptSolver(std::ptrdiff_t n) : solver(n), size(n) {}
  Solver solver;
  std::ptrdiff_t size;
};

// Solvers keep their memory between decompositions, so that only the first ones allocate: as many
// as were ever at work at the same time. (Not one a thread: the first use of a thread_local object
// that has a destructor ends the process where there is no memory left to note the destructor.)
constexpr int kKeptMost = 256;
KeptSolver* kept_solvers[kKeptMost] = {};  // taken and put back whole, by atomic exchange

class BorrowedSolver {
 public:
  explicit BorrowedSolver(std::ptrdiff_t n) {
    for (int i = 0; i < kKeptMost && solver_ == nullptr; ++i) {
      solver_ = __atomic_exchange_n(&kept_solvers[i], nullptr, __ATOMIC_ACQUIRE);
    }
    // One for another size is made anew: told to change its size where there is no memory for
    // that, Eigen is left with a matrix that it frees twice.
    if (solver_ != nullptr && solver_->size == n) return;
    delete solver_;
    solver_ = nullptr;
    solver_ = new KeptSolver(n);
  }
  ~BorrowedSolver() {
    for (int i = 0; i < kKeptMost; ++i) {
      KeptSolver* expected = nullptr;
      if (__atomic_compare_exchange_n(&kept_solvers[i], &expected, solver_, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
        return;
      }
    }
    delete solver_;
  }
  BorrowedSolver(const BorrowedSolver&) = delete;
  BorrowedSolver& operator=(const BorrowedSolver&) = delete;
  Solver& operator*() { return solver_->solver; }

 private:
  KeptSolver* solver_ = nullptr;
};

bool eigenvectors(const double* c, double* values, double* vectors, std::ptrdiff_t n) {
  fix_cache_sizes();
  BorrowedSolver borrowed(n);
  Solver& solver = *borrowed;
  solver.compute(Eigen::Map<const Eigen::MatrixXd>(c, n, n));
  if (solver.info() != Eigen::Success) return false;
  Eigen::Map<Eigen::VectorXd>(values, n) = solver.eigenvalues();
  // Columns of a column-major matrix are rows of a row-major one.
  Eigen::Map<Eigen::MatrixXd>(vectors, n, n) = solver.eigenvectors();
  return true;
}

using Floats = Eigen::Map<Eigen::MatrixXf>;
using ConstFloats = Eigen::Map<const Eigen::MatrixXf>;

void forward(const float* w, const float* x, float* out, std::ptrdiff_t rows, std::ptrdiff_t inner,
             std::ptrdiff_t columns) {
  fix_cache_sizes();
  Floats(out, rows, columns).noalias() =
      ConstFloats(w, rows, inner) * ConstFloats(x, inner, columns);
}

void backward(const float* w, const float* d, float* out, std::ptrdiff_t rows, std::ptrdiff_t inner,
              std::ptrdiff_t columns) {
  fix_cache_sizes();
  Floats(out, inner, columns).noalias() =
      ConstFloats(w, rows, inner).transpose() * ConstFloats(d, rows, columns);
}

void outer(const float* d, const float* x, std::ptrdiff_t stride, float* out, std::ptrdiff_t rows,
           std::ptrdiff_t inner, std::ptrdiff_t columns) {
  fix_cache_sizes();
  const Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> xs(x, inner, columns,
                                                                      Eigen::OuterStride<>(stride));
  Floats(out, rows, inner).noalias() = ConstFloats(d, rows, columns) * xs.transpose();
}

}  // namespace

extern const DenseKernels kernels;
const DenseKernels kernels = {
    .solve_transposed = solve_transposed,
    .eigenvectors = eigenvectors,
    .forward = forward,
    .backward = backward,
    .outer = outer,
};

}  // namespace rarefy::kernels::RAREFY_ISA
