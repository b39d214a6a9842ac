// Colours: a few that can be told apart for algorithms, viridis for values.
import { is_dark } from './theme.js';

// After Okabe and Ito, darker for white ground and brighter for black, so that lines stand out
// from it by 3 to 1 at least.
const light = ['#0072b2', '#d55e00', '#00855f', '#b5428a', '#7b52c7', '#96700a', '#2b8fc4', '#5f6368', '#8b4513', '#00797d'];
const dark = ['#56b4e9', '#ff8a3d', '#2fc795', '#f08bc0', '#b79cf2', '#e8c23c', '#8fd6ff', '#b0b4ba', '#d49a6a', '#4dd0d6'];

// Every fifth of the 256 colours of viridis (Nathaniel Smith and Stefan van der Walt, CC0), as in
// the heat maps that `rarefy show` draws: src/pictures/colour_map.cpp.
const anchors = ['440154', '46085c', '471063', '481769', '481d6f', '482475', '472a7a', '46307e', '453781',
  '433d84', '414287', '3f4889', '3d4e8a', '3a538b', '38598c', '355e8d', '33638d', '31688e',
  '2e6d8e', '2c718e', '2a768e', '297b8e', '27808e', '25848e', '23898e', '218e8d', '20928c',
  '1f978b', '1e9c89', '1fa188', '21a585', '24aa83', '28ae80', '2eb37c', '35b779', '3dbc74',
  '46c06f', '50c46a', '5ac864', '65cb5e', '70cf57', '7cd250', '89d548', '95d840', 'a2da37',
  'b0dd2f', 'bddf26', 'cae11f', 'd8e219', 'e5e419', 'f1e51d', 'fde725']
  .map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));

/// [red, green, blue] of 0..255 for t in [0, 1].
export function viridis(t) {
  const place = Math.min(Math.max(t, 0), 1) * (anchors.length - 1);
  const below = Math.min(Math.floor(place), anchors.length - 2);
  return [0, 1, 2].map((i) => Math.round(anchors[below][i] + (anchors[below + 1][i] - anchors[below][i]) * (place - below)));
}

const dashes = ['solid', [7, 4], [2, 3], [9, 3, 2, 3]];

/// What the curve of a row looks like: { colour, dash }. Rows are told apart by their algorithms
/// where that is enough, with dashes for profiles; values of a parameter are a scale.
export function look_of(model, row) {
  const { algorithms, profiles, labels, scales } = model.names;
  const palette = is_dark() ? dark : light;
  const dash = dashes[profiles.indexOf(row.profile) % dashes.length];
  const scale = scales.get(row.label);
  if (scale !== undefined) {
    // Not the very ends: one of them is near the ground in either theme.
    const [low, high] = is_dark() ? [0.25, 1] : [0, 0.85];
    return { colour: `rgb(${viridis(low + (high - low) * scale).join(',')})`, dash };
  }
  const by_algorithm = labels.length <= algorithms.length * profiles.length;
  const place = by_algorithm ? algorithms.indexOf(row.algorithm) : labels.indexOf(row.label);
  return { colour: palette[place % palette.length], dash: by_algorithm ? dash : dashes[Math.floor(place / palette.length) % dashes.length] };
}
