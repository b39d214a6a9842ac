// Elementary functions with the same bits on every machine.
//
// Those of the system's mathematical library are chosen by processor, and change with its version.
// A search amplifies the last bit of a logarithm, so whatever decides a result calls these. They
// use nothing but operations that IEEE 754 rounds exactly, one at a time: neither the processor,
// nor the instruction set, nor the library matters. Pictures may have the system's.
//
// Errors are in ulp, units in the last place of the result, and hold over the whole range where
// results are normal numbers; tests/core/maths_test.cpp measures them. Subnormal results may be off
// by one more unit. What has no value is NaN, as are all functions of NaN (but for power(x, 0)).
#pragma once

#include <cstdint>

namespace rarefy::maths {

/// Less than 1 ulp.
[[nodiscard]] double exp(double x);
/// 2^x, less than 1.25 ulp; exact for integers.
[[nodiscard]] double exp2(double x);
/// The natural logarithm, less than 1 ulp.
[[nodiscard]] double log(double x);
/// log(1 + x), less than 1.5 ulp.
[[nodiscard]] double log1p(double x);
/// base^exponent for base >= 0, less than 1 ulp. A negative base gives NaN.
[[nodiscard]] double power(double base, double exponent);
/// sin(pi x), less than 1 ulp; exactly 0 for integers.
[[nodiscard]] double sin_pi(double x);
/// cos(pi x), less than 1 ulp; exactly 0 halfway between integers.
[[nodiscard]] double cos_pi(double x);
/// ln Gamma(m / 2) for m >= 1, in m / 2 steps; up to m = 1000 less than 2 ulp or, where
/// that is more, 2^-52.
[[nodiscard]] double log_gamma_of_half(std::int64_t m);
/// The length of a vector whose squares neither overflow nor vanish.
[[nodiscard]] double length(double x, double y);

}  // namespace rarefy::maths
