// The loaded library: models, detection, and what the classes beside it are made from.
import * as models from './models.js';
import { infoOf } from './model_info.js';
import { detectorOptions, facesAt, options } from './layout.js';
import { imageIn } from './frame.js';
import { place } from './place.js';
import { Handle, SdmError, Wasm, bytesOf, hasSimd, made } from './wasm.js';

// Written out, so that bundlers find the files.
const builds = {
  faces: {
    simd: () => new URL('./faces-simd.wasm', import.meta.url),
    plain: () => new URL('./faces-plain.wasm', import.meta.url),
  },
  everything: {
    simd: () => new URL('./everything-simd.wasm', import.meta.url),
    plain: () => new URL('./everything-plain.wasm', import.meta.url),
  },
};

/** A model file in the library's memory. */
export class Model extends Handle {
  constructor(wasm, handle) {
    super(wasm, handle, 'sdm_model_free');
  }
  static read(wasm, bytes, what) {
    const handle = wasm.scope((arena) => {
      const out = arena.bytes(4);
      const at = arena.data(bytes);
      try {
        wasm.check(wasm.exports.sdm_model_read(at, bytes.length, out));
      } catch (error) {
        if (error instanceof SdmError) throw new SdmError(`${what}: ${error.message}`);
        throw error;
      }
      return wasm.view.getUint32(out, true);
    });
    return new Model(wasm, handle);
  }
  get kind() {
    return this.wasm.string(this.wasm.exports.sdm_model_kind(this.handle));
  }
  /** What the file says of itself. */
  get info() {
    return infoOf(this);
  }
  /** The file's bytes. */
  get bytes() {
    const { wasm } = this;
    return wasm.scope((arena) => {
      const out = arena.bytes(8);
      wasm.check(wasm.exports.sdm_model_bytes(this.handle, out, out + 4));
      const at = wasm.view.getUint32(out, true);
      const bytes = wasm.bytes.slice(at, at + wasm.view.getUint32(out + 4, true));
      wasm.exports.sdm_free(at);
      return bytes;
    });
  }
}

class Detector extends Handle {
  constructor(wasm, handle) {
    super(wasm, handle, 'sdm_detector_free');
  }
}

export class Sdm {
  #detector = null;
  #detection = '';

  constructor(wasm, everything, landmarks, detector) {
    this.wasm = wasm;
    this.everything = everything;
    this.landmarks = landmarks;
    this.detector = detector;
  }
  /** Whether the build with vectors runs. */
  get simd() {
    return this.wasm.simd;
  }
  get version() {
    return this.wasm.string(this.wasm.exports.sdm_version());
  }
  /** The memory of the library in bytes. */
  get memory() {
    return this.wasm.exports.memory.buffer.byteLength;
  }
  /** Another model of the same library. */
  async model(source) {
    return Model.read(this.wasm, await bytesOf(source, 'the model'), 'the model');
  }

  /** The faces of a picture, the largest first. */
  detect(frame, wanted = {}) {
    const { wasm } = this;
    const key = JSON.stringify(wanted);
    if (!this.#detector || this.#detection !== key) {
      this.#detector?.dispose();
      this.#detector = null;
      const handle = wasm.scope((arena) =>
        made(wasm, 'sdm_detector_create', this.detector.handle, this.landmarks.handle, 0,
          options(arena, detectorOptions, wanted)),
      );
      this.#detector = new Detector(wasm, handle);
      this.#detection = key;
    }
    return wasm.scope((arena) => {
      const image = imageIn(arena, frame);
      const out = arena.bytes(8);
      wasm.check(wasm.exports.sdm_detector_detect(this.#detector.handle, image, out, out + 4));
      const view = wasm.view;
      return facesAt(wasm, view.getUint32(out, true), view.getInt32(out + 4, true));
    });
  }

  /** The landmarks of the face in a box as the package's detector draws it, or as another does. */
  align(frame, box, { detector } = {}) {
    const { wasm } = this;
    this.aligner ??= new Aligner(wasm, made(wasm, 'sdm_aligner_create', this.landmarks.handle));
    return wasm.scope((arena) => {
      const image = imageIn(arena, frame);
      const { x, y, width, height } = box;
      const out = arena.bytes(176);
      wasm.check(
        wasm.exports.sdm_aligner_align(this.aligner.handle, image, arena.floats([x, y, width, height]),
          detector === undefined ? 0 : arena.string(detector), out),
      );
      return facesAt(wasm, out, 1)[0];
    });
  }

  /** Gives back what it holds, but for the trackers made from it. */
  dispose() {
    for (const handle of [this.#detector, this.aligner, this.landmarks, this.detector]) handle?.dispose();
    if (lastLoaded === this) lastLoaded = null;
  }
}

class Aligner extends Handle {
  constructor(wasm, handle) {
    super(wasm, handle, 'sdm_aligner_free');
  }
}

let lastLoaded = null;

/** What a class made without `sdm` uses. */
export function loaded() {
  if (!lastLoaded) throw new SdmError('nothing is loaded yet: await load() first');
  return lastLoaded;
}

/** The same, which must have been loaded whole. */
export function whole(sdm = loaded()) {
  if (!sdm.everything) throw new SdmError('this needs the whole library: await load({ everything: true })');
  return sdm;
}

/** Loads the library and its models. */
export async function load({ everything = false, simd, wasm, landmarks, detector, ...other } = {}) {
  const unknown = Object.keys(other)[0];
  if (unknown !== undefined)
    throw new SdmError(`there is no option '${unknown}', expected everything, simd, wasm, landmarks or detector`);
  const vectors = simd ?? hasSimd();
  const build = builds[everything ? 'everything' : 'faces'][vectors ? 'simd' : 'plain'];
  // All three at once: none needs another.
  const [running, ofLandmarks, ofDetector] = await Promise.all([
    Wasm.start(wasm ?? place(build()), vectors),
    bytesOf(landmarks ?? place(models.landmarks()), 'the landmark model'),
    bytesOf(detector ?? place(models.detector()), 'the detector model'),
  ]);
  lastLoaded = new Sdm(
    running,
    everything,
    Model.read(running, ofLandmarks, 'the landmark model'),
    Model.read(running, ofDetector, 'the detector model'),
  );
  return lastLoaded;
}
