#include "rarefy/core/error.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using rarefy::Error;
using rarefy::ErrorKind;

TEST(Error, SaysWhatWasGivenAndWhatWasExpected) {
  const Error error(ErrorKind::parameter, "bandwidth", "-1", "a positive number");
  EXPECT_STREQ(error.what(), "bandwidth: got -1, expected a positive number");
}

TEST(Error, TakesAMessageOfItsOwn) {
  EXPECT_STREQ(Error(ErrorKind::io, "disk full").what(), "disk full");
}

TEST(Error, KeepsItsKind) {
  for (const auto kind : {ErrorKind::parameter, ErrorKind::data, ErrorKind::corrupt, ErrorKind::io,
                          ErrorKind::state}) {
    EXPECT_EQ(Error(kind, "message").kind(), kind);
    EXPECT_EQ(Error(kind, "thing", "this", "that").kind(), kind);
  }
}

TEST(Error, IsCaughtAsAStandardException) {
  try {
    throw Error(ErrorKind::data, "row 3", "nan", "a finite number");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "row 3: got nan, expected a finite number");
    const auto* ours = dynamic_cast<const Error*>(&error);
    ASSERT_NE(ours, nullptr);
    EXPECT_EQ(ours->kind(), ErrorKind::data);
  }
}
