// A lander without an atmosphere: six phases of thrust and tilt, then it falls.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

struct Landing {
  double place;  ///< metres from below where it started
  double speed;  ///< metres a second, on impact
};

/// `controls` has 12 values, thrust and tilt of each phase; any number will do.
inline Landing land(std::span<const double> controls) {
  constexpr double kStep = 0.1, kPhase = 5.0, kGravity = 1.62, kMostThrust = 5.0;
  double x = 0, height = 150, vx = 0, vy = 0;
  for (double time = 0; height > 0 && time < 600; time += kStep) {
    const auto phase = static_cast<std::size_t>(time / kPhase);
    double thrust = 0, tilt = 0;
    if (2 * phase + 1 < controls.size()) {
      thrust = kMostThrust * std::clamp(0.5 + controls[2 * phase], 0.0, 1.0);
      tilt = controls[2 * phase + 1];
    }
    vx += kStep * thrust * std::sin(tilt);
    vy += kStep * (thrust * std::cos(tilt) - kGravity);
    x += kStep * vx;
    height += kStep * vy;
  }
  return {x, std::hypot(vx, vy)};
}
