#include "rarefy/core/text.hpp"

#include <gtest/gtest.h>

using rarefy::is_plain_line;
using rarefy::printable;

TEST(Printable, LeavesTextAsItIs) {
  for (const std::string text :
       {"", "plain", "two\nlines\tand a tab", "Größe 東京 \xf0\x9f\x90\x9c", "50 % (a\\b) 'c'"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("a\rb\x08\x07\x7f"), "a\\x0db\\x08\\x07\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m")
      << "a control character of Latin-1, as UTF-8";
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e") << "writes from right to left";
  EXPECT_EQ(printable("\xe2\x81\xa6 \xe2\x80\xa8"), "\\u2066 \\u2028");
}

TEST(Printable, WritesOutBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("a\xc3"), "a\\xc3") << "cut short";
  EXPECT_EQ(printable("\xc3(\xe2\x82"), "\\xc3(\\xe2\\x82");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than needed";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last";
  EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(PlainLine, HasOneLineAndNothingToEscape) {
  EXPECT_TRUE(is_plain_line("impact speed (m/s)"));
  EXPECT_TRUE(is_plain_line("Größe"));
  for (const auto* text : {"two\nlines", "a\ttab", "\x1b", "\xff"})
    EXPECT_FALSE(is_plain_line(text));
}

TEST(WithCommas, EveryThreeDigits) {
  EXPECT_EQ(rarefy::with_commas(1234567), "1,234,567");
  EXPECT_EQ(rarefy::with_commas(-123), "-123");
}
