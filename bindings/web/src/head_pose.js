// How a head is turned.
import { flat } from './points.js';
import { headPoseAt } from './layout.js';
import { Handle, made } from './wasm.js';
import { loaded } from './sdm.js';

/** How a head of known points is turned, seen by a camera that nobody knows. */
export class HeadPose extends Handle {
  constructor({ points, weights, sdm } = {}) {
    const library = sdm ?? loaded();
    const { wasm } = library;
    const handle = points
      ? wasm.scope((arena) => {
          const xyz = flat(points, 0, 'the head');
          return made(wasm, 'sdm_head_create', xyz.length / 3, arena.doubles(xyz),
            weights ? arena.doubles(flat(weights, xyz.length / 3, 'the weights')) : 0);
        })
      : made(wasm, 'sdm_head_of', library.landmarks.handle);
    super(wasm, handle, 'sdm_head_free');
  }
  estimate(pixels) {
    const { wasm } = this;
    return wasm.scope((arena) => {
      const out = arena.bytes(128);
      const xy = flat(pixels, pixels.flat ? pixels.flat().length : pixels.length, 'the pixels');
      wasm.check(wasm.exports.sdm_head_estimate(this.handle, xy.length / 2, arena.doubles(xy), out));
      return headPoseAt(wasm, out);
    });
  }
}
