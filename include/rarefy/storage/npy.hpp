// Arrays in the .npy format of NumPy: what other programs read without us.
//
// Written: float64 and int64, C order, format 1.0, the bytes that numpy.save
// would write. Read: every format version, the plain little-endian number types,
// either order. Nothing a file claims is believed before it is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/storage/file_place.hpp"

namespace rarefy {

/// An array as read: any number of dimensions, C order (the last one varies fastest).
struct NpyArray {
  enum class Type {
    float64,  ///< from float32 and float64
    int64,    ///< from int32, int64, uint32, bool, and uint64 where every value fits
  };

  std::string name;          ///< where it came from, for errors
  std::vector<Index> shape;  ///< empty for a scalar
  std::variant<std::vector<double>, std::vector<std::int64_t>> values;

  [[nodiscard]] Type type() const { return values.index() == 0 ? Type::float64 : Type::int64; }
  [[nodiscard]] Index size() const;
  /// The values; Error (data) when the array is of the other type.
  [[nodiscard]] std::span<const double> reals() const;
  [[nodiscard]] std::span<const std::int64_t> integers() const;
};

/// "(3, 4)", as Python writes a shape.
[[nodiscard]] std::string shape_text(std::span<const Index> shape);

/// What precedes the values in a file; a multiple of 64 bytes long, so that they lie aligned.
[[nodiscard]] std::vector<std::byte> encode_npy_header(NpyArray::Type type,
                                                       std::span<const Index> shape);
/// Error (data) when the shape does not hold exactly the values.
[[nodiscard]] std::vector<std::byte> encode_npy(std::span<const double> values,
                                                std::span<const Index> shape);
[[nodiscard]] std::vector<std::byte> encode_npy(std::span<const std::int64_t> values,
                                                std::span<const Index> shape);
/// Throws Error (data) unless `shape` holds exactly `values` values.
void check_npy_shape(std::span<const Index> shape, std::size_t values);

/// Error (corrupt) for bytes that are no such file, Error (data) for an array of another kind.
[[nodiscard]] NpyArray decode_npy(std::span<const std::byte> bytes, std::string_view name);

/// A 2-D array, (rows, columns), as a batch. Integers must be exact as doubles. NaN and infinities
/// pass: what they mean is for the caller to say.
[[nodiscard]] Batch to_batch(NpyArray array);

/// Looks at the shape of an array before its values are read, and throws where it is not wanted.
using ShapeCheck = std::function<void(std::span<const Index> shape)>;

[[nodiscard]] NpyArray read_npy(const FilePlace& file, const ShapeCheck& accept = {});
[[nodiscard]] Batch read_npy_batch(const FilePlace& file, const ShapeCheck& accept = {});
/// Atomic: see atomic_file.hpp.
void write_npy(const FilePlace& file, BatchView batch);

}  // namespace rarefy
