#include "rarefy/core/names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rarefy {

enum class Fruit { apple, pear, none_of_them };

template <>
struct EnumNames<Fruit> {
  static constexpr std::string_view thing = "fruit";
  static constexpr std::pair<Fruit, std::string_view> all[] = {{Fruit::apple, "apple"},
                                                               {Fruit::pear, "pear"}};
};

namespace {

TEST(Names, GoBothWays) {
  static_assert(name_of(Fruit::pear) == "pear");
  EXPECT_EQ(named<Fruit>("pear"), Fruit::pear);
  EXPECT_EQ(named<Fruit>("apple"), Fruit::apple);
  EXPECT_EQ(names_of<Fruit>(), (std::vector<std::string_view>{"apple", "pear"}));
  EXPECT_EQ(name_of(Fruit::none_of_them), "");
}

TEST(Names, AnUnknownOneIsAnErrorThatNamesTheNearest) {
  try {
    (void)named<Fruit>("peer");
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::parameter);
    const std::string text = error.what();
    for (const auto* part : {"fruit", "'peer'", "pear"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  EXPECT_THROW((void)named<Fruit>(""), Error);
  EXPECT_THROW((void)named<Fruit>("Apple"), Error);
}

}  // namespace
}  // namespace rarefy
