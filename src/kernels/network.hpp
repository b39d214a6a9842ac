// What a network does between its matrix products, element by element.
//
// Matrices are column-major floats, a column a sample; the number of units (rows) and all
// counts are multiples of kUnitMultiple, so that vectors never straddle columns.
//   lanes      f32
//   accuracy   activations and slopes within 4e-7 of the exact value (1 + |value|)
//   range      any; NaN stays NaN, and infinities have the activation's limits
#pragma once

#include <cstddef>

#include "rarefy/density/network_options.hpp"

namespace rarefy::kernels {

inline constexpr std::ptrdiff_t kUnitMultiple = 16;

/// z = f(z + bias), bias added to every column; slope = f'(z + bias).
void activate(Activation activation, float* z, const float* bias, float* slope,
              std::ptrdiff_t units, std::ptrdiff_t columns);

/// values *= factors
void scale(float* values, const float* factors, std::ptrdiff_t count);

/// out = slopes with row u multiplied by weights[u]: the tangents behind a first layer.
void scale_rows(const float* slopes, const float* weights, float* out, std::ptrdiff_t units,
                std::ptrdiff_t columns);

/// sums[c] += row . column c of values
void add_dot_products(const float* row, const float* values, float* sums, std::ptrdiff_t units,
                      std::ptrdiff_t columns);

/// out[u] = the sum of row u of values
void sum_rows(const float* values, float* out, std::ptrdiff_t units, std::ptrdiff_t columns);

struct AdamStep {
  float beta1, beta2;
  float rate;     ///< with the corrections of both moments' bias
  float epsilon;  ///< with the correction of the second moment's
};
/// One step of Adam on `count` parameters; whether all parameters and moments are finite.
bool adam_step(const AdamStep& step, const float* gradient, float* parameters, float* first,
               float* second, std::ptrdiff_t count);

}  // namespace rarefy::kernels
