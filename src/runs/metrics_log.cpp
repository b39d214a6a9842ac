#include "rarefy/runs/metrics_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/error.hpp"
#include "rarefy/core/numbers.hpp"

namespace rarefy {
namespace {

using Count = std::int64_t MetricsLine::*;
using Value = double MetricsLine::*;

constexpr std::array<MetricsColumn, 13> kColumns{{
    {"iteration", &MetricsLine::iteration},
    {"evaluations", &MetricsLine::evaluations},
    {"coverage", &MetricsLine::coverage},
    {"cross_entropy", &MetricsLine::cross_entropy},
    {"qd_score", &MetricsLine::qd_score},
    {"best_objective", &MetricsLine::best_objective},
    {"mean_objective", &MetricsLine::mean_objective},
    {"restarts", &MetricsLine::restarts},
    {"failed", &MetricsLine::failed},
    {"left_out", &MetricsLine::left_out},
    {"outside", &MetricsLine::outside},
    {"seconds", &MetricsLine::seconds},
    {"processor_seconds", &MetricsLine::processor_seconds},
}};

[[noreturn]] void refuse_metrics(std::size_t line, std::string_view given,
                                 std::string_view expected) {
  throw Error(ErrorKind::data, fmt::format("metrics: line {}", line), fmt::format("'{}'", given),
              expected);
}

// Other than a number that a person has written, one that a program has may be infinite or none.
void read_number(auto& field, std::string_view text, std::size_t line) {
  const auto* const last = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), last, field);
  if (problem != std::errc() || rest != last) refuse_metrics(line, text, "a number");
}

// Null for one that is not known.
std::vector<const MetricsColumn*> columns_named(std::string_view header) {
  std::vector<const MetricsColumn*> columns;
  for (const auto name : split(header, ',')) {
    const auto* const known = std::ranges::find(kColumns, name, &MetricsColumn::name);
    columns.push_back(known == kColumns.end() ? nullptr : known);
  }
  if (columns.front() != kColumns.data()) refuse_metrics(1, header, "'iteration,...'");
  return columns;
}

}  // namespace

std::span<const MetricsColumn> metrics_columns() { return kColumns; }

MetricsLine measure(const Search& search, double entropy_floor,
                    std::optional<double> objective_floor, double seconds,
                    double processor_seconds) {
  const auto& archive = search.archive();
  const auto evaluated = search.evaluations() - search.failed() - search.left_out();
  return {
      .iteration = search.iteration(),
      .evaluations = search.evaluations(),
      .coverage = coverage(archive),
      .cross_entropy = cross_entropy(archive.visits(), entropy_floor),
      .qd_score = objective_floor ? qd_score(archive, *objective_floor)
                                  : std::numeric_limits<double>::quiet_NaN(),
      .best_objective = best_objective(archive),
      .mean_objective = mean_objective(archive),
      .restarts = search.restarts(),
      .failed = search.failed(),
      .left_out = search.left_out(),
      .outside = evaluated > 0
                     ? static_cast<double>(search.outside()) / static_cast<double>(evaluated)
                     : 0.0,
      .seconds = seconds,
      .processor_seconds = processor_seconds,
  };
}

void MetricsLog::add(const MetricsLine& line, Line kind) {
  if (last_makes_way_) lines_.pop_back();
  lines_.push_back(line);
  last_makes_way_ = kind == Line::makes_way;
}

std::string MetricsLog::csv() const {
  std::string out;
  for (const auto& column : kColumns) {
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ",", column.name);
  }
  out += '\n';
  for (const auto& line : lines_) {
    for (const auto& column : kColumns) {
      const auto* const separator = &column == kColumns.data() ? "" : ",";
      std::visit(
          [&](auto field) {
            // A clock has no more than milliseconds to say.
            const auto* const form = column.name.ends_with("seconds") ? "{}{:.3f}" : "{}{}";
            fmt::format_to(std::back_inserter(out), fmt::runtime(form), separator, line.*field);
          },
          column.field);
    }
    out += '\n';
  }
  return out;
}

std::vector<MetricsLine> parse_metrics(std::string_view csv) {
  if (csv.empty() || csv.back() != '\n') {
    throw Error(ErrorKind::data, "metrics: cut short, expected whole lines");
  }
  csv.remove_suffix(1);
  const auto texts = split(csv, '\n');
  const auto columns = columns_named(texts.front());
  std::vector<MetricsLine> lines;
  for (std::size_t i = 1; i < texts.size(); ++i) {
    const auto words = split(texts[i], ',');
    if (words.size() != columns.size()) {
      refuse_metrics(i + 1, texts[i], fmt::format("{} values", columns.size()));
    }
    auto& line = lines.emplace_back();
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (columns[k] == nullptr) continue;
      std::visit([&](auto field) { read_number(line.*field, words[k], i + 1); }, columns[k]->field);
    }
  }
  return lines;
}

// Whole numbers and others are kept apart, each in the order of the columns.
void MetricsLog::save(StateWriter& out) const {
  std::vector<std::int64_t> counts;
  std::vector<double> values;
  for (const auto& line : lines_) {
    for (const auto& column : kColumns) {
      if (const auto* const count = std::get_if<Count>(&column.field)) {
        counts.push_back(line.**count);
      } else {
        values.push_back(line.*std::get<Value>(column.field));
      }
    }
  }
  out.integer("metrics.last_makes_way", last_makes_way_ ? 1 : 0);
  out.integers("metrics.counts", counts);
  out.reals("metrics.values", values);
}

void MetricsLog::load(StateReader& in) {
  constexpr std::size_t kMost = std::size_t{1} << 32;
  constexpr auto kCounts =
      static_cast<std::size_t>(std::ranges::count_if(kColumns, [](const MetricsColumn& column) {
        return std::holds_alternative<Count>(column.field);
      }));
  constexpr auto kValues = kColumns.size() - kCounts;
  const bool makes_way = in.integer("metrics.last_makes_way", 0, 1) == 1;
  const auto counts = in.integers_up_to("metrics.counts", kMost);
  const auto values = in.reals_up_to("metrics.values", kMost);
  const std::size_t size = counts.size() / kCounts;
  if (counts.size() != kCounts * size || values.size() != kValues * size ||
      (makes_way && size == 0)) {
    throw Error(ErrorKind::corrupt, "saved state: the metrics have lines of different lengths");
  }
  lines_.assign(size, {});
  last_makes_way_ = makes_way;
  const auto* count = counts.data();
  const auto* value = values.data();
  for (auto& line : lines_) {
    for (const auto& column : kColumns) {
      if (const auto* const field = std::get_if<Count>(&column.field)) {
        line.** field = *count++;
      } else {
        line.*std::get<Value>(column.field) = *value++;
      }
    }
  }
}

}  // namespace rarefy
