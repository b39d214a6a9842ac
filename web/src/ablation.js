// Where rows differ by one number: what it does to the outcome.
import { bars, base_options, draw, forget } from './chart.js';
import { fill, h } from './dom.js';
import { tidy } from './format.js';
import { metrics } from './metrics.js';
import { look_of } from './palette.js';
import { describe, last_values } from './statistics.js';
import { on_view, view } from './view.js';

function title_of({ name, unit }) {
  return unit ? `${name} (${unit})` : name;
}

/// What tells the lines of one chart apart.
function line_name(model, group, groups) {
  const parts = [];
  if (new Set(groups.map((one) => one.algorithm)).size > 1) parts.push(group.algorithm);
  if (new Set(groups.map((one) => one.domain)).size > 1) parts.push(model.domains[group.domain].title);
  if (new Set(groups.map((one) => one.profile)).size > 1) parts.push(group.profile);
  if (new Set(groups.map((one) => JSON.stringify(one.others))).size > 1) parts.push(...group.others.map((pair) => pair.join(' ')));
  return parts.join(', ') || group.algorithm;
}

function options_of(model, groups, names) {
  const metric = metrics[view.metric];
  const lines = groups.map((group, i) => ({
    name: names[i],
    // Colours here tell lines apart, not values: as of so many algorithms.
    look: look_of({ names: { algorithms: names, profiles: [''], labels: names, scales: new Map() } }, { algorithm: names[i], label: names[i], profile: '' }),
    points: group.points.map(({ value, row }) => ({ value, ...describe(last_values(row, view.metric, metric.factor)) })).filter((point) => point.n > 0),
    paper: group.points.filter(({ row }) => row.paper?.[view.metric]).map(({ value, row }) => ({ value, mean: row.paper[view.metric].mean * metric.factor, error: row.paper[view.metric].error * metric.factor })),
  }));
  const limits = (point) => (view.statistic === 'median' ? [point.low, point.high] : [point.mean - (point.error || 0), point.mean + (point.error || 0)]);
  const middle = (point) => (view.statistic === 'median' ? point.median : point.mean);
  const values = lines.flatMap(({ points, paper }) => [...points, ...paper].map((point) => point.value));
  const logarithmic = values.length > 0 && Math.min(...values) > 0;
  const with_paper = lines.filter(({ paper }) => paper.length > 0);
  const formatter = (item) => {
    if (item.seriesIndex >= lines.length) {
      const { name, paper } = with_paper[item.seriesIndex - lines.length];
      const { value, mean, error } = paper[item.dataIndex];
      return h('div', { class: 'tip' }, h('strong', {}, `${name}, the paper's, ${groups[0].name} ${tidy(value)} ${groups[0].unit}`),
        h('div', {}, `${metric.title.toLowerCase()} ${metric.with_error(mean, error)}${metric.unit}`));
    }
    const line = lines[item.seriesIndex];
    const point = line.points[item.dataIndex];
    const text = view.statistic === 'median' ? `${metric.text(point.median)} (${metric.text(point.low)} to ${metric.text(point.high)})` : metric.with_error(point.mean, point.error);
    return h('div', { class: 'tip' }, h('strong', {}, `${line.name}, ${groups[0].name} ${tidy(point.value)} ${groups[0].unit}`),
      h('div', {}, `${metric.title.toLowerCase()} ${text}${metric.unit}, ${point.n} trials`));
  };
  const base = base_options({
    // Limits where the values end, a little beyond: a logarithmic axis would go to whole decades.
    x: { name: title_of(groups[0]), label: (value) => tidy(value), more: logarithmic ? { type: 'log', min: Math.min(...values) / 1.25, max: Math.max(...values) * 1.25 } : { scale: true } },
    y: { name: metric.axis, label: (value) => tidy(value), more: { scale: !metric.from_zero } },
    tooltip: { trigger: 'item', formatter },
  });
  // Labels where there are values.
  const places = [...new Set(values)].sort((a, b) => a - b);
  Object.assign(base.xAxis.axisLabel, { customValues: places });
  Object.assign(base.xAxis.axisTick, { customValues: places });
  base.xAxis.splitLine.show = false;
  return {
    ...base,
    series: [
      ...lines.map(({ name, look, points }) => ({
        type: 'line', name, data: points.map((point) => [point.value, middle(point)]), symbol: 'circle', symbolSize: 7,
        lineStyle: { width: 2, color: look.colour, type: look.dash }, itemStyle: { color: look.colour }, z: 2,
      })),
      ...with_paper.map(({ name, look, paper }) => ({
        type: 'line', name: `${name}, the paper's`, data: paper.map((point) => [point.value, point.mean]), symbol: 'emptyDiamond', symbolSize: 8,
        lineStyle: { width: 1.5, color: look.colour, type: 'dotted', opacity: 0.7 }, itemStyle: { color: look.colour }, z: 1,
      })),
      ...lines.filter(({ points }) => points.some((point) => point.n > 1)).map(({ look, points }) => bars(points.map((point) => [point.value, ...limits(point)]), look.colour)),
    ],
    lines,
  };
}

export function ablation() {
  const body = h('div', { class: 'flow' });
  const element = h('section', { id: 'ablation', 'aria-labelledby': 'ablation-title' },
    h('h2', { id: 'ablation-title' }, 'Ablation'), body,
    h('p', { class: 'note' }, 'The last values over the parameter in which rows differ. Metric and statistic are those chosen under Results.'));
  let model = null;
  const render = () => {
    if (!model) return;
    element.hidden = model.ablations.length === 0;
    forget(body);
    const titles = [...new Set(model.ablations.map(title_of))];
    fill(body, titles.map((title) => {
      const groups = model.ablations.filter((group) => title_of(group) === title);
      const names = groups.map((group) => line_name(model, group, groups));
      const { lines, ...options } = options_of(model, groups, names);
      const metric = metrics[view.metric];
      const chart = h('div', { class: 'chart tall', role: 'img', 'aria-label': `${metric.title} over ${title}: ${lines.map(({ name, points, paper }) => `${name} ${points.map((point) => `${tidy(point.value)}: ${metric.text(point.mean)}`).join(', ')}${paper.length > 0 ? `, the paper's ${paper.map((point) => `${tidy(point.value)}: ${metric.text(point.mean)}`).join(', ')}` : ''}`).join('; ')}` });
      const key = h('div', { class: 'key' }, lines.map(({ name, look }) => h('span', {}, h('i', { class: 'dot', style: `background:${look.colour}` }), name)),
        lines.some(({ paper }) => paper.length > 0) ? h('span', {}, "dotted, with diamonds: the paper's") : '');
      queueMicrotask(() => draw(chart, options));
      return h('figure', { class: 'card wide' }, h('figcaption', {}, `${metric.title} over ${title}`), chart, key);
    }));
  };
  on_view((changed) => {
    if (['metric', 'statistic', 'theme'].some((part) => changed.includes(part))) render();
  });
  return { element, update(next) { model = next; render(); } };
}
