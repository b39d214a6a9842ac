// The archive as it was on the way: a film of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/runs/observer.hpp"
#include "rarefy/storage/file_place.hpp"

namespace rarefy {

class Run;

/// The heat map of an archive at one iteration after the other: values row by row, the first row
/// at the bottom; not a number where a cell is empty. What a value is, pictures of the same run
/// say (runs/picture.hpp): visits, objectives, or elites in a projection.
struct Frames {
  Index columns = 0, rows = 0;
  std::vector<std::int64_t> iterations;
  std::vector<std::vector<float>> values;  ///< one frame an iteration, rows x columns
};

/// Reads frames.npz. Error (data, corrupt) for anything but the frames of a run.
[[nodiscard]] Frames read_frames(const FilePlace& file);
void write_frames(const FilePlace& file, const Frames& frames);

/// The iterations at which a run of that many keeps frames: close to each other in the beginning,
/// when much happens, and the last at its end.
[[nodiscard]] std::vector<std::int64_t> frame_iterations(std::int64_t iterations,
                                                         std::int64_t frames);

/// Keeps frames of a run in the file frames.npz of its folder, as many as its configuration says.
/// They are no part of the state: after a kill, those that the resumed run comes by again replace
/// the old.
class FrameRecorder : public Observer {
 public:
  explicit FrameRecorder(const Run& run) : run_(run) {}
  void begin(const Search& search) override;
  Next iteration_done(const Search& search) override;

 private:
  void keep(const Search& search);

  const Run& run_;
  std::vector<std::int64_t> due_;  // in the order in which they come
  Frames frames_;
};

}  // namespace rarefy
