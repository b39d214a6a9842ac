#include "rarefy/runs/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rarefy/core/error.hpp"
#include "rarefy/runs/picture.hpp"
#include "rarefy/runs/run.hpp"
#include "rarefy/storage/npz.hpp"

namespace rarefy {
namespace {

constexpr Index kMostCells = Index{1} << 16;
constexpr Index kMostFrames = 1'000;

[[noreturn]] void refuse_frames(const FilePlace& file, const std::string& given) {
  throw Error(ErrorKind::data, file.string(), given,
              fmt::format("iterations that rise, and up to {} frames of up to {} cells each",
                          kMostFrames, kMostCells));
}

// Frames that a resumed run has behind it.
Frames kept_until(const FilePlace& file, std::int64_t iteration) {
  if (!file.exists()) return {};
  Frames frames;
  try {
    frames = read_frames(file);
  } catch (const Error&) {  // no loss that would be worth ending a run for
    return {};
  }
  const auto end = std::upper_bound(frames.iterations.begin(), frames.iterations.end(), iteration);
  const auto count = static_cast<std::size_t>(end - frames.iterations.begin());
  frames.iterations.resize(count);
  frames.values.resize(count);
  return frames;
}

}  // namespace

Frames read_frames(const FilePlace& file) {
  const auto bounded = [&](std::span<const Index> shape) {
    if (shape.empty() || shape.size() > 3 || shape[0] > kMostFrames ||
        (shape.size() == 3 &&
         (shape[1] > kMostCells || shape[2] > kMostCells || shape[1] * shape[2] > kMostCells))) {
      refuse_frames(file, shape_text(shape));
    }
  };
  const auto iterations = read_npz_array(file, "iterations", bounded);
  const auto values = read_npz_array(file, "values", bounded);
  Frames frames;
  const auto numbers = iterations.integers();
  frames.iterations.assign(numbers.begin(), numbers.end());
  if (iterations.shape.size() != 1 || values.shape.size() != 3 ||
      values.shape[0] != iterations.shape[0] ||
      !std::is_sorted(frames.iterations.begin(), frames.iterations.end())) {
    refuse_frames(file, fmt::format("iterations {}, values {}", shape_text(iterations.shape),
                                    shape_text(values.shape)));
  }
  frames.rows = values.shape[1];
  frames.columns = values.shape[2];
  const auto cells = static_cast<std::size_t>(frames.rows * frames.columns);
  const auto all = values.reals();
  for (std::size_t i = 0; i < frames.iterations.size(); ++i) {
    const auto one = all.subspan(i * cells, cells);
    auto& frame = frames.values.emplace_back(cells);
    std::transform(one.begin(), one.end(), frame.begin(),
                   [](double value) { return static_cast<float>(value); });
  }
  return frames;
}

void write_frames(const FilePlace& file, const Frames& frames) {
  std::vector<double> values;
  for (const auto& frame : frames.values) values.insert(values.end(), frame.begin(), frame.end());
  const auto count = static_cast<Index>(frames.iterations.size());
  const NamedArray arrays[] = {{"iterations", frames.iterations, {count}},
                               {"values", values, {count, frames.rows, frames.columns}}};
  write_npz(file, arrays);
}

std::vector<std::int64_t> frame_iterations(std::int64_t iterations, std::int64_t frames) {
  std::vector<std::int64_t> at;
  for (std::int64_t i = 1; i <= frames; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(frames);
    const auto next =
        static_cast<std::int64_t>(std::llround(part * part * static_cast<double>(iterations)));
    if (next > (at.empty() ? 0 : at.back())) at.push_back(next);
  }
  return at;
}

void FrameRecorder::begin(const Search& search) {
  frames_ = kept_until(run_.folder().frames(), search.iteration());
  due_ = frame_iterations(run_.config().iterations, run_.config().output.frames);
  std::erase_if(due_, [&](std::int64_t iteration) { return iteration < search.iteration(); });
  if (due_.empty() || due_.front() > search.iteration()) return;
  due_.erase(due_.begin());
  // A kill may have come between the checkpoint of this iteration and its frame.
  const bool kept = !frames_.iterations.empty() && frames_.iterations.back() == search.iteration();
  if (!kept) keep(search);
}

Next FrameRecorder::iteration_done(const Search& search) {
  if (!due_.empty() && search.iteration() >= due_.front()) {
    due_.erase(due_.begin());
    keep(search);
  }
  return Next::go_on;
}

void FrameRecorder::keep(const Search& search) {
  const auto map =
      heatmap_of(search.archive(), run_.domain().info(), run_.config(), search.iteration());
  if (map.values.empty() || map.columns * map.rows > kMostCells) return;
  if (map.columns != frames_.columns || map.rows != frames_.rows) frames_ = {};
  frames_.columns = map.columns;
  frames_.rows = map.rows;
  frames_.iterations.push_back(search.iteration());
  auto& frame = frames_.values.emplace_back(map.values.size());
  std::transform(map.values.begin(), map.values.end(), frame.begin(),
                 [](double value) { return static_cast<float>(value); });
  write_frames(run_.folder().frames(), frames_);
}

}  // namespace rarefy
