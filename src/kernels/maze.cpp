#include "kernels/maze.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/maze.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rarefy::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using I = hn::RebindToSigned<D>;
using Real = hn::Vec<D>;
using Integer = hn::Vec<I>;
using Mask = hn::Mask<D>;

constexpr float kPi = 3.14159265F;
constexpr float kRadius = 0.015F;
constexpr float kAxle = 0.03F;
constexpr float kRange = 0.2F;
constexpr float kWheel = 0.025F;
// Weights beyond this are cut off. Wheels are saturated long before, and nothing overflows.
constexpr double kLargestWeight = 1e15;

HWY_INLINE Real real(float value) { return hn::Set(D(), value); }
HWY_INLINE Real times_plus(Real a, Real b, float c) { return hn::Add(hn::Mul(a, b), real(c)); }

// Polynomials below: minimax fits of our own (weighted least squares, reweighted until the
// error is level), 4e-9 relative and less before rounding.

// For |x| < 6: x = k pi/2 + r, with pi/2 in three parts whose products with k are exact but
// for the last.
HWY_INLINE void sine_cosine(Real x, Real& sine, Real& cosine) {
  const Real turns = hn::Round(hn::Mul(x, real(0.636619772F)));
  Real r = hn::Sub(x, hn::Mul(turns, real(1.5703125F)));
  r = hn::Sub(r, hn::Mul(turns, real(4.8375129699707031e-4F)));
  r = hn::Sub(r, hn::Mul(turns, real(7.5497901264043321e-8F)));
  const Real z = hn::Mul(r, r);
  Real s = times_plus(z, real(-0.000195166562F), 0.00833217334F);
  s = times_plus(s, z, -0.166666552F);
  s = hn::Add(r, hn::Mul(hn::Mul(s, z), r));
  Real c = times_plus(z, real(2.44377297e-05F), -0.00138873619F);
  c = times_plus(c, z, 0.0416666456F);
  c = hn::Add(hn::Sub(real(1.0F), hn::Mul(z, real(0.5F))), hn::Mul(c, hn::Mul(z, z)));
  const Integer quarter = hn::NearestInt(turns);
  // An odd quarter turn exchanges the two; bit 1 of k, and of k + 1, are their signs.
  const Mask odd = hn::RebindMask(D(), hn::TestBit(quarter, hn::Set(I(), 1)));
  const Real sine_sign = hn::BitCast(D(), hn::ShiftLeft<30>(hn::And(quarter, hn::Set(I(), 2))));
  const Real cosine_sign = hn::BitCast(
      D(), hn::ShiftLeft<30>(hn::And(hn::Add(quarter, hn::Set(I(), 1)), hn::Set(I(), 2))));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), sine_sign);
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), cosine_sign);
}

// exp(x) for 0 <= x <= 20.
HWY_INLINE Real exponential(Real x) {
  const Real k = hn::Round(hn::Mul(x, real(1.44269504F)));
  Real r = hn::Sub(x, hn::Mul(k, real(0.693115234375F)));
  r = hn::Sub(r, hn::Mul(k, real(3.1946183298714459e-5F)));
  Real p = times_plus(r, real(0.00139506022F), 0.00836895313F);
  p = times_plus(p, r, 0.041666206F);
  p = times_plus(p, r, 0.166665182F);
  p = times_plus(p, r, 0.5F);
  p = hn::Add(hn::Add(hn::Mul(hn::Mul(p, r), r), r), real(1.0F));
  const Integer exponent = hn::ShiftLeft<23>(hn::NearestInt(k));
  return hn::BitCast(D(), hn::Add(hn::BitCast(I(), p), exponent));
}

HWY_INLINE Real hyperbolic_tangent(Real x) {
  const Real size = hn::Min(hn::Abs(x), real(10.0F));  // where it is 1 in single precision
  const Real e = exponential(hn::Add(size, size));
  const Real large = hn::Sub(real(1.0F), hn::Div(real(2.0F), hn::Add(e, real(1.0F))));
  const Real z = hn::Mul(size, size);
  Real p = times_plus(z, real(-0.00571468659F), 0.0206485745F);
  p = times_plus(p, z, -0.0537429117F);
  p = times_plus(p, z, 0.133314848F);
  p = times_plus(p, z, -0.333332837F);
  const Real small = hn::Add(size, hn::Mul(hn::Mul(p, z), size));
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, real(0.625F)), small, large), x);
}

// mod(a + pi, 2 pi) - pi for |a| < 3 pi, rounded as the remainder would be.
HWY_INLINE Real wrapped(Real a) {
  const Real turn = real(2.0F * kPi);
  Real t = hn::Add(a, real(kPi));
  t = hn::IfThenElse(hn::Lt(t, hn::Zero(D())), hn::Add(t, turn), t);
  t = hn::IfThenElse(hn::Ge(t, turn), hn::Sub(t, turn), t);
  return hn::Sub(t, real(kPi));
}

struct Pose {
  Real x, y, heading;
  Real sine, cosine;  // of the heading
};

struct Sight {
  Real right, ahead, left;  // the lasers at -45, 0 and +45 degrees
};

// The end of a laser relative to its robot, rounded as if the end itself had been kept.
struct Ray {
  Real x, y;
  Real nearest;  // parts of the range
};

HWY_INLINE Ray ray(const Pose& at, Real sine, Real cosine) {
  const Real range = real(kRange);
  return {hn::Sub(hn::Add(at.x, hn::Mul(range, cosine)), at.x),
          hn::Sub(hn::Add(at.y, hn::Mul(range, sine)), at.y), real(1.0F)};
}

// A laser crosses a wall if the wall's two ends lie on either side of it, and it ends beyond
// the wall. With c and d the ends as seen from the robot and r the laser, the wall is crossed
// at the part t = (c x d) / (r x d - r x c) of the range. The comparisons of r x c and r x d
// with 0 decide exactly as "(S.y - A.y)(B.x - A.x) > (B.y - A.y)(S.x - A.x)" does for a laser
// from A to B and the end S of a wall: the reading at the start is such a tie. Whether t is
// just below or just above 1 does not matter, because both read as the range (unless nothing
// seen is given another reading).
HWY_INLINE void meet(Ray& laser, Real from_x, Real from_y, Real to_x, Real to_y, Real cross) {
  const Real zero = hn::Zero(D());
  const Real from_side = hn::Sub(hn::Mul(from_y, laser.x), hn::Mul(laser.y, from_x));
  const Real to_side = hn::Sub(hn::Mul(to_y, laser.x), hn::Mul(laser.y, to_x));
  const Mask between = hn::Xor(hn::Gt(from_side, zero), hn::Gt(to_side, zero));
  const Real t = hn::Div(cross, hn::Sub(to_side, from_side));
  const Mask nearer = hn::And(hn::Ge(t, zero), hn::Lt(t, laser.nearest));
  laser.nearest = hn::IfThenElse(hn::And(between, nearer), t, laser.nearest);
}

HWY_INLINE Real reading(const Ray& laser, Real no_wall_reading) {
  const Real seen = hn::Mul(laser.nearest, real(kRange));
  return hn::IfThenElse(hn::Lt(laser.nearest, real(1.0F)), seen, no_wall_reading);
}

// From the robot to the nearest point of a wall whose start it sees at (from_x, from_y).
HWY_INLINE void to_nearest(const MazeWall& wall, Real from_x, Real from_y, Real& x, Real& y) {
  const Real along_x = real(wall.along_x);
  const Real along_y = real(wall.along_y);
  const Real dot = hn::Add(hn::Mul(from_x, along_x), hn::Mul(from_y, along_y));
  Real t = hn::Mul(hn::Neg(dot), real(wall.inverse_square));
  t = hn::Min(hn::Max(t, hn::Zero(D())), real(1.0F));
  x = hn::Add(from_x, hn::Mul(t, along_x));
  y = hn::Add(from_y, hn::Mul(t, along_y));
}

// What the robots see, and the squared distance to the wall that is nearest to each.
HWY_INLINE Real look(const MazeTask& task, const Pose& at, Sight& sight) {
  Real sine, cosine;
  const Real eighth = real(0.25F * kPi);
  sine_cosine(hn::Sub(at.heading, eighth), sine, cosine);
  Ray right = ray(at, sine, cosine);
  Ray ahead = ray(at, at.sine, at.cosine);
  sine_cosine(hn::Add(at.heading, eighth), sine, cosine);
  Ray left = ray(at, sine, cosine);
  Real nearest = real(4.0F);
  for (std::ptrdiff_t w = 0; w < task.wall_count; ++w) {
    const MazeWall& wall = task.walls[w];
    const Real from_x = hn::Sub(real(wall.from_x), at.x);
    const Real from_y = hn::Sub(real(wall.from_y), at.y);
    const Real to_x = hn::Sub(real(wall.to_x), at.x);
    const Real to_y = hn::Sub(real(wall.to_y), at.y);
    Real cross = hn::Sub(hn::Mul(to_y, from_x), hn::Mul(from_y, to_x));
    // Exactly on the wall's line: as if just behind it, which is how strict comparisons decide.
    cross = hn::IfThenElse(hn::Eq(cross, hn::Zero(D())), real(-1e-30F), cross);
    meet(right, from_x, from_y, to_x, to_y, cross);
    meet(ahead, from_x, from_y, to_x, to_y, cross);
    meet(left, from_x, from_y, to_x, to_y, cross);
    Real x, y;
    to_nearest(wall, from_x, from_y, x, y);
    nearest = hn::Min(nearest, hn::Add(hn::Mul(x, x), hn::Mul(y, y)));
  }
  const Real nothing = real(task.no_wall_reading);
  sight = {reading(right, nothing), reading(ahead, nothing), reading(left, nothing)};
  return nearest;
}

// +1 where a wall touches the right (a) or left (b) front of the robot, -1 where none does.
HWY_INLINE void feel(const MazeTask& task, const Pose& at, Real& a, Real& b) {
  const Real zero = hn::Zero(D());
  a = b = real(-1.0F);
  for (std::ptrdiff_t w = 0; w < task.wall_count; ++w) {
    const MazeWall& wall = task.walls[w];
    Real x, y;
    to_nearest(wall, hn::Sub(real(wall.from_x), at.x), hn::Sub(real(wall.from_y), at.y), x, y);
    const Real square = hn::Add(hn::Mul(x, x), hn::Mul(y, y));
    const Mask touches = hn::Lt(square, real(kRadius * kRadius));
    // On the very wall, its direction is that of atan2(0, 0) = 0.
    x = hn::IfThenElse(hn::Eq(square, zero), real(1.0F), x);
    const Real front = hn::Add(hn::Mul(at.cosine, x), hn::Mul(at.sine, y));
    const Real side = hn::Sub(hn::Mul(at.cosine, y), hn::Mul(at.sine, x));
    const Mask hit = hn::And(touches, hn::Gt(front, zero));
    a = hn::IfThenElse(hn::And(hit, hn::Le(side, zero)), real(1.0F), a);
    b = hn::IfThenElse(hn::And(hit, hn::Ge(side, zero)), real(1.0F), b);
  }
}

// 5 inputs, 8 hidden (ReLU), 2 outputs (tanh). Sums run from the first input on, the bias
// comes last.
HWY_INLINE void think(const float* weights, const Sight& sight, Real bumper_a, Real bumper_b,
                      Real& left_wheel, Real& right_wheel) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const auto weight = [&](std::size_t i) HWY_ATTR { return hn::Load(d, weights + i * lanes); };
  Real out_left = hn::Zero(d);
  Real out_right = hn::Zero(d);
  for (std::size_t j = 0; j < 8; ++j) {
    Real sum = hn::Mul(sight.right, weight(8 + j));
    sum = hn::Add(sum, hn::Mul(sight.ahead, weight(16 + j)));
    sum = hn::Add(sum, hn::Mul(sight.left, weight(24 + j)));
    sum = hn::Add(sum, hn::Mul(bumper_a, weight(32 + j)));
    sum = hn::Add(sum, hn::Mul(bumper_b, weight(40 + j)));
    const Real hidden = hn::Max(hn::Add(sum, weight(j)), hn::Zero(d));
    out_left = hn::Add(out_left, hn::Mul(hidden, weight(50 + 2 * j)));
    out_right = hn::Add(out_right, hn::Mul(hidden, weight(51 + 2 * j)));
  }
  left_wheel = hyperbolic_tangent(hn::Add(out_left, weight(48)));
  right_wheel = hyperbolic_tangent(hn::Add(out_right, weight(49)));
}

// The pose after one step along an arc of a circle, or straight ahead.
HWY_INLINE Pose moved(const Pose& from, Real left, Real right) {
  const Real turn = hn::Div(hn::Sub(right, left), real(kAxle));
  const Mask bends = hn::Gt(hn::Abs(turn), real(1e-10F));
  const Real divisor = hn::IfThenElse(bends, turn, real(1.0F));
  const Real r = hn::Add(hn::Div(left, divisor), real(0.5F * kAxle));
  Real sine, cosine;
  sine_cosine(turn, sine, cosine);
  const Real u = hn::Mul(hn::Sub(cosine, real(1.0F)), r);
  const Real v = hn::Mul(r, sine);
  // Turned by heading - pi/2, whose cosine and sine are (sine, -cosine) of the heading.
  const Real arc_x = hn::Add(hn::Mul(u, from.sine), hn::Mul(v, from.cosine));
  const Real arc_y = hn::Sub(hn::Mul(v, from.sine), hn::Mul(u, from.cosine));
  Pose to = from;
  to.x = hn::Add(from.x, hn::IfThenElse(bends, arc_x, hn::Mul(left, from.cosine)));
  to.y = hn::Add(from.y, hn::IfThenElse(bends, arc_y, hn::Mul(left, from.sine)));
  to.heading = wrapped(hn::Add(from.heading, hn::IfThenElse(bends, wrapped(turn), hn::Zero(D()))));
  sine_cosine(to.heading, to.sine, to.cosine);
  return to;
}

HWY_INLINE Pose choose(Mask yes, const Pose& a, const Pose& b) {
  return {hn::IfThenElse(yes, a.x, b.x), hn::IfThenElse(yes, a.y, b.y),
          hn::IfThenElse(yes, a.heading, b.heading), hn::IfThenElse(yes, a.sine, b.sine),
          hn::IfThenElse(yes, a.cosine, b.cosine)};
}

constexpr std::size_t kMostLanes = hn::MaxLanes(D());

// Which robot is in which lane.
struct Crew {
  HWY_ALIGN float weights[kMazeParameters * kMostLanes] = {};
  std::ptrdiff_t robot[kMostLanes] = {};
};

void enter(Crew& crew, std::size_t lane, std::size_t lanes, const double* controllers,
           std::ptrdiff_t robot) {
  crew.robot[lane] = robot;
  const double* row = controllers + robot * kMazeParameters;
  for (std::size_t i = 0; i < kMazeParameters; ++i) {
    const double weight = std::min(std::max(row[i], -kLargestWeight), kLargestWeight);
    crew.weights[i * lanes + lane] = static_cast<float>(weight);
  }
}

}  // namespace

void RunMaze(const MazeTask& task, const double* controllers, std::ptrdiff_t count,
             double* positions, double* energies, float* trace) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  Crew crew;
  std::ptrdiff_t next = 0;  // robot to enter
  std::ptrdiff_t left = count;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    crew.robot[lane] = -1;
    if (next < count) enter(crew, lane, lanes, controllers, next++);
  }
  HWY_ALIGN float active_lanes[kMostLanes];
  const auto occupied = [&]() HWY_ATTR {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      active_lanes[lane] = crew.robot[lane] >= 0 ? 1.0F : 0.0F;
    }
    return hn::Gt(hn::Load(d, active_lanes), hn::Zero(d));
  };
  Mask active = occupied();

  Pose start = {real(task.start_x), real(task.start_y), real(task.start_heading), hn::Zero(d),
                hn::Zero(d)};
  sine_cosine(start.heading, start.sine, start.cosine);
  Sight first_sight = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  const Real first_distance = look(task, start, first_sight);

  const Real no_contact = real(-1.0F);
  const Real last_step = real(static_cast<float>(trace != nullptr ? task.steps : task.steps - 1));
  const Real steps = real(static_cast<float>(task.steps));
  Pose pose = start;
  Sight sight = first_sight;
  Real distance = first_distance;  // squared, to the nearest wall
  Real bumper_a = no_contact, bumper_b = no_contact;
  Real energy = hn::Zero(d);
  Real step = hn::Zero(d);
  Mask frozen = hn::MaskFromVec(hn::Zero(d));
  HWY_ALIGN float xs[kMostLanes];
  HWY_ALIGN float ys[kMostLanes];
  HWY_ALIGN float spent[kMostLanes];
  HWY_ALIGN float each[kMostLanes];
  HWY_ALIGN float times[kMostLanes];
  HWY_ALIGN float ended[kMostLanes];

  while (left > 0) {
    Real left_wheel, right_wheel;
    think(crew.weights, sight, bumper_a, bumper_b, left_wheel, right_wheel);
    const Real dl = hn::Mul(real(kWheel), left_wheel);
    const Real dr = hn::Mul(real(kWheel), right_wheel);
    const Real effort = hn::Add(hn::Mul(dl, dl), hn::Mul(dr, dr));

    if (trace != nullptr) {
      const Real fields[] = {pose.x,     pose.y,   pose.heading, sight.right, sight.ahead,
                             sight.left, bumper_a, bumper_b,     left_wheel,  right_wheel};
      for (const Real field : fields) *trace++ = hn::GetLane(field);
    }

    // A robot that touched a wall in the step before stays where it is and does the same for
    // the rest of the episode: its last step counts for all of them.
    const bool tracing = trace != nullptr;
    const Mask done = hn::And(
        active, tracing ? hn::Eq(step, last_step) : hn::Or(frozen, hn::Ge(step, last_step)));
    const bool some_done = !hn::AllFalse(d, done);
    if (some_done) {
      hn::Store(pose.x, d, xs);
      hn::Store(pose.y, d, ys);
      hn::Store(energy, d, spent);
      hn::Store(effort, d, each);
      hn::Store(hn::Sub(steps, step), d, times);
      hn::Store(hn::IfThenElseZero(done, real(1.0F)), d, ended);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (ended[lane] == 0.0F) continue;
        const std::ptrdiff_t robot = crew.robot[lane];
        positions[2 * robot] = static_cast<double>(xs[lane]);
        positions[2 * robot + 1] = static_cast<double>(ys[lane]);
        energies[robot] = static_cast<double>(spent[lane]) +
                          static_cast<double>(times[lane]) * static_cast<double>(each[lane]);
        --left;
        crew.robot[lane] = -1;
        if (next < count) enter(crew, lane, lanes, controllers, next++);
      }
      if (left == 0) break;
    }

    energy = hn::Add(energy, effort);
    step = hn::Add(step, real(1.0F));
    // Whoever touches a wall stays; others go where their wheels take them, even if that is
    // a little way into a wall.
    frozen = hn::Le(distance, real(kRadius * kRadius));
    if (!hn::AllFalse(d, frozen)) {
      Real a, b;
      feel(task, pose, a, b);
      bumper_a = hn::IfThenElse(frozen, a, no_contact);
      bumper_b = hn::IfThenElse(frozen, b, no_contact);
    } else {
      bumper_a = bumper_b = no_contact;
    }
    pose = choose(frozen, pose, moved(pose, dl, dr));
    distance = look(task, pose, sight);

    if (some_done) {
      pose = choose(done, start, pose);
      sight.right = hn::IfThenElse(done, first_sight.right, sight.right);
      sight.ahead = hn::IfThenElse(done, first_sight.ahead, sight.ahead);
      sight.left = hn::IfThenElse(done, first_sight.left, sight.left);
      distance = hn::IfThenElse(done, first_distance, distance);
      bumper_a = hn::IfThenElse(done, no_contact, bumper_a);
      bumper_b = hn::IfThenElse(done, no_contact, bumper_b);
      energy = hn::IfThenElse(done, hn::Zero(d), energy);
      step = hn::IfThenElse(done, hn::Zero(d), step);
      frozen = hn::AndNot(done, frozen);
      active = occupied();
    }
  }
}

void MazeSineCosine(const float* x, std::ptrdiff_t count, float* sine, float* cosine) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    Real s, c;
    sine_cosine(real(x[i]), s, c);
    sine[i] = hn::GetLane(s);
    cosine[i] = hn::GetLane(c);
  }
}

void MazeTanh(const float* x, std::ptrdiff_t count, float* out) {
  for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = hn::GetLane(hyperbolic_tangent(real(x[i])));
}

}  // namespace rarefy::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rarefy::kernels {
HWY_EXPORT(RunMaze);
HWY_EXPORT(MazeSineCosine);
HWY_EXPORT(MazeTanh);

void run_maze(const MazeTask& task, const double* controllers, std::ptrdiff_t count,
              double* positions, double* energies, float* trace) {
  HWY_DYNAMIC_DISPATCH(RunMaze)(task, controllers, count, positions, energies, trace);
}
void maze_sine_cosine(const float* x, std::ptrdiff_t count, float* sine, float* cosine) {
  HWY_DYNAMIC_DISPATCH(MazeSineCosine)(x, count, sine, cosine);
}
void maze_tanh(const float* x, std::ptrdiff_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(MazeTanh)(x, count, out);
}
}  // namespace rarefy::kernels
#endif
