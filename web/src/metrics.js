// What is measured: names, units, digits.
import { duration, fixed, significant, with_error } from './format.js';

const plain = (value) => significant(value, 4);

export const metrics = {
  coverage: {
    title: 'Coverage', axis: 'coverage, %', factor: 100, unit: ' %', more_is_better: true, from_zero: true,
    text: (value) => fixed(value, 2), with_error: (mean, error) => `${fixed(mean, 2)} ± ${fixed(error, 2)}`,
  },
  cross_entropy: {
    title: 'Cross-entropy', axis: 'cross-entropy', factor: 1, unit: '', more_is_better: false, from_zero: false,
    text: (value) => fixed(value, 2), with_error: (mean, error) => `${fixed(mean, 2)} ± ${fixed(error, 2)}`,
  },
  qd_score: {
    title: 'QD score', axis: 'QD score', factor: 1, unit: '', more_is_better: true, from_zero: true,
    text: plain, with_error: (mean, error) => with_error(mean, error),
  },
  seconds: {
    title: 'Seconds', axis: 'seconds', factor: 1, unit: ' s', more_is_better: false, from_zero: true, column: 'time',
    text: plain, with_error: (mean, error) => with_error(mean, error), to_read: duration,
  },
};

export const axes = {
  iteration: { title: 'iterations', axis: 'iterations' },
  evaluations: { title: 'evaluations', axis: 'evaluations' },
  seconds: { title: 'seconds', axis: 'seconds of search' },
};

/// Seconds are those of processors where all trials know them, and those of a clock where not.
export function name_seconds({ seconds }) {
  const of_processors = seconds === 'processor';
  metrics.seconds.title = of_processors ? 'Processor seconds' : 'Seconds';
  metrics.seconds.axis = of_processors ? 'processor seconds' : 'seconds';
  metrics.seconds.column = of_processors ? 'processor time' : 'time';
  axes.seconds.axis = of_processors ? 'processor seconds of search' : 'seconds of search';
}

/// The QD score says something only where objectives vary: elsewhere it counts cells.
export function metrics_of(model, domain) {
  const varying = domain === undefined
    ? model.domains.some((one) => !one.constant)
    : !model.domains[domain].constant;
  return varying ? ['coverage', 'cross_entropy', 'qd_score'] : ['coverage', 'cross_entropy'];
}
