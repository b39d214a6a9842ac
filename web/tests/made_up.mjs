// A page with data that no run has given: everything that it can show, and names that mean ill.
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';

export const hostile = '<img src=x onerror="document.title=1">';

function curve(end, lines = 10) {
  const steps = Array.from({ length: lines }, (_, i) => i + 1);
  return {
    iteration: steps.map((i) => 10 * i), evaluations: steps.map((i) => 5400 * i), seconds: steps.map((i) => 0.5 * i),
    coverage: steps.map((i) => (end * i) / lines), cross_entropy: steps.map((i) => 30 - i), qd_score: steps.map((i) => 100 * i),
  };
}

const domain = (name, title, more = {}) => ({
  name, title, features: ['x', 'y'], lower: [0, 0], upper: [1, 1], lines: [], places: [], constant: true, ...more,
});

function row(label, where, ends, more = {}) {
  return {
    label, algorithm: label, domain: where, profile: 'default', parameters: [], iterations: 100, config: '[run]\nseed = 1\n',
    trials: ends.map((end, i) => ({ seed: i + 1, state: 'finished', folder: `runs/${label}-${i}`, command: `rarefy run lp --seed ${i + 1}`, curve: curve(end) })),
    ...more,
  };
}

export function made_up_data() {
  const failed = row('ns', 0, [0.2, 0.3]);
  failed.trials[1] = { seed: 2, state: 'failed', error: `bandwidth: ${hostile}`, folder: 'f', command: 'rarefy run lp --seed 2' };
  const sign = (mark, p) => ({ sign: mark, p });
  return {
    rarefy: '0', title: hostile, notes: [`a note: ${hostile}`],
    domains: [domain('lp', 'Linear projection'), domain('own', hostile, { constant: false, lines: [[0.2, 0.2, 0.8, 0.2]], places: [{ x: 0.5, y: 0.5, name: 'start' }] })],
    rows: [
      row('dds-kde', 0, [0.6, 0.7, 0.8], { paper: { coverage: { mean: 0.6767, error: 0.0012 } } }),
      failed,
      row('dds-kde', 1, [0.5, 0.55]),
    ],
    comparisons: [{
      domain: 0, metric: 'coverage', rows: [0, 1],
      anova: { f: 12.5, between: 1, within: 3, p: 0.0381 }, welch: { f: 9.1, between: 1, within: 1.7, p: 0.11 },
      tukey: [[null, sign('>', 0.01)], [sign('<', 0.01), null]], games_howell: [[null, sign('-', 0.4)], [sign('-', 0.4), null]],
    }],
  };
}

/// Writes a page of such data to a file, as the command would.
export function write_page(shell, file, data) {
  const packed = deflateSync(JSON.stringify(data)).toString('base64');
  writeFileSync(file, readFileSync(shell, 'utf8').replace('<!--data-->', () => `<script type="application/octet-stream" id="data">${packed}</script>`));
}
