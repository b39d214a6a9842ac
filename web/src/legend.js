// One legend for all curves: buttons, so that keyboards reach it, too.
import { h, fill } from './dom.js';
import { look_of } from './palette.js';
import { change, on_view, toggle_hidden, view } from './view.js';

function sample({ colour, dash }) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 8');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  for (const [key, value] of Object.entries({ x1: 1, x2: 23, y1: 4, y2: 4, stroke: colour, 'stroke-width': 3, 'stroke-linecap': 'round', ...(dash === 'solid' ? {} : { 'stroke-dasharray': dash.join(' '), 'stroke-linecap': 'butt' }) })) {
    line.setAttribute(key, value);
  }
  svg.append(line);
  return svg;
}

export function legend() {
  const element = h('div', { class: 'legend', role: 'group', 'aria-label': 'Curves that are shown' });
  let model = null;
  const render = () => {
    if (!model) return;
    const focused = document.activeElement?.dataset?.label;
    const buttons = model.names.labels.map((label) => {
      const row = model.rows.find((one) => one.label === label);
      return h('button', { type: 'button', 'aria-pressed': String(!view.hidden.has(label)), 'data-label': label, onclick: () => toggle_hidden(label) },
        sample(look_of(model, row)), label);
    });
    if (buttons.length > 3) {
      const all = view.hidden.size === 0;
      buttons.push(h('button', { type: 'button', class: 'all', 'data-label': '*', onclick: () => change({ hidden: new Set(all ? model.names.labels : []) }) }, all ? 'hide all' : 'show all'));
    }
    fill(element, buttons);
    buttons.find((button) => button.dataset.label === focused)?.focus();
  };
  on_view((changed) => {
    if (changed.includes('hidden') || changed.includes('theme')) render();
  });
  return { element, update(next) { model = next; render(); } };
}
