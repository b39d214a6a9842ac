// Where every row has come to: rows x domains, the paper's value beside ours where there is one.
import { choice, fill, h } from './dom.js';
import { listed } from './format.js';
import { metrics, metrics_of } from './metrics.js';
import { describe, last_values } from './statistics.js';
import { change, on_view, view } from './view.js';

const statistics = { mean: 'mean ± standard error', median: 'median and quartiles' };

function cell_text(found, metric) {
  const { text, with_error } = metrics[metric];
  if (view.statistic === 'median') return found.n > 1 ? `${text(found.median)} (${text(found.low)} to ${text(found.high)})` : text(found.median);
  return found.n > 1 ? with_error(found.mean, found.error) : text(found.mean);
}

function paper_note(row, metric) {
  const paper = row.paper?.[metric];
  if (!paper) return '';
  const { text, factor } = metrics[metric];
  return h('div', { class: 'paper' }, `paper ${text(paper.mean * factor)} ± ${text(paper.error * factor)}`);
}

function table_of(model, metric) {
  const { factor, more_is_better, unit, title } = metrics[metric];
  const found = new Map();
  for (const row of model.rows) found.set(row, describe(last_values(row, metric, factor)));
  const middle = (row) => (view.statistic === 'median' ? found.get(row).median : found.get(row).mean);
  const best = new Map(model.used_domains.map((domain) => {
    const rows = model.rows_of(domain).filter((row) => found.get(row).n > 0);
    if (rows.length < 2) return [domain, null];
    return [domain, rows.reduce((a, b) => ((more_is_better ? middle(b) > middle(a) : middle(b) < middle(a)) ? b : a))];
  }));
  const of_cell = (label, domain) => {
    const row = model.row_of(label, domain);
    if (!row) return h('td', { class: 'number soft' }, '');
    const here = found.get(row);
    if (here.n === 0) return h('td', { class: 'number soft' }, '–');
    const short = here.n < row.trials.length ? h('div', { class: 'paper' }, `${here.n} of ${row.trials.length} trials`) : '';
    return h('td', { class: 'number' }, h(best.get(domain) === row ? 'strong' : 'span', {}, cell_text(here, metric)), paper_note(row, metric), short);
  };
  const heading = `${title}${unit ? `,${unit}` : ''}: ${statistics[view.statistic]} of the last values`;
  return [h('p', { class: 'caption' }, heading), h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': heading },
    h('table', { class: 'results' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'algorithm'),
        model.used_domains.map((domain) => h('th', { scope: 'col', class: 'number' }, model.domains[domain].title)))),
      h('tbody', {}, model.names.labels.map((label) => h('tr', {}, h('th', { scope: 'row' }, label),
        model.used_domains.map((domain) => of_cell(label, domain)))))))];
}

/// What there is to choose.
const names_of = (model) => [...metrics_of(model), metrics.seconds.title].join();

export function tables() {
  const controls = h('div', { class: 'controls' });
  const body = h('div', { class: 'card' });
  const note = h('p', { class: 'note' });
  const element = h('section', { id: 'results', 'aria-labelledby': 'results-title' },
    h('h2', { id: 'results-title' }, 'Results'), controls, body, note);
  let model = null;
  const render = () => {
    if (!model) return;
    fill(body, table_of(model, view.metric));
    const parts = ['The best of a column is bold'];
    if (model.rows.some((row) => row.paper)) parts.push('small print is what the paper has');
    fill(note, `${listed(parts)}.`);
  };
  on_view((changed) => {
    if (changed.includes('metric') || changed.includes('statistic')) render();
  });
  return {
    element,
    update(next) {
      const first = model === null;
      model = next;
      if (first || controls.dataset.metrics !== names_of(model)) {
        controls.dataset.metrics = names_of(model);
        fill(controls,
          choice('Of', [...metrics_of(model), 'seconds'].map((metric) => [metric, metrics[metric].title.toLowerCase().replace('qd', 'QD')]), view.metric, (metric) => change({ metric })),
          choice('Show', Object.entries(statistics), view.statistic, (statistic) => change({ statistic })));
      }
      render();
    },
  };
}
