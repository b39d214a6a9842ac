// Which of the rows of a domain differ: analysis of variance, then every pair.
import { choice, fill, h } from './dom.js';
import { probability, significant, tidy } from './format.js';
import { metrics } from './metrics.js';
import { change, on_view, view } from './view.js';

const tests = { tukey: "Tukey's HSD", games_howell: 'Games-Howell' };
const words = { '>': 'greater than', '<': 'less than', '-': 'not told apart from' };

function variance_text(anova, welch) {
  const one = (name, found) => (found ? `${name}: F(${tidy(found.between, 4)}, ${tidy(found.within, 4)}) = ${significant(found.f, 4)}, ${probability(found.p)}` : null);
  return [one('ANOVA', anova), one("Welch's ANOVA", welch)].filter(Boolean).map((text) => h('li', {}, text));
}

function matrix(model, comparison) {
  const signs = comparison[view.test];
  if (!signs) return h('p', { class: 'note' }, `${tests[view.test]} needs two trials of each.`);
  const labels = comparison.rows.map((row) => model.rows[row].label);
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${tests[view.test]}, ${model.domains[comparison.domain].title}` },
    h('table', { class: 'signs' },
      h('thead', {}, h('tr', {}, h('td', {}), labels.map((label) => h('th', { scope: 'col' }, h('span', {}, label))))),
      h('tbody', {}, labels.map((label, i) => h('tr', {}, h('th', { scope: 'row' }, label),
        labels.map((other, k) => (i === k ? h('td', { class: 'soft' }, '') : h('td', {
          class: { '>': 'more', '<': 'less' }[signs[i][k].sign] ?? 'soft',
          title: `${label} is ${words[signs[i][k].sign] ?? 'not compared with'} ${other}: ${probability(signs[i][k].p)}`,
        }, signs[i][k].sign === '-' ? '–' : signs[i][k].sign))))))));
}

export function comparisons() {
  const controls = h('div', { class: 'controls' },
    choice('Pairs by', Object.entries(tests), view.test, (test) => change({ test })));
  const body = h('div', { class: 'flow' });
  const element = h('section', { id: 'comparisons', 'aria-labelledby': 'comparisons-title' },
    h('h2', { id: 'comparisons-title' }, 'Comparisons'), controls, body,
    h('p', { class: 'note' }, 'A sign compares the row with the column at the level 0.05; – where they cannot be told apart. The metric is the one chosen under Results.'));
  let model = null;
  const render = () => {
    if (!model) return;
    const shown = (model.comparisons ?? []).filter((one) => one.metric === view.metric);
    element.hidden = (model.comparisons ?? []).length === 0;
    fill(body, shown.map((comparison) => h('div', { class: 'card' },
      h('h3', {}, `${model.domains[comparison.domain].title}${[comparison.profile, comparison.detail].filter(Boolean).map((part) => `, ${part}`).join('')}: ${metrics[view.metric].title.toLowerCase().replace('qd', 'QD')}`),
      h('ul', { class: 'plain' }, variance_text(comparison.anova, comparison.welch)),
      matrix(model, comparison))),
    shown.length === 0 ? h('p', { class: 'note' }, `There are no tests of ${metrics[view.metric].title.toLowerCase()}.`) : '');
  };
  on_view((changed) => {
    if (changed.includes('metric') || changed.includes('test')) render();
  });
  return { element, update(next) { model = next; render(); } };
}
