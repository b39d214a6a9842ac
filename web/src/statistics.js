// What little statistics a page that grows needs by itself. Tests of hypotheses come with the data.

/// Of numbers; those that are none are left out. The error is that of the mean.
export function describe(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const n = sorted.length;
  if (n === 0) return { n, mean: NaN, error: NaN, median: NaN, low: NaN, high: NaN };
  const mean = sorted.reduce((sum, value) => sum + value, 0) / n;
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    n, mean, error: n > 1 ? Math.sqrt(squares / (n - 1) / n) : NaN,
    median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75),
  };
}

/// Of sorted numbers, linear between two of them (as NumPy and R have it by default).
export function quantile(sorted, part) {
  const place = (sorted.length - 1) * part;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

/// y at x, linear between the points of an ascending xs; nothing beyond them.
export function value_at(xs, ys, x) {
  if (!(x >= xs[0] && x <= xs.at(-1))) return NaN;
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  if (x === xs[high]) return ys[high];
  const width = xs[high] - xs[low];
  return width > 0 ? ys[low] + ((ys[high] - ys[low]) * (x - xs[low])) / width : ys[low];
}

const most_points = 200;

/// Where curves of several trials are looked at: at their own places where they share them, else at
/// places that lie equally far from each other.
function places(curves, axis) {
  const all = new Set();
  let last = 0;
  for (const curve of curves) {
    for (const x of curve[axis]) all.add(x);
    last = Math.max(last, curve[axis].at(-1));
  }
  if (axis !== 'seconds' && all.size <= most_points) return [...all].sort((a, b) => a - b);
  const count = axis === 'seconds' ? 120 : most_points;
  return Array.from({ length: count + 1 }, (_, i) => (last * i) / count);
}

/// Several trials as one curve: [{ x, ...describe }]. A trial that is finished keeps its last value;
/// one that goes on counts as far as it has come.
export function together(trials, axis, metric, factor = 1) {
  const curves = trials.filter((trial) => trial.curve && trial.curve[axis].length > 0);
  if (curves.length === 0) return [];
  const points = [];
  for (const x of places(curves.map((trial) => trial.curve), axis)) {
    const values = curves.map(({ curve, state }) => {
      const xs = curve[axis];
      const y = state === 'finished' && x > xs.at(-1) ? curve[metric].at(-1) : value_at(xs, curve[metric], x);
      return y === null ? NaN : y * factor;
    });
    const point = describe(values);
    if (point.n > 0) points.push({ x, ...point });
  }
  return points;
}

/// The last value of every trial that has one.
export function last_values(row, metric, factor = 1) {
  return row.trials.filter((trial) => trial.curve && trial.curve[metric].length > 0)
    .map((trial) => trial.curve[metric].at(-1))
    .map((value) => (value === null ? NaN : value * factor));
}
