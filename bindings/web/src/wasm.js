// The WebAssembly module: choosing the build, starting it, its memory, its errors.

/** What went wrong, in the library's own sentence. */
export class SdmError extends Error {
  constructor(message) {
    super(message);
    this.name = 'SdmError';
  }
}

// A module of one function without arguments and results.
const moduleWith = (...body) =>
  new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // "\0asm", version 1
    1, 4, 1, 0x60, 0, 0, // types: one, () -> ()
    3, 2, 1, 0, // functions: one, of type 0
    10, body.length + 4, 1, body.length + 2, 0, ...body, 0x0b, // code: one body without locals
  ]);
const supports = (...body) => WebAssembly.validate(moduleWith(...body));

/** Whether this engine has WebAssembly's vectors. */
export const hasSimd = () => supports(0x41, 0, 0xfd, 0x0f, 0x1a); // i32.const 0, i8x16.splat, drop
const hasExceptions = () => supports(0x06, 0x40, 0x19, 0x0b); // try, catch_all, end

const isNode = typeof process === 'object' && !!process.versions?.node && typeof document === 'undefined';

/** The bytes of what a caller gives: bytes, a Response, a Blob or an address. */
export async function bytesOf(source, what) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source && typeof source.arrayBuffer === 'function') {
    if (source.ok === false) throw new SdmError(`${what}: the server answered ${source.status} for ${source.url}`);
    return new Uint8Array(await source.arrayBuffer());
  }
  if (typeof source !== 'string' && !(source instanceof URL))
    throw new SdmError(`${what}: expected bytes, a Response, a Blob or an address, got ${typeof source}`);
  const address = String(source);
  // A page's address may be relative; in Node a text without a scheme is a path.
  if (isNode && !/^(https?|data|blob):/.test(address)) {
    const files = 'node:fs/promises'; // by a variable, so that bundlers for pages leave it alone
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ files);
    return new Uint8Array(await readFile(address.startsWith('file:') ? new URL(address) : address));
  }
  let response;
  try {
    response = await fetch(address);
  } catch (error) {
    throw new SdmError(`${what}: ${address} could not be fetched (${error.message})`);
  }
  return bytesOf(response, what);
}

async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  const bytes = await bytesOf(source, 'the WebAssembly module');
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    throw new SdmError(`the WebAssembly module cannot be compiled: ${error.message}`);
  }
}

const text = new TextDecoder();

/** A running module. `exports` are the functions of the C interface as they are. */
export class Wasm {
  static async start(source, simd) {
    if (typeof WebAssembly !== 'object' || !hasExceptions())
      throw new SdmError('this engine has no WebAssembly with exceptions (Chrome 95, Firefox 100, Safari 15.2, Node 17)');
    const wasm = new Wasm();
    wasm.simd = simd;
    wasm.module = await compile(source);
    const imports = {};
    const host = wasm.#host();
    for (const { module, name } of WebAssembly.Module.imports(wasm.module)) {
      imports[module] ??= {};
      imports[module][name] =
        host[name] ??
        (() => {
          throw new SdmError(`the library called ${name}, which does not exist here`);
        });
    }
    const instance = await WebAssembly.instantiate(wasm.module, imports);
    wasm.exports = instance.exports;
    wasm.exports._initialize?.();
    return wasm;
  }

  exports = {};
  #callbacks = new Map();
  #nextCallback = 1;
  #scratch = { at: 0, size: 0 };

  // The few things the library asks of its surroundings: the time, and the caller's functions.
  #host() {
    const run = (id, ...rest) => {
      const callback = this.#callbacks.get(id);
      try {
        return callback.run(...rest) ? 1 : 0;
      } catch (error) {
        callback.error = error; // told by `check` once the library has returned
        return 1;
      }
    };
    return {
      sdm_web_function: run,
      sdm_web_progress: run,
      clock_time_get: (clock, _precision, at) => {
        const now = clock === 0 ? Date.now() : performance.now();
        this.view.setBigUint64(at, BigInt(Math.round(now * 1e6)), true);
        return 0;
      },
      emscripten_notify_memory_growth: () => {},
      // There are no variables of an environment.
      environ_sizes_get: (count, size) => {
        this.view.setUint32(count, 0, true);
        this.view.setUint32(size, 0, true);
        return 0;
      },
      environ_get: () => 0,
      fd_write: () => 8, // no such file: there is nothing to write to
      proc_exit: (code) => {
        throw new SdmError(`the library ended itself with ${code}`);
      },
    };
  }

  // Views are made anew: they end when the memory grows.
  get view() {
    return new DataView(this.exports.memory.buffer);
  }
  get bytes() {
    return new Uint8Array(this.exports.memory.buffer);
  }
  floats(at, count) {
    return new Float32Array(this.exports.memory.buffer, at, count);
  }
  doubles(at, count) {
    return new Float64Array(this.exports.memory.buffer, at, count);
  }
  string(at) {
    const bytes = this.bytes;
    return text.decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  /** Throws what the library said unless the status is 0. */
  check(status, callback) {
    if (status === 0) return;
    if (callback?.error) throw callback.error;
    throw new SdmError(this.string(this.exports.sdm_last_error()) || `the library failed with status ${status}`);
  }

  /** Memory for `size` bytes, which the caller frees. */
  allocate(size) {
    const at = this.exports.malloc(Math.max(size, 1));
    if (at === 0) throw new SdmError(`cannot get ${size} bytes of memory`);
    return at;
  }
  free(at) {
    if (at) this.exports.free(at);
  }

  /** Runs `body` with an arena for its arguments, all of which is given back after it. */
  scope(body) {
    const arena = new Arena(this);
    try {
      return body(arena);
    } finally {
      arena.release();
    }
  }

  /** One buffer for pictures, kept from frame to frame; a very large one is given back. */
  scratch(size) {
    if (this.#scratch.size < size || this.#scratch.size > 4 * size + (1 << 24)) {
      this.free(this.#scratch.at);
      this.#scratch = { at: 0, size: 0 };
      this.#scratch = { at: this.allocate(size), size };
    }
    return this.#scratch.at;
  }

  /** Lets the library call a function for as long as `body` runs, and throws what the function threw. */
  withCallback(run, body) {
    const callback = this.callback(run);
    try {
      return body(callback);
    } finally {
      this.release(callback);
    }
  }
  callback(run) {
    const id = this.#nextCallback++;
    const callback = { id, run, error: null };
    this.#callbacks.set(id, callback);
    return callback;
  }
  release(callback) {
    this.#callbacks.delete(callback.id);
  }

  /** Frees a handle when its owner is collected, should nobody have done so. */
  owned = new FinalizationRegistry(({ free, handle }) => free(handle));
}

/** Arguments of one call. */
class Arena {
  #wasm;
  #blocks = [];
  constructor(wasm) {
    this.#wasm = wasm;
  }
  get wasm() {
    return this.#wasm;
  }
  bytes(size) {
    const at = this.#wasm.allocate(size);
    this.#blocks.push(at);
    return at;
  }
  doubles(values) {
    const at = this.bytes(8 * values.length);
    this.#wasm.doubles(at, values.length).set(values);
    return at;
  }
  floats(values) {
    const at = this.bytes(4 * values.length);
    this.#wasm.floats(at, values.length).set(values);
    return at;
  }
  data(values) {
    const at = this.bytes(values.length);
    this.#wasm.bytes.set(values, at);
    return at;
  }
  string(value) {
    return this.data([...new TextEncoder().encode(value), 0]);
  }
  release() {
    for (const at of this.#blocks) this.#wasm.free(at);
  }
}

/** A handle of the library: freed by `dispose`, or when it is collected. */
export class Handle {
  #wasm;
  #handle;
  #free;
  constructor(wasm, handle, free) {
    this.#wasm = wasm;
    this.#handle = handle;
    this.#free = (at) => wasm.exports[free](at);
    wasm.owned.register(this, { free: this.#free, handle }, this);
  }
  get wasm() {
    return this.#wasm;
  }
  get handle() {
    if (!this.#handle) throw new SdmError(`this ${this.constructor.name} has been disposed of`);
    return this.#handle;
  }
  /** Gives its memory back. It cannot be used any more. */
  dispose() {
    if (!this.#handle) return;
    this.#wasm.owned.unregister(this);
    this.#free(this.#handle);
    this.#handle = 0;
  }
}

/** Calls a function of the C interface whose last argument is where it puts an address. */
export function made(wasm, name, ...rest) {
  return wasm.scope((arena) => {
    const out = arena.bytes(4);
    wasm.check(wasm.exports[name](...rest, out));
    return wasm.view.getUint32(out, true);
  });
}
