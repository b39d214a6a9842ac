#include "rarefy/pictures/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

// Forgives the rounding of log10 and of divisions that should give an integer.
constexpr double kSlack = 1e-9;
// Powers of ten, and one over them, stay normal numbers down to here.
constexpr double kNarrowest = 1e-290;

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

// factor * 10^exponent, rounded once: 3 * 10^-1 is 0.3, not 0.30000000000000004.
double scaled(double factor, int exponent) {
  return exponent < 0 ? factor / power_of_ten(-exponent) : factor * power_of_ten(exponent);
}

int magnitude(double value) {
  return static_cast<int>(std::floor(std::log10(std::fabs(value)) + kSlack));
}

std::string superscript(int number) {
  static constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(number)) {
    text += c == '-' ? std::string_view("⁻") : kDigits[c - '0'];
  }
  return text;
}

std::string with_minus_sign(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

std::string drop_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string power_label(int exponent) { return "10" + superscript(exponent); }

// mantissa × 10^exponent; a mantissa of 1 is left out.
std::string scientific(const std::string& mantissa, int exponent) {
  if (mantissa == "1") return power_label(exponent);
  if (mantissa == "-1") return "−" + power_label(exponent);
  return with_minus_sign(mantissa) + "×" + power_label(exponent);
}

// How all numbers of one axis are written, so that they match each other.
class NumberStyle {
 public:
  NumberStyle(double largest, int last_digit) : last_digit_(last_digit) {
    const int top = magnitude(largest);
    // A long mantissa with a power of ten is no easier to read than the number.
    scientific_ = (top >= 6 || top < -3) && top - last_digit <= 4;
  }

  [[nodiscard]] std::string format(double value) const {
    if (value == 0.0) return "0";
    if (!scientific_)
      return with_minus_sign(fmt::format("{:.{}f}", value, std::max(0, -last_digit_)));
    const int exponent = magnitude(value);
    const int decimals = std::max(0, exponent - last_digit_);
    return scientific(
        drop_trailing_zeros(fmt::format("{:.{}f}", scaled(value, -exponent), decimals)), exponent);
  }

 private:
  int last_digit_;
  bool scientific_ = false;
};

void check_range(double low, double high) {
  if (is_drawable_range(low, high)) return;
  throw Error(ErrorKind::parameter, "axis range", fmt::format("[{}, {}]", low, high),
              "finite limits, the second clearly above the first");
}

void check_count(const char* thing, int count) {
  if (count >= 1) return;
  throw Error(ErrorKind::parameter, thing, std::to_string(count), "at least 1");
}

// The multiples `factors` of every power of ten within [low, high], unlabelled.
std::vector<Tick> multiples(double low, double high, std::initializer_list<int> factors) {
  std::vector<Tick> ticks;
  for (int exponent = magnitude(low); exponent <= magnitude(high); ++exponent) {
    for (const int factor : factors) {
      const double value = scaled(factor, exponent);
      if (value >= low * (1.0 - kSlack) && value <= high * (1.0 + kSlack))
        ticks.push_back({value, {}});
    }
  }
  return ticks;
}

// Minor ticks join where no labelled tick is.
std::vector<Tick> merged(std::vector<Tick> labelled, const std::vector<Tick>& minor) {
  const auto end = static_cast<std::ptrdiff_t>(labelled.size());
  for (const Tick& tick : minor) {
    const bool taken = std::any_of(labelled.begin(), labelled.begin() + end,
                                   [&](const Tick& other) { return other.value == tick.value; });
    if (!taken) labelled.push_back(tick);
  }
  std::sort(labelled.begin(), labelled.end(),
            [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return labelled;
}

std::vector<Tick> one_two_five_ticks(double low, double high) {
  std::vector<Tick> ticks = multiples(low, high, {1, 2, 5});
  for (Tick& tick : ticks) tick.label = NumberStyle(high, magnitude(tick.value)).format(tick.value);
  return ticks;
}

std::vector<Tick> decade_ticks(int first, int last, int most_labels) {
  std::vector<Tick> ticks;
  const int stride = (last - first) / most_labels + 1;
  const bool plain = first >= -3 && last <= 4;
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride != 0) continue;
    ticks.push_back({scaled(1.0, exponent),
                     plain ? fmt::format("{:.{}f}", scaled(1.0, exponent), std::max(0, -exponent))
                           : power_label(exponent)});
  }
  return ticks;
}

}  // namespace

bool is_drawable_range(double low, double high) {
  const double width = high - low;
  return std::isfinite(width) && width > kNarrowest &&
         width > 1e-12 * std::max(std::fabs(low), std::fabs(high));
}

std::vector<Tick> linear_ticks(double low, double high, int most_intervals) {
  check_range(low, high);
  check_count("most_intervals", most_intervals);

  const double least = (high - low) / most_intervals;
  int exponent = magnitude(least);
  const double lead = scaled(least, -exponent);
  int factor = 1;
  if (lead > 5.0 + kSlack) {
    ++exponent;
  } else if (lead > 2.0 + kSlack) {
    factor = 5;
  } else if (lead > 1.0 + kSlack) {
    factor = 2;
  }
  const double step = scaled(factor, exponent);
  const double first = std::ceil(low / step - kSlack);
  const double last = std::floor(high / step + kSlack);
  const NumberStyle style(std::max(std::fabs(low), std::fabs(high)), exponent);

  std::vector<Tick> ticks;
  for (int i = 0; first + i <= last; ++i) {
    // Adding zero turns a negative zero into a plain one.
    const double value = scaled((first + i) * factor, exponent) + 0.0;
    ticks.push_back({value, style.format(value)});
  }
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int most_labels) {
  check_range(low, high);
  check_count("most_labels", most_labels);
  if (low < kNarrowest) {
    throw Error(ErrorKind::parameter, "logarithmic axis", fmt::format("lower limit {}", low),
                "a positive limit");
  }
  const int first = static_cast<int>(std::ceil(std::log10(low) - kSlack));
  const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));

  std::vector<Tick> labelled = decade_ticks(first, last, most_labels);
  if (last - first < 2) {
    std::vector<Tick> finer = one_two_five_ticks(low, high);
    if (finer.size() < 2) return linear_ticks(low, high, std::min(most_labels, 5));
    if (labelled.empty() || static_cast<int>(finer.size()) <= most_labels) {
      labelled = std::move(finer);
    }
  }
  // Nine marks a decade turn into a grey band when there are many decades.
  const bool few_decades = last - first < most_labels;
  return merged(std::move(labelled), few_decades ? multiples(low, high, {1, 2, 3, 4, 5, 6, 7, 8, 9})
                                                 : multiples(low, high, {1}));
}

std::string format_number(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const std::string text = fmt::format("{:.6g}", value + 0.0);
  const auto e = text.find('e');
  if (e == std::string::npos) return with_minus_sign(text);
  return scientific(text.substr(0, e), std::stoi(text.substr(e + 1)));
}

}  // namespace rarefy::pictures
