#include "rarefy/core/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "rarefy/core/error.hpp"

using rarefy::Error;
using rarefy::ErrorKind;
using rarefy::StateReader;
using rarefy::StateWriter;
using testing::HasSubstr;

namespace {

using Bytes = std::vector<std::byte>;
using Read = std::function<void(StateReader&)>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

// A field with every kind of content.
StateWriter assorted() {
  StateWriter writer;
  writer.integer("count", -42);
  writer.real("sigma", 0.1);
  writer.text("algorithm", "dds-kde");
  writer.reals("mean", std::array{1.0, -0.0, 5e-324});
  writer.integers("visits", std::array<std::int64_t, 2>{kLeast, kMost});
  writer.floats("weights", std::array{0.1F, -0.0F, 1e-45F});
  return writer;
}

void read_assorted(StateReader& reader) {
  std::array<double, 3> mean{};
  std::array<std::int64_t, 2> visits{};
  std::array<float, 3> weights{};
  (void)reader.integer("count");
  (void)reader.real("sigma");
  (void)reader.text("algorithm");
  reader.reals("mean", mean);
  reader.integers("visits", visits);
  reader.finite_floats("weights", weights);
}

void expect_corrupt(const Bytes& bytes, const Read& read, const std::string& message) {
  StateReader reader(bytes);
  try {
    read(reader);
    ADD_FAILURE() << "no Error, expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt);
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

// One field, written by hand.
Bytes forged(std::string_view name, char type, std::uint64_t count, std::size_t data) {
  Bytes bytes = {static_cast<std::byte>(name.size())};
  for (const char letter : name) bytes.push_back(static_cast<std::byte>(letter));
  bytes.push_back(static_cast<std::byte>(type));
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(count >> (8 * i)));
  bytes.resize(bytes.size() + data);
  return bytes;
}

}  // namespace

TEST(State, ComesBackBitForBit) {
  const auto writer = assorted();
  StateReader reader(writer.bytes());
  EXPECT_FALSE(reader.at_end());
  EXPECT_EQ(reader.integer("count"), -42);
  EXPECT_EQ(reader.real("sigma"), 0.1);
  EXPECT_EQ(reader.text("algorithm"), "dds-kde");
  std::array<double, 3> mean{};
  reader.reals("mean", mean);
  EXPECT_EQ(mean[0], 1.0);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(mean[1]), std::bit_cast<std::uint64_t>(-0.0));
  EXPECT_EQ(mean[2], 5e-324);
  std::array<std::int64_t, 2> visits{};
  EXPECT_FALSE(reader.at_end());
  reader.integers("visits", visits);
  EXPECT_EQ(visits, (std::array<std::int64_t, 2>{kLeast, kMost}));
  std::array<float, 3> weights{};
  EXPECT_FALSE(reader.at_end());
  reader.finite_floats("weights", weights);
  EXPECT_EQ(weights[0], 0.1F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(weights[1]), std::bit_cast<std::uint32_t>(-0.0F));
  EXPECT_EQ(weights[2], 1e-45F);
  EXPECT_TRUE(reader.at_end());
}

TEST(State, HasAFixedLayout) {
  // Written down here so that checkpoints stay readable.
  StateWriter writer;
  writer.integer("n", 258);
  writer.text("ab", "xyz");
  const std::vector<int> expected = {1, 'n', 'i', 1, 0, 0, 0, 0,   0,   0,   0,   2,
                                     1, 0,   0,   0, 0, 0, 0, 2,   'a', 'b', 't', 3,
                                     0, 0,   0,   0, 0, 0, 0, 'x', 'y', 'z'};
  std::vector<int> bytes;
  for (const auto byte : writer.bytes()) bytes.push_back(static_cast<int>(byte));
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(forged("n", 'i', 1, 8).size(), 19U);
}

TEST(State, KeepsFloatsInFourBytes) {
  StateWriter writer;
  writer.floats("w", std::array{1.0F, -2.0F});  // 3f800000 and c0000000
  const std::vector<int> expected = {1, 'w', 'f', 2,    0,    0, 0, 0, 0,   0,
                                     0, 0,   0,   0x80, 0x3f, 0, 0, 0, 0xc0};
  std::vector<int> bytes;
  for (const auto byte : writer.bytes()) bytes.push_back(static_cast<int>(byte));
  EXPECT_EQ(bytes, expected);
}

TEST(State, TakesEmptySequencesAndNames) {
  StateWriter writer;
  writer.reals("none", {});
  writer.integers("none", {});
  writer.text("none", "");
  writer.integer("", 1);
  writer.floats("none", {});
  writer.reals("late", {});
  StateReader reader(writer.bytes());
  reader.reals("none", {});
  EXPECT_TRUE(reader.integers_up_to("none", 10).empty());
  EXPECT_EQ(reader.text("none"), "");
  EXPECT_EQ(reader.integer(""), 1);
  reader.finite_floats("none", {});
  EXPECT_TRUE(reader.reals_up_to("late", 0).empty());
  EXPECT_TRUE(reader.at_end());
}

TEST(State, IsHandedOnAsItWouldBeKept) {
  std::vector<double> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const auto write = [&](StateWriter& out) {
    out.integer("first", 1);
    out.reals("many", values);
    for (int i = 0; i < 10'000; ++i) out.text("word", "a word");
    out.reals("none", {});
  };
  StateWriter kept;
  write(kept);
  std::vector<std::byte> handed;
  std::size_t longest_copy = 0;
  bool in_place = false;
  StateWriter out([&](std::span<const std::byte> piece) {
    handed.insert(handed.end(), piece.begin(), piece.end());
    if (piece.data() == std::as_bytes(std::span(values)).data()) {
      in_place = true;
    } else {
      longest_copy = std::max(longest_copy, piece.size());
    }
  });
  write(out);
  out.flush();
  EXPECT_TRUE(handed == kept.bytes());
  EXPECT_TRUE(in_place) << "a long field is not copied";
  EXPECT_LT(longest_copy, 100'000U);
  EXPECT_TRUE(out.bytes().empty());
}

TEST(State, TakesTextOfAnyBytes) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  StateWriter writer;
  writer.text(all.substr(1), all);  // a name of 255 characters, the longest
  StateReader reader(writer.bytes());
  EXPECT_EQ(reader.text(all.substr(1)), all);
}

TEST(State, RefusesNamesThatDoNotFit) {
  StateWriter writer;
  try {
    writer.integer(std::string(256, 'x'), 1);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::state);
  }
  EXPECT_TRUE(writer.bytes().empty());
}

TEST(State, StartsAnewWhenCleared) {
  auto writer = assorted();
  writer.clear();
  EXPECT_TRUE(writer.bytes().empty());
  writer.integer("n", 5);
  StateReader reader(writer.bytes());
  EXPECT_EQ(reader.integer("n"), 5);
}

TEST(State, KeepsNanAndInfinityWhereTheyAreAllowed) {
  const double strange = std::bit_cast<double>(std::uint64_t{0xFFF8000000000123});
  StateWriter writer;
  writer.real("a", strange);
  writer.reals("b", std::array{kInfinity, -kInfinity, kNan});
  StateReader reader(writer.bytes());
  EXPECT_EQ(std::bit_cast<std::uint64_t>(reader.real("a")), 0xFFF8000000000123U);
  const auto values = reader.reals_up_to("b", 3);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0], kInfinity);
  EXPECT_EQ(values[1], -kInfinity);
  EXPECT_TRUE(std::isnan(values[2]));
}

TEST(State, RefusesNanAndInfinityWhereNumbersMustBeFinite) {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    StateWriter one;
    one.real("sigma", value);
    expect_corrupt(
        one.bytes(), [](StateReader& reader) { (void)reader.finite("sigma"); },
        "field 'sigma': value 0 is ");
    StateWriter many;
    many.reals("mean", std::array{1.0, 2.0, value});
    expect_corrupt(
        many.bytes(),
        [](StateReader& reader) {
          std::array<double, 3> mean{};
          reader.finite_reals("mean", mean);
        },
        "field 'mean': value 2 is ");
    StateWriter floats;
    floats.floats("weights", std::array{1.0F, static_cast<float>(value), 2.0F});
    expect_corrupt(
        floats.bytes(),
        [](StateReader& reader) {
          std::array<float, 3> weights{};
          reader.finite_floats("weights", weights);
        },
        "field 'weights': value 1 is ");
  }
  StateWriter writer;
  writer.real("sigma", -std::numeric_limits<double>::max());
  writer.reals("mean", std::array{5e-324, 0.0});
  writer.floats("weights", std::array{std::numeric_limits<float>::max(), 1e-45F});
  StateReader reader(writer.bytes());
  EXPECT_EQ(reader.finite("sigma"), -std::numeric_limits<double>::max());
  std::array<double, 2> mean{};
  reader.finite_reals("mean", mean);
  EXPECT_EQ(mean[0], 5e-324);
  std::array<float, 2> weights{};
  reader.finite_floats("weights", weights);
  EXPECT_EQ(weights[0], std::numeric_limits<float>::max());
  EXPECT_EQ(weights[1], 1e-45F);
}

TEST(State, ChecksTheRangeOfIntegers) {
  for (const std::int64_t value : {kLeast, std::int64_t{-1}, std::int64_t{11}, kMost}) {
    StateWriter writer;
    writer.integer("rank", value);
    expect_corrupt(
        writer.bytes(), [](StateReader& reader) { (void)reader.integer("rank", 0, 10); },
        "field 'rank': got " + std::to_string(value) + ", expected 0 to 10");
  }
  for (const std::int64_t value : {0, 5, 10}) {
    StateWriter writer;
    writer.integer("rank", value);
    StateReader reader(writer.bytes());
    EXPECT_EQ(reader.integer("rank", 0, 10), value);
  }
}

TEST(State, NamesTheFieldThatIsAnother) {
  StateWriter writer;
  writer.integer("alpha", 1);
  for (const std::string name : {"alphb", "alph", "alphaa", "", "Alpha"}) {
    expect_corrupt(
        writer.bytes(), [&](StateReader& reader) { (void)reader.integer(name); },
        "expected the field '" + name + "'");
  }
}

TEST(State, RefusesAnotherType) {
  StateWriter writer;
  const Read as_integer = [](StateReader& r) { (void)r.integer("x"); };
  const Read as_real = [](StateReader& r) { (void)r.real("x"); };
  const Read as_text = [](StateReader& r) { (void)r.text("x"); };
  const Read as_reals = [](StateReader& r) { (void)r.reals_up_to("x", 10); };
  const Read as_integers = [](StateReader& r) { (void)r.integers_up_to("x", 10); };
  const Read as_floats = [](StateReader& r) {
    std::array<float, 2> out{};
    r.finite_floats("x", out);
  };
  writer.integer("x", 1);
  expect_corrupt(writer.bytes(), as_real, "field 'x': got integers, expected reals");
  expect_corrupt(writer.bytes(), as_reals, "got integers, expected reals");
  expect_corrupt(writer.bytes(), as_text, "got integers, expected text");
  writer.clear();
  writer.real("x", 1);
  expect_corrupt(writer.bytes(), as_integer, "got reals, expected integers");
  expect_corrupt(writer.bytes(), as_integers, "got reals, expected integers");
  writer.clear();
  writer.text("x", "12345678");
  expect_corrupt(writer.bytes(), as_integer, "got text, expected integers");
  expect_corrupt(writer.bytes(), as_real, "got text, expected reals");
  writer.clear();
  writer.floats("x", std::array{1.0F, 2.0F});  // as long as one real
  expect_corrupt(writer.bytes(), as_real, "got floats, expected reals");
  expect_corrupt(writer.bytes(), as_integer, "got floats, expected integers");
  writer.clear();
  writer.real("x", 1);
  expect_corrupt(writer.bytes(), as_floats, "got reals, expected floats");
  expect_corrupt(forged("x", '?', 1, 8), as_real, "got an unknown type, expected reals");
}

TEST(State, RefusesAnotherNumberOfValues) {
  StateWriter writer;
  writer.reals("x", std::array{1.0, 2.0, 3.0});
  const auto reals = [](std::size_t size) -> Read {
    return [size](StateReader& reader) {
      std::vector<double> out(size);
      reader.reals("x", out);
    };
  };
  expect_corrupt(writer.bytes(), reals(2), "field 'x': got 3 values, expected 2");
  expect_corrupt(writer.bytes(), reals(4), "got 3 values, expected 4");
  expect_corrupt(writer.bytes(), reals(0), "got 3 values, expected 0");
  expect_corrupt(
      writer.bytes(), [](StateReader& r) { (void)r.real("x"); }, "got 3 values, expected 1");
  expect_corrupt(
      writer.bytes(), [](StateReader& r) { (void)r.reals_up_to("x", 2); },
      "got 3 values, expected at most 2");

  writer.clear();
  writer.integers("x", std::array<std::int64_t, 3>{1, 2, 3});
  expect_corrupt(
      writer.bytes(), [](StateReader& r) { (void)r.integer("x"); }, "got 3 values, expected 1");
  expect_corrupt(
      writer.bytes(), [](StateReader& r) { (void)r.integers_up_to("x", 2); },
      "got 3 values, expected at most 2");
  StateReader reader(writer.bytes());
  EXPECT_EQ(reader.integers_up_to("x", 3), (std::vector<std::int64_t>{1, 2, 3}));

  writer.clear();
  writer.floats("x", std::array{1.0F, 2.0F, 3.0F});
  for (const std::size_t size : {0U, 2U, 4U, 6U}) {
    expect_corrupt(
        writer.bytes(),
        [size](StateReader& r) {
          std::vector<float> out(size);
          r.finite_floats("x", out);
        },
        "field 'x': got 3 values, expected " + std::to_string(size));
  }
}

TEST(State, RefusesTextThatIsTooLong) {
  StateWriter writer;
  writer.text("name", "abcd");
  expect_corrupt(
      writer.bytes(), [](StateReader& r) { (void)r.text("name", 3); },
      "field 'name' is longer than 3 characters");
  StateReader reader(writer.bytes());
  EXPECT_EQ(reader.text("name", 4), "abcd");
}

TEST(State, RefusesToReadPastItsEnd) {
  expect_corrupt({}, read_assorted, "ends inside the field 'count'");
  expect_corrupt(
      assorted().bytes(),
      [](StateReader& reader) {
        read_assorted(reader);
        (void)reader.integer("more");
      },
      "ends inside the field 'more'");
}

TEST(State, CutAnywhereIsRefused) {
  const Bytes all = assorted().bytes();
  for (std::size_t size = 0; size < all.size(); ++size) {
    // A copy of just that size, so that an address sanitizer sees a read beyond it.
    const Bytes cut(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
    expect_corrupt(cut, read_assorted, "saved state: ");
  }
}

TEST(State, DamagedAnywhereGivesAnErrorOrOtherValuesAndNothingWorse) {
  const auto writer = assorted();
  for (std::size_t at = 0; at < writer.bytes().size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes damaged = writer.bytes();
      damaged[at] = static_cast<std::byte>(value);
      StateReader reader(damaged);
      try {
        read_assorted(reader);
        EXPECT_TRUE(reader.at_end());
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::corrupt);
        ASSERT_NE(damaged[at], writer.bytes()[at]);
      }
    }
  }
}

// Were one of these counts believed, the reader would ask for up to 2^64 values, or, where
// count * 8 (or 4) wraps around, take a few bytes for very many.
TEST(State, DoesNotBelieveForgedCounts) {
  for (const std::uint64_t count :
       {std::uint64_t{3}, std::uint64_t{1} << 32, std::uint64_t{1} << 40, std::uint64_t{1} << 60,
        (std::uint64_t{1} << 61) + 1, (std::uint64_t{1} << 61) + 2, (std::uint64_t{1} << 62) + 1,
        (std::uint64_t{1} << 62) + 2, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const auto message = "claims " + std::to_string(count) + " values";
    constexpr auto kAny = std::numeric_limits<std::size_t>::max();
    expect_corrupt(
        forged("x", 'r', count, 16), [](StateReader& r) { (void)r.reals_up_to("x", kAny); },
        message);
    expect_corrupt(
        forged("x", 'i', count, 16), [](StateReader& r) { (void)r.integers_up_to("x", kAny); },
        message);
    expect_corrupt(
        forged("x", 'r', count, 16),
        [](StateReader& r) {
          std::array<double, 2> out{};
          r.reals("x", out);
        },
        message);
    expect_corrupt(
        forged("x", 'f', count, 8),
        [](StateReader& r) {
          std::array<float, 2> out{};
          r.finite_floats("x", out);
        },
        message);
    expect_corrupt(
        forged("x", 't', count, 2), [](StateReader& r) { (void)r.text("x", kAny); }, message);
  }
}

namespace {

// What is said when `read` meets a value that is not the one it expects.
std::string refusal(const StateWriter& out, const Read& read) {
  StateReader in(out.bytes());
  try {
    read(in);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    return error.what();
  }
  EXPECT_TRUE(in.at_end());
  return "";
}

}  // namespace

TEST(State, ExpectsTheValuesItHasNow) {
  StateWriter out;
  out.integer("a", 7);
  out.real("b", 0.1);
  out.text("c", "kde");
  out.integers("d", std::vector<std::int64_t>{1, 2});
  out.reals("e", std::vector<double>{});
  EXPECT_EQ(refusal(out,
                    [](StateReader& in) {
                      in.expect_integer("a", 7);
                      in.expect_real("b", 0.1);
                      in.expect_text("c", "kde");
                      in.expect_integers("d", std::vector<std::int64_t>{1, 2});
                      in.expect_reals("e", {});
                    }),
            "");
}

TEST(State, SaysWhichValueItExpectedInstead) {
  StateWriter integer, real, text, list;
  integer.integer("batch", -7);
  real.real("sigma", 0.1);
  text.text("kernel", "ga\nss");
  list.reals("lower", std::vector<double>{0, 1.5});
  EXPECT_EQ(refusal(integer, [](StateReader& in) { in.expect_integer("batch", 8); }),
            "saved state: 'batch': got -7, expected 8, as it is here");
  EXPECT_EQ(refusal(real, [](StateReader& in) { in.expect_real("sigma", 0.25); }),
            "saved state: 'sigma': got 0.1, expected 0.25, as it is here");
  EXPECT_EQ(refusal(text, [](StateReader& in) { in.expect_text("kernel", "gauss"); }),
            "saved state: 'kernel': got 'ga?ss', expected 'gauss', as it is here");
  EXPECT_EQ(refusal(list, [](StateReader& in) { in.expect_reals("lower", {}); }),
            "saved state: 'lower': got 0, 1.5, expected none, as it is here");
  // One value more is another list; a long one is not written out.
  const auto message = refusal(
      list, [](StateReader& in) { in.expect_reals("lower", std::vector<double>(50, 0.0)); });
  EXPECT_THAT(message, HasSubstr("(50 in all)"));
}

// Another field, or one of another type, is a corrupt file and not another value.
TEST(State, ExpectedFieldsMustBeThere) {
  StateWriter out;
  out.integer("batch", 7);
  expect_corrupt(
      out.bytes(), [](StateReader& in) { in.expect_integer("sigma", 7); }, "'sigma'");
  expect_corrupt(
      out.bytes(), [](StateReader& in) { in.expect_real("batch", 7); }, "batch");
  expect_corrupt(
      Bytes(), [](StateReader& in) { in.expect_text("batch", ""); }, "batch");
}
