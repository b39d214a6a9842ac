// One heat map: cells, walls and places on a canvas.
import { h } from './dom.js';
import { significant, tidy } from './format.js';
import { viridis } from './palette.js';
import { colour } from './theme.js';
import { value_of } from './unpack.js';

const tip = h('div', { class: 'tip floating', hidden: true });

function parse(css) {
  const hex = css.replace('#', '');
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/// Where on the colour scale of its domain a value lies.
export function place_on(scale, value) {
  if (!(scale.high > scale.low)) return 0.5;
  return scale.logarithmic ? Math.log(value / scale.low) / Math.log(scale.high / scale.low) : (value - scale.low) / (scale.high - scale.low);
}

function cells(frames, frame, scale) {
  const { columns, rows } = frames;
  const image = new ImageData(columns, rows);
  const empty = parse(colour('empty'));
  const table = Array.from({ length: 256 }, (_, byte) => (byte === 0 ? empty : viridis(place_on(scale, value_of(frames, byte)))));
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const at = 4 * ((rows - 1 - row) * columns + column); // the first row is at the bottom
      const [red, green, blue] = table[frame[row * columns + column]];
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = 255;
    }
  }
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows;
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

function landmarks(context, domain, width, height) {
  if (domain.lower.length !== 2) return;
  const at = (x, y) => [
    ((x - domain.lower[0]) / (domain.upper[0] - domain.lower[0])) * width,
    (1 - (y - domain.lower[1]) / (domain.upper[1] - domain.lower[1])) * height,
  ];
  const scale = width / 220;
  // Black with a white rim, which shows on any cell in either theme.
  for (const [style, thickness] of [['#ffffff', 4.5], ['#000000', 2.2]]) {
    context.strokeStyle = style;
    context.lineWidth = thickness * scale;
    context.lineCap = 'round';
    for (const [x1, y1, x2, y2] of domain.lines) {
      context.beginPath();
      context.moveTo(...at(x1, y1));
      context.lineTo(...at(x2, y2));
      context.stroke();
    }
  }
  for (const { x, y } of domain.places) {
    context.beginPath();
    context.arc(...at(x, y), 4 * scale, 0, 2 * Math.PI);
    context.fillStyle = '#d62728';
    context.fill();
    context.strokeStyle = '#ffffff';
    context.lineWidth = 1.2 * scale;
    context.stroke();
  }
}

/// The frame that was the last at an iteration; -1 before the first.
export function frame_at(frames, iteration) {
  let found = -1;
  frames.iterations.forEach((one, i) => {
    if (one <= iteration) found = i;
  });
  return found;
}

export function paint(canvas, { frames, domain, scale, iteration }) {
  const index = frame_at(frames, iteration);
  const flat = frames.rows === 1;
  const size = Math.round(Math.min(440, Math.max(160, canvas.clientWidth * (window.devicePixelRatio || 1))));
  canvas.width = size;
  canvas.height = flat ? Math.round(size / 6) : size;
  canvas.dataset.frame = index;
  const context = canvas.getContext('2d');
  context.imageSmoothingEnabled = frames.columns > 2 * size;
  const values = index >= 0 ? frames.values[index] : new Uint8Array(frames.columns * frames.rows);
  context.drawImage(cells(frames, values, scale), 0, 0, canvas.width, canvas.height);
  landmarks(context, domain, canvas.width, canvas.height);
  canvas.shown = { frames, domain, index };
}

function point_at(event) {
  const canvas = event.currentTarget;
  const { frames, domain, index } = canvas.shown ?? {};
  if (!frames || index < 0) return;
  const box = canvas.getBoundingClientRect();
  const column = Math.min(frames.columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * frames.columns)));
  const row = Math.min(frames.rows - 1, Math.max(0, Math.floor((1 - (event.clientY - box.top) / box.height) * frames.rows)));
  const middle = (k, cell, count) => domain.lower[k] + ((domain.upper[k] - domain.lower[k]) * (cell + 0.5)) / count;
  const where = [`${domain.features[0]} ${significant(middle(0, column, frames.columns), 3)}`];
  if (domain.lower.length > 1) where.push(`${domain.features[1]} ${significant(middle(1, row, frames.rows), 3)}`);
  const value = value_of(frames, frames.values[index][row * frames.columns + column]);
  const what = Number.isNaN(value) ? 'empty' : `${frames.label}: about ${tidy(value, 2)}`;
  tip.replaceChildren(h('div', {}, where.join(', ')), h('strong', {}, what));
  tip.hidden = false;
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 4);
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

export function heatmap_canvas(label) {
  document.body.append(tip);
  const hide = () => { tip.hidden = true; };
  return h('canvas', { class: 'heatmap', role: 'img', 'aria-label': label, onpointermove: point_at, onpointerdown: point_at, onpointerleave: hide, onpointercancel: hide });
}
