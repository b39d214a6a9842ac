// What to do with features outside the box: coverage and share outside of problems whose features
// have no bounds, by the parameter `outside`. Built with the benchmarks:
//
//   cmake --preset bench && cmake --build --preset bench --target experiment_outside
//   build/bench/experiment_outside ALGORITHM ITERATIONS SEED...
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "../examples/lander_simulator.hpp"
#include "rarefy/archives/metrics.hpp"
#include "rarefy/core/random.hpp"
#include "rarefy/domains/function_domain.hpp"
#include "rarefy/experiment/make_search.hpp"
#include "rarefy/runs/drive.hpp"

namespace {

using rarefy::DomainInfo;
using rarefy::FunctionDomain;
using rarefy::Index;
using Row = std::span<const double>;
using Out = std::span<double>;

FunctionDomain problem(const std::string& name, Index n, rarefy::FeatureSpace box,
                       const std::function<void(Row, Out)>& features) {
  DomainInfo info;
  info.name = name;
  info.solution_dim = n;
  info.feature_space = std::move(box);
  return {info, [features](Row x, Out out) {
            features(x, out);
            return 1.0;
          }};
}

// A cart on a rail, pushed by eight forces of a second each: where it is then, and what they cost.
void cart(Row x, Out out) {
  double place = 0, speed = 0, cost = 0;
  for (const double force : x) {
    place += speed + 0.5 * force;
    speed += force;
    cost += force * force;
  }
  out[0] = place;
  out[1] = cost;
}

// A damped pendulum under ten torques of half a second each: how far it has turned, how fast it
// turns.
void pendulum(Row x, Out out) {
  constexpr double kStep = 0.05;
  double angle = 0, speed = 0;
  for (const double torque : x) {
    for (int i = 0; i < 10; ++i) {
      speed += kStep * (3 * torque - 9.81 * std::sin(angle) - 0.2 * speed);
      angle += kStep * speed;
    }
  }
  out[0] = angle;
  out[1] = speed;
}

// A sum of waves and slopes with random directions, for each feature.
void landscape(Row x, Out out) {
  for (std::size_t f = 0; f < out.size(); ++f) {
    rarefy::RandomStream random({.seed = 77, .index = static_cast<std::uint32_t>(f)});
    double sum = 0;
    for (int wave = 0; wave < 5; ++wave) {
      double along = 0;
      for (const double value : x) along += (random.uniform() - 0.5) * value;
      sum += std::sin(along) + 0.7 * along;
    }
    out[f] = sum;
  }
}

std::vector<FunctionDomain> problems() {
  std::vector<FunctionDomain> all;
  all.push_back(problem("lander", 12, {{-400, 0}, {400, 60}}, [](Row x, Out out) {
    const auto end = land(x);
    out[0] = end.place;
    out[1] = end.speed;
  }));
  all.push_back(problem("cart", 8, {{-20, 0}, {20, 30}}, cart));
  all.push_back(problem("pendulum", 10, {{-3, -8}, {9, 8}}, pendulum));
  all.push_back(problem("landscape", 20, {{-4, -4}, {4, 4}}, landscape));
  all.push_back(problem("landscape-4", 20, {{-4, -4, -4, -4}, {4, 4, 4, 4}}, landscape));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: {} ALGORITHM ITERATIONS SEED...\n", argv[0]);
    return 2;
  }
  auto config = rarefy::default_config("lp", argv[1]);
  config.archive.cvt.samples = 40'000;
  config.archive.cvt.iterations = 20;
  const std::int64_t iterations = std::strtoll(argv[2], nullptr, 10);
  fmt::print("{:<12} {:<6} {:>9} {:>9}   {}, {} iterations, seeds {} to {}\n", "problem", "outside",
             "coverage", "outside", argv[1], iterations, argv[3], argv[argc - 1]);
  for (const auto& domain : problems()) {
    const auto team = std::make_shared<rarefy::Workers>(0);
    const auto cells = rarefy::make_tessellation(config, domain.info(), *team);
    for (const auto outside :
         {rarefy::Outside::as_is, rarefy::Outside::clamp, rarefy::Outside::last}) {
      config.density.outside = outside;
      std::vector<double> covered;
      double share = 0;
      for (int i = 3; i < argc; ++i) {
        config.seed = std::strtoll(argv[i], nullptr, 10);
        const auto search = rarefy::make_search(config, domain.info(), team, cells);
        rarefy::ThreadsEvaluator evaluator(domain, *team);
        rarefy::drive(*search, evaluator, iterations);
        covered.push_back(100 * rarefy::coverage(search->archive()));
        share += 100 * static_cast<double>(search->outside()) /
                 static_cast<double>(search->evaluations());
      }
      const auto count = static_cast<double>(covered.size());
      double mean = 0, squares = 0;
      for (const double value : covered) mean += value / count;
      for (const double value : covered) squares += (value - mean) * (value - mean);
      const double error = count > 1 ? std::sqrt(squares / (count - 1) / count) : 0.0;
      fmt::print("{:<12} {:<6} {:>6.2f} +- {:.2f} {:>7.1f} %\n", domain.info().name,
                 rarefy::name_of(outside), mean, error, share / count);
      std::fflush(stdout);
    }
  }
}
