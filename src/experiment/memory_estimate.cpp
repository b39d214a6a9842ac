#include "rarefy/experiment/memory_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "core/maths.hpp"
#include "density/kde/fine_counts.hpp"
#include "density/kde/local_classes.hpp"
#include "density/kde/sampled_kde_sums.hpp"
#include "experiment/make_parts.hpp"
#include "rarefy/core/text.hpp"
#include "rarefy/density/endless_buffer.hpp"
#include "rarefy/density/quality_density.hpp"
#include "rarefy/experiment/algorithm_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/restarts/memory_cells.hpp"
#include "rarefy/tessellations/grid.hpp"

namespace rarefy {
namespace {

constexpr double kDouble = sizeof(double);
constexpr double kFloat = sizeof(float);

// What vectors that grow by doubling hold besides what is in them, on average; and while one
// grows, its old memory lies beside the new.
constexpr double kGrowing = 1.5;

double real(Index count) { return static_cast<double>(count); }

std::string counted(double count, std::string_view things) {
  constexpr double kMost = 1e18;
  return fmt::format("{} {}", with_commas(static_cast<std::int64_t>(std::min(count, kMost))),
                     things);
}

// What the parts of a search take, each by the sizes that its constructor and its state have. The
// numbers are those of values a row, a cell, a parameter: tests/experiment/memory_estimate_test.cpp
// and tests/command/memory_test.cpp hold them against what is really taken.
class Estimate {
 public:
  Estimate(const Config& config, const DomainInfo& domain, const MemoryUse& use)
      : config_(config),
        domain_(domain),
        use_(use),
        n_(real(domain.solution_dim)),
        m_(real(domain.feature_dim())),
        rows_(real(config.emitters.count) * real(config.emitters.batch)),
        evaluations_(rows_ * static_cast<double>(config.iterations)),
        threads_(real(use.threads > 0
                          ? use.threads
                          : static_cast<Index>(std::max(1U, std::thread::hardware_concurrency())))),
        grid_(uses_grid(config, domain)) {
    if (use.cells) {
      cells_ = real(*use.cells);
    } else if (grid_) {
      cells_ = 1.0;
      for (Index d = 0; d < domain.feature_dim(); ++d) cells_ *= real(config.archive.intervals);
    } else {
      cells_ = config.archive.centroids.empty() ? real(config.archive.cvt.cells) : 0.0;
    }
  }

  [[nodiscard]] MemoryEstimate all() && {
    batch();
    emitters();
    cells();
    elites();
    if (remembers(config_)) memory();
    const auto* const density = algorithm_of(config_).density;
    if (density == &kKernelDensity || density == &kQualityDensity) kernel_density();
    if (density == &kQualityDensity) sampled_objectives();
    if (density == &kFlowDensity) flow();
    if (density == &kDiscountModel) discount_model();
    if (density == &kMixtureDensity) mixture();
    if (density == &kNovelty) novelty();
    if (density == &kThresholds || density == &kImprovement) cell_values();
    if (use_.saves) {
      add("the state when it is resumed", largest_parameter(), saved_.first, saved_.last);
    }
    estimate_.preparing = making_cells();
    sort();
    return std::move(estimate_);
  }

 private:
  struct Bytes {
    double first = 0, last = 0;
  };

  void add(std::string what, std::string_view parameter, double first, double last) {
    estimate_.shares.push_back({std::move(what), parameter, first, std::max(first, last)});
  }
  void save(double first, double last) {
    saved_.first += first;
    saved_.last += std::max(first, last);
  }
  void sort() { std::ranges::stable_sort(estimate_.shares, std::greater(), &MemoryShare::last); }
  [[nodiscard]] std::string_view largest_parameter() {
    sort();
    return estimate_.shares.front().parameter;
  }

  // Solutions, features and what is known of them, in the search and in the evaluator.
  void batch() {
    constexpr double kScalars = 12;  // scores, objectives, cells, orders, ...
    const double bytes =
        rows_ * kDouble * (n_ + 3 * m_ + kScalars) + real(config_.emitters.count) * n_ * kDouble;
    add(counted(rows_, "candidates at a time"), "batch", bytes, bytes);
  }

  void emitters() {
    const auto count = real(config_.emitters.count);
    const auto batch = real(config_.emitters.batch);
    const bool strategy = algorithm_of(config_).emitter == &kStrategyEmitter;
    // Normal numbers, and of strategies the steps that they make.
    const double samples = count * (strategy ? 2 : 1) * batch * n_ * kDouble;
    add("random steps", "batch", samples, samples);
    if (!strategy) return;
    const auto kind = strategy_for(config_.emitters.strategy, domain_.solution_dim);
    if (kind != Strategy::cma_es) {
      // Means, paths, a diagonal, or 4 + 3 ln n directions.
      const double vectors = 6 + (kind == Strategy::lm_ma_es ? 3 * maths::log(n_) : 0);
      const double bytes = count * vectors * n_ * kDouble;
      add(counted(count, "emitters"), "emitters", bytes, bytes);
      save(bytes, bytes);
      if (kind == Strategy::sep_cma_es) common_shape(n_);
      return;
    }
    const bool eigen = config_.emitters.cma_es.factor == Factor::eigen;
    // The matrix, its factor, the next factor, and the axes; where those are found, each thread
    // has as much again.
    const double matrices = eigen ? 4 : 3;
    const double at_work = eigen ? 3 * std::min(threads_, count) : 0;
    const double matrix = n_ * n_ * kDouble;
    add(fmt::format("{} full covariance matrices", count), "n",
        (matrices * count + at_work) * matrix, (matrices * count + at_work) * matrix);
    const double saved = (eigen ? 3 : 2) * count * matrix;
    save(saved, saved);
    common_shape(n_ * n_);
  }

  // None until an emitter has restarted.
  void common_shape(double numbers) {
    if (config_.restarts.shape_rate == 0) return;
    add("the shape of steps that emitters share", "n", 0, numbers * kDouble);
    save(0, numbers * kDouble);
  }

  // Visits and elites by cell, and what tells Voronoi cells apart.
  void cells() {
    double bytes = 2 * kDouble * cells_;
    // Centroids, and their tables in double and single precision with a column more.
    if (!grid_) bytes += cells_ * (m_ * kDouble + (m_ + 1) * (kDouble + kFloat));
    add(counted(cells_, "cells"), grid_ ? "grid" : "cells", bytes, bytes);
    save(kDouble * cells_, kDouble * cells_);
  }

  // The values of cells that annealed thresholds and improvements are.
  void cell_values() {
    const double bytes = kDouble * cells_;
    add(counted(cells_, "thresholds"), grid_ ? "grid" : "cells", bytes, bytes);
    save(bytes, bytes);
  }

  void elites() {
    const double one = (n_ + m_ + 2) * kDouble;
    const double most = std::min(cells_, evaluations_) * one;
    const double soon = std::min(cells_, rows_) * one;
    add("elites", grid_ ? "grid" : "cells", soon, most);
    save(soon, most);
  }

  // Elites of cells of their own, for restarts.
  void memory() {
    const double cells =
        real(memory_cells_for(config_.restarts.memory_cells, domain_.feature_dim()));
    double bytes = 2 * kDouble * cells;
    if (domain_.feature_dim() > 2) bytes += cells * (m_ * kDouble + (m_ + 1) * (kDouble + kFloat));
    const double one = (n_ + m_ + 2) * kDouble;
    const double most = bytes + std::min(cells, evaluations_) * one;
    const double soon = bytes + std::min(cells, rows_) * one;
    add("elites that restarts remember", "memory-cells", soon, most);
    save(soon, most);
  }

  // The features that a density remembers.
  void buffer(double bytes_beside) {
    const auto capacity = real(config_.density.buffer);
    const bool endless = capacity == 0;
    const double soon = endless ? rows_ : std::min(capacity, rows_);
    const double most = endless ? evaluations_ * kGrowing : std::min(capacity, evaluations_);
    const double one = m_ * kDouble + bytes_beside;
    add("features in the buffer", endless ? "iterations" : "buffer", soon * one, most * one);
    save(soon * m_ * kDouble, most * m_ * kDouble);
  }

  void kernel_density() {
    if (config_.profile == Profile::published) {  // filled from the start
      const auto capacity = real(config_.density.buffer);
      const double bytes = capacity * m_ * (kDouble + kFloat);
      add("features in the buffer", "buffer", bytes, bytes);
      save(capacity * m_ * kDouble, capacity * m_ * kDouble);
      return;
    }
    KdeOptions options = config_.density.kde;
    options.space = domain_.feature_space;
    fine_counts(options);
    const auto method = KernelDensity::method_to_rank(options, config_.density.buffer);
    if (options.bandwidth.is_local()) {
      local_kernels(options, method);
      return;
    }
    if (method == KdeMethod::direct) {
      buffer(m_ * kFloat);
      return;
    }
    if (method == KdeMethod::sampled) {
      buffer(m_ * kFloat);
      const double bytes =
          SampledKdeSums::scratch_bytes(static_cast<Index>(m_), static_cast<Index>(rows_));
      add("samples of the buffer", "batch", bytes, bytes);
      return;
    }
    if (method == KdeMethod::blocks) {
      // In blocks with their lengths, as they came, and in the order of the buffer; with places.
      constexpr double kPlaces = 3 * sizeof(Index);
      buffer((3 * m_ + 1) * kFloat + kPlaces);
      return;
    }
    if (config_.density.buffer == 0) {
      const double sample = real(EndlessBuffer::kSample) * m_ * kDouble;
      add("a sample of the features", "buffer", sample, sample);
    } else {
      buffer(0.0);
    }
    panels(options);
  }

  // What comes beside the pilot density: features once more, their classes, and sums of each class.
  void local_kernels(const KdeOptions& options, KdeMethod method) {
    const double copy = m_ * kDouble + sizeof(std::int64_t);
    if (method == KdeMethod::direct) {
      // A feature is in the pilot's columns and in those of its class, all of which have room for
      // all.
      buffer(copy + real(1 + LocalClasses::kCount) * m_ * kFloat);
    } else {
      buffer(copy);
      panels(options);
      for (Index number = 0; number < LocalClasses::kCount; ++number) {
        panels(options, LocalClasses::multiple(number));
      }
    }
    const auto capacity = real(config_.density.buffer) * sizeof(std::int64_t);
    save(capacity, capacity);
  }

  [[nodiscard]] std::vector<double> bandwidths_of(const KdeOptions& options) const {
    return options.bandwidth.resolve(options.space, config_.density.buffer > 0
                                                        ? config_.density.buffer
                                                        : EndlessBuffer::kSample);
  }

  void fine_counts(const KdeOptions& options) {
    if (!(options.detail > 0) || options.space.dim() > FineCounts::kMostDims) return;
    auto deviations = bandwidths_of(options);
    for (double& deviation : deviations) deviation *= KernelDensity::kDetailScale;
    const double bytes = real(FineCounts::nodes_of(options.space, deviations)) * kDouble;
    add("fine counts of features", "bandwidth", bytes, bytes);
    save(bytes, bytes);
  }

  // The sample and its sorted copy; and a batch of objectives.
  void sampled_objectives() {
    const double sample = real(QualityDensity::kSample) * kDouble;
    add("a sample of the objectives", "batch", 2 * sample + rows_ * kDouble,
        2 * sample + rows_ * kDouble);
    save(std::min(sample, rows_ * kDouble), sample);
  }

  // Tables over feature space, whose size is that of the box in bandwidths (see
  // density/panels/panel_sums.hpp).
  void panels(const KdeOptions& options, double multiple = 1.0) {
    const auto& space = options.space;
    const auto bandwidths = bandwidths_of(options);
    double area = 1;
    for (std::size_t d = 0; d < bandwidths.size(); ++d) {
      area *= space.width(static_cast<Index>(d)) / (bandwidths[d] * multiple) + 1;
    }
    constexpr double kPanel = 2.85 * 2.85, kPanelBytes = 8e3;  // squares of bandwidths; bytes
    constexpr double kCell = 0.58 * 0.58, kCellBytes = 256 * kDouble + 32 * 32;
    const double field = area / kPanel * kPanelBytes;
    const double all_cells = area / kCell;
    const double soon = std::min(all_cells, rows_) * kCellBytes * kGrowing;
    const double most = std::min(all_cells, evaluations_) * kCellBytes * kGrowing;
    add("tables of the density", "bandwidth", field + soon, field + most);
    save(field / 2 + soon / kGrowing, field / 2 + most / kGrowing);
  }

  // Statistics of the components and what follows from them; responsibilities of a step's features.
  void mixture() {
    buffer(0.0);
    const auto& options = config_.density.mixture;
    const double component = kDouble * (m_ + 1) * (m_ + 2) / 2;
    const double bytes = 2 * real(options.components) * component +
                         kDouble * real(options.batch) * (real(options.components) + m_ + 2);
    add(counted(real(options.components), "Gaussians"), "mixture-components", bytes, bytes);
    save(real(options.components) * component, real(options.components) * component);
  }

  void flow() {
    buffer(0.0);
    const auto& network = config_.density.flow.network;
    constexpr double kColumns = 88;  // that a thread follows at a time, with their tangents
    add_network("the network of the flow", "flow-layers",
                {m_ + 2 * real(network.frequencies), network.layers, m_},
                real(config_.density.flow.training.batch), kColumns);
  }

  void discount_model() {
    const auto& options = config_.density.discount;
    constexpr double kColumns = 36;  // candidates that a thread asks about at a time
    add_network("the network of thresholds", "discount-layers", {m_, options.network.layers, 1},
                real(options.training.batch), kColumns);
    // What it is trained on, and the order of that.
    const double empty = std::min(real(options.training.empty), cells_);
    const double initial = std::min(real(options.training.initial), cells_);
    const double samples = std::max(rows_ + empty, initial) * (m_ + 3) * kDouble * kGrowing;
    add("samples of thresholds", "batch", samples, samples);
    const double bits = cells_ / 8;
    add("which cells are empty", grid_ ? "grid" : "cells", bits, bits);
    save(bits, bits);
  }

  struct NetworkShape {
    double inputs;
    const std::vector<Index>& layers;
    double outputs;
  };

  // In training, with `batch` samples a step, and evaluated for `columns` by each thread.
  void add_network(std::string what, std::string_view parameter, const NetworkShape& shape,
                   double batch, double columns) {
    constexpr double kUnit = 16;  // widths are padded to multiples of it
    const auto padded_width = [](double width) { return std::ceil(width / kUnit) * kUnit; };
    double inputs = padded_width(shape.inputs);
    double parameters = 0, values = 0, widest = 0;
    const auto layer = [&](double outputs) {
      parameters += (inputs + 1) * outputs;
      values += inputs + 2 * outputs;
      widest = std::max({widest, inputs, outputs});
      inputs = outputs;
    };
    for (const Index width : shape.layers) layer(padded_width(real(width)));
    layer(padded_width(shape.outputs));
    // The network, its gradient and two moments of that; and network and moments once more, to go
    // back to.
    constexpr double kCopies = 7;
    const double bytes =
        kFloat * (kCopies * parameters + batch * values + threads_ * columns * 3 * widest);
    add(std::move(what), parameter, bytes, bytes);
    save(4 * kFloat * parameters, 4 * kFloat * parameters);
  }

  void novelty() {
    const double one = (m_ * kDouble + kFloat) * kGrowing;
    add("the archive of novelty", "iterations", rows_ * one, evaluations_ * one);
    save(rows_ * m_ * kDouble, evaluations_ * m_ * kDouble);
    const double nearest = rows_ * real(config_.density.novelty.neighbours) * 2 * kDouble;
    add("distances to neighbours", "neighbours", nearest, nearest);
  }

  // Lloyd's algorithm on samples.
  [[nodiscard]] MemoryShare making_cells() const {
    if (grid_ || use_.cells || !config_.archive.centroids.empty()) return {};
    const auto samples = real(config_.archive.cvt.samples);
    const double bytes = samples * (m_ + 1) * kDouble +
                         cells_ * (3 * m_ * kDouble + kDouble + 2 * (m_ + 1) * (kDouble + kFloat));
    return {fmt::format("making {} of {}", counted(cells_, "cells"), counted(samples, "samples")),
            samples > 4 * cells_ ? "cvt-samples" : "cells", bytes, bytes};
  }

  const Config& config_;
  const DomainInfo& domain_;
  const MemoryUse& use_;
  double n_, m_;
  double rows_;         // of an iteration
  double evaluations_;  // in all
  double threads_;
  bool grid_;
  double cells_ = 0;
  Bytes saved_;
  MemoryEstimate estimate_;
};

}  // namespace

double MemoryEstimate::first() const {
  double sum = 0;
  for (const auto& share : shares) sum += share.first;
  return std::max(sum, preparing.first);
}

double MemoryEstimate::last() const {
  double sum = 0;
  for (const auto& share : shares) sum += share.last;
  return std::max(sum, preparing.last);
}

MemoryEstimate estimate_memory(const Config& config, const DomainInfo& domain,
                               const MemoryUse& use) {
  Estimate estimate(config, domain, use);
  return std::move(estimate).all();
}

std::string memory_text(double bytes) {
  if (bytes >= 1e12) return fmt::format("{:.0f} GB", 1e-9 * bytes);
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", 1e-9 * bytes);
  return fmt::format("{:.0f} MB", std::ceil(1e-6 * bytes));
}

}  // namespace rarefy
