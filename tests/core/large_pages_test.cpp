#include "core/large_pages.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

// Only a wish: memory is what it was, whatever the system makes of it.
TEST(LargePages, LeaveMemoryAsItIs) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{10}, std::size_t{3} << 19}) {
    std::vector<double> values(count, 1.5);
    rarefy::prefer_large_pages(values.data(), count * sizeof(double));
    EXPECT_EQ(values, std::vector<double>(count, 1.5));
    for (auto& value : values) value = 2.5;
    EXPECT_EQ(values, std::vector<double>(count, 2.5));
  }
}

}  // namespace
