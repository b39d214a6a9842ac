// Distances from a query to many points and boxes: the inner loops of neighbour search.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rarefy::kernels {

// A squared distance is the sum over d of (q_d - x_d)^2, taken in the order of d, every operation
// rounded to nearest and none fused. So all functions here give the same bits with every
// instruction set, and the same as a plain loop.
//
// A squared distance to a box is the same sum with the box's point nearest to the query. Rounding
// keeps order, so what is computed for a box never exceeds what is computed for a point in it.

/// Points in one block, and boxes in one row.
constexpr std::ptrdiff_t kPointsPerBlock = 32;
constexpr std::ptrdiff_t kBoxesPerRow = 16;

/// Arrays that are read or written a vector at a time need so much room behind their end.
constexpr std::ptrdiff_t vector_padding() { return 8; }

/// A query that looks for points nearer than its limit.
struct Seeker {
  const double* query;
  double limit;  ///< a squared distance
  double* out;   ///< where the next squared distance found goes
};

/// Which of a row of boxes are nearer to a query than `limit`, as bits, and the squared distances
/// of them all.
///   low, high  the ends of all boxes in the first dimension, then in the second, and so on;
///              where there is no box, `low` is infinite
///   distances  has room for kBoxesPerRow
///   lanes      f64
std::uint32_t boxes_in_reach(const double* low, const double* high, const double* query,
                             std::ptrdiff_t dims, double limit, double* distances);

/// Writes the squared distances to the points of a block that are below a seeker's limit, in no
/// stated order, and moves its `out` past them; for each of `count` seekers, given by number.
///   block   the coordinates of kPointsPerBlock points in the first dimension, then in the
///           second, and so on; infinite where there is no point
///   out     has room for a block and vector_padding() more
///   lanes   f64
///   range   coordinates of queries finite; a distance that overflows is below no limit
void collect_nearer(const double* block, std::ptrdiff_t dims, Seeker* seekers,
                    const std::ptrdiff_t* which, std::ptrdiff_t count);

/// Which of many queries are nearer to one box than their own limits: writes their numbers in
/// ascending order and returns how many.
///   low, high  the ends of the box, `dims` of each
///   queries    `stride` coordinates in the first dimension, then in the second, and so on;
///              stride is a multiple of vector_padding()
///   limits     `stride` of them; 0 where there is no query: nothing is nearer than that
///   out        has room for `stride`
///   lanes      f64
std::ptrdiff_t queries_in_reach(const double* low, const double* high, const double* queries,
                                std::ptrdiff_t stride, std::ptrdiff_t dims, const double* limits,
                                std::ptrdiff_t* out);

/// Moves the smallest values to the front, at least k and at most `most` of them, in no stated
/// order; `kept` is how many. Returns a number that none of them exceeds and none of the others
/// falls below.
///   values  not negative, finite; room for vector_padding() more, which is overwritten
///   range   1 <= k <= most <= count
///   lanes   f64; exact
double keep_smallest(double* values, std::ptrdiff_t count, std::ptrdiff_t k, std::ptrdiff_t most,
                     std::ptrdiff_t* kept);

/// Replaces values by their square roots, correctly rounded.
///   values  room for vector_padding() more, which is overwritten
void square_roots(double* values, std::ptrdiff_t count);

}  // namespace rarefy::kernels
