// The page: data that lies in it, or that `rarefy watch` sends.
import { ablation } from './ablation.js';
import { comparisons } from './comparisons.js';
import { curves } from './curves.js';
import { fill, h } from './dom.js';
import { heatmaps } from './heatmaps.js';
import { listen } from './live.js';
import { name_seconds } from './metrics.js';
import { model_of } from './model.js';
import { summary_of } from './summary.js';
import { tables } from './tables.js';
import { theme_button } from './theme.js';
import { trials } from './trials.js';
import { embedded, unpack_frames } from './unpack.js';

const page = document.getElementById('page');
const live = document.getElementById('live') !== null;

/// Frames of rows, unpacked once: those of the page, or, of a server, by their version.
const kept = new Map();
function load_frames(row) {
  const key = `${row.index} ${row.frames.version ?? ''}`;
  if (!kept.has(key)) {
    for (const other of kept.keys()) if (other.startsWith(`${row.index} `)) kept.delete(other);
    const made = live
      ? fetch(`frames/${row.index}?v=${row.frames.version}`).then(async (answer) => {
        if (!answer.ok) throw new Error(`frames: ${answer.status}`);
        const frames = await answer.json();
        return unpack_frames(frames, frames.data);
      })
      : Promise.resolve().then(() => unpack_frames(row.frames, document.getElementById(`frames-${row.index}`).textContent));
    made.catch(() => kept.delete(key)); // to be asked for again
    kept.set(key, made);
  }
  return kept.get(key);
}

const title = h('h1', {}, 'Rarefy');
const summary = h('p', { class: 'summary' });
const status = h('p', { class: 'status', role: 'status', hidden: true });
// What is served is gone when the server is: a file stays.
const save = h('a', { class: 'save', href: 'report.html', download: 'report.html', hidden: true }, 'Save this page as a file');
const parts = { results: tables(), curves: curves(), comparisons: comparisons(), heatmaps: heatmaps(load_frames), ablation: ablation(), trials: trials() };
const links = { results: 'Results', curves: 'Curves', comparisons: 'Comparisons', heatmaps: 'Heat maps', ablation: 'Ablation', trials: 'Trials' };
const nav = h('nav', { 'aria-label': 'Parts of this page' });
const main = h('main', { hidden: true }, Object.values(parts).map((part) => part.element));
const foot = h('footer', {});

fill(page, h('header', {}, h('div', { class: 'bar' }, title, theme_button()), summary, status, save), nav, main, foot);

function say(text, state) {
  status.hidden = !text;
  status.dataset.state = state ?? '';
  status.textContent = text;
}

async function show(data) {
  const model = model_of(data);
  name_seconds(model);
  document.title = model.title || 'Rarefy';
  title.textContent = model.title || 'Rarefy';
  summary.textContent = summary_of(model);
  main.hidden = model.rows.length === 0;
  save.hidden = !live || main.hidden;
  await Promise.all(Object.values(parts).map((part) => part.update(model)));
  fill(nav, Object.entries(links).filter(([id]) => !main.hidden && !parts[id].element.hidden).map(([id, text]) => h('a', { href: `#${id}` }, text)));
  fill(foot, `Made by Rarefy ${model.rarefy}. This page loads nothing from anywhere.`);
  document.body.dataset.ready = String(Number(document.body.dataset.ready ?? 0) + 1);
}

function trouble(error) {
  say(`This page cannot be shown: ${error.message}`, 'lost');
  console.error(error);
}

if (live) {
  say('connecting', 'wait');
  let waiting = '';
  let changed = null;
  const tell = (state) => {
    if (state === 'lost') return say('The connection is lost; trying again.', 'lost');
    if (state === 'closed') return say('The server does not answer any more, or has too many readers. Load the page again to try.', 'lost');
    if (waiting) return say(waiting, 'wait');
    return say(changed ? `Live. Changed at ${changed.toLocaleTimeString()}.` : 'Live.', 'live');
  };
  listen({
    on_state: tell,
    on_wait(text) {
      waiting = text;
      tell('live');
    },
    on_data(data) {
      waiting = '';
      changed = new Date();
      tell('live');
      show(data).catch(trouble);
    },
  });
} else {
  embedded('data').then(show).catch(trouble);
}
