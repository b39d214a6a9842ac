#include "rarefy/storage/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "storage/npy_source.hpp"
#include "storage/read_at.hpp"

namespace rarefy {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory, which must be little-endian");
static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559);

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLongestHeader = std::size_t{1} << 16;
constexpr std::size_t kMostDimensions = 64;  // NumPy's own limit
constexpr std::string_view kReadable =
    "one of '<f4', '<f8', '<i4', '<i8', '<u4', '<u8', '|b1' (save it with "
    "numpy.asarray(x, dtype='<f8'))";

/// The number of values of a shape, or nothing when it does not fit in memory's own size. Zeros
/// are left out of that check: beside one, the other lengths must still be possible.
std::optional<std::size_t> count_values(std::span<const Index> shape) {
  constexpr Index kMost = std::numeric_limits<Index>::max() / 8;
  Index product = 1;
  bool empty = false;
  for (const auto length : shape) {
    if (length < 0) return std::nullopt;
    if (length == 0) {
      empty = true;
    } else if (length > kMost / product) {
      return std::nullopt;
    } else {
      product *= length;
    }
  }
  return empty ? 0 : static_cast<std::size_t>(product);
}

// ---- the header: a Python dictionary, of which this much is understood -------------------------

class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool seen_descr = false;
    bool seen_order = false;
    bool seen_shape = false;
    const auto once = [this](bool& seen, std::string_view key) {
      if (seen) corrupt(fmt::format("the key '{}' twice", key), "it once");
      seen = true;
    };
    need('{');
    while (!take('}')) {
      const auto key = string();
      need(':');
      if (key == "descr") {
        once(seen_descr, key);
        header.descr = descr();
      } else if (key == "fortran_order") {
        once(seen_order, key);
        header.fortran_order = truth();
      } else if (key == "shape") {
        once(seen_shape, key);
        header.shape = shape();
      } else {
        corrupt("an unknown key in the header", "'descr', 'fortran_order' and 'shape'");
      }
      if (!take(',')) {
        need('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) corrupt("something after the header's '}'", "its end");
    if (!seen_descr || !seen_order || !seen_shape) {
      corrupt("an incomplete header", "'descr', 'fortran_order' and 'shape'");
    }
    return header;
  }

 private:
  [[noreturn]] void corrupt(std::string_view given, std::string_view expected) const {
    throw Error(ErrorKind::corrupt, name_, given, expected);
  }
  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool take(char wanted) {
    skip_space();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void need(char wanted) {
    if (!take(wanted)) corrupt("a malformed header", fmt::format("'{}' there", wanted));
  }
  std::string string() {
    const char quote = take('"') ? '"' : '\'';
    if (quote == '\'') need('\'');
    const auto end = rest_.find(quote);
    if (end == std::string_view::npos) corrupt("a malformed header", "a closing quote");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string descr() {
    skip_space();
    if (rest_.starts_with('[') || rest_.starts_with('(')) {
      throw Error(ErrorKind::data, name_, "an array of structures", kReadable);
    }
    return string();
  }
  bool truth() {
    if (take("True")) return true;
    if (!take("False")) corrupt("a malformed 'fortran_order'", "True or False");
    return false;
  }
  Index length() {
    skip_space();
    Index value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      const Index digit = rest_[digits] - '0';
      if (value > (std::numeric_limits<Index>::max() - digit) / 10) {
        corrupt("a shape too large for any memory", "a possible one");
      }
      value = value * 10 + digit;
    }
    if (digits == 0) corrupt("a malformed shape", "whole numbers from 0");
    rest_.remove_prefix(digits);
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // so Python 2 wrote long integers
    return value;
  }
  std::vector<Index> shape() {
    std::vector<Index> lengths;
    need('(');
    while (!take(')')) {
      if (lengths.size() == kMostDimensions) {
        corrupt("a shape of too many dimensions", fmt::format("at most {}", kMostDimensions));
      }
      lengths.push_back(length());
      if (!take(',')) {
        need(')');
        break;
      }
    }
    return lengths;
  }

  std::string_view rest_;
  std::string_view name_;
};

// ---- the values --------------------------------------------------------------------------------

/// Calls visit(offset in the file, place in C order) for each of `count` > 0 values of an array in
/// Fortran order, whose first index varies fastest.
template <typename Visit>
void for_each_fortran(std::span<const Index> shape, std::size_t count, Visit visit) {
  std::vector<std::size_t> stride(shape.size());  // of each index, in C order
  std::size_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    stride[axis] = step;
    step *= static_cast<std::size_t>(shape[axis]);
  }
  std::vector<Index> index(shape.size(), 0);
  std::size_t place = 0;
  for (std::size_t offset = 0; offset < count; ++offset) {
    visit(offset, place);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      place += stride[axis];
      if (++index[axis] < shape[axis]) break;
      place -= stride[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
}

/// What a file says of its values.
struct Layout {
  NpyHeader header;
  std::size_t count = 0;        // of values
  std::uint64_t data_size = 0;  // in bytes
};

/// Values of type Stored turned into To by `convert`, in C order.
template <typename Stored, typename To, typename Convert>
std::vector<To> values_of(const NpySource& source, const Layout& layout, Convert convert) {
  const auto& header = layout.header;
  std::vector<To> values(layout.count);
  if (layout.count == 0) return values;
  const bool turned = header.fortran_order && header.shape.size() > 1;
  if constexpr (std::is_same_v<Stored, To>) {
    if (!turned) {  // straight to where they belong
      source.read(std::as_writable_bytes(std::span(values)));
      return values;
    }
  }
  std::vector<Stored> stored(layout.count);
  source.read(std::as_writable_bytes(std::span(stored)));
  if (turned) {
    for_each_fortran(header.shape, layout.count, [&](std::size_t offset, std::size_t place) {
      values[place] = convert(stored[offset]);
    });
  } else {
    std::ranges::transform(stored, values.begin(), convert);
  }
  return values;
}

Layout read_layout(const NpySource& source, std::string_view name) {
  const auto truncated = [&](std::size_t needed) {
    if (source.size >= needed) return;
    throw Error(ErrorKind::corrupt, name, fmt::format("{} bytes", source.size),
                fmt::format("a .npy array, whose header alone needs {}", needed));
  };
  std::array<std::byte, 12> start{};
  const auto first = static_cast<std::size_t>(std::min<std::uint64_t>(source.size, 10));
  source.read(std::span(start).first(first));
  const std::string_view begun(reinterpret_cast<const char*>(start.data()), first);
  if (!kNpyMagic.starts_with(begun.substr(0, kNpyMagic.size()))) {
    throw Error(ErrorKind::corrupt, name, "another kind of file", "a .npy array");
  }
  truncated(10);
  const auto major = std::to_integer<unsigned>(start[6]);
  const auto minor = std::to_integer<unsigned>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(ErrorKind::corrupt, name, fmt::format("version {}.{} of .npy", major, minor),
                "1.0, 2.0 or 3.0");
  }
  const std::size_t width = major == 1 ? 2 : 4;
  const std::size_t prefix = kNpyMagic.size() + 2 + width;
  truncated(prefix);
  source.read(std::span(start).subspan(first, prefix - first));
  std::uint32_t length = 0;
  std::memcpy(&length, start.data() + 8, width);
  if (length > kLongestHeader) {
    throw Error(ErrorKind::corrupt, name, fmt::format("a header of {} bytes", length),
                fmt::format("at most {}", kLongestHeader));
  }
  truncated(prefix + length);
  std::string text(length, '\0');
  source.read(std::as_writable_bytes(std::span(text)));
  return {.header = HeaderParser(text, name).parse(),
          .count = 0,
          .data_size = source.size - prefix - length};
}

/// The length of one stored value, for the types that are read.
std::size_t item_size(const std::string& descr, std::string_view name) {
  if (descr == "<f8" || descr == "<i8" || descr == "<u8") return 8;
  if (descr == "<f4" || descr == "<i4" || descr == "<u4") return 4;
  if (descr == "|b1") return 1;
  // Quoted only where it can be a type at all: in a corrupt file it may be anything.
  const bool printable = descr.size() <= 16 && std::all_of(descr.begin(), descr.end(), [](char c) {
                           return c > ' ' && c <= '~';
                         });
  std::string given = printable ? fmt::format("values of type '{}'", descr) : "an unknown type";
  if (descr.starts_with('>')) given += " (big-endian)";
  if (descr == "|O") given += " (Python objects)";
  throw Error(ErrorKind::data, name, given, kReadable);
}

template <typename Value>
std::vector<std::byte> encode(NpyArray::Type type, std::span<const Value> values,
                              std::span<const Index> shape) {
  check_npy_shape(shape, values.size());
  auto bytes = encode_npy_header(type, shape);
  const auto data = std::as_bytes(values);
  bytes.reserve(bytes.size() + data.size());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

}  // namespace

Index NpyArray::size() const {
  return std::visit([](const auto& all) { return static_cast<Index>(all.size()); }, values);
}

std::span<const double> NpyArray::reals() const {
  if (const auto* all = std::get_if<std::vector<double>>(&values)) return *all;
  throw Error(ErrorKind::data, name, "an array of integers", "real numbers");
}

std::span<const std::int64_t> NpyArray::integers() const {
  if (const auto* all = std::get_if<std::vector<std::int64_t>>(&values)) return *all;
  throw Error(ErrorKind::data, name, "an array of real numbers", "integers");
}

NpyHeader parse_npy_header(std::string_view text, std::string_view name) {
  return HeaderParser(text, name).parse();
}

std::string shape_text(std::span<const Index> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

void check_npy_shape(std::span<const Index> shape, std::size_t values) {
  const auto count = count_values(shape);
  if (!count || *count != values || shape.size() > kMostDimensions) {
    throw Error(ErrorKind::data, "shape of an array", shape_text(shape),
                fmt::format("one that holds {} values", values));
  }
}

std::vector<std::byte> encode_npy_header(NpyArray::Type type, std::span<const Index> shape) {
  auto text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                          type == NpyArray::Type::float64 ? "<f8" : "<i8", shape_text(shape));
  // NumPy leaves room for the first length to grow to 21 digits, and so do we: the same bytes.
  if (!shape.empty())
    text.append(21 - std::min<std::size_t>(21, fmt::formatted_size("{}", shape[0])), ' ');
  const std::size_t prefix = kNpyMagic.size() + 2 + 2;
  text.append(kAlignment - (prefix + text.size() + 1) % kAlignment, ' ');
  text.push_back('\n');

  const auto length = static_cast<std::uint16_t>(text.size());
  std::vector<std::byte> bytes(prefix + text.size());
  std::memcpy(bytes.data(), kNpyMagic.data(), kNpyMagic.size());
  bytes[6] = std::byte{1};
  bytes[7] = std::byte{0};
  std::memcpy(bytes.data() + 8, &length, sizeof length);
  std::memcpy(bytes.data() + prefix, text.data(), text.size());
  return bytes;
}

std::vector<std::byte> encode_npy(std::span<const double> values, std::span<const Index> shape) {
  return encode(NpyArray::Type::float64, values, shape);
}

std::vector<std::byte> encode_npy(std::span<const std::int64_t> values,
                                  std::span<const Index> shape) {
  return encode(NpyArray::Type::int64, values, shape);
}

NpyArray read_npy_array(const NpySource& source, std::string_view name, const ShapeCheck& accept) {
  auto layout = read_layout(source, name);
  const auto& header = layout.header;
  const auto& descr = header.descr;
  const auto size = item_size(descr, name);
  const auto count = count_values(header.shape);
  if (!count) {
    throw Error(ErrorKind::corrupt, name, "shape " + shape_text(header.shape),
                "one that fits in memory");
  }
  if (layout.data_size / size != *count || layout.data_size % size != 0) {
    throw Error(
        ErrorKind::corrupt, name, fmt::format("{} bytes of values", layout.data_size),
        fmt::format("{} for shape {} of '{}'", *count * size, shape_text(header.shape), descr));
  }
  layout.count = *count;
  if (accept) accept(header.shape);

  const auto reals = [&]<typename Stored>(Stored) {
    return values_of<Stored, double>(source, layout,
                                     [](Stored x) { return static_cast<double>(x); });
  };
  const auto integers = [&]<typename Stored>(Stored) {
    return values_of<Stored, std::int64_t>(source, layout, [&](Stored x) {
      if constexpr (std::is_same_v<Stored, std::uint64_t>) {
        if (x > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
          throw Error(ErrorKind::data, name, fmt::format("the value {}", x),
                      "at most 9223372036854775807");
        }
      }
      if constexpr (std::is_same_v<Stored, std::uint8_t>) {
        if (x > 1) {
          throw Error(ErrorKind::corrupt, name, fmt::format("the byte {} for a truth value", x),
                      "0 or 1");
        }
      }
      return static_cast<std::int64_t>(x);
    });
  };

  NpyArray array{.name = std::string(name), .shape = header.shape, .values = {}};
  if (descr == "<f8")
    array.values = reals(double{});
  else if (descr == "<f4")
    array.values = reals(float{});
  else if (descr == "<i8")
    array.values = integers(std::int64_t{});
  else if (descr == "<i4")
    array.values = integers(std::int32_t{});
  else if (descr == "<u8")
    array.values = integers(std::uint64_t{});
  else if (descr == "<u4")
    array.values = integers(std::uint32_t{});
  else
    array.values = integers(std::uint8_t{});  // item_size() let only '|b1' through
  return array;
}

NpyArray decode_npy(std::span<const std::byte> bytes, std::string_view name) {
  const auto read = [rest = bytes](std::span<std::byte> out) mutable {
    std::ranges::copy(rest.first(out.size()), out.begin());
    rest = rest.subspan(out.size());
  };
  return read_npy_array({.size = bytes.size(), .read = read}, name);
}

Batch to_batch(NpyArray array) {
  // Rows without columns take no bytes, so a file could claim any number of them.
  if (array.shape.size() != 2 || (array.shape[0] > 0 && array.shape[1] == 0)) {
    throw Error(ErrorKind::data, array.name, "an array of shape " + shape_text(array.shape),
                "(rows, columns) with at least one column");
  }
  check_npy_shape(array.shape, static_cast<std::size_t>(array.size()));
  if (auto* reals = std::get_if<std::vector<double>>(&array.values)) {
    return {std::move(*reals), array.shape[0], array.shape[1]};
  }
  Batch batch(array.shape[0], array.shape[1]);
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // every integer up to here is a double
  std::ranges::transform(array.integers(), batch.data(), [&](std::int64_t value) {
    if (value < -kExact || value > kExact) {
      throw Error(ErrorKind::data, array.name, fmt::format("the integer {}", value),
                  "one of at most 2^53, exact as a double");
    }
    return static_cast<double>(value);
  });
  return batch;
}

NpyArray read_npy(const FilePlace& file, const ShapeCheck& accept) {
  auto opened = open_to_read(file);
  return read_npy_array({.size = opened.size(), .read = [&](auto out) { opened.read(out); }},
                        file.string(), accept);
}

Batch read_npy_batch(const FilePlace& file, const ShapeCheck& accept) {
  return to_batch(read_npy(file, accept));
}

void write_npy(const FilePlace& file, BatchView batch) {
  const std::array shape{batch.rows(), batch.cols()};
  const auto header = encode_npy_header(NpyArray::Type::float64, shape);
  const std::array parts{std::span<const std::byte>(header), std::as_bytes(batch.values())};
  write_parts_atomically(file, parts);
}

}  // namespace rarefy
