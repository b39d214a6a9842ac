#include "density/flow/flow_integration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/at.hpp"
#include "core/maths.hpp"

namespace rarefy {
namespace {

// A place with the integral of its divergence as one more value.
Index values_of(const VelocityField& field) { return field.features() + 1; }

// Derivatives of `count` such states, each at its time.
class Derivative {
 public:
  Derivative(VelocityField& field, Index most)
      : field_(field),
        places_(at(most * field.features())),
        velocities_(at(most * field.features())),
        divergences_(at(most)) {}

  void operator()(const double* states, const double* times, Index count, double* derivatives) {
    const Index dims = field_.features();
    const Index values = values_of(field_);
    for (Index i = 0; i < count; ++i) {
      std::copy_n(states + i * values, dims, places_.data() + i * dims);
    }
    field_.evaluate(places_.data(), times, count, velocities_.data(), divergences_.data());
    for (Index i = 0; i < count; ++i) {
      std::copy_n(velocities_.data() + i * dims, dims, derivatives + i * values);
      derivatives[i * values + dims] = divergences_[at(i)];
    }
  }

 private:
  VelocityField& field_;
  std::vector<double> places_, velocities_, divergences_;
};

void follow_rk4(VelocityField& field, Index steps, double from, double to, Index count,
                std::vector<double>& states) {
  const Index values = count * values_of(field);
  const double h = (to - from) / static_cast<double>(steps);
  Derivative derivative(field, count);
  std::vector<double> times(at(count)), stage(at(values)), slope(at(values)), sum(at(values));
  constexpr std::array kAhead = {0.0, 0.5, 0.5, 1.0};  // where the stages lie
  constexpr std::array kWeight = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  for (Index s = 0; s < steps; ++s) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t k = 0; k < kAhead.size(); ++k) {
      for (Index i = 0; i < values; ++i) {
        stage[at(i)] = states[at(i)] + (k == 0 ? 0.0 : h * kAhead[k] * slope[at(i)]);
      }
      std::fill(times.begin(), times.end(), from + h * (static_cast<double>(s) + kAhead[k]));
      derivative(stage.data(), times.data(), count, slope.data());
      for (Index i = 0; i < values; ++i) sum[at(i)] += kWeight[k] * slope[at(i)];
    }
    for (Index i = 0; i < values; ++i) states[at(i)] += h * sum[at(i)];
  }
}

// Dormand and Prince, "A family of embedded Runge-Kutta formulae", 1980: the pair RK5(4)7M. The
// last row of kA gives the result of order 5, and its derivative is the next step's first.
constexpr std::size_t kStages = 7;
constexpr std::array<double, kStages> kC = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
constexpr std::array<std::array<double, kStages - 1>, kStages> kA = {{
    {},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
}};
// Order 5 less order 4.
constexpr std::array<double, kStages> kError = {
    71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

// Each state in steps of its own; those that have arrived leave the others to go on.
class DormandPrince {
 public:
  DormandPrince(VelocityField& field, const FlowIntegrationOptions& options, double from, double to,
                Index count, std::vector<double>& states)
      : options_(options),
        to_(to),
        values_(values_of(field)),
        states_(states),
        derivative_(field, count),
        active_(at(count)),
        time_(at(count), from),
        step_(at(count), kFirstStep * (to - from)),
        smallest_(kSmallestStep * std::abs(to - from)),
        stage_(at(count * values_)),
        stage_times_(at(count)) {
    for (auto& slopes : slopes_) slopes.resize(at(count * values_));
    for (Index i = 0; i < count; ++i) active_[at(i)] = i;
  }

  void follow() {
    evaluate_stage(0);
    while (!active_.empty()) {
      for (std::size_t k = 1; k < kStages; ++k) evaluate_stage(k);
      Index left = 0;
      for (std::size_t j = 0; j < active_.size(); ++j) {
        if (finish_step(static_cast<Index>(j))) keep(static_cast<Index>(j), left++);
      }
      active_.resize(at(left));
    }
  }

 private:
  static constexpr double kFirstStep = 0.05;
  static constexpr double kSmallestStep = 1e-5;

  // Row j of the matrices of slopes belongs to state active_[j].
  void evaluate_stage(std::size_t k) {
    const auto count = static_cast<Index>(active_.size());
    for (Index j = 0; j < count; ++j) {
      const Index i = active_[at(j)];
      const double h = step_[at(i)];
      for (Index v = 0; v < values_; ++v) {
        double sum = 0.0;
        for (std::size_t s = 0; s < k; ++s) sum += kA[k][s] * slopes_[s][at(j * values_ + v)];
        stage_[at(j * values_ + v)] = states_[at(i * values_ + v)] + h * sum;
      }
      stage_times_[at(j)] = time_[at(i)] + kC[k] * h;
    }
    derivative_(stage_.data(), stage_times_.data(), count, slopes_[k].data());
  }

  // Takes the step or makes it smaller; whether the state has still way to go.
  bool finish_step(Index j) {
    const Index i = active_[at(j)];
    const double h = step_[at(i)];
    double squares = 0.0;
    for (Index v = 0; v < values_; ++v) {
      double error = 0.0;
      for (std::size_t s = 0; s < kStages; ++s)
        error += kError[s] * slopes_[s][at(j * values_ + v)];
      const double size =
          std::max(std::abs(states_[at(i * values_ + v)]), std::abs(stage_[at(j * values_ + v)]));
      const double allowed = options_.absolute_error + options_.relative_error * size;
      squares += (h * error / allowed) * (h * error / allowed);
    }
    const double error = std::sqrt(squares / static_cast<double>(values_));
    if (!std::isfinite(error)) {
      if (std::abs(h) > smallest_) {
        step_[at(i)] = 0.1 * h;
        return true;
      }
      std::fill_n(states_.begin() + i * values_, values_, std::numeric_limits<double>::quiet_NaN());
      return false;
    }
    // The usual controller (Hairer, Norsett, Wanner, "Solving ordinary differential equations
    // I", II.4): safety 0.9, and no change by more than 5 or 10 at a time.
    const double factor = std::clamp(0.9 * maths::power(std::max(error, 1e-10), -0.2), 0.2, 10.0);
    if (error > 1.0 && std::abs(h) > smallest_) {
      step_[at(i)] = h * std::min(factor, 1.0);
      return true;
    }
    std::copy_n(stage_.begin() + j * values_, values_, states_.begin() + i * values_);
    std::copy_n(slopes_.back().begin() + j * values_, values_, slopes_[0].begin() + j * values_);
    const double rest = to_ - (time_[at(i)] + h);
    time_[at(i)] += h;
    if (std::abs(rest) < 1e-12) return false;
    const double next = std::max(std::abs(h) * factor, smallest_);
    step_[at(i)] = std::abs(rest) <= next ? rest : std::copysign(next, rest);
    return true;
  }

  void keep(Index from, Index to) {
    active_[at(to)] = active_[at(from)];
    std::copy_n(slopes_[0].begin() + from * values_, values_, slopes_[0].begin() + to * values_);
  }

  const FlowIntegrationOptions& options_;
  double to_;
  Index values_;
  std::vector<double>& states_;
  Derivative derivative_;
  std::vector<Index> active_;
  std::vector<double> time_, step_;
  double smallest_;
  std::vector<double> stage_, stage_times_;
  std::array<std::vector<double>, kStages> slopes_;
};

}  // namespace

void integrate(VelocityField& field, const FlowIntegrationOptions& options, double from, double to,
               BatchSpan places, std::span<double> divergence_integrals) {
  const Index dims = field.features();
  const Index values = values_of(field);
  const Index count = places.rows();
  std::vector<double> states(at(count * values), 0.0);
  for (Index i = 0; i < count; ++i) {
    std::copy_n(places.row(i).data(), dims, states.data() + i * values);
  }
  if (options.integrator == Integrator::rk4) {
    follow_rk4(field, options.steps, from, to, count, states);
  } else {
    DormandPrince(field, options, from, to, count, states).follow();
  }
  for (Index i = 0; i < count; ++i) {
    std::copy_n(states.data() + i * values, dims, places.row(i).data());
    divergence_integrals[at(i)] = states[at(i * values + dims)];
  }
}

}  // namespace rarefy
