// Numbers as people read them.
const minus = (text) => text.replace('-', '\u2212');

export function whole(value) {
  return minus(Math.round(value).toLocaleString('en-US'));
}

/// With so many digits after the point.
export function fixed(value, digits) {
  if (!Number.isFinite(value)) return '–';
  return minus(value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

/// To so many significant digits, without an exponent where it can do without.
export function significant(value, digits = 3) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
    const raised = [...String(Number(exponent))].map((c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)])).join('');
    return `${minus(mantissa)}×10${raised}`;
  }
  const before = size >= 1 ? Math.floor(Math.log10(size)) + 1 : 1;
  return fixed(value, size === 0 ? 0 : Math.max(0, size >= 1 ? digits - before : digits - 1 - Math.floor(Math.log10(size))));
}

/// The same without zeros behind the point that say nothing.
export function tidy(value, digits = 3) {
  return significant(value, digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

/// Seconds, or what is better to read.
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 120) return `${significant(seconds, 3)} s`;
  if (seconds < 7200) return `${fixed(seconds / 60, 1)} min`;
  return `${fixed(seconds / 3600, 1)} h`;
}

/// A value and its uncertainty, to the digits that the uncertainty leaves.
export function with_error(mean, error) {
  if (!Number.isFinite(error)) return significant(mean, 4);
  const digits = error > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(error)))) : 2;
  return `${fixed(mean, digits)} ± ${fixed(error, digits)}`;
}

export function count(number, thing, things = `${thing}s`) {
  return `${whole(number)} ${number === 1 ? thing : things}`;
}

/// "a, b and c"
export function listed(words) {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/// "p < 0.001", "p = 0.042"
export function probability(p) {
  if (!Number.isFinite(p)) return 'p unknown';
  return p < 0.001 ? 'p < 0.001' : `p = ${fixed(p, 3)}`;
}
