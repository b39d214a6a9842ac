#include "rarefy/density/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/maths.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy {
namespace {

constexpr double kFarFromTheBox = 1e6;  // widths

// What sweeps over linear projections of 3 to 20 features found best, in parts of Scott's
// (docs/reproduction.md). One or two features have detail, which is tuned to Scott's.
double part_of_scott(Index dims) {
  constexpr double kAsScott = 6.0, kMost = 1.1;
  if (dims <= 2) return 1.0;
  return std::min(kMost, std::sqrt(std::sqrt(static_cast<double>(dims) / kAsScott)));
}

// By Scott's rule, for a deviation of 1.
double scott_factor(double samples, Index dims) {
  return maths::power(samples, -1.0 / static_cast<double>(dims + 4));
}

// Deviations of each feature that some which are far from the others do not stretch, in widths of
// the box, so that squares do not overflow.
std::vector<double> robust_deviations(const FeatureSpace& space, BatchView features) {
  const auto n = static_cast<double>(features.rows());
  std::vector<double> deviations, values(static_cast<std::size_t>(features.rows()));
  for (Index d = 0; d < space.dim(); ++d) {
    const double lower = space.lower[static_cast<std::size_t>(d)];
    double mean = 0.0;
    for (Index i = 0; i < features.rows(); ++i) {
      const double value =
          std::clamp((features(i, d) - lower) / space.width(d), -kFarFromTheBox, kFarFromTheBox);
      values[static_cast<std::size_t>(i)] = value;
      mean += value / n;
    }
    double variance = 0.0;
    for (const double value : values) variance += (value - mean) * (value - mean) / (n - 1.0);
    const auto quantile = [&](Index number) {
      std::nth_element(values.begin(), values.begin() + number, values.end());
      return values[static_cast<std::size_t>(number)];
    };
    const double range =
        quantile(3 * (features.rows() - 1) / 4) - quantile((features.rows() - 1) / 4);
    double deviation = std::sqrt(variance);
    // Where half of the features or more are the same, their range says nothing.
    if (range > 0.0) deviation = std::min(deviation, range / 1.349);
    deviations.push_back(deviation);
  }
  return deviations;
}

// How likely rows of the buffer are by the kernels of all others, for kernels c times as wide as h.
class LeftOut {
 public:
  LeftOut(BatchView features, std::span<const double> h)
      : features_(features),
        h_(h),
        rows_(std::min(features.rows(), std::clamp(kPairs / features.rows(), kFewestRows,
                                                   Bandwidth::kLikelihoodRows))),
        squared_(static_cast<std::size_t>(features.rows())) {}

  // The sum of Bandwidth::likelihood(). The nearest is taken out of the exponents, so that a row
  // far from all others does not underflow to impossible.
  [[nodiscard]] double log_likelihood(double c) {
    double total = 0.0;
    const double scale = -0.5 / (c * c);
    for (Index i = 0; i < rows_; ++i) {
      const Index row = i * features_.rows() / rows_;
      measure_from(row);
      double nearest = std::numeric_limits<double>::infinity(), sum = 0.0;
      for (Index j = 0; j < features_.rows(); ++j) {
        if (j != row) nearest = std::min(nearest, squared_[static_cast<std::size_t>(j)]);
      }
      for (Index j = 0; j < features_.rows(); ++j) {
        if (j == row) continue;
        sum += maths::exp(scale * (squared_[static_cast<std::size_t>(j)] - nearest));
      }
      total +=
          maths::log(sum) + scale * nearest - static_cast<double>(features_.cols()) * maths::log(c);
    }
    return total;
  }

 private:
  // So many distances at the most, but for very long buffers.
  static constexpr Index kPairs = Index{1} << 21, kFewestRows = 16;

  void measure_from(Index row) {
    for (Index j = 0; j < features_.rows(); ++j) {
      double squared = 0.0;
      for (Index d = 0; d < features_.cols(); ++d) {
        const double apart =
            (features_(row, d) - features_(j, d)) / h_[static_cast<std::size_t>(d)];
        const double limited = std::clamp(apart, -kFarFromTheBox, kFarFromTheBox);
        squared += limited * limited;
      }
      squared_[static_cast<std::size_t>(j)] = squared;
    }
  }

  BatchView features_;
  std::span<const double> h_;
  Index rows_;
  std::vector<double> squared_;  // scratch: distances of one row from all
};

// The multiple that is likeliest, going from 1 in the direction that is better.
double likeliest_multiple(LeftOut left_out, double least, double most) {
  double best = 1.0, likelihood = left_out.log_likelihood(best);
  for (const double factor : {std::sqrt(0.5), std::sqrt(2.0)}) {
    const double start = best;
    for (double c = best * factor; c >= least && c <= most; c *= factor) {
      const double there = left_out.log_likelihood(c);
      if (!(there > likelihood)) break;
      best = c;
      likelihood = there;
    }
    if (best != start) break;
  }
  return best;
}

}  // namespace

Bandwidth Bandwidth::parse(std::string_view text) {
  const auto refuse = [&] {
    return Error(ErrorKind::parameter, "bandwidth", fmt::format("'{}'", text),
                 "'auto', 'scott', 'spread', 'likelihood', 'local', a number > 0, or a number > 0 "
                 "followed by 'width'");
  };
  for (const auto& rule : {automatic(), scott(), spread(), likelihood(), local()}) {
    if (text == rule.text()) return rule;
  }
  const auto number = parse_number_with_unit(text);
  if (!number || number->value <= 0) throw refuse();
  if (number->unit.empty()) return absolute(number->value);
  if (number->unit == "width") return normalised(number->value);
  throw refuse();
}

std::vector<double> Bandwidth::resolve(const FeatureSpace& space, Index samples) const {
  space.check();
  const bool by_box = rule_ != Rule::absolute && rule_ != Rule::normalised;
  if (!by_box && !(value_ > 0 && std::isfinite(value_))) {
    throw Error(ErrorKind::parameter, "bandwidth", fmt::format("{}", value_), "a number > 0");
  }
  std::vector<double> h(static_cast<std::size_t>(space.dim()), value_);
  if (rule_ == Rule::absolute) return h;
  double h0 = value_;
  if (by_box) {
    if (samples < 1) {
      throw Error(ErrorKind::parameter, "bandwidth",
                  fmt::format("'{}' with an unlimited buffer", text()),
                  "a limited buffer, or a bandwidth given as a number");
    }
    h0 = std::sqrt(1.0 / 12.0) * scott_factor(static_cast<double>(samples), space.dim());
    if (rule_ == Rule::automatic || rule_ == Rule::local) h0 *= part_of_scott(space.dim());
  }
  for (Index d = 0; d < space.dim(); ++d) h[static_cast<std::size_t>(d)] = h0 * space.width(d);
  return h;
}

std::vector<double> Bandwidth::fit(const FeatureSpace& space, BatchView features) const {
  auto by_box = resolve(space, std::max<Index>(features.rows(), 1));
  if (!follows_data() || features.rows() < 2) return by_box;
  auto h = robust_deviations(space, features);
  const double factor = scott_factor(static_cast<double>(features.rows()), space.dim());
  double least_multiple = 0.0;
  for (std::size_t d = 0; d < h.size(); ++d) {
    const double narrowest = by_box[d] / kNarrowest;
    h[d] = std::max(h[d] * factor * space.width(static_cast<Index>(d)), narrowest);
    least_multiple = std::max(least_multiple, narrowest / h[d]);
  }
  if (rule_ == Rule::likelihood) {
    const double multiple = likeliest_multiple(LeftOut(features, h), least_multiple, kWidest);
    for (double& value : h) value *= multiple;
  }
  return h;
}

std::string Bandwidth::text() const {
  switch (rule_) {
    case Rule::absolute: return fmt::format("{}", value_);
    case Rule::normalised: return fmt::format("{} width", value_);
    case Rule::automatic: return "auto";
    case Rule::scott: return "scott";
    case Rule::spread: return "spread";
    case Rule::likelihood: return "likelihood";
    case Rule::local: break;
  }
  return "local";
}

}  // namespace rarefy
