// Your own problem: learn to solve min |h(x) - y|^2, then solve it again and again.
import { options } from './layout.js';
import { learnOptions, problem, solveOptions, trainOptions } from './learn_layout.js';
import { Handle, SdmError, made } from './wasm.js';
import { Model, whole } from './sdm.js';

const STATUS = ['trusted', 'refined', 'outside', 'failed'];
const REFINE = ['never', 'doubtful', 'always'];

// h of JavaScript as the library calls it: many states at once, each read from a column.
function caller(wasm, h, states, features) {
  const x = new Float64Array(states);
  const value = new Float64Array(features);
  return (count, xAt, xStride, outAt, outStride) => {
    const from = wasm.doubles(xAt, (states - 1) * xStride + count);
    const to = wasm.doubles(outAt, (features - 1) * outStride + count);
    for (let i = 0; i < count; ++i) {
      for (let j = 0; j < states; ++j) x[j] = from[j * xStride + i];
      h(x, value);
      for (let r = 0; r < features; ++r) to[r * outStride + i] = value[r];
    }
  };
}

const problemIn = (arena, callback, states, features) =>
  options(arena, problem, { states, features, h: arena.wasm.exports.sdm_web_h(), user: callback.id });

const numbers = (values, count, what) => {
  const list = Float64Array.from(values);
  if (list.length !== count) throw new SdmError(`${what} has ${list.length} numbers, expected ${count}`);
  return list;
};

export class Learned extends Handle {
  #callback;
  #states;
  #features;
  constructor(wasm, handle, callback, states, features) {
    super(wasm, handle, 'sdm_learned_free');
    this.#callback = callback;
    this.#states = states;
    this.#features = features;
  }
  /** What learning found, in words. */
  get report() {
    const { wasm } = this;
    const at = made(wasm, 'sdm_learned_report', this.handle, 1);
    const text = wasm.string(at);
    wasm.exports.sdm_free(at);
    return text;
  }
  /** As a model file. */
  get bytes() {
    const model = new Model(this.wasm, made(this.wasm, 'sdm_learned_model', this.handle));
    const { bytes } = model;
    model.dispose();
    return bytes;
  }
  /** The state that explains a measurement. */
  solve(y, wanted) {
    return this.solveAll([y], wanted)[0];
  }
  /** Many measurements at once. */
  solveAll(all, { refine, ...wanted } = {}) {
    const { wasm } = this;
    const states = this.#states;
    const features = this.#features;
    const count = all.length;
    const how = refine === undefined ? undefined : REFINE.indexOf(refine);
    if (how === -1) throw new SdmError(`refine is '${refine}', expected ${REFINE.join(', ')}`);
    this.#callback.error = null;
    return wasm.scope((arena) => {
      const y = arena.bytes(8 * features * count);
      all.forEach((one, i) => wasm.doubles(y + 8 * features * i, features).set(numbers(one, features, 'the measurement')));
      const settings = options(arena, solveOptions, { threads: 1, refine: how, ...wanted });
      const x = arena.bytes(8 * states * count);
      const radius = arena.bytes(8 * states * count);
      const status = arena.bytes(count);
      const residual = arena.bytes(8 * count);
      const answers = arena.bytes(20);
      new Uint32Array(wasm.exports.memory.buffer, answers, 5).set([x, radius, status, residual, 0]);
      wasm.check(
        wasm.exports.sdm_learned_solve(this.handle, BigInt(count), y, 0, settings, answers),
        this.#callback,
      );
      return all.map((_, i) => ({
        x: wasm.doubles(x + 8 * states * i, states).slice(),
        radius: wasm.doubles(radius + 8 * states * i, states).slice(),
        status: STATUS[wasm.bytes[status + i]],
        residual: wasm.doubles(residual + 8 * i, 1)[0],
      }));
    });
  }
  dispose() {
    super.dispose();
    this.wasm.release(this.#callback);
  }
}

/** Learns to find x from y = h(x) plus noise, for every x between `lower` and `upper`. */
export function learn(h, { lower, upper, features, noise = 0, log, x0, progress, sdm, ...wanted }) {
  const { wasm } = whole(sdm);
  const states = lower.length;
  const callback = wasm.callback(caller(wasm, h, states, features));
  const told = progress && wasm.callback((at, share, left) => progress(share, wasm.string(at), left) === false);
  try {
    return wasm.scope((arena) => {
      const poisson = noise === 'poisson';
      const sigma = poisson ? [] : typeof noise === 'number' ? [noise] : Array.from(noise);
      const quiet = sigma.every((value) => value === 0);
      const settings = options(arena, learnOptions, {
        threads: 1,
        ...wanted,
        lower: arena.doubles(numbers(lower, states, 'lower')),
        upper: arena.doubles(numbers(upper, states, 'upper')),
        log: log && arena.data(Uint8Array.from(numbers(log, states, 'log'))),
        noise: poisson ? 2 : quiet ? 0 : 1,
        sigma: quiet ? 0 : arena.doubles(sigma),
        sigmaCount: quiet ? 0 : sigma.length,
        x0: x0 && arena.doubles(numbers(x0, states, 'x0')),
        progress: told && wasm.exports.sdm_web_progress_of(),
        progressUser: told && told.id,
      });
      const out = arena.bytes(4);
      const status = wasm.exports.sdm_learn(problemIn(arena, callback, states, features), settings, out);
      wasm.check(status, told?.error ? told : callback);
      return new Learned(wasm, wasm.view.getUint32(out, true), callback, states, features);
    });
  } catch (error) {
    wasm.release(callback);
    throw error;
  } finally {
    if (told) wasm.release(told);
  }
}

/** The paper's plain cascade: maps R_k, b_k of x <- x + b_k - R_k (h(x) - y). */
export class Cascade extends Handle {
  #h;
  #states;
  #features;
  constructor(h, { starts, targets, measured, sdm, ...wanted }) {
    const { wasm } = whole(sdm);
    const count = targets.length;
    if (!(count > 0)) throw new SdmError('there is no example to learn from');
    const states = targets[0].length;
    const features = measured[0].length;
    const flat = (rows, length, what) => {
      const all = new Float64Array(count * length);
      for (let i = 0; i < count; ++i) all.set(numbers(rows[i] ?? [], length, what), i * length);
      return all;
    };
    const one = typeof starts[0] === 'number';
    const handle = wasm.withCallback(caller(wasm, h, states, features), (callback) =>
      wasm.scope((arena) => {
        const out = arena.bytes(4);
        const status = wasm.exports.sdm_cascade_train(
          problemIn(arena, callback, states, features), BigInt(count),
          arena.doubles(one ? numbers(starts, states, 'starts') : flat(starts, states, 'a start')), one ? 1 : 0,
          arena.doubles(flat(targets, states, 'a target')), arena.doubles(flat(measured, features, 'a measurement')),
          options(arena, trainOptions, { threads: 1, ...wanted }), out,
        );
        wasm.check(status, callback);
        return wasm.view.getUint32(out, true);
      }),
    );
    super(wasm, handle, 'sdm_cascade_free');
    this.#h = h;
    this.#states = states;
    this.#features = features;
  }
  /** How many maps there are. */
  get stages() {
    return this.wasm.scope((arena) => {
      const out = arena.bytes(4);
      this.wasm.check(this.wasm.exports.sdm_cascade_stages(this.handle, out));
      return this.wasm.view.getInt32(out, true);
    });
  }
  /** R (row by row) and b of a stage. */
  map(stage) {
    const { wasm } = this;
    return wasm.scope((arena) => {
      const r = arena.bytes(8 * this.#states * this.#features);
      const b = arena.bytes(8 * this.#states);
      wasm.check(wasm.exports.sdm_cascade_map(this.handle, stage, r, b));
      return { r: wasm.doubles(r, this.#states * this.#features).slice(), b: wasm.doubles(b, this.#states).slice() };
    });
  }
  /** Every state on the way from `start`, the answer last. */
  path(y, start) {
    const value = new Float64Array(this.#features);
    const target = numbers(y, this.#features, 'the measurement');
    const states = [numbers(start, this.#states, 'the start')];
    for (let stage = 0; stage < this.stages; ++stage) {
      const x = states[stage].slice();
      const { r, b } = this.map(stage);
      this.#h(states[stage], value);
      for (let j = 0; j < x.length; ++j) {
        x[j] += b[j];
        for (let i = 0; i < value.length; ++i) x[j] -= r[j * value.length + i] * (value[i] - target[i]);
      }
      states.push(x);
    }
    return states;
  }
}
