#include "density/kde/neighbourhoods.hpp"

#include <algorithm>

namespace rarefy {
namespace {

class Arranger {
 public:
  Arranger(std::span<const float> points, Index dims, Index size)
      : points_(points), dims_(dims), size_(size) {}

  void arrange(std::span<Index> order) const {
    const auto count = static_cast<Index>(order.size());
    if (count <= size_) {
      std::sort(order.begin(), order.end());
      return;
    }
    const Index d = longest_side(order);
    const Index leaves = (count + size_ - 1) / size_;
    const auto middle = static_cast<std::size_t>(leaves / 2 * size_);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(middle),
                     order.end(), [&](Index a, Index b) {
                       const float at_a = coordinate(a, d);
                       const float at_b = coordinate(b, d);
                       return at_a != at_b ? at_a < at_b : a < b;
                     });
    arrange(order.first(middle));
    arrange(order.subspan(middle));
  }

 private:
  [[nodiscard]] float coordinate(Index point, Index d) const {
    return points_[static_cast<std::size_t>(point * dims_ + d)];
  }

  [[nodiscard]] Index longest_side(std::span<const Index> order) const {
    Index longest = 0;
    float length = -1.0F;
    for (Index d = 0; d < dims_; ++d) {
      float low = coordinate(order[0], d);
      float high = low;
      for (const Index point : order) {
        low = std::min(low, coordinate(point, d));
        high = std::max(high, coordinate(point, d));
      }
      if (high - low > length) {
        length = high - low;
        longest = d;
      }
    }
    return longest;
  }

  std::span<const float> points_;
  Index dims_, size_;
};

}  // namespace

void arrange_neighbourhoods(std::span<const float> points, Index dims, Index size,
                            std::span<Index> order) {
  Arranger(points, dims, size).arrange(order);
}

}  // namespace rarefy
