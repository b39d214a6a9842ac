// The deceptive maze as its definition reads, one robot after the other: what the vectorised
// simulation is compared with. Slow and obvious.
//
// Every operation is rounded to single precision by itself, none is fused (the tests are compiled
// with -ffp-contract=off), dot products run from 0 through the inputs and add the bias last, and
// sine, cosine, tangent and the like are computed in double precision and rounded once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "rarefy/domains/maze.hpp"

namespace maze_reference {

constexpr float kPi = std::numbers::pi_v<float>;
constexpr float kRadius = 0.015F;
constexpr float kAxle = 0.03F;
constexpr float kRange = 0.2F;
constexpr float kWheel = 0.025F;
constexpr int kSteps = 250;
constexpr std::size_t kInputs = 5, kHidden = 8;

inline float sine(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
inline float cosine(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
inline float tangent(float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); }
inline float direction(float y, float x) {
  return static_cast<float>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
}

/// mod(a + pi, 2 pi) - pi, with the remainder that is not negative.
inline float wrap(float a) {
  const float turn = 2.0F * kPi;
  float rest = std::fmod(a + kPi, turn);
  if (rest < 0.0F) rest = rest + turn;
  return rest - kPi;
}

struct Point {
  float x = 0, y = 0;
};
struct Segment {
  Point from, to;
};
struct Pose {
  float x = 0, y = 0, heading = 0;
};
struct Bumpers {
  float a = -1, b = -1;  // right front, left front
};
struct Wheels {
  float left = 0, right = 0;
};
struct Lasers {
  float right = 0, ahead = 0, left = 0;
};

struct World {
  std::vector<Segment> walls;
  Pose start;
  float no_wall_reading = kRange;
};

inline Segment segment(double x1, double y1, double x2, double y2) {
  return {{static_cast<float>(x1), static_cast<float>(y1)},
          {static_cast<float>(x2), static_cast<float>(y2)}};
}

/// The walls given and the four sides of the square.
inline World world(const rarefy::MazeOptions& options) {
  World made;
  for (const auto& wall : options.walls) {
    made.walls.push_back(segment(wall.x1, wall.y1, wall.x2, wall.y2));
  }
  made.walls.push_back(segment(0, 0, 0, 1));
  made.walls.push_back(segment(0, 1, 1, 1));
  made.walls.push_back(segment(1, 1, 1, 0));
  made.walls.push_back(segment(1, 0, 0, 0));
  made.start = {static_cast<float>(options.start.x), static_cast<float>(options.start.y),
                static_cast<float>(options.start.heading)};
  made.no_wall_reading = static_cast<float>(options.no_wall_reading);
  return made;
}

/// Whether P, Q, S turn counter-clockwise; three points on a line do not.
inline bool ccw(Point p, Point q, Point s) {
  return (s.y - p.y) * (q.x - p.x) > (q.y - p.y) * (s.x - p.x);
}

inline float distance(Point a, Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  return std::sqrt(dx * dx + dy * dy);
}

/// Where the line through A and B meets that through C and D.
inline Point intersection(Point a, Point b, Point c, Point d) {
  const float ab_x = a.x - b.x, ab_y = a.y - b.y, cd_x = c.x - d.x, cd_y = c.y - d.y;
  const float divisor = ab_x * cd_y - ab_y * cd_x;
  const float c1 = a.x * b.y - a.y * b.x, c2 = c.x * d.y - c.y * d.x;
  return {(c1 * cd_x - ab_x * c2) / divisor, (c1 * cd_y - ab_y * c2) / divisor};
}

inline float laser(const World& world, Point a, float angle) {
  const Point b = {a.x + kRange * cosine(angle), a.y + kRange * sine(angle)};
  bool seen = false;
  float nearest = 0;
  for (const auto& [c, d] : world.walls) {
    if (ccw(a, c, d) == ccw(b, c, d) || ccw(a, b, c) == ccw(a, b, d)) continue;
    const float away = distance(a, intersection(a, b, c, d));
    if (!seen || away < nearest) nearest = away;
    seen = true;
  }
  return seen && nearest <= kRange ? nearest : world.no_wall_reading;
}

inline Lasers lasers(const World& world, const Pose& pose) {
  const float eighth = 0.25F * kPi;
  const Point at = {pose.x, pose.y};
  return {laser(world, at, pose.heading - eighth), laser(world, at, pose.heading),
          laser(world, at, pose.heading + eighth)};
}

inline Point nearest_point(const Segment& wall, Point p) {
  const float dx = wall.to.x - wall.from.x, dy = wall.to.y - wall.from.y;
  float t = ((p.x - wall.from.x) * dx + (p.y - wall.from.y) * dy) / (dx * dx + dy * dy);
  if (t < 0.0F) t = 0.0F;
  if (t > 1.0F) t = 1.0F;
  return {wall.from.x + t * dx, wall.from.y + t * dy};
}

/// Of the robot's centre from the wall that is nearest to it.
inline float clearance(const World& world, const Pose& pose) {
  const Point at = {pose.x, pose.y};
  float least = 4.0F;
  for (const auto& wall : world.walls) {
    least = std::min(least, distance(at, nearest_point(wall, at)));
  }
  return least;
}

inline bool stuck(const World& world, const Pose& pose) {
  return clearance(world, pose) <= kRadius;
}

inline Bumpers bumpers(const World& world, const Pose& pose) {
  const Point at = {pose.x, pose.y};
  Bumpers felt;
  for (const auto& wall : world.walls) {
    const Point nearest = nearest_point(wall, at);
    if (!(distance(at, nearest) < kRadius)) continue;
    const float delta = wrap(direction(nearest.y - at.y, nearest.x - at.x) - pose.heading);
    if (delta > -0.5F * kPi && delta <= 0.0F) felt.a = 1.0F;
    if (delta >= 0.0F && delta < 0.5F * kPi) felt.b = 1.0F;
  }
  return felt;
}

inline float clip(float value, float limit) {
  if (value > limit) return limit;
  if (value < -limit) return -limit;
  return value;
}

using Controller = std::array<float, 66>;

inline Controller controller(std::span<const double> parameters) {
  Controller made{};
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<float>(parameters[i]);
  return made;
}

inline Wheels wheels(const Controller& p, const Lasers& seen, const Bumpers& felt) {
  const std::array<float, kInputs> inputs = {seen.right, seen.ahead, seen.left, felt.a, felt.b};
  std::array<float, kHidden> hidden{};
  for (std::size_t j = 0; j < kHidden; ++j) {
    float sum = 0.0F;
    for (std::size_t i = 0; i < kInputs; ++i) sum = sum + inputs[i] * p[8 + 8 * i + j];
    sum = sum + p[j];
    hidden[j] = sum > 0.0F ? sum : 0.0F;
  }
  std::array<float, 2> out{};
  for (std::size_t k = 0; k < 2; ++k) {
    float sum = 0.0F;
    for (std::size_t j = 0; j < kHidden; ++j) sum = sum + hidden[j] * p[50 + 2 * j + k];
    sum = sum + p[48 + k];
    out[k] = tangent(sum);
  }
  return {out[0], out[1]};
}

/// The displacements of both wheels in one step.
inline Wheels displacements(const Wheels& action) {
  return {clip(kWheel * clip(action.left, 1.0F), kWheel),
          clip(kWheel * clip(action.right, 1.0F), kWheel)};
}

inline float effort(const Wheels& by) { return by.left * by.left + by.right * by.right; }

/// The pose at the end of a step that nothing hinders.
inline Pose arc(const Pose& from, const Wheels& by) {
  const float alpha = (by.right - by.left) / kAxle;
  if (std::abs(alpha) > 1e-10F) {
    const float r = by.left / alpha + 0.5F * kAxle;
    const float u = (cosine(alpha) - 1.0F) * r, v = r * sine(alpha);
    const float p = from.heading - 0.5F * kPi;
    return {from.x + (u * cosine(p) - v * sine(p)), from.y + (u * sine(p) + v * cosine(p)),
            wrap(from.heading + wrap(alpha))};
  }
  return {from.x + by.left * cosine(from.heading), from.y + by.left * sine(from.heading),
          wrap(from.heading)};
}

/// What MazeMoment says, in single precision.
struct Moment {
  Pose pose;
  Lasers seen;
  Bumpers felt;
  Wheels action;
};

struct Episode {
  Pose feature;  ///< after 249 moves
  Pose end;      ///< after 250
  float fitness = 0;
  int frozen_from = -1;  ///< the first step in which a wall held the robot
};

/// Calls `visit` with each of the 251 moments. A robot that a wall holds has nothing new to sense
/// from the second step there on, so that is not computed again.
template <typename Visit>
Episode episode(const World& world, const Controller& parameters, Visit&& visit) {
  Episode out;
  Moment now;
  now.pose = world.start;
  for (int step = 0; step <= kSteps; ++step) {
    const bool settled = out.frozen_from >= 0 && step > out.frozen_from + 1;
    if (!settled) {
      now.seen = lasers(world, now.pose);
      now.action = wheels(parameters, now.seen, now.felt);
    }
    visit(now);
    if (step == kSteps - 1) out.feature = now.pose;
    if (step == kSteps) break;
    const Wheels by = displacements(now.action);
    out.fitness = out.fitness - effort(by);
    if (settled) continue;
    const bool held = stuck(world, now.pose);
    now.felt = bumpers(world, now.pose);
    if (!held) now.pose = arc(now.pose, by);
    if (held && out.frozen_from < 0) out.frozen_from = step;
  }
  out.end = now.pose;
  return out;
}

inline Episode episode(const World& world, const Controller& parameters) {
  return episode(world, parameters, [](const Moment&) {});
}

inline std::vector<Moment> trajectory(const World& world, const Controller& parameters) {
  std::vector<Moment> moments;
  (void)episode(world, parameters, [&](const Moment& moment) { moments.push_back(moment); });
  return moments;
}

}  // namespace maze_reference
