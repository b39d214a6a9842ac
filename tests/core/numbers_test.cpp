#include "rarefy/core/numbers.hpp"

#include <gtest/gtest.h>

namespace rarefy {
namespace {

TEST(Numbers, AreTakenWholeOrNotAtAll) {
  EXPECT_EQ(parse_number("25.6"), 25.6);
  EXPECT_EQ(parse_number("-1e-3"), -1e-3);
  for (const auto* bad : {"", " ", " 1", "1 ", "+1", "x", "1x", "1 2", "--1", "nan", "inf", "-inf",
                          "1e999", "0x10"}) {
    EXPECT_FALSE(parse_number(bad)) << bad;
  }
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("-9223372036854775808"), INT64_MIN);
  for (const auto* bad : {"", " 4", "4 ", "+4", "4.0", "4x", "9223372036854775808", "1e3"}) {
    EXPECT_FALSE(parse_integer(bad)) << bad;
  }
}

TEST(Numbers, ListsHaveSeparatorsBetweenNumbersAlone) {
  EXPECT_EQ(parse_numbers("1, 2.5 ,-3"), (std::vector<double>{1, 2.5, -3}));
  EXPECT_EQ(parse_numbers("7;8", ';'), (std::vector<double>{7, 8}));
  for (const auto* bad : {"", ",", "1,", ",1", "1,,2", "1;2"}) {
    EXPECT_FALSE(parse_numbers(bad)) << bad;
  }
}

TEST(Numbers, MayHaveAUnit) {
  const auto width = parse_number_with_unit("0.05 width");
  ASSERT_TRUE(width);
  EXPECT_EQ(width->value, 0.05);
  EXPECT_EQ(width->unit, "width");
  EXPECT_EQ(parse_number_with_unit("3")->unit, "");
  EXPECT_EQ(parse_number_with_unit("3width")->unit, "width");
  EXPECT_FALSE(parse_number_with_unit("width"));
  EXPECT_FALSE(parse_number_with_unit("inf width"));
}

TEST(Numbers, ReadBackAsTheSame) {
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, -25.6, 1e22, 5.0}) {
    EXPECT_EQ(parse_number(text_of(value)), value);
  }
  EXPECT_EQ(text_of(std::vector<double>{1, 0.5}, ","), "1,0.5");
}

}  // namespace
}  // namespace rarefy
