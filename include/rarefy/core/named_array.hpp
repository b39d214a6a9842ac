// An array for other programs to read: values that somebody else owns, and what to call them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rarefy/core/batch.hpp"

namespace rarefy {

struct NamedArray {
  NamedArray(std::string array_name, BatchView batch)
      : name(std::move(array_name)), shape{batch.rows(), batch.cols()}, values(batch.values()) {}
  NamedArray(std::string array_name, std::span<const double> reals, std::vector<Index> dimensions)
      : name(std::move(array_name)), shape(std::move(dimensions)), values(reals) {}
  NamedArray(std::string array_name, std::span<const std::int64_t> integers,
             std::vector<Index> dimensions)
      : name(std::move(array_name)), shape(std::move(dimensions)), values(integers) {}

  std::string name;  ///< the key in numpy.load(file), without ".npy"
  std::vector<Index> shape;
  std::variant<std::span<const double>, std::span<const std::int64_t>> values;
};

}  // namespace rarefy
