// Coverage, cross-entropy and QD score as they grow: a chart for each and every domain.
import { band, base_options, draw, forget } from './chart.js';
import { choice, fill, h } from './dom.js';
import { significant, tidy, whole } from './format.js';
import { legend } from './legend.js';
import { axes, metrics, metrics_of } from './metrics.js';
import { look_of } from './palette.js';
import { together } from './statistics.js';
import { change, on_view, view } from './view.js';

const bands = { error: 'standard error', quartiles: 'quartiles', none: 'none' };

/// With quartiles goes the median: the mean may lie outside of them.
function middle_of(point) {
  return view.band === 'quartiles' ? point.median : point.mean;
}
function limits_of(point) {
  return view.band === 'quartiles' ? [point.low, point.high] : [point.mean - (point.error || 0), point.mean + (point.error || 0)];
}

function axis_label(value) {
  if (Math.abs(value) >= 1e6) return `${tidy(value / 1e6)} M`;
  if (Math.abs(value) >= 1e4) return `${tidy(value / 1e3)} k`;
  return tidy(value, 4);
}

function tooltip_of(model, rows, curves, metric) {
  const { text, unit } = metrics[metric];
  return (items) => {
    const x = items[0]?.axisValue;
    const lines = items.filter((item) => item.seriesType === 'line').map((item) => {
      const row = rows[item.seriesIndex];
      return { row, point: curves[item.seriesIndex][item.dataIndex] };
    }).filter(({ point }) => point).sort((a, b) => middle_of(b.point) - middle_of(a.point));
    const body = lines.slice(0, 16).map(({ row, point }) => h('tr', {},
      h('td', {}, h('i', { class: 'dot', style: `background:${look_of(model, row).colour}` }), row.label),
      h('td', { class: 'number' }, `${text(middle_of(point))}${unit}`),
      h('td', { class: 'soft' }, spread(point, text))));
    if (lines.length > 16) body.push(h('tr', {}, h('td', { class: 'soft' }, `and ${lines.length - 16} more`)));
    return h('div', { class: 'tip' }, h('strong', {}, `${view.axis === 'seconds' ? significant(x, 3) : whole(x)} ${axes[view.axis].title}`), h('table', {}, body));
  };
}

function spread(point, text) {
  if (point.n < 2) return '1 trial';
  return view.band === 'quartiles' ? `${text(point.low)} to ${text(point.high)}` : `± ${text(point.error)} (${point.n})`;
}

function options_of(model, domain, metric) {
  const { axis, factor, from_zero } = metrics[metric];
  const rows = model.rows_of(domain).filter((row) => !view.hidden.has(row.label));
  const curves = rows.map((row) => together(row.trials, view.axis, metric, factor));
  const lines = rows.map((row, i) => {
    const look = look_of(model, row);
    return {
      type: 'line', name: row.label, data: curves[i].map((point) => [point.x, middle_of(point)]), z: 2,
      showSymbol: curves[i].length === 1, symbolSize: 5, lineStyle: { width: 2, color: look.colour, type: look.dash },
      itemStyle: { color: look.colour }, emphasis: { disabled: true },
    };
  });
  const ribbons = view.band === 'none' ? [] : rows.map((row, i) => ({ row, points: curves[i] }))
    .filter(({ points }) => points.some((point) => point.n > 1))
    .map(({ row, points }) => band(points.map((point) => [point.x, ...limits_of(point)]), look_of(model, row).colour));
  const last = Math.max(0, ...curves.map((points) => points.at(-1)?.x ?? 0));
  return {
    ...base_options({
      x: { name: axes[view.axis].axis, label: axis_label, more: { min: 0, max: last > 0 ? last : undefined } },
      y: { name: axis, label: axis_label, more: from_zero ? { min: 0 } : { scale: true } },
      tooltip: { trigger: 'axis', axisPointer: { type: 'line' }, formatter: tooltip_of(model, rows, curves, metric) },
    }),
    series: [...lines, ...ribbons],
  };
}

/// What a screen reader says of a chart.
function spoken(model, domain, metric) {
  const { title, text, unit, factor } = metrics[metric];
  const ends = model.rows_of(domain).map((row) => {
    const point = together(row.trials, 'iteration', metric, factor).at(-1);
    return point ? `${row.label} ${text(point.mean)}${unit}` : `${row.label} not begun`;
  });
  return `${title} on ${model.domains[domain].title}. At the end: ${ends.join('; ')}.`;
}

export function curves() {
  const key = legend();
  const charts = h('div', { class: 'charts' });
  const element = h('section', { id: 'curves', 'aria-labelledby': 'curves-title' },
    h('h2', { id: 'curves-title' }, 'Curves'),
    h('div', { class: 'controls' },
      choice('Over', Object.entries(axes).map(([value, { title }]) => [value, title]), view.axis, (axis) => change({ axis })),
      choice('Band', Object.entries(bands), view.band, (value) => change({ band: value }))),
    key.element, charts);
  let model = null;
  let shape = '';

  const redraw = () => {
    if (!model) return;
    for (const chart of charts.querySelectorAll('.chart')) {
      const domain = Number(chart.dataset.domain);
      draw(chart, options_of(model, domain, chart.dataset.metric));
      chart.setAttribute('aria-label', spoken(model, domain, chart.dataset.metric));
    }
  };
  const build = () => {
    forget(charts);
    fill(charts, model.used_domains.map((domain) => h('div', { class: 'domain' },
      h('h3', {}, model.domains[domain].title),
      h('div', { class: 'pair' }, metrics_of(model, domain).map((metric) => h('figure', { class: 'card' },
        h('figcaption', {}, metrics[metric].title),
        h('div', { class: 'chart', role: 'img', 'data-domain': domain, 'data-metric': metric })))))));
  };
  on_view((changed) => {
    if (['axis', 'band', 'hidden', 'theme'].some((part) => changed.includes(part))) redraw();
  });
  return {
    element,
    update(next) {
      model = next;
      key.update(model);
      const now = JSON.stringify(model.used_domains.map((domain) => [model.domains[domain].title, metrics_of(model, domain)]));
      if (now !== shape) build();
      shape = now;
      redraw();
    },
  };
}
