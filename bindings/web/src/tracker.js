// Faces through a video.
import { detectorOptions, facesAt, options, take, trackerOptions } from './layout.js';
import { Handle, SdmError, made } from './wasm.js';
import { imageIn } from './frame.js';
import { Remote } from './remote.js';
import { loaded } from './sdm.js';

class LocalTracker extends Handle {
  constructor(sdm, wanted) {
    const { wasm } = sdm;
    const rest = { ...wanted };
    const tracking = take(trackerOptions, rest);
    const handle = wasm.scope((arena) =>
      made(wasm, 'sdm_tracker_create', sdm.landmarks.handle, sdm.detector.handle, sdm.landmarks.handle,
        options(arena, detectorOptions, rest), options(arena, trackerOptions, tracking)),
    );
    super(wasm, handle, 'sdm_tracker_free');
  }
  update(frame, time = performance.now() / 1000) {
    const { wasm } = this;
    if (!Number.isFinite(time)) throw new SdmError(`the time is ${time}, expected seconds`);
    return wasm.scope((arena) => {
      const image = imageIn(arena, frame);
      const out = arena.bytes(8);
      wasm.check(wasm.exports.sdm_tracker_update(this.handle, image, time, out, out + 4));
      const view = wasm.view;
      return facesAt(wasm, view.getUint32(out, true), view.getInt32(out + 4, true));
    });
  }
  reset() {
    this.wasm.check(this.wasm.exports.sdm_tracker_reset(this.handle));
  }
}

/** Follows faces; here, or with `worker` in a worker. */
export class Tracker {
  #tracker;
  constructor({ worker, sdm, load, ...wanted } = {}) {
    this.#tracker = worker ? new Remote('Tracker', worker, wanted, load) : new LocalTracker(sdm ?? loaded(), wanted);
  }
  /** The faces of the next frame; in a worker a promise of them. */
  update(frame, time, given) {
    return this.#tracker.update(frame, time, given);
  }
  reset() {
    return this.#tracker.reset();
  }
  dispose() {
    this.#tracker.dispose();
  }
}
