// Reads the block that `packing.py` writes: a JSON document and the arrays that it refers to.

const MISSING = 65535;

/** Open a decompressed block. Returns the document and readers of its arrays. */
export function openData(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const document = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = 4 + length;
  const types = {
    uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, uint32: Uint32Array,
    float32: Float32Array, float64: Float64Array,
  };

  /** Read numbers as they are. */
  function array(reference) {
    return new types[reference.type](buffer, start + reference.at, reference.count);
  }

  /** Read signals: one Float64Array for each channel, NaN where a value is missing. */
  function signals(reference) {
    const { at, count, low, step } = reference;
    const bytes = new Uint8Array(buffer, start + at, 2 * count * low.length);
    return low.map((lowest, channel) => {
      const values = new Float64Array(count);
      const first = 2 * count * channel;
      let code = 0;
      for (let sample = 0; sample < count; sample++) {
        const zigzag = bytes[first + sample] | (bytes[first + count + sample] << 8);
        code = (code + ((zigzag >>> 1) ^ -(zigzag & 1))) & 65535;
        values[sample] = code === MISSING ? NaN : lowest + code * step[channel];
      }
      return values;
    });
  }

  return { document, array, signals };
}

/** Index of the last time that is not after `time`, at least 0. */
export function findSample(times, time) {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-9) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Values at other times, linear between samples; NaN before the first and after the last. */
export function resample(times, values, wanted) {
  if (times === wanted) return values;
  const result = new Float64Array(wanted.length).fill(NaN);
  const last = times.length - 1;
  let sample = 0;
  for (let index = 0; index < wanted.length; index++) {
    const time = wanted[index];
    if (time < times[0] - 1e-9 || time > times[last] + 1e-9) continue;
    while (sample < last - 1 && times[sample + 1] <= time) sample++;
    const next = Math.min(sample + 1, last);
    const span = times[next] - times[sample];
    const part = span > 0 ? Math.min(1, Math.max(0, (time - times[sample]) / span)) : 0;
    if (part < 1e-6) result[index] = values[sample];
    else if (part > 1 - 1e-6) result[index] = values[next];
    else result[index] = values[sample] + part * (values[next] - values[sample]);
  }
  return result;
}
