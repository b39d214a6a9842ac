#include "reports/page_frames.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "rarefy/storage/run_folder.hpp"
#include "reports/archive_frame.hpp"
#include "reports/packing.hpp"

namespace rarefy {
namespace {

double last_coverage(const Trial& trial) { return trial.metrics.back().coverage; }

// 1 to 127; 0 for what is empty.
std::byte shade(float value, const PackedFrames& scale) {
  if (std::isnan(value)) return std::byte{0};
  const auto height = [&](double one) { return scale.logarithmic ? std::log(one) : one; };
  const double width = height(scale.high) - height(scale.low);
  const double part = width > 0 ? (height(value) - height(scale.low)) / width : 0.5;
  return static_cast<std::byte>(1 + std::lround(126 * std::clamp(part, 0.0, 1.0)));
}

std::string_view what_is_shown(const DomainInfo& domain) {  // as in runs/picture.cpp
  if (domain.feature_dim() > 2) return "elites in this projection";
  return domain.constant_objective ? "visits of the cell" : "best objective of the cell";
}

}  // namespace

std::optional<std::size_t> shown_trial(const ResultRow& row) {
  std::vector<std::size_t> begun;
  bool all_done = true;
  for (std::size_t i = 0; i < row.trials.size(); ++i) {
    const auto& trial = row.trials[i];
    if (!trial.metrics.empty()) begun.push_back(i);
    if (trial.state == TrialState::waiting || trial.state == TrialState::begun) all_done = false;
  }
  if (begun.empty()) return std::nullopt;
  if (all_done) {
    std::erase_if(begun, [&, any = std::any_of(begun.begin(), begun.end(), [&](std::size_t i) {
                               return row.trials[i].state == TrialState::finished;
                             })](std::size_t i) {
      return any && row.trials[i].state != TrialState::finished;
    });
    std::stable_sort(begun.begin(), begun.end(), [&](std::size_t a, std::size_t b) {
      return last_coverage(row.trials[a]) < last_coverage(row.trials[b]);
    });
    return begun[(begun.size() - 1) / 2];
  }
  return *std::max_element(begun.begin(), begun.end(), [&](std::size_t a, std::size_t b) {
    return row.trials[a].metrics.back().iteration < row.trials[b].metrics.back().iteration;
  });
}

PackedFrames pack_frames(const Frames& frames, bool logarithmic) {
  PackedFrames packed_frames;
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const auto& frame : frames.values) {
    for (const float value : frame) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low <= high)) low = high = 1;  // nothing but empty cells
  packed_frames.logarithmic = logarithmic && low > 0;
  packed_frames.low = low;
  packed_frames.high = high;
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> before(frames.values.empty() ? 0 : frames.values.front().size());
  bytes.reserve(before.size() * frames.values.size());
  for (const auto& frame : frames.values) {
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const auto now = std::to_integer<std::uint8_t>(shade(frame[i], packed_frames));
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint8_t>(now - before[i])));
      before[i] = now;
    }
  }
  packed_frames.data = packed(bytes);
  return packed_frames;
}

Frames frames_of(const Trial& trial, const DomainInfo& domain) {
  if (!RunFolder::holds_run(trial.folder)) return {};
  const auto folder = RunFolder::peek(trial.folder);
  Frames frames;
  if (folder.frames().exists()) frames = read_frames(folder.frames());
  if (!folder.archive().exists()) return frames;
  if (!frames.iterations.empty() &&
      frames.iterations.back() >= archive_iteration(folder.archive())) {
    return frames;
  }
  // The archive is newer than the last frame, or there are none.
  auto now = archive_frame(folder.archive(), domain);
  if (now.columns != frames.columns || now.rows != frames.rows) {
    return frames.iterations.empty() ? now : frames;
  }
  frames.iterations.push_back(now.iterations.front());
  frames.values.push_back(std::move(now.values.front()));
  return frames;
}

std::optional<PageFrames> page_frames(const ResultRow& row, const DomainInfo& domain) {
  const auto shown = shown_trial(row);
  if (!shown) return std::nullopt;
  const auto frames = frames_of(row.trials[*shown], domain);
  if (frames.values.empty()) return std::nullopt;
  auto made = pack_frames(frames, domain.constant_objective && domain.feature_dim() <= 2);
  PageFrames page;
  page.head["trial"] = *shown;
  page.head["columns"] = frames.columns;
  page.head["rows"] = frames.rows;
  page.head["iterations"] = frames.iterations;
  page.head["logarithmic"] = made.logarithmic;
  page.head["low"] = made.low;
  page.head["high"] = made.high;
  page.head["label"] = what_is_shown(domain);
  page.data = std::move(made.data);
  return page;
}

}  // namespace rarefy
