// Everything that decides what a run does, as plain values.
//
// A default-constructed Config is the default profile on the linear projection, and its
// values serve any domain. experiment/parameters.hpp knows each value by name, with its
// meaning and range; experiment/config_file.hpp reads and writes them as TOML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/batch.hpp"
#include "rarefy/experiment/metrics.hpp"

namespace rarefy {

struct Config {
  // run
  std::string domain = "lp";
  std::string algorithm = "dds-kde";
  std::string profile = "default";
  std::int64_t seed = 1;
  std::int64_t iterations = 5000;

  // domain
  std::int64_t n = 100;
  std::int64_t m = 2;
  std::string objective = "constant";
  std::string maze = "deceptive";
  std::string walls;
  std::string start = "0.15,0.15,1.5707963267948966";
  double nothing_seen = 0.2;

  // emitters
  std::int64_t emitters = 15;
  std::int64_t batch = 36;
  double sigma0 = 1.5;
  double x0 = 0.0;
  std::string selection = "mu";
  double iso_sigma = 0.1;
  double line_sigma = 0.2;
  std::string strategy = "cma-es";
  bool mirrored = true;
  std::string factor = "cholesky";
  std::string bounds = "none";
  std::int64_t resamples = 10;
  std::string repair = "reflect";
  std::int64_t decompose_every = 0;
  double stop_condition = 1e14;
  double stop_step = 1e-11;
  double stop_flat = 1e-12;

  // restarts
  std::string restart_when = "stagnation";
  std::int64_t patience = 25;
  double patience_rate = 0.2;
  std::string restart_at = "adaptive";
  std::int64_t average_of = 0;
  std::int64_t compared = 64;
  double adaptive_decay = 0.8;
  double adaptive_least = 0.02;

  // density
  std::int64_t buffer = 10'000;
  std::string kernel = "gaussian";
  std::string bandwidth = "scott";
  std::string kde = "auto";
  std::int64_t neighbours = 100;
  std::string novelty_threshold = "0.042 width";
  bool count_batch = false;
  double alpha = 0.01;
  double threshold_min = 0.0;
  std::string flow_layers = "64,64";
  std::string flow_activation = "elu";
  std::int64_t flow_frequencies = 3;
  std::int64_t flow_steps = 20;
  std::int64_t flow_batch = 256;
  double flow_rate = 1e-3;
  double flow_smoothing = 1e-4;
  std::string flow_scaling = "bounds";
  std::string flow_integrator = "rk4";
  std::int64_t flow_integration_steps = 10;
  double flow_relative_error = 1e-3;
  double flow_absolute_error = 1e-4;

  // archive
  std::string archive = "auto";
  std::int64_t grid = 100;
  std::int64_t cells = 10'000;
  std::int64_t cvt_samples = 100'000;
  std::int64_t cvt_seed = 1;
  std::int64_t cvt_iterations = 100;
  double cvt_tolerance = 1e-4;
  std::string centroids;

  // output
  std::int64_t metrics_every = 50;
  double entropy_floor = kCrossEntropyFloor;
  double objective_floor = 0.0;
  double checkpoint_seconds = 10.0;

  bool operator==(const Config&) const = default;
};

/// Whether the algorithm descends an estimate of the density, whichever estimate that is.
[[nodiscard]] bool is_density_descent(const Config& config);

/// What there is to choose from, with a line on each.
struct Choice {
  std::string_view name;
  std::string_view meaning;
};
[[nodiscard]] const std::vector<Choice>& domain_choices();
[[nodiscard]] const std::vector<Choice>& algorithm_choices();
[[nodiscard]] const std::vector<Choice>& profile_choices();

/// The values a run starts from, before the user changes any. Throws on an unknown name.
[[nodiscard]] Config default_config(std::string_view domain, std::string_view algorithm = "dds-kde",
                                    std::string_view profile = "default");

}  // namespace rarefy
