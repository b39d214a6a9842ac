#include "rarefy/storage/npz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
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
using rarefy::NamedArray;

namespace {

using Bytes = std::vector<std::byte>;

/// Arrays of every kind that is written, and the values they lie on.
struct Sample {
  std::vector<double> reals{0.1, -0.0, 3, std::nan(""), 5e-324, -1};
  std::vector<std::int64_t> integers{1, -1, INT64_MAX, INT64_MIN};
  std::vector<NamedArray> arrays{
      {"features", rarefy::BatchView(reals.data(), 3, 2)},
      {"counts", integers, {2, 1, 2}},
      {"scalar", std::span<const double>(reals).first(1), {}},
      {"empty", std::span<const double>(), {0, 7}},
  };
};

bool holds(const rarefy::NpzArrays& read, const Sample& sample) {
  if (read.size() != sample.arrays.size()) return false;
  for (const auto& array : sample.arrays) {
    const auto found = read.find(array.name);
    if (found == read.end() || found->second.shape != array.shape ||
        found->second.values.index() != array.values.index()) {
      return false;
    }
    const auto expected =
        std::visit([](auto values) { return std::as_bytes(values); }, array.values);
    const auto got = std::visit([](const auto& values) { return std::as_bytes(std::span(values)); },
                                found->second.values);
    if (!std::ranges::equal(got, expected)) return false;
  }
  return true;
}

/// Whether damaged bytes are refused or read as what was written; nothing else will do.
bool safe(const Bytes& damaged, const Sample& sample) {
  try {
    return holds(rarefy::decode_npz(damaged, "damaged"), sample);
  } catch (const Error&) {
    return true;
  }
}

std::string error_of(const Bytes& bytes, ErrorKind kind) {
  try {
    (void)rarefy::decode_npz(bytes, "the file");
  } catch (const Error& error) {
    return error.kind() == kind ? error.what() : std::string("another kind: ") + error.what();
  }
  return "no Error";
}

}  // namespace

TEST(Npz, ComesBackBitForBit) {
  const TemporaryFolder folder;
  const Sample sample;
  const auto path = folder.path() / "sample.npz";
  rarefy::write_npz(path, sample.arrays);
  const auto read = rarefy::read_npz(path);
  EXPECT_TRUE(holds(read, sample));
  EXPECT_EQ(rarefy::array_of(read, "counts", "sample").size(), 4);
  EXPECT_EQ(read.at("counts").name, path.string() + "[counts]");
}

TEST(Npz, AMissingArrayIsNamedBesideThoseThereAre) {
  const Sample sample;
  const auto read = rarefy::decode_npz(rarefy::encode_npz(sample.arrays), "x");
  try {
    (void)rarefy::array_of(read, "other", "x.npz");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "x.npz: got the arrays 'counts', 'empty', 'features', 'scalar', expected one named "
        "'other'");
  }
}

TEST(Npz, OnlyTheArrayThatIsWantedIsUnpacked) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "two.npz";
  const std::vector<double> first(100, 1.25), second(100, 3.75);
  rarefy::write_npz(path,
                    std::vector<NamedArray>{{"first", first, {50, 2}}, {"second", second, {100}}});
  auto bytes = rarefy::read_file(path);
  // A value of the first, so that its checksum fails.
  const auto value = std::as_bytes(std::span(first).first(1));
  const auto at = std::search(bytes.begin(), bytes.end(), value.begin(), value.end());
  ASSERT_NE(at, bytes.end());
  *at ^= std::byte{1};
  rarefy::write_file_atomically(path, bytes);
  EXPECT_TRUE(std::ranges::equal(rarefy::read_npz_array(path, "second").reals(), second));
  EXPECT_THROW((void)rarefy::read_npz_array(path, "first"), Error);
  EXPECT_THROW((void)rarefy::read_npz(path), Error);
  // The shape is asked about before any value is read.
  try {
    (void)rarefy::read_npz_array(path, "first", [](std::span<const Index> shape) {
      throw std::runtime_error("not " + rarefy::shape_text(shape));
    });
    ADD_FAILURE() << "it was read";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "not (50, 2)");
  }
  try {
    (void)rarefy::read_npz_array(path, "third");
    ADD_FAILURE() << "there is none";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'first', 'second'"), std::string::npos)
        << error.what();
  }
}

TEST(Npz, LargeArraysComeBackFromAFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "large.npz";
  std::vector<double> values(1'000'000);
  std::iota(values.begin(), values.end(), 0.0);
  const std::vector<NamedArray> arrays{{"a", values, {1000, 1000}}, {"b", values, {1'000'000}}};
  rarefy::write_npz(path, arrays);
  EXPECT_TRUE(rarefy::read_file(path) == rarefy::encode_npz(arrays));
  EXPECT_TRUE(std::ranges::equal(rarefy::read_npz_array(path, "b").reals(), values));
}

TEST(Npz, TheSameArraysGiveTheSameBytes) {
  const Sample sample;
  const auto first = rarefy::encode_npz(sample.arrays);
  const char* before = std::getenv("TZ");
  const std::string old = before == nullptr ? "" : before;
  for (const auto* zone : {"UTC", "America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu",
                           "Africa/Monrovia", "XXX-14", "XXX+12"}) {
    ::setenv("TZ", zone, 1);
    ::tzset();
    EXPECT_EQ(rarefy::encode_npz(sample.arrays), first) << zone;
  }
  if (before == nullptr) {
    ::unsetenv("TZ");
  } else {
    ::setenv("TZ", old.c_str(), 1);
  }
  ::tzset();
}

TEST(Npz, ChecksNamesAndShapes) {
  const std::vector<double> values(4);
  const auto refused = [&](std::vector<NamedArray> arrays, ErrorKind kind) {
    try {
      (void)rarefy::encode_npz(arrays);
      ADD_FAILURE() << "no Error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
    }
  };
  refused({}, ErrorKind::parameter);
  refused({{"", values, {4}}}, ErrorKind::parameter);
  refused({{"../up", values, {4}}}, ErrorKind::parameter);
  refused({{".hidden", values, {4}}}, ErrorKind::parameter);
  refused({{"new\nline", values, {4}}}, ErrorKind::parameter);
  refused({{std::string(201, 'a'), values, {4}}}, ErrorKind::parameter);
  refused({{"a", values, {4}}, {"a", values, {4}}}, ErrorKind::parameter);
  refused({{"a", values, {5}}}, ErrorKind::data);
}

TEST(Npz, TruncatedFilesAreRefused) {
  Sample sample;
  sample.reals.assign(3000, 0.25);
  std::iota(sample.reals.begin(), sample.reals.end(), 0.5);
  sample.arrays.assign({{"features", rarefy::BatchView(sample.reals.data(), 1000, 3)},
                        {"counts", sample.integers, {4}}});
  const auto whole = rarefy::encode_npz(sample.arrays);
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_TRUE(error_of(part, ErrorKind::corrupt).starts_with("the file: got no whole archive"))
        << length << ' ' << error_of(part, ErrorKind::corrupt);
  }
}

TEST(Npz, SmallFilesAreRefusedWhereverTheyAreCut) {
  const Sample sample;
  const auto whole = rarefy::encode_npz(sample.arrays);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_NE(error_of(part, ErrorKind::corrupt), "no Error") << length;
  }
}

TEST(Npz, FlippedBitsNeverGiveWrongValues) {
  const Sample sample;
  auto bytes = rarefy::encode_npz(sample.arrays);
  ASSERT_TRUE(safe(bytes, sample));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes[at] ^= std::byte{1} << bit;
      EXPECT_TRUE(safe(bytes, sample)) << "byte " << at << " bit " << bit;
      bytes[at] ^= std::byte{1} << bit;
    }
  }
}

TEST(Npz, ForeignAndChangedValuesAreNamed) {
  const Sample sample;
  auto bytes = rarefy::encode_npz(sample.arrays);
  EXPECT_TRUE(
      error_of(Bytes(1000, std::byte{7}), ErrorKind::corrupt).starts_with("the file: got no"));
  // The first value of the first array: its checksum fails.
  const auto tenth = std::as_bytes(std::span(sample.reals)).first(8);
  const auto found = std::search(bytes.begin(), bytes.end(), tenth.begin(), tenth.end());
  ASSERT_NE(found, bytes.end());
  *found ^= std::byte{1};
  EXPECT_EQ(error_of(bytes, ErrorKind::corrupt),
            "the file[features]: cannot unpack: its checksum is another");
}

TEST(Npz, NumpyReadsIt) {
  const auto python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no Python with NumPy here";
  const TemporaryFolder folder;
  const Sample sample;
  rarefy::write_npz(folder.path() / "sample.npz", sample.arrays);
  EXPECT_TRUE(runs(python, folder.path(), R"(
import numpy as np, zipfile
z = np.load('sample.npz', allow_pickle=False)
assert z.files == ['features', 'counts', 'scalar', 'empty'], z.files
def same(a, b): assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), a
same(z['features'], np.array([[0.1, -0.0], [3, np.nan], [5e-324, -1]]))
same(z['counts'], np.array([1, -1, 2**63 - 1, -2**63]).reshape(2, 1, 2))
same(z['scalar'], np.array(0.1))
same(z['empty'], np.zeros((0, 7)))
for i in zipfile.ZipFile('sample.npz').infolist():
    assert i.date_time == (1980, 1, 1, 0, 0, 0) and i.compress_type == 0, i
assert zipfile.ZipFile('sample.npz').testzip() is None
)"));
}

TEST(Npz, ReadsWhatNumpyWrites) {
  const auto python = python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no Python with NumPy here";
  const TemporaryFolder folder;
  ASSERT_TRUE(runs(python, folder.path(), R"(
import numpy as np, zipfile
x = np.arange(1000.0).reshape(10, 100)
np.savez('plain.npz', x=x, f=np.asfortranarray(x), n=np.arange(3, dtype='i4'))
np.savez_compressed('packed.npz', x=x, f=np.asfortranarray(x), n=np.arange(3, dtype='i4'))
np.savez_compressed('zeros.npz', x=np.zeros((1000, 1000)))
np.savez('nothing.npz')
np.savez('object.npz', x=np.array([None, 1], dtype=object))
# Written to a pipe, sizes stand behind the data; large files have them in 64 bits.
import io
class Pipe(io.RawIOBase):
    def __init__(self): self.bytes = b''
    def writable(self): return True
    def write(self, some): self.bytes += bytes(some); return len(some)
pipe, one = Pipe(), io.BytesIO()
np.save(one, x)
with zipfile.ZipFile(pipe, 'w', zipfile.ZIP_DEFLATED) as z: z.writestr('x.npy', one.getvalue())
open('pipe.npz', 'wb').write(pipe.bytes)
with zipfile.ZipFile('zip64.npz', 'w') as z:
    with z.open(zipfile.ZipInfo('x.npy'), 'w', force_zip64=True) as f: f.write(one.getvalue())
with zipfile.ZipFile('comment.npz', 'w') as z:
    z.writestr('x.npy', one.getvalue())
    z.comment = b'PK\x05\x06 is how an end record begins'
with zipfile.ZipFile('text.npz', 'w') as z: z.writestr('note.txt', 'hello')
with zipfile.ZipFile('lzma.npz', 'w', zipfile.ZIP_LZMA) as z: z.write('plain.npz', 'x.npy')
)"));
  for (const auto* name : {"plain.npz", "packed.npz"}) {
    const auto read = rarefy::read_npz(folder.path() / name);
    ASSERT_EQ(read.size(), 3U);
    for (const auto* key : {"x", "f"}) {
      const auto batch = rarefy::to_batch(read.at(key));
      EXPECT_EQ(batch.rows(), 10);
      EXPECT_EQ(batch(3, 7), 307);
    }
    EXPECT_EQ(read.at("n").integers()[2], 2);
  }
  for (const auto* name : {"pipe.npz", "zip64.npz", "comment.npz"}) {
    const auto batch = rarefy::to_batch(rarefy::read_npz(folder.path() / name).at("x"));
    EXPECT_EQ(batch(3, 7), 307) << name;
  }
  EXPECT_EQ(rarefy::read_npz(folder.path() / "zeros.npz").at("x").size(), 1'000'000);
  EXPECT_TRUE(rarefy::read_npz(folder.path() / "nothing.npz").empty());
  for (const auto* name : {"object.npz", "text.npz", "lzma.npz"}) {
    EXPECT_THROW((void)rarefy::read_npz(folder.path() / name), Error) << name;
  }

  // Deflated values are damaged the same way: refused, or as they were.
  const auto whole = rarefy::read_file(folder.path() / "packed.npz");
  const auto expected = rarefy::decode_npz(whole, "x");
  auto bytes = whole;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    bytes[at] ^= std::byte{0x10};
    try {
      const auto read = rarefy::decode_npz(bytes, "x");
      ASSERT_EQ(read.size(), expected.size());
      for (const auto& [key, array] : expected) {
        ASSERT_EQ(read.at(key).shape, array.shape);
        ASSERT_EQ(read.at(key).values, array.values);
      }
    } catch (const Error&) {
    }
    bytes[at] = whole[at];
  }
}
