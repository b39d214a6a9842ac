#include "rarefy/storage/checkpoint.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rarefy/core/error.hpp"
#include "rarefy/storage/atomic_file.hpp"
#include "support/temporary_folder.hpp"

using rarefy::Error;
using rarefy::ErrorKind;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class Checkpoint : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "checkpoint";

  Bytes sealed(std::string_view payload) {
    rarefy::write_checkpoint(path_, bytes_of(payload));
    return rarefy::read_file(path_);
  }

  static void expect_error(const Bytes& file, ErrorKind kind, const std::string& message) {
    try {
      (void)rarefy::decode_checkpoint(file, "ck");
      ADD_FAILURE() << "no Error, expected: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_EQ(std::string(error.what()).substr(0, message.size()), message);
    }
  }
};

}  // namespace

TEST_F(Checkpoint, ComesBack) {
  for (const std::string& payload :
       {std::string(), std::string("state"), std::string(100'000, 'x')}) {
    rarefy::write_checkpoint(path_, bytes_of(payload));
    EXPECT_EQ(rarefy::read_checkpoint(path_), bytes_of(payload));
  }
}

TEST_F(Checkpoint, PiecesMakeTheSameFile) {
  std::string payload;
  for (int i = 0; i < 50'000; ++i) payload += std::to_string(i);
  const auto whole = sealed(payload);
  for (const std::size_t length : {std::size_t{1000}, std::size_t{65'536}, std::size_t{100'000}}) {
    rarefy::write_checkpoint_in_pieces(path_, [&](const rarefy::ByteSink& sink) {
      for (std::size_t at = 0; at < payload.size(); at += length) {
        sink(std::as_bytes(std::span(payload).subspan(at, std::min(length, payload.size() - at))));
      }
    });
    EXPECT_TRUE(rarefy::read_file(path_) == whole) << length;
  }
  // One that ends in an error is none.
  EXPECT_THROW(rarefy::write_checkpoint_in_pieces(path_,
                                                  [&](const rarefy::ByteSink& sink) {
                                                    sink(std::as_bytes(std::span(payload)));
                                                    throw std::runtime_error("enough");
                                                  }),
               std::runtime_error);
  EXPECT_TRUE(rarefy::read_file(path_) == whole);
}

TEST_F(Checkpoint, TheLayoutIsFixed) {
  // Written down here so that files stay readable: the checksum is XXH3_128bits("state", 5), high
  // half first, as xxh128sum prints it.
  const auto file = sealed("state");
  ASSERT_EQ(file.size(), 45U);
  const Bytes start(file.begin(), file.begin() + 24);
  EXPECT_EQ(start, bytes_of(std::string_view("RAREFYCK\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 24)));
  std::string digits;
  for (std::size_t i = 24; i < 40; ++i) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto value = std::to_integer<std::size_t>(file[i]);
    digits += kDigits[value / 16];
    digits += kDigits[value % 16];
  }
  EXPECT_EQ(digits, "ccb356a16ce4d54a899465fe1ae32812");
}

TEST_F(Checkpoint, AnotherKindOfFile) {
  expect_error(bytes_of("something else entirely, and long enough to hold a header"),
               ErrorKind::corrupt, "ck: got another kind of file, expected a checkpoint");
}

TEST_F(Checkpoint, AnotherVersion) {
  auto file = sealed("state");
  file[8] = std::byte{2};
  expect_error(file, ErrorKind::data, "ck: got a checkpoint of version 2, expected version 1");
}

TEST_F(Checkpoint, TheReservedFieldIsZero) {
  auto file = sealed("state");
  file[12] = std::byte{9};
  expect_error(file, ErrorKind::corrupt, "ck: got 9 in the reserved field, expected 0");
}

TEST_F(Checkpoint, CutShort) {
  const auto file = sealed("state");
  expect_error({}, ErrorKind::corrupt, "ck: got a file cut short at 0 bytes");
  expect_error(Bytes(file.begin(), file.begin() + 20), ErrorKind::corrupt,
               "ck: got a file cut short at 20 bytes, expected at least 40");
  expect_error(Bytes(file.begin(), file.end() - 2), ErrorKind::corrupt,
               "ck: got a payload cut short at 3 bytes, expected 5");
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_THROW((void)rarefy::decode_checkpoint(std::span(file).first(length), "ck"), Error);
  }
}

TEST_F(Checkpoint, BytesAfterTheEnd) {
  auto file = sealed("state");
  file.resize(file.size() + 3);
  expect_error(file, ErrorKind::corrupt,
               "ck: got 3 bytes after the payload, expected an end after 5");
}

TEST_F(Checkpoint, AChangedPayload) {
  auto file = sealed("state");
  file.back() ^= std::byte{1};
  expect_error(file, ErrorKind::corrupt, "ck: got a payload with checksum ");
}

TEST_F(Checkpoint, AnImpossibleLength) {
  auto file = sealed("state");
  for (std::size_t i = 16; i < 24; ++i) file[i] = std::byte{0xff};
  expect_error(file, ErrorKind::corrupt, "ck: got a payload cut short at 5 bytes");
}

TEST_F(Checkpoint, EveryFlippedBitIsDetected) {
  auto file = sealed("a state of some length, with numbers 0 1 2 3 and so on");
  for (auto& byte : file) {
    const auto before = byte;
    for (unsigned value = 1; value < 256; ++value) {
      byte = before ^ static_cast<std::byte>(value);
      EXPECT_THROW((void)rarefy::decode_checkpoint(file, "ck"), Error);
    }
    byte = before;
  }
  EXPECT_NO_THROW((void)rarefy::decode_checkpoint(file, "ck"));
}

TEST_F(Checkpoint, ErrorsNameThePath) {
  const auto expect_path = [&] {
    try {
      (void)rarefy::read_checkpoint(path_);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path_.string() + ": ")) << error.what();
    }
  };
  expect_path();
  rarefy::write_file_atomically(path_, "no checkpoint");
  expect_path();
}
