export { load, Sdm, Model } from './sdm.js';
export { Tracker } from './tracker.js';
export { Patch } from './patch.js';
export { learn, Learned, Cascade } from './solve.js';
export { PoseEstimator } from './pose.js';
export { HeadPose } from './head_pose.js';
export { SdmError, hasSimd } from './wasm.js';
