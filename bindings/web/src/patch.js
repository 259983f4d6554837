// A flat patch through a video.
import { options, trackAt } from './layout.js';
import { rigidTrainOptions } from './learn_layout.js';
import { Handle, SdmError, made } from './wasm.js';
import { imageIn } from './frame.js';
import { Remote } from './remote.js';
import { Model, whole } from './sdm.js';

const MOTIONS = ['translation', 'similarity', 'affine', 'homography'];

const cornersOf = (area) =>
  area.width !== undefined
    ? [area.x, area.y, area.x + area.width, area.y, area.x + area.width, area.y + area.height, area.x, area.y + area.height]
    : area.flatMap(({ x, y }) => [x, y]);

class LocalPatch extends Handle {
  constructor(sdm, { frame, area, model, motion, ...wanted }) {
    const { wasm } = sdm;
    let uncertainty = NaN;
    let learned = model;
    if (!model) {
      const kind = motion === undefined ? undefined : MOTIONS.indexOf(motion);
      if (kind === -1) throw new SdmError(`the motion is '${motion}', expected ${MOTIONS.join(', ')}`);
      const handle = wasm.scope((arena) => {
        const image = imageIn(arena, frame);
        const out = arena.bytes(16);
        const settings = options(arena, rigidTrainOptions, { threads: 1, motion: kind, ...wanted });
        wasm.check(wasm.exports.sdm_rigid_train(image, arena.doubles(cornersOf(area)), settings, out, out + 8));
        uncertainty = wasm.view.getFloat64(out + 8, true);
        return wasm.view.getUint32(out, true);
      });
      learned = new Model(wasm, handle);
    }
    super(wasm, made(wasm, 'sdm_rigid_create', learned.handle), 'sdm_rigid_free');
    if (!model) learned.dispose();
    this.uncertainty = uncertainty;
  }
  update(frame) {
    const { wasm } = this;
    return wasm.scope((arena) => {
      const image = imageIn(arena, frame);
      const out = arena.bytes(168);
      wasm.check(wasm.exports.sdm_rigid_update(this.handle, image, out));
      return trackAt(wasm, out);
    });
  }
  restart(area) {
    this.wasm.scope((arena) =>
      this.wasm.check(this.wasm.exports.sdm_rigid_restart(this.handle, arena.doubles(cornersOf(area)))),
    );
  }
}

/** Learns what a frame shows in an area and follows it; here, or with `worker` in a worker. */
export class Patch {
  #patch;
  constructor({ worker, sdm, load, ...wanted }) {
    this.#patch = worker
      ? new Remote('Patch', worker, wanted, Promise.resolve(load).then((given) => ({ everything: true, ...given })))
      : new LocalPatch(whole(sdm), wanted);
  }
  /** Above 1 pixel the patch is too plain to be followed well; in a worker a promise. */
  get uncertainty() {
    return this.#patch.uncertainty;
  }
  update(frame, given) {
    return this.#patch.update(frame, undefined, given);
  }
  restart(area) {
    return this.#patch.restart(area);
  }
  dispose() {
    this.#patch.dispose();
  }
}
