#include "rarefy/reports/paper_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace rarefy {
namespace {

constexpr std::size_t kDomains = 4, kAlgorithms = 6, kBandwidths = 13;
constexpr std::array<std::string_view, kDomains> kDomainNames = {"lp", "arm", "maze", "multi-lp"};
constexpr std::array<std::string_view, kAlgorithms> kAlgorithmNames = {
    "dds-kde", "dds-cnf", "ns", "cma-mae", "cma-me", "map-elites-line"};
constexpr std::array<std::string_view, 2> kMetricNames = {"coverage", "cross_entropy"};
constexpr std::array<double, kBandwidths> kBandwidthValues = {0.01, 0.035, 0.05, 0.1, 0.2, 0.3, 0.4,
                                                              0.5,  0.6,   0.7,  0.8, 0.9, 1};

// A line as it is printed: coverage and cross-entropy of each domain in turn.
using Line = std::array<PaperValue, 2 * kDomains>;

// "Coverage and cross-entropy (CE) after 5,000 iterations of each algorithm
// in all domains".
constexpr std::array<Line, kAlgorithms> kResults = {{
    // dds-kde
    {{{67.67, 2.13},
      {17.57, 0.41},
      {80.22, 0.01},
      {14.14, 0.02},
      {94.93, 0.84},
      {11.84, 0.21},
      {50.22, 0.45},
      {22.20, 0.09}}},
    // dds-cnf
    {{{63.65, 1.38},
      {18.50, 0.29},
      {79.82, 0.19},
      {13.48, 0.12},
      {85.17, 2.28},
      {14.01, 0.38},
      {16.57, 0.22},
      {28.07, 0.03}}},
    // ns
    {{{22.96, 1.59},
      {24.78, 0.06},
      {78.67, 0.23},
      {15.32, 0.07},
      {77.70, 2.47},
      {15.78, 0.50},
      {10.36, 0.16},
      {28.39, 0.03}}},
    // cma-mae
    {{{56.47, 1.06},
      {19.09, 0.23},
      {77.77, 0.10},
      {13.14, 0.01},
      {98.83, 0.18},
      {10.55, 0.06},
      {11.68, 0.37},
      {29.06, 0.06}}},
    // cma-me
    {{{42.90, 0.25},
      {22.45, 0.05},
      {39.29, 0.24},
      {20.13, 0.09},
      {79.97, 2.17},
      {15.33, 0.39},
      {0.56, 0.14},
      {28.10, 0.28}}},
    // map-elites-line
    {{{42.30, 0.31},
      {22.43, 0.07},
      {74.62, 0.07},
      {13.60, 0.01},
      {90.32, 0.87},
      {13.28, 0.16},
      {6.28, 0.34},
      {29.61, 0.02}}},
}};

// "[...] of DDS-KDE in all domains for each normalized bandwidth".
constexpr std::array<Line, kBandwidths> kAblation = {{
    // 0.01
    {{{44.57, 0.75},
      {21.99, 0.14},
      {75.75, 1.06},
      {15.07, 0.22},
      {94.93, 0.84},
      {11.84, 0.21},
      {9.50, 0.15},
      {29.33, 0.02}}},
    // 0.035
    {{{64.00, 1.82},
      {18.10, 0.37},
      {79.84, 0.20},
      {14.39, 0.09},
      {92.22, 1.44},
      {12.56, 0.37},
      {33.17, 0.26},
      {25.57, 0.05}}},
    // 0.05
    {{{67.67, 2.13},
      {17.57, 0.41},
      {80.22, 0.01},
      {14.14, 0.02},
      {87.70, 1.60},
      {13.98, 0.35},
      {50.22, 0.45},
      {22.20, 0.09}}},
    // 0.1
    {{{52.41, 1.18},
      {20.75, 0.22},
      {80.20, 0.01},
      {14.14, 0.04},
      {69.63, 8.59},
      {17.60, 1.69},
      {43.61, 0.81},
      {23.13, 0.15}}},
    // 0.2
    {{{41.90, 1.69},
      {22.50, 0.33},
      {80.15, 0.00},
      {13.99, 0.02},
      {57.95, 5.43},
      {20.41, 1.03},
      {14.88, 0.18},
      {28.08, 0.02}}},
    // 0.3
    {{{43.48, 1.79},
      {22.22, 0.32},
      {80.10, 0.01},
      {14.01, 0.02},
      {41.98, 5.51},
      {23.54, 0.98},
      {9.53, 0.12},
      {27.97, 0.03}}},
    // 0.4
    {{{39.37, 2.00},
      {22.92, 0.40},
      {80.10, 0.01},
      {14.00, 0.01},
      {29.77, 2.80},
      {25.81, 0.47},
      {9.24, 0.09},
      {27.78, 0.03}}},
    // 0.5
    {{{35.74, 1.49},
      {23.68, 0.28},
      {80.09, 0.00},
      {13.99, 0.02},
      {27.90, 2.12},
      {26.14, 0.37},
      {9.39, 0.19},
      {27.74, 0.04}}},
    // 0.6
    {{{33.19, 2.39},
      {24.17, 0.44},
      {80.10, 0.01},
      {13.99, 0.01},
      {25.04, 0.24},
      {26.63, 0.03},
      {9.42, 0.11},
      {27.78, 0.02}}},
    // 0.7
    {{{36.20, 1.31},
      {23.52, 0.28},
      {80.09, 0.01},
      {13.99, 0.01},
      {30.23, 4.19},
      {25.73, 0.77},
      {9.02, 0.16},
      {27.78, 0.03}}},
    // 0.8
    {{{31.35, 2.65},
      {24.46, 0.54},
      {80.09, 0.00},
      {14.00, 0.01},
      {25.74, 0.32},
      {26.53, 0.06},
      {9.29, 0.17},
      {27.77, 0.04}}},
    // 0.9
    {{{33.66, 1.61},
      {24.00, 0.30},
      {80.10, 0.00},
      {13.98, 0.01},
      {31.08, 3.55},
      {25.56, 0.64},
      {9.13, 0.18},
      {27.82, 0.04}}},
    // 1
    {{{34.69, 2.13},
      {23.75, 0.41},
      {80.10, 0.00},
      {14.02, 0.01},
      {25.34, 0.27},
      {26.61, 0.04},
      {9.23, 0.13},
      {27.77, 0.03}}},
}};

// "One-way ANOVA results in each domain."
constexpr std::array<double, 2 * kDomains> kF = {206.61, 156.04, 9691.05, 1523.35,
                                                 23.89,  39.33,  3350,    466.49};

// "Pairwise comparisons", of coverage and of cross-entropy: one line an algorithm, and in it six
// signs a domain. A dot stands for a comparison of an algorithm with itself.
constexpr std::array<std::array<std::string_view, kAlgorithms>, 2> kSigns = {{
    {".->>>>.->>>>.>>->-.>>>>>", "-.>>>>-.>>>><.><--<.>>>>", "<<.<<<<<.>>><<.<-<<<.<>>",
     "<<>.>><<<.>>->>.>><<>.>>", "<<><.-<<<<.<<--<.<<<<<.<", "<<><-.<<<<>.--><>.<<<<>."},
    {".-<<<<.><><>.<<-<<.<<<<<", "-.<-<<<.<><->.<>-->.-<-<", ">>.>>>>>.><>>>.>->>-.<-<",
     ">-<.<<<<<.<<-<<.<<>>>.><", ">><>.->>>>.>>-->.>>--<.<", ">><>-.<-<><.>-<><.>>>>>."},
}};

template <std::size_t count>
std::size_t place_of(const std::array<std::string_view, count>& names, std::string_view name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Where a domain's metric stands in a line; its length where the paper has no such thing.
std::size_t column_of(std::string_view domain, std::string_view metric) {
  const auto d = place_of(kDomainNames, domain), m = place_of(kMetricNames, metric);
  return d < kDomains && m < kMetricNames.size() ? 2 * d + m : 2 * kDomains;
}

}  // namespace

std::span<const std::string_view> paper_algorithms() { return kAlgorithmNames; }
std::span<const std::string_view> paper_domains() { return kDomainNames; }
std::span<const std::string_view> paper_metrics() { return kMetricNames; }
std::span<const double> paper_bandwidths() { return kBandwidthValues; }

const PaperValue* paper_value(std::string_view algorithm, std::string_view domain,
                              std::string_view metric) {
  const auto line = place_of(kAlgorithmNames, algorithm), column = column_of(domain, metric);
  if (line >= kAlgorithms || column >= 2 * kDomains) return nullptr;
  return &kResults[line][column];
}

const PaperValue* paper_ablation(double bandwidth, std::string_view domain,
                                 std::string_view metric) {
  const auto column = column_of(domain, metric);
  if (column >= 2 * kDomains) return nullptr;
  for (std::size_t i = 0; i < kBandwidths; ++i) {
    if (std::abs(bandwidth - kBandwidthValues[i]) < 1e-9) return &kAblation[i][column];
  }
  return nullptr;
}

double paper_ablation_trials(std::string_view domain) {
  return domain == "maze" ? 3 : kPaperTrials;
}

std::optional<double> paper_f(std::string_view domain, std::string_view metric) {
  const auto column = column_of(domain, metric);
  if (column >= 2 * kDomains) return {};
  return kF[column];
}

std::optional<Verdict> paper_verdict(std::string_view domain, std::string_view metric,
                                     std::string_view first, std::string_view second) {
  const auto d = place_of(kDomainNames, domain), m = place_of(kMetricNames, metric);
  const auto a = place_of(kAlgorithmNames, first), b = place_of(kAlgorithmNames, second);
  if (d >= kDomains || m >= kMetricNames.size() || a >= kAlgorithms || b >= kAlgorithms || a == b) {
    return {};
  }
  return named<Verdict>(kSigns[m][a].substr(kAlgorithms * d + b, 1));
}

}  // namespace rarefy
