#include "rarefy/storage/npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "support/python.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::Index;
using rarefy::NpyArray;

namespace {

using Bytes = std::vector<std::byte>;

/// A file with a header of our choosing.
Bytes file(const std::string& header, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  text.append(reinterpret_cast<const char*>(&length), major == 1 ? 2 : 4);
  text += header + data;
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <typename Value>
std::string raw(std::initializer_list<Value> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(Value)};
}

void expect_error(const Bytes& bytes, ErrorKind kind, const std::string& part) {
  try {
    (void)rarefy::decode_npy(bytes, "the file");
    ADD_FAILURE() << "no Error, expected one with: " << part;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), kind) << message;
    EXPECT_TRUE(message.starts_with("the file: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

std::vector<double> reals(const NpyArray& array) {
  return {array.reals().begin(), array.reals().end()};
}
std::vector<std::int64_t> integers(const NpyArray& array) {
  return {array.integers().begin(), array.integers().end()};
}

}  // namespace

TEST(Npy, ComesBackBitForBit) {
  const std::vector<double> values{0.1,    -0.0,          std::numeric_limits<double>::infinity(),
                                   5e-324, std::nan("7"), std::numeric_limits<double>::max()};
  const std::vector<Index> shape{3, 2};
  const auto array = rarefy::decode_npy(rarefy::encode_npy(values, shape), "x");
  EXPECT_EQ(array.type(), NpyArray::Type::float64);
  EXPECT_EQ(array.shape, shape);
  ASSERT_EQ(array.size(), 6);
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(array.reals()), std::as_bytes(std::span(values))));
  EXPECT_THROW((void)array.integers(), Error);
}

TEST(Npy, KeepsIntegersAndAnyNumberOfDimensions) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> values{-kMost - 1, kMost, 0, 1, 2, 3, 4, 5};
  for (const std::vector<Index>& shape : {std::vector<Index>{8}, {2, 2, 2}, {1, 8, 1, 1}, {8, 1}}) {
    const auto array = rarefy::decode_npy(rarefy::encode_npy(values, shape), "x");
    EXPECT_EQ(array.shape, shape);
    EXPECT_EQ(integers(array), values);
    EXPECT_THROW((void)array.reals(), Error);
  }
  const std::vector<double> one{2.5};
  EXPECT_EQ(reals(rarefy::decode_npy(rarefy::encode_npy(one, {}), "x")), one);
  const std::vector<Index> none{0, 3};
  EXPECT_EQ(rarefy::decode_npy(rarefy::encode_npy(std::span<const double>(), none), "x").shape,
            none);
}

TEST(Npy, ValuesLieAligned) {
  for (Index n : {1, 9, 10, 100, 100'000}) {
    const std::vector<Index> shape{n, 1, 1, n};
    EXPECT_EQ(rarefy::encode_npy_header(NpyArray::Type::float64, shape).size() % 64, 0U);
  }
}

TEST(Npy, WritingChecksTheShape) {
  const std::vector<double> values(6);
  for (const std::vector<Index>& shape :
       {std::vector<Index>{5}, {-2, -3}, {2, 4}, {Index{1} << 62, 4}, {}}) {
    EXPECT_THROW((void)rarefy::encode_npy(values, shape), Error);
  }
}

TEST(Npy, ReadsEveryPlainType) {
  const auto read = [](const char* descr, const std::string& data) {
    return rarefy::decode_npy(file(header(descr, "(2,)"), data), "x");
  };
  EXPECT_EQ(reals(read("'<f8'", raw<double>({1.5, -2}))), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(reals(read("\"<f4\"", raw<float>({1.5, -2}))), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(integers(read("'<i8'", raw<std::int64_t>({7, -7}))),
            (std::vector<std::int64_t>{7, -7}));
  EXPECT_EQ(integers(read("'<i4'", raw<std::int32_t>({7, -7}))),
            (std::vector<std::int64_t>{7, -7}));
  EXPECT_EQ(integers(read("'<u4'", raw<std::uint32_t>({7, 4294967295U}))),
            (std::vector<std::int64_t>{7, 4294967295}));
  EXPECT_EQ(integers(read("'<u8'", raw<std::uint64_t>({7, 8}))), (std::vector<std::int64_t>{7, 8}));
  EXPECT_EQ(integers(read("'|b1'", raw<char>({0, 1}))), (std::vector<std::int64_t>{0, 1}));
  expect_error(file(header("'<u8'", "(1,)"), raw<std::uint64_t>({1ULL << 63U})), ErrorKind::data,
               "the value 9223372036854775808");
  expect_error(file(header("'|b1'", "(1,)"), raw<char>({2})), ErrorKind::corrupt, "the byte 2");
}

TEST(Npy, ReadsEveryVersionAndWayToWriteAHeader) {
  const auto data = raw<std::int32_t>({1, 2});
  for (const int major : {1, 2, 3}) {
    EXPECT_EQ(rarefy::decode_npy(file(header("'<i4'", "(2,)"), data, major), "x").size(), 2);
  }
  for (const auto* text :
       {"{'shape': (2L,), 'fortran_order': False, 'descr': '<i4'}",
        "{\"descr\":\"<i4\",\"fortran_order\":True,\"shape\":(1,2)}   \n",
        "{ 'descr' : '<i4' , 'fortran_order' : False , 'shape' : ( 2 , ) , } "}) {
    EXPECT_EQ(integers(rarefy::decode_npy(file(text, data), "x")),
              (std::vector<std::int64_t>{1, 2}));
  }
}

TEST(Npy, TurnsFortranOrderIntoC) {
  // x[i][j][k] = 100 i + 10 j + k, of shape (2, 3, 2), the first index fastest.
  const auto data = raw<std::int32_t>({0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121});
  const auto array = rarefy::decode_npy(file(header("'<i4'", "(2, 3, 2)", "True"), data), "x");
  EXPECT_EQ(integers(array),
            (std::vector<std::int64_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
  EXPECT_EQ(rarefy::decode_npy(file(header("'<i4'", "(0, 3)", "True"), ""), "x").size(), 0);
}

TEST(Npy, RefusesWhatItDoesNotUnderstand) {
  const auto eight = std::string(8, '\0');
  const auto refused = [&](const std::string& descr, const std::string& part) {
    expect_error(file(header(descr, "(1,)"), eight), ErrorKind::data, part);
  };
  refused("'|O'", "'|O' (Python objects), expected one of '<f4'");
  refused("'>f8'", "'>f8' (big-endian)");
  refused("'<c16'", "'<c16'");
  refused("'<f2'", "'<f2'");
  refused("'<U4'", "'<U4'");
  refused("'|i1'", "'|i1'");
  refused("[('x', '<f4'), ('y', '<f4')]", "an array of structures");
  refused("'\x01\x02'", "an unknown type");
  expect_error(file(header("'<f8'", "(1,)"), eight, 4), ErrorKind::corrupt, "version 4.0");
  expect_error(file(header("'<f8'", "(1,)"), eight, 0), ErrorKind::corrupt, "version 0.0");
}

TEST(Npy, BelievesNoSize) {
  const auto shaped = [](const std::string& shape, const std::string& data = std::string(16, 'x')) {
    return file(header("'<f8'", shape), data);
  };
  expect_error(shaped("(3,)"), ErrorKind::corrupt,
               "16 bytes of values, expected 24 for shape (3,)");
  expect_error(shaped("(1,)"), ErrorKind::corrupt, "16 bytes of values, expected 8");
  expect_error(shaped("(2,)", std::string(17, 'x')), ErrorKind::corrupt, "17 bytes");
  expect_error(shaped("(2,)", std::string(15, 'x')), ErrorKind::corrupt, "15 bytes");
  expect_error(shaped("(0,)"), ErrorKind::corrupt, "expected 0");
  expect_error(shaped("(4294967296, 4294967296)"), ErrorKind::corrupt, "fits in memory");
  expect_error(shaped("(0, 4294967296, 4294967296)", ""), ErrorKind::corrupt, "fits in memory");
  expect_error(shaped("(2305843009213693954,)"), ErrorKind::corrupt, "fits in memory");
  expect_error(shaped("(99999999999999999999999,)"), ErrorKind::corrupt, "too large");
  expect_error(shaped("(-2,)"), ErrorKind::corrupt, "whole numbers");
  expect_error(shaped("2"), ErrorKind::corrupt, "malformed header");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  expect_error(shaped(many + ")"), ErrorKind::corrupt, "too many dimensions");
  auto lying = file("", "", 2);
  lying[11] = std::byte{0xff};
  expect_error(lying, ErrorKind::corrupt, "a header of 4278190080 bytes");
}

TEST(Npy, RefusesMalformedHeaders) {
  for (const auto* text :
       {"", "{", "{}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ()} more",
        "{'descr': '<f8, 'fortran_order': False, 'shape': ()}", "{'other': 1}", "{'descr"}) {
    EXPECT_THROW((void)rarefy::decode_npy(file(text, std::string(8, '\0')), "x"), Error) << text;
  }
}

TEST(Npy, RefusesEveryTruncation) {
  const std::vector<double> values{1, 2, 3};
  const auto whole = rarefy::encode_npy(values, std::array<Index, 1>{3});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW((void)rarefy::decode_npy(std::span(whole).first(length), "x"), Error) << length;
  }
  expect_error(Bytes(100, std::byte{'P'}), ErrorKind::corrupt, "another kind of file");
}

TEST(Npy, FlippedHeadersEndInAnErrorOrAnArray) {
  const std::vector<double> values{1, 2, 3, 4};
  auto bytes = rarefy::encode_npy(values, std::array<Index, 2>{2, 2});
  for (std::size_t at = 0; at < 128; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes[at] ^= std::byte{1} << bit;
      try {
        // Without a checksum '(2, 2)' may turn into '(2, 3)', but never past the bytes there are.
        const auto array = rarefy::decode_npy(bytes, "x");
        EXPECT_LE(array.size(), 8);
      } catch (const Error&) {
      }
      bytes[at] ^= std::byte{1} << bit;
    }
  }
}

TEST(NpyBatch, ComesBackAndIsAtomic) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "batch.npy";
  rarefy::Batch batch(3, 2);
  for (Index i = 0; i < 6; ++i) batch.data()[i] = 0.1 * static_cast<double>(i);
  rarefy::write_npy(path, batch);
  const auto again = rarefy::read_npy_batch(path);
  EXPECT_EQ(again.rows(), 3);
  EXPECT_EQ(again.cols(), 2);
  EXPECT_TRUE(std::ranges::equal(again.values(), batch.values()));
  rarefy::write_npy(path, rarefy::BatchView(nullptr, 0, 4));
  EXPECT_EQ(rarefy::read_npy_batch(path).cols(), 4);
  EXPECT_EQ(rarefy::read_file(path),
            rarefy::encode_npy(std::span<const double>(), std::array<Index, 2>{0, 4}));
}

TEST(NpyBatch, TakesIntegersThatAreExact) {
  const std::array<std::int64_t, 2> exact{-(std::int64_t{1} << 53), 12};
  const std::array<Index, 2> shape{1, 2};
  const auto batch = rarefy::to_batch(rarefy::decode_npy(rarefy::encode_npy(exact, shape), "x"));
  EXPECT_EQ(batch(0, 0), -9007199254740992.0);
  const std::array<std::int64_t, 2> inexact{(std::int64_t{1} << 53) + 1, 0};
  EXPECT_THROW((void)rarefy::to_batch(rarefy::decode_npy(rarefy::encode_npy(inexact, shape), "x")),
               Error);
}

TEST(NpyBatch, SaysWhichShapeItGot) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "batch.npy";
  const auto message = [&](std::vector<double> values, std::vector<Index> shape) -> std::string {
    rarefy::write_file_atomically(path, rarefy::encode_npy(values, shape));
    try {
      (void)rarefy::read_npy_batch(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no Error";
  };
  EXPECT_EQ(message({1, 2, 3}, {3}), path.string() +
                                         ": got an array of shape (3,), expected (rows, columns) "
                                         "with at least one column");
  EXPECT_NE(message({1}, {}).find("shape ()"), std::string::npos);
  EXPECT_NE(message({1, 2}, {1, 2, 1}).find("shape (1, 2, 1)"), std::string::npos);
  EXPECT_NE(message({}, {Index{1} << 50, 0}).find("at least one column"), std::string::npos);
}

TEST(Npy, WritesTheBytesOfNumpy) {
  const auto python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no Python with NumPy here";
  const TemporaryFolder folder;
  ASSERT_TRUE(runs(python, folder.path(), R"(
import numpy as np
np.save('matrix.npy', np.arange(12.0).reshape(3, 4) / 7)
np.save('row.npy', np.arange(5))
np.save('scalar.npy', np.float64(2.5))
np.save('empty.npy', np.zeros((0, 3)))
np.save('cube.npy', np.arange(1000.0).reshape(10, 10, 10))
for n in range(1, 30): np.save('deep%d.npy' % n, np.zeros((1,) * n))
open('version', 'w').write('%d' % (np.lib.NumpyVersion(np.__version__) >= '1.24.0'))
)"));
  // Older releases leave less room in the header.
  if (rarefy::read_file(folder.path() / "version").front() != std::byte{'1'}) {
    GTEST_SKIP() << "NumPy is older than 1.24";
  }
  const auto expect_same = [&](const std::string& name, const Bytes& bytes) {
    EXPECT_EQ(rarefy::read_file(folder.path() / name), bytes) << name;
  };
  std::vector<double> sevenths(12);
  for (std::size_t i = 0; i < 12; ++i) sevenths[i] = static_cast<double>(i) / 7;
  expect_same("matrix.npy", rarefy::encode_npy(sevenths, std::array<Index, 2>{3, 4}));
  const std::array<std::int64_t, 5> row{0, 1, 2, 3, 4};
  expect_same("row.npy", rarefy::encode_npy(row, std::array<Index, 1>{5}));
  expect_same("scalar.npy", rarefy::encode_npy(std::array{2.5}, {}));
  expect_same("empty.npy",
              rarefy::encode_npy(std::span<const double>(), std::array<Index, 2>{0, 3}));
  std::vector<double> thousand(1000);
  std::iota(thousand.begin(), thousand.end(), 0.0);
  expect_same("cube.npy", rarefy::encode_npy(thousand, std::array<Index, 3>{10, 10, 10}));
  for (std::size_t n = 1; n < 30; ++n) {
    expect_same("deep" + std::to_string(n) + ".npy",
                rarefy::encode_npy(std::array{0.0}, std::vector<Index>(n, 1)));
  }
}

TEST(Npy, ReadsWhatNumpyWrites) {
  const auto python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no Python with NumPy here";
  const TemporaryFolder folder;
  ASSERT_TRUE(runs(python, folder.path(), R"(
import numpy as np
x = np.arange(24).reshape(2, 3, 4)
for t in ('<f4', '<f8', '<i4', '<i8', '<u4', '<u8'):
    np.save('c_%s.npy' % t[1:], x.astype(t))
    np.save('f_%s.npy' % t[1:], np.asfortranarray(x.astype(t)))
np.save('truth.npy', x % 2 == 0)
for v in ((1, 0), (2, 0), (3, 0)):
    with open('v%d.npy' % v[0], 'wb') as f: np.lib.format.write_array(f, x, version=v)
np.save('object.npy', np.array([1, 'a'], dtype=object), allow_pickle=True)
np.save('big.npy', x.astype('>f8'))
np.save('structure.npy', np.zeros(3, dtype=[('a', '<f8'), ('b', '<i4')]))
np.save('complex.npy', x + 1j)
)"));
  std::vector<std::int64_t> expected(24);
  std::iota(expected.begin(), expected.end(), 0);
  const std::vector<double> expected_reals(expected.begin(), expected.end());
  const std::vector<Index> shape{2, 3, 4};
  for (const std::string type : {"f4", "f8", "i4", "i8", "u4", "u8"}) {
    for (const std::string order : {"c_", "f_"}) {
      const auto array = rarefy::read_npy(folder.path() / (order + type + ".npy"));
      EXPECT_EQ(array.shape, shape);
      if (type.front() == 'f') {
        EXPECT_EQ(reals(array), expected_reals);
      } else {
        EXPECT_EQ(integers(array), expected);
      }
    }
  }
  for (const auto* name : {"v1.npy", "v2.npy", "v3.npy"}) {
    EXPECT_EQ(integers(rarefy::read_npy(folder.path() / name)), expected);
  }
  EXPECT_EQ(rarefy::read_npy(folder.path() / "truth.npy").integers()[3], 0);
  for (const auto* name : {"object.npy", "big.npy", "structure.npy", "complex.npy"}) {
    EXPECT_THROW((void)rarefy::read_npy(folder.path() / name), Error) << name;
  }
}
