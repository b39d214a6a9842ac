// Everything that decides what a run does, as plain values.
//
// Options live in the structs of the parts they belong to, with their defaults; a Config nests
// them. A default-constructed one is the default profile of dds-kde on the linear projection, and
// serves any domain. experiment/parameters.hpp knows each value by a flat name, with its meaning
// and range; experiment/config_file.hpp reads and writes them as TOML.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/batch.hpp"
#include "rarefy/core/names.hpp"
#include "rarefy/core/outside.hpp"
#include "rarefy/density/annealed_thresholds.hpp"
#include "rarefy/density/discount_model.hpp"
#include "rarefy/density/flow_options.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/mixture_options.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/density/quality_density.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/domains/linear_projection.hpp"
#include "rarefy/domains/maze.hpp"
#include "rarefy/emitters/cma_es.hpp"
#include "rarefy/emitters/evolution_strategy_emitter.hpp"
#include "rarefy/emitters/iso_line_emitter.hpp"
#include "rarefy/evaluators/program_evaluator.hpp"
#include "rarefy/restarts/restart_options.hpp"
#include "rarefy/tessellations/cvt.hpp"

namespace rarefy {

/// Where defaults come from.
enum class Profile {
  standard,   ///< "default": the algorithms done right
  published,  ///< what the paper's own figures seem to be made with
  text,       ///< what the paper says, with correct parts
};

template <>
struct EnumNames<Profile> {
  static constexpr std::string_view thing = "profile";
  static constexpr std::pair<Profile, std::string_view> all[] = {
      {Profile::standard, "default"}, {Profile::published, "published"}, {Profile::text, "text"}};
};

[[nodiscard]] std::string_view meaning_of(Profile profile);

/// What our own domains can be told. (A problem of one's own is described by its DomainInfo.)
struct ProblemOptions {
  Index n = LinearProjectionOptions{}.n;
  Index m = LinearProjectionOptions{}.m;
  std::string objective = "constant";  ///< one of those in the domain's row
  MazeMap maze = MazeMap::deceptive;
  std::vector<Wall> walls;  ///< instead of the map's, where there are any
  MazeStart start;
  double no_wall_reading = MazeOptions{}.no_wall_reading;

  bool operator==(const ProblemOptions&) const = default;
};

struct EmitterOptions {
  Index count = 15;
  Index batch = 36;  ///< solutions of each in one iteration
  /// The step size that emitters begin with; none: a probe finds it (restarts/step_probe.hpp).
  std::optional<double> sigma0;
  /// The noise that is added to elites; none: found in the same way.
  std::optional<double> iso_sigma;
  double x0 = 0.0;  ///< every value of the initial solution
  /// A file of solutions to start from: .npy, the archive.npz of a run, or its folder.
  std::string initial_solutions;
  SolutionRange range;  ///< where solutions must lie
  Index resamples = Bounds{}.resamples;
  Repair repair = Bounds{}.repair;
  Strategy strategy = Strategy::automatic;
  /// For all strategies; its dimension, batch, step size and bounds are filled in when it is made.
  CmaEsOptions cma_es;
  StopTests stop;
  Selection selection = Selection::mu;
  IsoLineOptions iso_line;

  bool operator==(const EmitterOptions&) const = default;
};

struct DensityOptions {
  Index buffer = ReservoirOptions{}.capacity;
  KdeOptions kde;
  QualityOptions quality;
  NoveltyOptions novelty;
  double alpha = AnnealedThresholdsOptions{}.learning_rate;
  std::optional<double> threshold_min;  ///< none: the least objective of the domain
  /// Its learning rate and minimum are the two above; its seed and its range are filled in when it
  /// is made.
  DiscountModelOptions discount;
  std::optional<double> discount_range;  ///< none: that of the domain's objectives
  FlowOptions flow;
  MixtureOptions mixture;
  Outside outside = Outside::last;

  bool operator==(const DensityOptions&) const = default;
};

enum class CellKind { automatic, grid, cvt };

template <>
struct EnumNames<CellKind> {
  static constexpr std::string_view thing = "archive";
  static constexpr std::pair<CellKind, std::string_view> all[] = {
      {CellKind::automatic, "auto"}, {CellKind::grid, "grid"}, {CellKind::cvt, "cvt"}};
};

struct CellOptions {
  CellKind kind = CellKind::automatic;
  Index intervals = 100;  ///< of a grid, along each feature
  CvtOptions cvt;
  std::string centroids;  ///< a .npy file to take them from

  bool operator==(const CellOptions&) const = default;
};

/// Whether finished evaluations are written down before their batch is told and saved.
enum class KeepJournal {
  automatic,  ///< where an evaluation takes a millisecond or longer
  on,
  off,
};

template <>
struct EnumNames<KeepJournal> {
  static constexpr std::string_view thing = "journal";
  static constexpr std::pair<KeepJournal, std::string_view> all[] = {
      {KeepJournal::automatic, "auto"}, {KeepJournal::on, "on"}, {KeepJournal::off, "off"}};
};

struct OutputOptions {
  std::int64_t metrics_every = 50;
  std::int64_t frames = 0;  ///< of a film of the archive (runs/frames.hpp)
  double entropy_floor = kCrossEntropyFloor;
  std::optional<double> objective_floor;  ///< none: the least objective of the domain
  double checkpoint_seconds = 10.0;
  KeepJournal journal = KeepJournal::automatic;

  bool operator==(const OutputOptions&) const = default;
};

/// A program of the user's own that evaluates (evaluators/program_evaluator.hpp).
struct ProgramChoice {
  std::string command;  ///< empty: there is none
  /// Where it is started; empty, or not there: where this process is.
  std::string folder;
  ProgramProtocol protocol = ProgramOptions{}.protocol;
  Index workers = ProgramOptions{}.workers;
  double timeout = ProgramOptions{}.timeout;
  double start_time = ProgramOptions{}.start_time;
  Index retries = ProgramOptions{}.retries;

  [[nodiscard]] bool any() const { return !command.empty(); }
  bool operator==(const ProgramChoice&) const = default;
};

struct Config {
  /// With the defaults of its algorithm, which are in the algorithm's row.
  Config();

  std::string domain = "lp";
  std::string algorithm = "dds-kde";
  Profile profile = Profile::standard;
  std::int64_t seed = 1;
  std::int64_t iterations = 5000;
  /// Emitters do not wait for each other (runs/drive.hpp).
  bool asynchronous = false;
  std::string order;       ///< of an asynchronous run to repeat: its folder, or its order.bin
  bool nan_fails = false;  ///< a NaN from an evaluation marks it as failed; else it is refused

  ProblemOptions problem;
  EmitterOptions emitters;
  RestartOptions restarts;
  DensityOptions density;
  CellOptions archive;
  OutputOptions output;
  ProgramChoice program;

  /// The problem, where it is none of the domains known by name.
  std::optional<DomainInfo> own_problem;

  /// The parameters somebody asked for by name, though perhaps for their default. They do not
  /// make one configuration differ from another.
  struct Chosen {
    std::set<std::string, std::less<>> names;
    bool operator==(const Chosen& /*other*/) const { return true; }
  };
  Chosen chosen;

  bool operator==(const Config&) const = default;
};

/// The values a run starts from, before the user changes any. Throws on an unknown name.
[[nodiscard]] Config default_config(std::string_view domain, std::string_view algorithm = "dds-kde",
                                    Profile profile = Profile::standard);

}  // namespace rarefy
