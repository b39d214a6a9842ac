// Data that lies in the page: deflated, in base64.

export async function inflate(text) {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/// The JSON in the element of that id.
export async function embedded(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page holds no ${id}`);
  return JSON.parse(new TextDecoder().decode(await inflate(element.textContent)));
}

/// Frames as they are drawn: { columns, rows, iterations, values: [Uint8Array...] }, one byte a
/// cell: 1 to 127, or 0 where it is empty. All but the first are stored as differences to the one before.
export async function unpack_frames(frames, text) {
  const bytes = await inflate(text);
  const size = frames.columns * frames.rows;
  const values = [];
  for (let i = 0; i < frames.iterations.length; ++i) {
    const frame = bytes.slice(i * size, (i + 1) * size);
    if (i > 0) for (let k = 0; k < size; ++k) frame[k] += values[i - 1][k];
    values.push(frame);
  }
  return { ...frames, values };
}

/// The number behind a byte.
export function value_of(frames, byte) {
  if (byte === 0) return NaN;
  const part = (byte - 1) / 126;
  return frames.logarithmic
    ? frames.low * (frames.high / frames.low) ** part
    : frames.low + (frames.high - frames.low) * part;
}
