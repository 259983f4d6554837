// Compiled, not run: what a TypeScript program writes, and what must be refused.
import { Cascade, HeadPose, Patch, PoseEstimator, SdmError, Tracker, learn, load } from 'sdm-face';
import type { Face, Track } from 'sdm-face';

export async function use(video: HTMLVideoElement, picture: ImageData): Promise<number> {
  const sdm = await load({ everything: true });
  const faces: Face[] = sdm.detect(picture, { most: 3 });
  const here: Face[] = new Tracker({ faces: 3 }).update(video, video.currentTime);
  const away: Promise<Face[]> = new Tracker({ faces: 3, worker: true }).update(video);
  const mine: Promise<Face[]> = new Tracker({ worker: new Worker('mine.js'), load: load().then(() => ({})) }).update(video);
  // @ts-expect-error: there is no such option
  new Tracker({ face: 3 });
  // @ts-expect-error: a worker promises
  const wrong: Face[] = new Tracker({ worker: true }).update(video);
  const track: Promise<Track> = new Patch({ frame: video, area: { x: 1, y: 2, width: 3, height: 4 }, worker: true }).update(video);
  const learned = learn((x, out) => void (out[0] = x[0] ?? 0), { lower: [0], upper: [1], features: 1 });
  const cascade = new Cascade((x, out) => void (out[0] = x[0] ?? 0), { starts: [0], targets: [[1]], measured: [[1]] });
  const pose = new PoseEstimator({ points: [[0, 0, 0]] }).estimate([[1, 2]]);
  const error: Error = new SdmError('no');
  return (
    faces.length + here.length + (await away).length + (await mine).length + wrong.length + (await track).score + learned.solve([1]).residual +
    cascade.stages + pose.error + new HeadPose().estimate([1]).yaw + error.message.length
  );
}
