// How much do density estimates change from one iteration to the next? The paper proves bounds for
// the exchange of one feature; this measures them in real runs. Built with the benchmarks:
//
//   cmake --preset bench && cmake --build --preset bench --target experiment_stability
//   build/bench/experiment_stability [--csv] [--rules] ITERATIONS EVERY SEED
//
// runs ITERATIONS of dds-kde and novelty search on the paper's domains, and looks at each EVERY-th.
//
// Kernel densities. The paper's estimate, D(x) = 1/(|B| h) sum of K(|x - b| / h) with K in [0, 1],
// changes nowhere by more than 1/(|B| h) where one feature of the buffer B is exchanged, and so by
// r/(|B| h) at most where r are. (The same holds for r that are added, with |B| counting them.)
// Novelty. The mean distance to the k nearest features changes by W/k at most where one is added,
// with W the diameter of feature space, and so by a W/k where a are.
//
// Both are looked at in 2,000 places spread evenly over feature space, and at the features that
// came and went, where the change is greatest. Columns:
//   exchanged  how many features came in one of the iterations that were looked at, on average
//   bound      for one feature
//   one        the greatest change that one exchange (or one that is added) makes by itself, as a
//              part of the bound: computed in double precision
//   greatest   of all iterations: the greatest change anywhere, as a part of the bound for as many
//              features as came
//   mean       the same on average over the iterations
//   share      the mean over iterations of the greatest change, as a part of the greatest estimate
//   error      the greatest difference between change and exact change (sums over the whole buffer
//              in double precision), as a part of what kde.hpp states for the method
//
// --rules looks at bandwidths that follow the data instead: spread, likelihood and local. All
// densities are exact sums, in 500 places and at what came and went; the bound is the height of the
// narrowest kernel in use, over |B|. Columns that differ:
//   narrowest  of the kernels of the first feature, at the last look
//   fits       iterations in which a fit changed widths; the columns before are of the others
//   fit        the greatest change that a fit makes of the same buffer, in bounds for one feature
//   fit-share  the same as a part of the greatest density; fit-mean: on average over fits
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/core/random.hpp"
#include "rarefy/density/kde.hpp"
#include "rarefy/density/nearest_neighbours.hpp"
#include "rarefy/density/novelty.hpp"
#include "rarefy/density/reservoir.hpp"
#include "rarefy/evaluators/evaluator.hpp"
#include "rarefy/experiment/domain_table.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/drive.hpp"

namespace {

using rarefy::Batch;
using rarefy::BatchView;
using rarefy::Index;
using rarefy::KernelDensity;
using Values = std::vector<double>;

constexpr Index kProbes = 2'000;

struct Plan {
  std::int64_t iterations = 0, every = 0, seed = 0;
  bool csv = false;
};

/// What is written in a line of the table.
struct Finding {
  std::string domain, density;
  double bandwidth = 0, bound = 0;
  double exchanged = 0, one = 0, greatest = 0, mean = 0, share = 0, error = 0;
  int looks = 0;
};

Batch spread_evenly(const rarefy::FeatureSpace& space) {
  rarefy::RandomStream random({.seed = 1, .purpose = rarefy::Purpose::user});
  Batch batch(kProbes, space.dim());
  for (Index i = 0; i < kProbes; ++i) {
    for (Index d = 0; d < space.dim(); ++d) {
      batch(i, d) = space.lower[static_cast<std::size_t>(d)] + random.uniform() * space.width(d);
    }
  }
  return batch;
}

Batch copy_of(BatchView rows) {
  return {Values(rows.values().begin(), rows.values().end()), rows.rows(), rows.cols()};
}

void append(Batch& batch, BatchView rows) {
  for (Index i = 0; i < rows.rows(); ++i) batch.append(rows.row(i));
}

// ---- Kernel densities --------------------------------------------------------------------------

double kernel(std::span<const double> a, std::span<const double> b, std::span<const double> h) {
  double sum = 0.0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const double u = (a[d] - b[d]) / h[d];
    sum += u * u;
  }
  return std::exp(-0.5 * sum);
}

// Means of kernels, h times the paper's D: bandwidths then need not be equal.
Values exact_means(BatchView buffer, BatchView places, std::span<const double> h,
                   rarefy::Workers& team) {
  Values means(static_cast<std::size_t>(places.rows()));
  team.for_each(places.rows(), [&](Index i) {
    double sum = 0.0;
    for (Index j = 0; j < buffer.rows(); ++j) sum += kernel(places.row(i), buffer.row(j), h);
    means[static_cast<std::size_t>(i)] = sum / static_cast<double>(buffer.rows());
  });
  return means;
}

Values estimated_means(KernelDensity& density, BatchView places, rarefy::Workers& team) {
  Values means(static_cast<std::size_t>(places.rows()));
  density.log_density(places, means, team);
  constexpr double kLogTwoPi = 1.8378770664093453;
  double log_constant = 0.5 * kLogTwoPi * static_cast<double>(places.cols());
  for (const double h : density.bandwidths()) log_constant += std::log(h);
  for (double& value : means) value = std::exp(value + log_constant);
  return means;
}

/// The error of ln p that kde.hpp states.
double stated_error(const KernelDensity& density, const rarefy::FeatureSpace& space) {
  if (density.method() == rarefy::KdeMethod::panels) return 1e-5;
  double sum = 0.0;
  for (std::size_t d = 0; d < space.lower.size(); ++d) {
    const double widths = (space.upper[d] - space.lower[d]) / density.bandwidths()[d];
    sum += widths * widths;
  }
  return 2e-6 * (1.0 + 0.5 * std::sqrt(sum));
}

// The rows that differ, or that are new.
void find_exchanged(BatchView before, BatchView after, Batch& went, Batch& came) {
  for (Index i = 0; i < after.rows(); ++i) {
    const auto now = after.row(i);
    if (i >= before.rows()) {
      came.append(now);
    } else if (!std::equal(now.begin(), now.end(), before.row(i).begin())) {
      went.append(before.row(i));
      came.append(now);
    }
  }
}

// The greatest change that a single exchange makes: where probes are, and at both ends of it.
double greatest_of_one(const Batch& went, const Batch& came, const Batch& probes,
                       std::span<const double> h, rarefy::Workers& team) {
  Values greatest(static_cast<std::size_t>(went.rows()));
  team.for_each(went.rows(), [&](Index i) {
    const auto change = [&](std::span<const double> place) {
      return std::abs(kernel(place, went.row(i), h) - kernel(place, came.row(i), h));
    };
    double& most = greatest[static_cast<std::size_t>(i)];
    most = std::max(change(went.row(i)), change(came.row(i)));
    for (Index p = 0; p < probes.rows(); ++p) most = std::max(most, change(probes.row(p)));
  });
  return greatest.empty() ? 0.0 : *std::max_element(greatest.begin(), greatest.end());
}

class KernelLook {
 public:
  KernelLook(KernelDensity& density, const rarefy::FeatureSpace& space, rarefy::Workers& team)
      : density_(density), space_(space), team_(team), probes_(spread_evenly(space)) {}

  void before() {
    buffer_ = copy_of(density_.buffer().contents());
    at_probes_ = estimated_means(density_, probes_, team_);
  }

  void after(Finding& finding) {
    const auto buffer = density_.buffer().contents();
    Batch went(0, space_.dim()), came(0, space_.dim());
    find_exchanged(buffer_, buffer, went, came);
    if (came.rows() == 0) return;
    Batch places = probes_;
    append(places, went);
    append(places, came);
    const auto now = estimated_means(density_, places, team_);
    const auto h = density_.bandwidths();
    const auto exact_then = exact_means(buffer_, places, h, team_);
    const auto exact_now = exact_means(buffer, places, h, team_);
    auto then = at_probes_;
    const auto rest = estimate_again(places.view().rows(kProbes, places.rows() - kProbes));
    then.insert(then.end(), rest.begin(), rest.end());
    const auto size = static_cast<double>(buffer.rows());
    const double bound = static_cast<double>(came.rows()) / size;
    double greatest = 0.0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const double change = now[i] - then[i];
      const double stated = stated_error(density_, space_) * (now[i] + then[i]);
      greatest = std::max(greatest, std::abs(change));
      if (stated > 1e-300) {
        finding.error =
            std::max(finding.error, std::abs(change - (exact_now[i] - exact_then[i])) / stated);
      }
    }
    const double most = *std::max_element(now.begin(), now.end());
    if (went.rows() == came.rows()) {
      finding.one = std::max(finding.one, greatest_of_one(went, came, probes_, h, team_));
    }
    finding.bandwidth = h[0];
    finding.bound = 1.0 / (size * h[0]);
    finding.exchanged += static_cast<double>(came.rows());
    finding.greatest = std::max(finding.greatest, greatest / bound);
    finding.mean += greatest / bound;
    finding.share += greatest / most;
    ++finding.looks;
  }

 private:
  // Before the iteration, in places that are known only now: by a density of the same features.
  Values estimate_again(BatchView places) {
    const auto h = density_.bandwidths();
    auto buffer = std::make_unique<rarefy::Reservoir>(rarefy::ReservoirOptions{
        .feature_dim = space_.dim(), .capacity = buffer_.rows(), .seed = 1});
    KernelDensity again({.space = space_,
                         .bandwidth = rarefy::Bandwidth::absolute(h[0]),
                         .method = density_.method()},
                        std::move(buffer));
    again.observe({buffer_}, team_);
    return estimated_means(again, places, team_);
  }

  KernelDensity& density_;
  const rarefy::FeatureSpace& space_;
  rarefy::Workers& team_;
  Batch probes_;
  Batch buffer_;
  Values at_probes_;
};

// ---- Novelty -----------------------------------------------------------------------------------

class NoveltyLook {
 public:
  NoveltyLook(rarefy::NoveltyDensity& density, const rarefy::FeatureSpace& space,
              rarefy::Workers& team)
      : density_(density), space_(space), team_(team), probes_(spread_evenly(space)) {}

  void before() {
    members_ = density_.members();
    then_ = novelty(density_, probes_);
  }

  void after(Finding& finding) {
    const Index added = density_.members() - members_;
    const Index k = density_.options().neighbours;
    if (added == 0 || members_ < k) return;
    double diameter = 0.0;
    for (Index d = 0; d < space_.dim(); ++d) diameter += space_.width(d) * space_.width(d);
    diameter = std::sqrt(diameter);
    const auto now = novelty(density_, probes_);
    double greatest = 0.0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      greatest = std::max(greatest, std::abs(now[i] - then_[i]));
    }
    greatest = std::max(greatest, greatest_at_new_members());
    finding.one = std::max(finding.one, greatest_of_one(k) / diameter);
    const double one = diameter / static_cast<double>(k);
    const double bound = one * static_cast<double>(added);
    finding.bound = one;
    finding.exchanged += static_cast<double>(added);
    finding.greatest = std::max(finding.greatest, greatest / bound);
    finding.mean += greatest / bound;
    finding.share += greatest / *std::max_element(now.begin(), now.end());
    ++finding.looks;
  }

 private:
  Values novelty(rarefy::NoveltyDensity& density, BatchView places) {
    Values values(static_cast<std::size_t>(places.rows()));
    density.score({places}, values, team_);
    for (double& value : values) value = -value;
    return values;
  }

  double greatest_at_new_members() {
    const auto all = density_.archive();
    const auto fresh = all.view().rows(members_, all.rows() - members_);
    auto options = density_.options();
    options.threshold = 0.0;
    rarefy::NoveltyDensity then(options);
    then.observe({all.view().rows(0, members_)}, team_);
    const auto a = novelty(then, fresh);
    const auto b = novelty(density_, fresh);
    double greatest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      greatest = std::max(greatest, std::abs(a[i] - b[i]));
    }
    return greatest;
  }

  // Who comes nearer than the k-th neighbour takes its place: k times what a single newcomer
  // changes.
  double greatest_of_one(Index k) {
    const auto all = density_.archive();
    const auto fresh = all.view().rows(members_, all.rows() - members_);
    rarefy::NearestNeighbours old(space_.dim());
    old.add(all.view().rows(0, members_));
    Batch places = probes_;
    append(places, fresh);
    Values distances(static_cast<std::size_t>(places.rows() * k));
    std::vector<Index> numbers(distances.size());
    old.find(places, k, distances, numbers);
    Values greatest(static_cast<std::size_t>(places.rows()));
    team_.for_each(places.rows(), [&](Index i) {
      const double farthest = distances[static_cast<std::size_t>((i + 1) * k - 1)];
      for (Index j = 0; j < fresh.rows(); ++j) {
        double sum = 0.0;
        for (Index d = 0; d < space_.dim(); ++d) {
          const double along = places(i, d) - fresh(j, d);
          sum += along * along;
        }
        double& most = greatest[static_cast<std::size_t>(i)];
        most = std::max(most, farthest - std::sqrt(sum));
      }
    });
    return *std::max_element(greatest.begin(), greatest.end());
  }

  rarefy::NoveltyDensity& density_;
  const rarefy::FeatureSpace& space_;
  rarefy::Workers& team_;
  Batch probes_;
  Values then_;
  Index members_ = 0;
};

// ---- Runs --------------------------------------------------------------------------------------

template <typename Look>
void watch(rarefy::Search& search, rarefy::Evaluator& evaluator, const Plan& plan, Look look,
           Finding& finding) {
  for (std::int64_t next = plan.every; next <= plan.iterations; next += plan.every) {
    rarefy::drive(search, evaluator, next - 1);
    look.before();
    rarefy::drive(search, evaluator, next);
    look.after(finding);
  }
  if (finding.looks == 0) return;
  const auto looks = static_cast<double>(finding.looks);
  finding.exchanged /= looks;
  finding.mean /= looks;
  finding.share /= looks;
}

void print(const Finding& f, bool csv) {
  const bool kde = f.bandwidth > 0.0;
  if (csv) {
    fmt::print("{},{},{:.6g},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", f.domain,
               f.density, f.bandwidth, f.looks, f.exchanged, f.bound, f.one, f.greatest, f.mean,
               f.share, f.error);
  } else {
    fmt::print(
        "{:<9} {:<24} {:>9} {:>5} {:>10.1f} {:>10.3g} {:>7.4f} {:>9.4f} {:>9.4f} {:>8.2f} % "
        "{:>7}\n",
        f.domain, f.density, kde ? fmt::format("{:.4g}", f.bandwidth) : "", f.looks, f.exchanged,
        f.bound, f.one, f.greatest, f.mean, 100.0 * f.share,
        kde ? fmt::format("{:.2g}", f.error) : "");
  }
  std::fflush(stdout);
}

struct Choice {
  std::string density;
  std::string algorithm = "dds-kde";
  rarefy::KdeMethod method = rarefy::KdeMethod::direct;
  std::optional<double> bandwidth = {};
};

void study(const std::string& name, const Choice& choice, const Plan& plan,
           const std::shared_ptr<rarefy::Workers>& team) {
  auto config = rarefy::default_config(name, choice.algorithm);
  config.seed = plan.seed;
  config.density.kde.method = choice.method;
  if (choice.bandwidth) {
    config.density.kde.bandwidth = rarefy::Bandwidth::absolute(*choice.bandwidth);
  }
  // The cells only count what was found.
  config.archive.cvt.samples = 20'000;
  config.archive.cvt.iterations = 2;
  const auto domain = rarefy::make_domain(config);
  const auto search = rarefy::make_search(config, domain->info(), team);
  rarefy::ThreadsEvaluator evaluator(*domain, *team);
  const auto& space = domain->info().feature_space;
  Finding finding{.domain = name, .density = choice.density};
  if (auto* kde = dynamic_cast<KernelDensity*>(&search->density())) {
    watch(*search, evaluator, plan, KernelLook(*kde, space, *team), finding);
  } else {
    auto& novelty = dynamic_cast<rarefy::NoveltyDensity&>(search->density());
    watch(*search, evaluator, plan, NoveltyLook(novelty, space, *team), finding);
  }
  print(finding, plan.csv);
}

// ---- Bandwidths that follow the data -----------------------------------------------------------

/// The widths of the kernels over a buffer, at one time.
struct Widths {
  Values h;          // by feature
  Values multiples;  // by slot; empty: 1
  bool operator==(const Widths&) const = default;

  [[nodiscard]] double multiple(Index slot) const {
    return multiples.empty() ? 1.0 : multiples[static_cast<std::size_t>(slot)];
  }
  /// Of the kernel over a slot, where its integral is 1, but for the power of 2 pi.
  [[nodiscard]] double peak(double multiple) const {
    double product = 1.0;
    for (const double width : h) product /= width * multiple;
    return product;
  }
  [[nodiscard]] double value(std::span<const double> a, std::span<const double> b,
                             double multiple) const {
    Values wide = h;
    for (double& width : wide) width *= multiple;
    return peak(multiple) * kernel(a, b, wide);
  }
  [[nodiscard]] double narrowest() const {
    return multiples.empty() ? 1.0 : *std::min_element(multiples.begin(), multiples.end());
  }
};

Widths widths_of(const KernelDensity& density) {
  const auto h = density.bandwidths();
  return {{h.begin(), h.end()}, density.multiples()};
}

Values exact_densities(BatchView buffer, const Widths& widths, BatchView places,
                       rarefy::Workers& team) {
  Values densities(static_cast<std::size_t>(places.rows()));
  team.for_each(places.rows(), [&](Index i) {
    double sum = 0.0;
    for (Index j = 0; j < buffer.rows(); ++j) {
      double squared = 0.0;
      const double multiple = widths.multiple(j);
      for (Index d = 0; d < buffer.cols(); ++d) {
        const double u = (places(i, d) - buffer(j, d)) / widths.h[static_cast<std::size_t>(d)];
        squared += u * u;
      }
      sum += widths.peak(multiple) * std::exp(-0.5 * squared / (multiple * multiple));
    }
    densities[static_cast<std::size_t>(i)] = sum / static_cast<double>(buffer.rows());
  });
  return densities;
}

double greatest_difference(const Values& a, const Values& b) {
  double greatest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) greatest = std::max(greatest, std::abs(a[i] - b[i]));
  return greatest;
}

/// What is written in a line of the second table.
struct RuleFinding {
  int looks = 0, fits = 0;
  double narrowest = 0, one = 0, greatest = 0, mean = 0;
  double fit = 0, fit_share = 0, fit_mean_share = 0;
};

/// From when the buffer is full. Iterations in which widths were fitted anew are told apart from
/// those in which features came and went; of a fit, only what it makes of the same buffer counts.
RuleFinding watch_rule(rarefy::Search& search, rarefy::Evaluator& evaluator, const Plan& plan,
                       const rarefy::FeatureSpace& space, rarefy::Workers& team) {
  constexpr Index kFewerProbes = 500;
  auto& density = dynamic_cast<KernelDensity&>(search.density());
  const Batch probes = copy_of(spread_evenly(space).view().rows(0, kFewerProbes));
  RuleFinding finding;
  for (std::int64_t next = 1; next <= plan.iterations; ++next) {
    const Batch before = copy_of(density.buffer().contents());
    const Widths old = widths_of(density);
    rarefy::drive(search, evaluator, next);
    const auto buffer = density.buffer().contents();
    if (before.rows() < density.buffer().capacity()) continue;
    const Widths now = widths_of(density);
    Batch went(0, space.dim()), came(0, space.dim());
    std::vector<Index> slots;
    for (Index i = 0; i < buffer.rows(); ++i) {
      const auto row = buffer.row(i);
      if (std::equal(row.begin(), row.end(), before.row(i).begin())) continue;
      slots.push_back(i);
      went.append(before.row(i));
      came.append(row);
    }
    Widths kept = old;  // for what has stayed; what came has the widths of now
    for (const Index slot : slots) {
      if (!kept.multiples.empty()) {
        kept.multiples[static_cast<std::size_t>(slot)] =
            now.multiples[static_cast<std::size_t>(slot)];
      }
    }
    const bool fitted = !(kept == now);
    if (!fitted && (next % plan.every != 0 || slots.empty())) continue;
    Batch places = probes;
    append(places, went);
    append(places, came);
    const double bound = now.peak(now.narrowest()) / static_cast<double>(buffer.rows());
    const auto after = exact_densities(buffer, now, places, team);
    if (fitted) {
      const auto unfitted = exact_densities(buffer, kept, places, team);
      const double change = greatest_difference(after, unfitted);
      const double share = change / *std::max_element(after.begin(), after.end());
      finding.fit = std::max(finding.fit, change / bound);
      finding.fit_share = std::max(finding.fit_share, share);
      finding.fit_mean_share += share;
      ++finding.fits;
      continue;
    }
    const auto then = exact_densities(before, old, places, team);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto row = static_cast<Index>(i);
      for (Index p = 0; p < places.rows(); ++p) {
        const auto place = places.view().row(p);
        const double change = now.value(place, came.view().row(row), now.multiple(slots[i])) -
                              old.value(place, went.view().row(row), old.multiple(slots[i]));
        finding.one =
            std::max(finding.one, std::abs(change) / static_cast<double>(buffer.rows()) / bound);
      }
    }
    const double change =
        greatest_difference(after, then) / (bound * static_cast<double>(slots.size()));
    finding.greatest = std::max(finding.greatest, change);
    finding.mean += change;
    finding.narrowest = now.narrowest() * now.h[0];
    ++finding.looks;
  }
  if (finding.looks > 0) finding.mean /= finding.looks;
  if (finding.fits > 0) finding.fit_mean_share /= finding.fits;
  return finding;
}

void study_rule(const std::string& name, const rarefy::Bandwidth& rule, const Plan& plan,
                const std::shared_ptr<rarefy::Workers>& team) {
  auto config = rarefy::default_config(name, "dds-kde");
  config.seed = plan.seed;
  config.density.kde.bandwidth = rule;
  const auto domain = rarefy::make_domain(config);
  const auto search = rarefy::make_search(config, domain->info(), team);
  rarefy::ThreadsEvaluator evaluator(*domain, *team);
  const auto f = watch_rule(*search, evaluator, plan, domain->info().feature_space, *team);
  const auto line = [&](auto format) {
    fmt::print(format, name, rule.text(), f.narrowest, f.looks, f.one, f.greatest, f.mean, f.fits,
               f.fit, f.fit_share, f.fit_mean_share);
  };
  if (plan.csv) {
    line(FMT_STRING("{},{},{:.6g},{},{:.6g},{:.6g},{:.6g},{},{:.6g},{:.6g},{:.6g}\n"));
  } else {
    line(
        FMT_STRING("{:<6} {:<11} {:>9.4g} {:>5} {:>7.4f} {:>8.4f} {:>7.4f} {:>5} {:>9.1f} "
                   "{:>9.4f} {:>9.4f}\n"));
  }
  std::fflush(stdout);
}

void study_rules(const Plan& plan, const std::shared_ptr<rarefy::Workers>& team) {
  if (plan.csv) {
    fmt::print("domain,rule,narrowest,looks,one,greatest,mean,fits,fit,fit-share,fit-mean\n");
  } else {
    fmt::print("{:<6} {:<11} {:>9} {:>5} {:>7} {:>8} {:>7} {:>5} {:>9} {:>9} {:>9}\n", "domain",
               "rule", "narrowest", "looks", "one", "greatest", "mean", "fits", "fit", "fit-share",
               "fit-mean");
  }
  using rarefy::Bandwidth;
  for (const std::string name : {"lp", "arm", "maze"}) {
    for (const auto& rule : {Bandwidth::spread(), Bandwidth::likelihood(), Bandwidth::local()}) {
      study_rule(name, rule, plan, team);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  int first = 1;
  bool rules = false;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    if (std::string_view(argv[first]) == "--csv") plan.csv = true;
    if (std::string_view(argv[first]) == "--rules") rules = true;
  }
  if (argc - first != 3) {
    fmt::print(stderr, "usage: {} [--csv] [--rules] ITERATIONS EVERY SEED\n", argv[0]);
    return 2;
  }
  plan.iterations = std::strtoll(argv[first], nullptr, 10);
  plan.every = std::max<std::int64_t>(1, std::strtoll(argv[first + 1], nullptr, 10));
  plan.seed = std::strtoll(argv[first + 2], nullptr, 10);
  const auto team = std::make_shared<rarefy::Workers>(0);
  if (rules) {
    study_rules(plan, team);
    return 0;
  }
  if (plan.csv) {
    fmt::print("domain,density,bandwidth,looks,exchanged,bound,one,greatest,mean,share,error\n");
  } else {
    fmt::print("{:<9} {:<24} {:>9} {:>5} {:>10} {:>10} {:>7} {:>9} {:>9} {:>10} {:>7}\n", "domain",
               "density", "bandwidth", "looks", "exchanged", "bound", "one", "greatest", "mean",
               "share", "error");
  }
  for (const std::string name : {"lp", "arm", "maze", "multi-lp"}) {
    const double papers = rarefy::domain_named(name).published().bandwidth;
    using rarefy::KdeMethod;
    study(name, {.density = "kde direct"}, plan, team);
    study(name, {.density = "kde direct (paper's h)", .bandwidth = papers}, plan, team);
    if (name != "multi-lp") {  // tables are for one or two features
      study(name, {.density = "kde panels", .method = KdeMethod::panels}, plan, team);
      study(name,
            {.density = "kde panels (paper's h)", .method = KdeMethod::panels, .bandwidth = papers},
            plan, team);
    }
    study(name, {.density = "novelty", .algorithm = "ns"}, plan, team);
  }
}
