// The pose of an object in space from its points in a picture.
import { flat } from './points.js';
import { options } from './layout.js';
import { poseOptions, poseTrainOptions } from './learn_layout.js';
import { Handle, made } from './wasm.js';
import { Model, whole } from './sdm.js';

/** Learns an object of known points and then tells its pose from their pixels. */
export class PoseEstimator extends Handle {
  constructor({ points, camera, model, sdm, ...wanted }) {
    const { wasm } = whole(sdm);
    const learned =
      model ??
      new Model(
        wasm,
        wasm.scope((arena) => {
          const xyz = flat(points, 0, 'the object');
          const settings = options(arena, poseTrainOptions, { threads: 1, ...camera, ...wanted });
          return made(wasm, 'sdm_pose_train', xyz.length / 3, arena.doubles(xyz), settings);
        }),
      );
    super(wasm, made(wasm, 'sdm_pose_create', learned.handle), 'sdm_pose_free');
    if (!model) learned.dispose();
    this.points = wasm.scope((arena) => {
      const out = arena.bytes(4);
      wasm.check(wasm.exports.sdm_pose_points(this.handle, out));
      return wasm.view.getInt32(out, true);
    });
  }
  /** From x, y of every point; NaN where it is not seen. */
  estimate(pixels, wanted = {}) {
    const { wasm } = this;
    return wasm.scope((arena) => {
      const out = arena.bytes(72);
      const xy = arena.doubles(flat(pixels, 2 * this.points, 'the pixels'));
      wasm.check(
        wasm.exports.sdm_pose_estimate(this.handle, xy, options(arena, poseOptions, wanted), out, out + 56, out + 64),
      );
      const [w, x, y, z, tx, ty, tz, error] = wasm.doubles(out, 8);
      return {
        quaternion: { w, x, y, z },
        translation: { x: tx, y: ty, z: tz },
        error,
        used: wasm.view.getInt32(out + 64, true),
      };
    });
  }
}
