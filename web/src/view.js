// What the reader has chosen, and who wants to hear of it.
export const view = {
  axis: 'iteration', // iteration, evaluations, seconds
  band: 'error', // error, quartiles, none
  metric: 'coverage', // of tables, comparisons and the ablation
  statistic: 'mean', // mean, median
  test: 'tukey', // tukey, games_howell
  hidden: new Set(), // labels whose curves are not shown
  theme: 'auto', // auto, light, dark
};

const listeners = new Set();

export function on_view(listener) {
  listeners.add(listener);
}

export function change(part) {
  Object.assign(view, part);
  for (const listener of listeners) listener(Object.keys(part));
}

export function toggle_hidden(label) {
  const hidden = new Set(view.hidden);
  if (!hidden.delete(label)) hidden.add(label);
  change({ hidden });
}
