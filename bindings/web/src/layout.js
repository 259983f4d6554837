// Where the fields of the C interface's structures lie in WebAssembly's memory; web.c checks each.
import { SdmError } from './wasm.js';

// f, d: float, double; i, u: 32 bits with and without sign; b: a flag of 32 bits; p: an address;
// l, L: 64 bits with and without sign.
const setters = {
  f: (view, at, value) => view.setFloat32(at, value, true),
  d: (view, at, value) => view.setFloat64(at, value, true),
  i: (view, at, value) => view.setInt32(at, value, true),
  u: (view, at, value) => view.setUint32(at, value, true),
  p: (view, at, value) => view.setUint32(at, value, true),
  b: (view, at, value) => view.setInt32(at, value ? 1 : 0, true),
  l: (view, at, value) => view.setBigInt64(at, BigInt(Math.round(value)), true),
  L: (view, at, value) => view.setBigUint64(at, BigInt(Math.round(value)), true),
};

export const detectorOptions = {
  size: 52,
  init: 'sdm_detector_options_init',
  fields: {
    smallest: [4, 'f'],
    largest: [8, 'f'],
    minScore: [12, 'f'],
    threshold: [16, 'f'],
    region: [20, 'f', 4],
    most: [36, 'i'],
    candidates: [40, 'i'],
    maxSide: [44, 'i'],
    doubled: [48, 'b'],
  },
};

export const trackerOptions = {
  size: 24,
  init: 'sdm_tracker_options_init',
  fields: {
    faces: [4, 'i'],
    threshold: [8, 'f'],
    searchEvery: [12, 'i'],
    memory: [16, 'i'],
    smooth: [20, 'b'],
  },
};

/** The options of a caller as a structure of the C interface: its address. */
export function options(arena, layout, values) {
  const { wasm } = arena;
  const at = arena.bytes(layout.size);
  wasm.exports[layout.init](at);
  const view = wasm.view;
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const field = layout.fields[name];
    if (!field)
      throw new SdmError(`there is no option '${name}', expected one of ${Object.keys(layout.fields).join(', ')}`);
    const [offset, type, count] = field;
    const step = type === 'd' ? 8 : 4;
    if (count && !(value?.length === count)) throw new SdmError(`the option '${name}' has ${count} numbers`);
    for (const [i, number] of (count ? Array.from(value) : [value]).entries()) {
      if (typeof number !== 'number' && typeof number !== 'boolean')
        throw new SdmError(`the option '${name}' is ${number}, expected a number`);
      if (type === 'i' && !(Math.abs(number) < 2 ** 31)) throw new SdmError(`the option '${name}' is ${number}`);
      if ((type === 'l' || type === 'L') && !(number >= 0 && number < 2 ** 53))
        throw new SdmError(`the option '${name}' is ${number}, expected a whole number from 0`);
      setters[type](view, at + offset + i * step, number);
    }
  }
  return at;
}

/** The options of `values` that a layout knows; they are taken out of `rest`. */
export function take(layout, rest) {
  const taken = {};
  for (const name of Object.keys(layout.fields)) {
    if (!(name in rest)) continue;
    taken[name] = rest[name];
    delete rest[name];
  }
  return taken;
}

/** The numbers of an sdm_head_pose. */
export function headPoseAt(wasm, at) {
  const [yaw, pitch, roll, ...rest] = wasm.doubles(at, 16);
  return {
    yaw,
    pitch,
    roll,
    rotation: rest.slice(0, 9),
    scale: rest[9],
    position: { x: rest[10], y: rest[11] },
    error: rest[12],
  };
}

const FACE_BYTES = 176;

/** `count` sdm_face of an array as objects of their own. */
export function facesAt(wasm, at, count) {
  const faces = [];
  for (let i = 0; i < count; ++i, at += FACE_BYTES) {
    const view = wasm.view;
    const points = view.getInt32(at + 32, true);
    const [x, y, width, height] = wasm.floats(at, 4);
    const visible = view.getUint32(at + 44, true);
    faces.push({
      id: view.getInt32(at + 24, true),
      box: { x, y, width, height },
      roll: view.getFloat32(at + 16, true),
      score: view.getFloat32(at + 20, true),
      detected: view.getInt32(at + 28, true) === 1,
      points: wasm.floats(view.getUint32(at + 40, true), 2 * points).slice(),
      visible: visible ? wasm.floats(visible, points).slice() : null,
      pose: view.getInt32(at + 36, true) === 1 ? headPoseAt(wasm, at + 48) : null,
    });
  }
  return faces;
}

/** An sdm_track. */
export function trackAt(wasm, at) {
  const numbers = wasm.doubles(at, 20).slice();
  const corners = [0, 2, 4, 6].map((i) => ({ x: numbers[i], y: numbers[i + 1] }));
  return {
    corners,
    warp: Array.from(numbers.subarray(8, 17)),
    difference: numbers[17],
    correlation: numbers[18],
    score: numbers[19],
    lost: wasm.view.getInt32(at + 160, true) !== 0,
  };
}
