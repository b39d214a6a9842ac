// Between numpy's arrays and batches. Arrays come in as contiguous doubles: the package converts
// what is anything else, and says which argument it was where it cannot.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace rarefy::python {

namespace nb = nanobind;

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T>;

inline BatchView view(const Rows& rows) {
  return {rows.data(), static_cast<Index>(rows.shape(0)), static_cast<Index>(rows.shape(1))};
}
template <typename Array>
auto span_of(const Array& values) {
  return std::span(values.data(), values.size());
}

/// An array over memory that `owner` keeps.
template <typename T, typename Owner>
Out<T> array_over(T* data, std::vector<std::size_t> shape, std::shared_ptr<Owner> owner) {
  using Kept = std::shared_ptr<Owner>;
  const nb::capsule capsule(new Kept(std::move(owner)),
                            [](void* kept) noexcept { delete static_cast<Kept*>(kept); });
  return Out<T>(data, shape.size(), shape.data(), capsule);
}
/// An array with memory of its own.
template <typename T>
Out<T> array_of(std::vector<T> values, std::vector<std::size_t> shape) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  T* const data = owner->data();
  return array_over(data, std::move(shape), std::move(owner));
}
template <typename T>
Out<T> copy_of(std::span<const T> values) {
  return array_of(std::vector<T>(values.begin(), values.end()), {values.size()});
}
inline Out<double> copy_of(BatchView batch) {
  const auto values = batch.values();
  return array_of(std::vector<double>(values.begin(), values.end()),
                  {static_cast<std::size_t>(batch.rows()), static_cast<std::size_t>(batch.cols())});
}
inline Batch batch_of(const Rows& rows) {
  const auto from = view(rows);
  return {std::vector<double>(from.values().begin(), from.values().end()), from.rows(),
          from.cols()};
}

}  // namespace rarefy::python
