// The data of the page as its parts use it. What the command sends is written in
// src/reports/page_data.cpp.

const number_with_unit = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(.*)$/i;

/// "0.05 width" as { value: 0.05, unit: 'width' }; null for anything else.
export function parse_value(text) {
  const match = number_with_unit.exec(text.trim());
  return match ? { value: Number(match[1]), unit: match[2] } : null;
}

/// Rows that differ by one numeric parameter and nothing else: [{ name, unit, algorithm, domain,
/// profile, points: [{ value, row }] }], where there are three values of it at least.
export function ablations_of(rows) {
  const groups = new Map();
  for (const row of rows) {
    for (const [name, text] of row.parameters) {
      const parsed = parse_value(text);
      if (!parsed) continue;
      const others = row.parameters.filter(([other]) => other !== name);
      const key = JSON.stringify([row.algorithm, row.domain, row.profile, name, parsed.unit, others]);
      if (!groups.has(key)) {
        groups.set(key, { name, unit: parsed.unit, others, algorithm: row.algorithm, domain: row.domain, profile: row.profile, points: [] });
      }
      groups.get(key).points.push({ value: parsed.value, row });
    }
  }
  const found = [...groups.values()].filter(({ points }) => new Set(points.map((point) => point.value)).size >= 3);
  for (const group of found) group.points.sort((a, b) => a.value - b.value);
  return found;
}

const distinct = (values) => [...new Set(values)];

/// Where on a scale the labels of an ablation lie: label -> [0, 1].
function scales_of(ablations) {
  const scales = new Map();
  for (const { points } of ablations) {
    if (new Set(points.map((point) => point.row.label)).size < 4) continue; // plain colours do
    points.forEach(({ row }, i) => scales.set(row.label, i / (points.length - 1)));
  }
  return scales;
}

export function model_of(data) {
  const rows = data.rows.map((row, index) => ({ ...row, index }));
  const ablations = ablations_of(rows);
  return {
    ...data, rows, ablations,
    names: {
      algorithms: distinct(rows.map((row) => row.algorithm)),
      profiles: distinct(rows.map((row) => row.profile)),
      labels: distinct(rows.map((row) => row.label)),
      scales: scales_of(ablations),
    },
    /// The domains that have rows, in the order of their first.
    used_domains: distinct(rows.map((row) => row.domain)),
    rows_of: (domain) => rows.filter((row) => row.domain === domain),
    row_of: (label, domain) => rows.find((row) => row.label === label && row.domain === domain),
  };
}

/// What a row's curves are called in sentences: 'dds-kde on Linear projection'.
export function row_title(model, row) {
  return `${row.label} on ${model.domains[row.domain].title}`;
}
