// What all of it is, in a sentence or two.
import { count, listed, whole } from './format.js';

const states = (model) => {
  const found = { waiting: 0, begun: 0, finished: 0, failed: 0 };
  for (const row of model.rows) for (const trial of row.trials) ++found[trial.state];
  return found;
};

function range(values, thing) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? count(low, thing) : `${whole(low)} to ${count(high, thing)}`;
}

export function summary_of(model) {
  const trials = model.rows.reduce((sum, row) => sum + row.trials.length, 0);
  if (trials === 0) return 'There are no trials yet.';
  const { algorithms, profiles } = model.names;
  const domains = model.used_domains;
  const what = [
    `${count(trials, 'trial')} of ${algorithms.length === 1 ? algorithms[0] : count(algorithms.length, 'algorithm')}`,
    `on ${domains.length === 1 ? model.domains[domains[0]].title : count(domains.length, 'domain')}`,
  ].join(' ');
  const varied = [];
  if (profiles.length > 1) varied.push(`${count(profiles.length, 'profile')} (${listed(profiles)})`);
  for (const name of new Set(model.ablations.map((one) => one.name))) {
    const values = new Set(model.ablations.filter((one) => one.name === name).flatMap((one) => one.points.map((point) => point.value)));
    varied.push(count(values.size, `value of ${name}`, `values of ${name}`));
  }
  const seeds = range(model.rows.map((row) => row.trials.length), 'seed');
  const iterations = range(model.rows.map((row) => row.iterations), 'iteration');
  const { finished, begun, waiting, failed } = states(model);
  const state = finished === trials ? ['all are finished'] : [
    finished > 0 && `${whole(finished)} finished`, begun > 0 && `${whole(begun)} under way or interrupted`,
    waiting > 0 && `${whole(waiting)} not begun`, failed > 0 && `${whole(failed)} failed`,
  ].filter(Boolean);
  return `${what}${varied.length ? `, ${listed(varied)}` : ''}: ${seeds} each, ${iterations}; ${listed(state)}.`;
}
