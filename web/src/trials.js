// Every trial: how far it is, what it was told, and the command that repeats it.
import { fill, h } from './dom.js';
import { count, duration, fixed, listed, whole } from './format.js';
import { metrics } from './metrics.js';
import { row_title } from './model.js';

const states = { waiting: 'not begun', begun: 'under way', finished: 'finished', failed: 'failed' };

async function copy(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a file has no right to it in some browsers: the old way
    const field = h('textarea', { style: 'position:fixed;opacity:0', readonly: true });
    field.value = text;
    document.body.append(field);
    field.select();
    done = document.execCommand('copy');
    field.remove();
  }
  button.textContent = done ? 'copied' : 'cannot copy';
  setTimeout(() => { button.textContent = 'copy'; }, 1500);
}

function copy_button(text, what) {
  const button = h('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${what}`, onclick: () => copy(text, button) }, 'copy');
  return button;
}

function last(trial, metric) {
  const value = trial.curve?.[metric]?.at(-1);
  return value === undefined || value === null ? NaN : value;
}

function trial_line(trial) {
  return h('tr', {},
    h('th', { scope: 'row', class: 'number' }, trial.seed),
    h('td', { class: trial.state }, states[trial.state]),
    h('td', { class: 'number' }, trial.curve ? whole(last(trial, 'iteration')) : '–'),
    h('td', { class: 'number' }, trial.curve ? `${fixed(100 * last(trial, 'coverage'), 2)} %` : '–'),
    h('td', { class: 'number' }, fixed(last(trial, 'cross_entropy'), 2)),
    h('td', { class: 'number' }, duration(last(trial, 'seconds'))),
    h('td', {}, h('div', { class: 'command' }, h('code', { title: trial.folder }, trial.command), copy_button(trial.command, `the command of seed ${trial.seed}`))));
}

function details_of(model, row) {
  return [
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Trials of ${row_title(model, row)}` },
      h('table', {}, h('thead', {}, h('tr', {}, ['seed', 'state', 'iterations', 'coverage', 'cross-entropy', metrics.seconds.column, 'command that repeats it'].map((text, i) => h('th', { scope: 'col', class: i !== 1 && i < 6 ? 'number' : '' }, text)))),
        h('tbody', {}, row.trials.map(trial_line)))),
    row.config ? h('details', { class: 'config' }, h('summary', {}, 'configuration'), copy_button(row.config, 'the configuration'), h('pre', {}, row.config)) : '',
  ];
}

function failures(model) {
  const failed = model.rows.flatMap((row) => row.trials.filter((trial) => trial.state === 'failed').map((trial) => ({ row, trial })));
  if (failed.length === 0) return '';
  return h('div', { class: 'card failures', role: 'note' }, h('h3', {}, `${count(failed.length, 'trial')} failed`),
    h('ul', {}, failed.map(({ row, trial }) => h('li', {}, `${row_title(model, row)}, seed ${trial.seed}: `, h('code', {}, trial.error || 'no error was written down')))));
}

function notes(model) {
  if (!model.notes?.length) return '';
  return h('div', { class: 'card notes', role: 'note' }, h('h3', {}, 'Left out'), h('ul', {}, model.notes.map((note) => h('li', {}, note))));
}

function state_text(row) {
  const parts = Object.keys(states).map((state) => [row.trials.filter((trial) => trial.state === state).length, state]).filter(([n]) => n > 0);
  return parts.length === 1 && parts[0][1] === 'finished' ? `${count(row.trials.length, 'trial')}` : listed(parts.map(([n, state]) => `${whole(n)} ${states[state]}`));
}

export function trials() {
  const body = h('div', {});
  const element = h('section', { id: 'trials', 'aria-labelledby': 'trials-title' }, h('h2', { id: 'trials-title' }, 'Trials'), body);
  return {
    element,
    update(model) {
      // What the reader has open stays open while runs go on.
      const open = new Set([...body.querySelectorAll('details.row[open]')].map((one) => one.dataset.key));
      const open_config = new Set([...body.querySelectorAll('details.config[open]')].map((one) => one.closest('.row').dataset.key));
      fill(body, failures(model), h('div', { class: 'card rows' }, model.rows.map((row) => {
        const key = `${row.domain} ${row.label}`;
        const content = h('div', {});
        const details = h('details', { class: 'row', 'data-key': key, open: open.has(key) },
          h('summary', {}, h('span', { class: 'name' }, row_title(model, row)), h('span', { class: 'soft' }, state_text(row))), content);
        const show = () => {
          if (!details.open || content.hasChildNodes()) return;
          fill(content, details_of(model, row));
          if (open_config.has(key)) content.querySelector('details.config')?.setAttribute('open', '');
        };
        details.addEventListener('toggle', show);
        show();
        return details;
      })), notes(model));
    },
  };
}
