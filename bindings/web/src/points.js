import { SdmError } from './wasm.js';

/** The numbers of a list of points; without a length three a point. */
export const flat = (points, length, what) => {
  const all = Float64Array.from(points.flat ? points.flat() : points);
  if (length ? all.length !== length : all.length % 3 !== 0 || all.length === 0)
    throw new SdmError(`${what}: ${all.length} numbers, expected ${length || 'three a point'}`);
  return all;
};
