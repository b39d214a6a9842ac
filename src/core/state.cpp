#include "rarefy/core/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "rarefy/core/error.hpp"

namespace rarefy {
namespace {

static_assert(std::endian::native == std::endian::little,
              "states are written as they lie in memory, which must be little-endian");

constexpr char kInteger = 'i';
constexpr char kReal = 'r';
constexpr char kFloat = 'f';
constexpr char kText = 't';

// Bytes of one value.
std::size_t unit(char type) {
  if (type == kText) return 1;
  return type == kFloat ? sizeof(float) : sizeof(double);
}

const char* name_of(char type) {
  switch (type) {
    case kInteger: return "integers";
    case kReal: return "reals";
    case kFloat: return "floats";
    case kText: return "text";
    default: return "an unknown type";
  }
}

[[noreturn]] void corrupt(const std::string& message) {
  throw Error(ErrorKind::corrupt, "saved state: " + message);
}

[[noreturn]] void unlike(std::string_view name, std::string_view saved, std::string_view now) {
  throw Error(ErrorKind::data, fmt::format("saved state: '{}'", name), saved,
              fmt::format("{}, as it is here", now));
}

constexpr std::size_t kMostExpected = std::size_t{1} << 20;

// A list, or its beginning, for a message.
template <typename Value>
std::string written(std::span<const Value> values) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{}", i > 0 ? ", " : "", values[i]);
  }
  if (values.empty()) return "none";
  return values.size() > kMost ? fmt::format("{}, ... ({} in all)", text, values.size()) : text;
}

// In a corrupt file a text may be anything.
std::string quoted(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + text + "'";
}

}  // namespace

// A field: length of name (1 byte), name, type (1 byte), count (8 bytes), data.
void StateWriter::field(std::string_view name, char type, std::uint64_t count, const void* data,
                        std::size_t size) {
  if (name.size() > 255)
    throw Error(ErrorKind::state, "state field name", std::string(name), "at most 255 characters");
  const auto append = [this](const void* from, std::size_t length) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + length);
  };
  const auto length = static_cast<std::uint8_t>(name.size());
  append(&length, 1);
  append(name.data(), name.size());
  append(&type, 1);
  append(&count, sizeof count);
  constexpr std::size_t kLong = std::size_t{1} << 16;
  if (sink_ && size >= kLong) {
    flush();
    sink_({static_cast<const std::byte*>(data), size});
  } else if (size > 0) {
    append(data, size);
  }
  if (sink_ && bytes_.size() >= kLong) flush();
}

void StateWriter::flush() {
  if (!sink_ || bytes_.empty()) return;
  sink_(bytes_);
  bytes_.clear();
}

void StateWriter::integer(std::string_view name, std::int64_t value) {
  field(name, kInteger, 1, &value, sizeof value);
}
void StateWriter::real(std::string_view name, double value) {
  field(name, kReal, 1, &value, sizeof value);
}
void StateWriter::text(std::string_view name, std::string_view value) {
  field(name, kText, value.size(), value.data(), value.size());
}
void StateWriter::reals(std::string_view name, std::span<const double> values) {
  field(name, kReal, values.size(), values.data(), values.size_bytes());
}
void StateWriter::floats(std::string_view name, std::span<const float> values) {
  field(name, kFloat, values.size(), values.data(), values.size_bytes());
}
void StateWriter::integers(std::string_view name, std::span<const std::int64_t> values) {
  field(name, kInteger, values.size(), values.data(), values.size_bytes());
}

std::span<const std::byte> StateReader::field(std::string_view name, char type,
                                              std::uint64_t& count) {
  const auto take = [&](std::size_t size) {
    if (size > rest_.size()) corrupt(fmt::format("ends inside the field '{}'", name));
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  };
  const auto length = static_cast<std::size_t>(take(1)[0]);
  const auto stored = take(length);
  if (length != name.size() || std::memcmp(stored.data(), name.data(), length) != 0) {
    // The stored name is not quoted: in a corrupt file it may be anything.
    corrupt(fmt::format("expected the field '{}', found another", name));
  }
  const char found = static_cast<char>(take(1)[0]);
  if (found != type) {
    corrupt(fmt::format("field '{}': got {}, expected {}", name, name_of(found), name_of(type)));
  }
  std::memcpy(&count, take(sizeof count).data(), sizeof count);
  if (count > rest_.size() / unit(type)) {
    corrupt(fmt::format("field '{}' claims {} values, the file has fewer", name, count));
  }
  return take(static_cast<std::size_t>(count) * unit(type));
}

std::int64_t StateReader::integer(std::string_view name) {
  std::int64_t value = 0;
  integers(name, {&value, 1});
  return value;
}

std::int64_t StateReader::integer(std::string_view name, std::int64_t low, std::int64_t high) {
  const auto value = integer(name);
  if (value < low || value > high) {
    corrupt(fmt::format("field '{}': got {}, expected {} to {}", name, value, low, high));
  }
  return value;
}

double StateReader::real(std::string_view name) {
  double value = 0;
  reals(name, {&value, 1});
  return value;
}

double StateReader::finite(std::string_view name) {
  double value = 0;
  finite_reals(name, {&value, 1});
  return value;
}

std::string StateReader::text(std::string_view name, std::size_t longest) {
  std::uint64_t count = 0;
  const auto data = field(name, kText, count);
  if (count > longest)
    corrupt(fmt::format("field '{}' is longer than {} characters", name, longest));
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

void StateReader::reals(std::string_view name, std::span<double> out) {
  std::uint64_t count = 0;
  const auto data = field(name, kReal, count);
  if (count != out.size()) {
    corrupt(fmt::format("field '{}': got {} values, expected {}", name, count, out.size()));
  }
  if (!out.empty()) std::memcpy(out.data(), data.data(), data.size());
}

void StateReader::finite_reals(std::string_view name, std::span<double> out) {
  reals(name, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!std::isfinite(out[i])) {
      corrupt(fmt::format("field '{}': value {} is {}, expected a finite number", name, i, out[i]));
    }
  }
}

void StateReader::finite_floats(std::string_view name, std::span<float> out) {
  std::uint64_t count = 0;
  const auto data = field(name, kFloat, count);
  if (count != out.size()) {
    corrupt(fmt::format("field '{}': got {} values, expected {}", name, count, out.size()));
  }
  if (!out.empty()) std::memcpy(out.data(), data.data(), data.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!std::isfinite(out[i])) {
      corrupt(fmt::format("field '{}': value {} is {}, expected a finite number", name, i, out[i]));
    }
  }
}

void StateReader::integers(std::string_view name, std::span<std::int64_t> out) {
  std::uint64_t count = 0;
  const auto data = field(name, kInteger, count);
  if (count != out.size()) {
    corrupt(fmt::format("field '{}': got {} values, expected {}", name, count, out.size()));
  }
  if (!out.empty()) std::memcpy(out.data(), data.data(), data.size());
}

std::vector<double> StateReader::reals_up_to(std::string_view name, std::size_t most) {
  std::uint64_t count = 0;
  const auto data = field(name, kReal, count);
  if (count > most) {
    corrupt(fmt::format("field '{}': got {} values, expected at most {}", name, count, most));
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  if (!values.empty()) std::memcpy(values.data(), data.data(), data.size());
  return values;
}

std::vector<std::int64_t> StateReader::integers_up_to(std::string_view name, std::size_t most) {
  std::uint64_t count = 0;
  const auto data = field(name, kInteger, count);
  if (count > most) {
    corrupt(fmt::format("field '{}': got {} values, expected at most {}", name, count, most));
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  if (!values.empty()) std::memcpy(values.data(), data.data(), data.size());
  return values;
}

void StateReader::expect_integer(std::string_view name, std::int64_t now) {
  expect_integers(name, {&now, 1});
}

void StateReader::expect_real(std::string_view name, double now) { expect_reals(name, {&now, 1}); }

void StateReader::expect_text(std::string_view name, std::string_view now) {
  const auto saved = text(name, 256);
  if (saved != now) unlike(name, quoted(saved), quoted(std::string(now)));
}

void StateReader::expect_integers(std::string_view name, std::span<const std::int64_t> now) {
  const auto saved = integers_up_to(name, kMostExpected);
  if (!std::equal(saved.begin(), saved.end(), now.begin(), now.end())) {
    unlike(name, written(std::span<const std::int64_t>(saved)), written(now));
  }
}

void StateReader::expect_reals(std::string_view name, std::span<const double> now) {
  const auto saved = reals_up_to(name, kMostExpected);
  if (!std::equal(saved.begin(), saved.end(), now.begin(), now.end())) {
    unlike(name, written(std::span<const double>(saved)), written(now));
  }
}

}  // namespace rarefy
