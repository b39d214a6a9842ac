// Archives as they filled: rows x domains in small multiples, with one slider over iterations.
import { fill, h } from './dom.js';
import { fixed, tidy, whole } from './format.js';
import { frame_at, heatmap_canvas, paint } from './heatmap.js';
import { viridis } from './palette.js';
import { value_at } from './statistics.js';
import { value_of } from './unpack.js';
import { on_view } from './view.js';

const step_time = 450; // ms a frame when it plays

/// One scale for all heat maps of a domain, so that they can be compared. It ends where all but a
/// few of the cells do: the one cell that an algorithm never left must not make all others pale.
function scale_of(sets) {
  const counts = sets.flatMap((set) => {
    const seen = new Array(256).fill(0);
    for (const byte of set.values.at(-1)) ++seen[byte];
    return seen.map((count, byte) => [byte ? value_of(set, byte) : NaN, byte ? count : 0]).filter(([, count]) => count > 0);
  }).sort(([a], [b]) => b - a);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const greatest = Math.max(...sets.map((set) => set.high));
  let [beyond, high] = [0, greatest];
  for (const [value, count] of counts) {
    high = value;
    beyond += count;
    if (beyond > all / 500) break;
  }
  const low = Math.min(...sets.map((set) => set.low));
  if (!(high > low) || high > greatest * 0.6) high = greatest;
  return { logarithmic: sets[0].logarithmic, label: sets[0].label, low, high, clipped: high < greatest };
}

function colour_bar(title, scale) {
  const stops = Array.from({ length: 21 }, (_, i) => `rgb(${viridis(i / 20).join(',')})`).join(',');
  const text = (value) => (value >= 100 ? whole(value) : tidy(value));
  return h('div', { class: 'colour-bar' }, h('div', {}, `${title ? `${title}: ` : ''}${scale.label}${scale.logarithmic ? ' (logarithmic)' : ''}`),
    h('div', { class: 'ramp', style: `background:linear-gradient(to right,${stops})` }),
    h('div', { class: 'ends' }, h('span', {}, text(scale.low)), h('span', { class: 'empty-key' }, 'empty'), h('span', {}, `${text(scale.high)}${scale.clipped ? ' and more' : ''}`)));
}

/// load(row) gives the unpacked frames of a row, and keeps them.
export function heatmaps(load) {
  const slider = h('input', { type: 'range', id: 'iteration', min: 0, max: 0, step: 1, value: 0, 'aria-label': 'Iteration' });
  const shown = h('output', { for: 'iteration' });
  const play = h('button', { type: 'button', id: 'play', 'aria-label': 'Play' }, '▶');
  const grid = h('div', { class: 'maps' });
  const keys = h('div', { class: 'keys' });
  const controls = h('div', { class: 'controls slider' }, play, slider, shown);
  const element = h('section', { id: 'heatmaps', 'aria-labelledby': 'heatmaps-title' },
    h('h2', { id: 'heatmaps-title' }, 'Heat maps'), controls, grid, keys,
    h('p', { class: 'note' }, 'Each shows one trial: the one whose coverage is the median of its row, or, while a row is under way, the one that has come furthest. Of more than two features, the first two.'));
  let model = null;
  let maps = []; // { row, frames, canvas, caption }
  let steps = [];
  let layout = '';
  let timer = 0;
  let generation = 0;

  const render = () => {
    const iteration = steps[Number(slider.value)] ?? 0;
    shown.textContent = `iteration ${whole(iteration)}`;
    slider.setAttribute('aria-valuetext', `iteration ${whole(iteration)}`);
    const scales = new Map();
    for (const domain of new Set(maps.map(({ row }) => row.domain))) {
      scales.set(domain, scale_of(maps.filter(({ row }) => row.domain === domain).map(({ frames }) => frames)));
    }
    for (const { row, frames, canvas, caption } of maps) {
      const domain = model.domains[row.domain];
      paint(canvas, { frames, domain, scale: scales.get(row.domain), iteration });
      const trial = row.trials[frames.trial];
      const at = Math.min(iteration, frames.iterations.at(-1));
      const index = frame_at(frames, at);
      const covered = trial?.curve ? value_at(trial.curve.iteration, trial.curve.coverage, Math.min(index < 0 ? 0 : frames.iterations[index], trial.curve.iteration.at(-1))) : NaN;
      caption.textContent = [Number.isFinite(covered) ? `${fixed(100 * covered, 1)} %` : '', `seed ${trial?.seed ?? '?'}`].filter(Boolean).join(', ');
      canvas.setAttribute('aria-label', `${row.label} on ${domain.title} at iteration ${whole(iteration)}: ${caption.textContent}`);
    }
    fill(keys, [...scales].map(([domain, scale]) => colour_bar(scales.size > 1 ? model.domains[domain].title : '', scale)));
  };

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = '▶';
    play.setAttribute('aria-label', 'Play');
  };
  play.addEventListener('click', () => {
    if (timer) return stop();
    if (Number(slider.value) >= steps.length - 1) slider.value = 0;
    play.textContent = '❚❚';
    play.setAttribute('aria-label', 'Pause');
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      render();
      if (Number(slider.value) >= steps.length - 1) stop();
    }, step_time);
    return render();
  });
  slider.addEventListener('input', () => {
    stop();
    render();
  });
  on_view((changed) => {
    if (changed.includes('theme')) render();
  });

  const figure = (row, title) => {
    const canvas = heatmap_canvas(title);
    const caption = h('span', { class: 'soft' });
    return { row, canvas, caption, element: h('figure', {}, canvas, h('figcaption', {}, h('span', { class: 'name' }, title), caption)) };
  };
  const build = (rows) => {
    const domains = [...new Set(rows.map((row) => row.domain))];
    const labels = [...new Set(rows.map((row) => row.label))];
    grid.classList.toggle('crossed', domains.length > 1 && labels.length > 1);
    grid.style.setProperty('--columns', domains.length);
    maps = [];
    const cell = (row, title) => {
      if (!row || !rows.includes(row)) return h('div', { class: 'gap' });
      maps.push(figure(row, title));
      return maps.at(-1).element;
    };
    if (domains.length === 1) {
      fill(grid, labels.map((label) => cell(model.row_of(label, domains[0]), label)));
    } else if (labels.length === 1) {
      fill(grid, domains.map((domain) => cell(model.row_of(labels[0], domain), model.domains[domain].title)));
    } else {
      fill(grid, h('div', { class: 'head' }), domains.map((domain) => h('div', { class: 'head' }, model.domains[domain].title)),
        labels.map((label) => [h('div', { class: 'side' }, label), domains.map((domain) => cell(model.row_of(label, domain), model.domains[domain].title))]));
    }
  };

  return {
    element,
    async update(next) {
      const mine = ++generation;
      const rows = next.rows.filter((row) => row.frames);
      const loaded = await Promise.all(rows.map((row) => load(row).catch(() => null)));
      if (mine !== generation) return; // something newer is under way
      model = next;
      const usable = rows.filter((_, i) => loaded[i]);
      element.hidden = usable.length === 0;
      if (usable.length === 0) return;
      const now = JSON.stringify(usable.map((row) => [row.label, row.domain]));
      if (now !== layout) build(usable);
      layout = now;
      for (const map of maps) {
        map.row = model.row_of(map.row.label, map.row.domain);
        map.frames = loaded[rows.indexOf(map.row)];
      }
      const at_end = Number(slider.value) >= steps.length - 1;
      const before = steps[Number(slider.value)];
      steps = [...new Set(maps.flatMap(({ frames }) => frames.iterations))].sort((a, b) => a - b);
      slider.max = steps.length - 1;
      // Whoever looks at the end sees it grow; whoever looks back is left there.
      slider.value = at_end ? steps.length - 1 : Math.max(0, steps.findLastIndex((step) => step <= before));
      controls.hidden = steps.length < 2;
      render();
    },
  };
}
