// ECharts, with no more of it than is used, and what all charts have in common.
import { CustomChart, LineChart } from 'echarts/charts';
import { GridComponent, TooltipComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { colour } from './theme.js';

use([LineChart, CustomChart, GridComponent, TooltipComponent, CanvasRenderer]);

/// Charts in elements that may not be laid out yet, and follow their sizes.
const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.clientWidth === 0 || target.clientHeight === 0) continue;
    if (target.chart) target.chart.resize({ animation: { duration: 0 } });
    else begin(target);
  }
});

function begin(element) {
  if (!element.options || element.clientWidth === 0) return;
  element.chart = init(element, null, { renderer: 'canvas' });
  element.chart.setOption(element.options, { notMerge: true });
}

/// Draws, now or as soon as the element has a size.
export function draw(element, options) {
  element.options = options;
  if (element.chart) element.chart.setOption(options, { notMerge: true });
  else {
    watcher.observe(element);
    begin(element);
  }
}

/// Lets go of charts that are about to leave the page.
export function forget(root) {
  for (const element of root.querySelectorAll('.chart')) {
    watcher.unobserve(element);
    element.chart?.dispose();
    element.chart = null;
  }
}

const font = 'system-ui, sans-serif';

function axis(name, label, more) {
  return {
    name, nameLocation: 'middle', nameTextStyle: { color: colour('soft'), fontFamily: font, fontSize: 12 },
    axisLabel: { color: colour('soft'), fontFamily: font, fontSize: 11, hideOverlap: true, formatter: label },
    axisLine: { show: true, lineStyle: { color: colour('line') } },
    axisTick: { lineStyle: { color: colour('line') } },
    splitLine: { lineStyle: { color: colour('grid') } },
    minorSplitLine: { show: false },
    ...more,
  };
}

/// What charts over two numeric axes share.
export function base_options({ x, y, tooltip }) {
  return {
    animation: false,
    textStyle: { fontFamily: font },
    grid: { left: 56, right: 14, top: 14, bottom: 44, containLabel: false },
    xAxis: axis(x.name, x.label, { type: 'value', nameGap: 26, ...x.more }),
    yAxis: axis(y.name, y.label, { type: 'value', nameGap: 40, ...y.more }),
    tooltip: {
      confine: true, transitionDuration: 0, backgroundColor: colour('card'), borderColor: colour('line'),
      textStyle: { color: colour('text'), fontFamily: font, fontSize: 12 }, ...tooltip,
    },
  };
}

/// The band around a curve: [x, low, high] for each of its points, as one shape.
export function band(points, fill) {
  return {
    type: 'custom', silent: true, clip: true, z: 1, encode: { x: 0, y: [1, 2] }, data: points,
    tooltip: { show: false },
    renderItem(params, api) {
      if (params.context.done) return null;
      params.context.done = true;
      const at = (i, k) => api.coord([points[i][0], points[i][k]]);
      const shape = [...points.map((_, i) => at(i, 1)), ...points.map((_, i) => at(points.length - 1 - i, 2))];
      return { type: 'polygon', shape: { points: shape }, style: { fill, opacity: 0.18 } };
    },
  };
}

/// Error bars: [x, low, high] each.
export function bars(points, stroke) {
  return {
    type: 'custom', silent: true, clip: true, z: 3, encode: { x: 0, y: [1, 2] }, data: points,
    tooltip: { show: false },
    renderItem(_, api) {
      const [x, low] = api.coord([api.value(0), api.value(1)]);
      const high = api.coord([api.value(0), api.value(2)])[1];
      const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth: 1.5 } });
      return { type: 'group', children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)] };
    },
  };
}
