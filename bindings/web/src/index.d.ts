/** What can be looked at. Plain pixels have 1 (grey), 3 (RGB) or 4 (RGBA) bytes each. */
export type Frame =
  | { data: Uint8Array | Uint8ClampedArray; width: number; height: number }
  | ImageData
  | ImageBitmap
  | HTMLVideoElement
  | HTMLImageElement
  | HTMLCanvasElement
  | OffscreenCanvas
  | VideoFrame;

/** Where bytes come from: themselves, an answer to fetch, a file that was picked, or an address (in Node also a path). */
export type Source = ArrayBuffer | ArrayBufferView | Response | Blob | URL | string;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

/** Angles in degrees: yaw > 0 looks to the right of the picture, pitch > 0 up, roll > 0 leans clockwise. */
export interface Pose {
  yaw: number;
  pitch: number;
  roll: number;
  /** 3 x 3, row by row; the identity looks into the camera. */
  rotation: number[];
  /** Pixels for one unit of the head. */
  scale: number;
  /** The pixel of the head's origin. */
  position: Point;
  /** In pixels, of the points as the pose puts them. */
  error: number;
}

export interface Face {
  /** Of a tracked face, from 1; it never means another. 0 where nothing is tracked. */
  id: number;
  box: Box;
  /** In degrees, of a detected face; 0 is upright. */
  roll: number;
  /** The probability that the points lie on a face. */
  score: number;
  /** Found in this picture, not followed from the one before. */
  detected: boolean;
  /** x0, y0, x1, y1, ...; (0, 0) is the centre of the top-left pixel. */
  points: Float32Array;
  /** Of each point the probability that it is seen and right; null where the model has not learned it. */
  visible: Float32Array | null;
  pose: Pose | null;
}

export interface LoadOptions {
  /** What learns, too: `learn`, `Cascade`, `Patch` and `PoseEstimator` need it. */
  everything?: boolean;
  /** The build with vectors or the one without; chosen by what the engine has unless given. */
  simd?: boolean;
  /** Another place of the module. */
  wasm?: Source | WebAssembly.Module;
  /** Other models: of landmarks, and of the windows in which faces are looked for. */
  landmarks?: Source;
  detector?: Source;
}

export interface DetectOptions {
  /** Sides of a face's box in pixels. */
  smallest?: number;
  largest?: number;
  minScore?: number;
  /** Added to the detector's own threshold, in log odds. */
  threshold?: number;
  /** x, y, width, height: look only here. */
  region?: ArrayLike<number>;
  /** At most so many faces. */
  most?: number;
  /** At most so many candidates are tried: it bounds the time. */
  candidates?: number;
  /** Larger pictures are searched shrunk. */
  maxSide?: number;
  doubled?: boolean;
}

/** Loads the library and its models. What is made without `sdm` uses what was loaded last. */
export function load(options?: LoadOptions): Promise<Sdm>;

export class Sdm {
  private constructor();
  readonly simd: boolean;
  /** Whether it can learn. */
  readonly everything: boolean;
  readonly version: string;
  /** The library's memory in bytes. */
  readonly memory: number;
  readonly landmarks: Model;
  readonly detector: Model;
  /** The faces of a picture, the largest first. */
  detect(frame: Frame, options?: DetectOptions): Face[];
  /** The landmarks of the face in a box as `detector` (a name that the model knows) draws it. */
  align(frame: Frame, box: Box, options?: { detector?: string }): Face;
  /** Reads a model file. */
  model(source: Source): Promise<Model>;
  /** Gives its memory back, but for what was made from it. */
  dispose(): void;
}

export class Model {
  private constructor();
  readonly kind: string;
  /** What the file says of itself; needs the whole library. */
  readonly info: Record<string, unknown>;
  readonly bytes: Uint8Array;
  dispose(): void;
}

export interface TrackerOptions {
  /** Followed at once, at most. */
  faces?: number;
  /** A face whose score falls below is lost. */
  threshold?: number;
  /** Frames between searches while fewer faces are there than wanted. */
  searchEvery?: number;
  /** Frames for which a lost face keeps its id. */
  memory?: number;
  smooth?: boolean;
  smallest?: number;
  largest?: number;
  candidates?: number;
  maxSide?: number;
}

interface Where<InWorker extends boolean | Worker> {
  /**
   * Run in a module worker of its own, which loads the library by itself. Or in one of yours, that imports
   * 'sdm-face/worker.js' and does nothing else.
   */
  worker?: InWorker;
  /** What the worker's `load` is given. */
  load?: LoadOptions | Promise<LoadOptions>;
  /** Without a worker: the library to use, the one loaded last unless given. */
  sdm?: Sdm;
}
/** At once, or from a worker. */
type Told<InWorker extends boolean | Worker, Value> = InWorker extends true | Worker ? Promise<Value> : Value;
interface Given {
  /** Frame data that is plain pixels, a VideoFrame or an ImageBitmap is handed over and gone here. */
  transfer?: boolean;
}

/** Follows faces through a video. */
export class Tracker<InWorker extends boolean | Worker = false> {
  constructor(options?: TrackerOptions & Where<InWorker>);
  /** The next frame; `time` in seconds, now unless given. */
  update(frame: Frame, time?: number, given?: Given): Told<InWorker, Face[]>;
  /** Forgets all faces, as at a cut; ids go on. */
  reset(): Told<InWorker, void>;
  dispose(): void;
}

export interface Track {
  /** Of the patch in the frame: top left, top right, bottom right, bottom left. */
  corners: [Point, Point, Point, Point];
  warp: number[];
  difference: number;
  correlation: number;
  /** The probability that the corners are right. */
  score: number;
  lost: boolean;
}

export interface PatchOptions {
  frame: Frame;
  /** What to follow: a box, or four corners from the top left clockwise. */
  area: Box | [Point, Point, Point, Point];
  motion?: 'translation' | 'similarity' | 'affine' | 'homography';
  samples?: number;
  stages?: number;
  /** A lost patch is looked for this far around, in hundredths of its longer side. */
  search?: number;
  /** And then in the whole frame. */
  scan?: boolean;
  seed?: number;
}

/** Learns what a frame shows in an area and follows it through a video. */
export class Patch<InWorker extends boolean | Worker = false> {
  constructor(options: (PatchOptions | { model: Model }) & Where<InWorker>);
  /** In pixels; above 1 the patch is too plain to be followed well. */
  readonly uncertainty: Told<InWorker, number>;
  update(frame: Frame, given?: Given): Told<InWorker, Track>;
  /** Goes on from this area. */
  restart(area: PatchOptions['area']): Told<InWorker, void>;
  dispose(): void;
}

export interface LearnOptions {
  /** Where states are expected. */
  lower: ArrayLike<number>;
  upper: ArrayLike<number>;
  /** How many numbers h gives. */
  features: number;
  /** Of the measurements: the standard deviation, one for each feature, or that of counts. */
  noise?: number | ArrayLike<number> | 'poisson';
  /** 1 for a value that spans decades. */
  log?: ArrayLike<number | boolean>;
  /** Where every solve begins. */
  x0?: ArrayLike<number>;
  samples?: number;
  calibration?: number;
  /** Of h, about so many. */
  evaluations?: number;
  /** Likewise. */
  seconds?: number;
  maxStages?: number;
  maxOrder?: number;
  maxBits?: number;
  maxComponents?: number;
  seed?: number;
  /** How far it is, 0 to 1; `false` ends it. */
  progress?: (share: number, activity: string, secondsLeft: number) => void | boolean;
  sdm?: Sdm;
}

export interface SolveOptions {
  /** Of the radius. */
  confidence?: number;
  refine?: 'never' | 'doubtful' | 'always';
  furtherStarts?: number;
}

export interface Answer {
  x: Float64Array;
  /** With the confidence asked for, x is nearer to the truth than this. */
  radius: Float64Array;
  status: 'trusted' | 'refined' | 'outside' | 'failed';
  /** |h(x) - y| */
  residual: number;
}

/** h of a state: fills `out`. */
export type Problem = (x: Float64Array, out: Float64Array) => void;

/** Learns to solve min |h(x) - y|^2 for every y that a state of the box gives with that noise. */
export function learn(h: Problem, options: LearnOptions): Learned;

export class Learned {
  private constructor();
  readonly report: string;
  readonly bytes: Uint8Array;
  solve(y: ArrayLike<number>, options?: SolveOptions): Answer;
  solveAll(measurements: ArrayLike<number>[], options?: SolveOptions): Answer[];
  dispose(): void;
}

export interface CascadeOptions {
  /** A start for each example, or one for all. */
  starts: ArrayLike<number>[] | number[];
  targets: ArrayLike<number>[];
  /** y of each example. */
  measured: ArrayLike<number>[];
  stages?: number;
  penalty?: number;
  folds?: number;
  seed?: number;
  sdm?: Sdm;
}

/** The paper's plain cascade: x <- x + b - R (h(x) - y), stage by stage. */
export class Cascade {
  constructor(h: Problem, options: CascadeOptions);
  readonly stages: number;
  map(stage: number): { r: Float64Array; b: Float64Array };
  /** Every state on the way from a start, the answer last. */
  path(y: ArrayLike<number>, start: ArrayLike<number>): Float64Array[];
  dispose(): void;
}

export interface PoseTrainOptions {
  /** x, y, z of every point of the object. */
  points: ArrayLike<number> | number[][];
  /** In pixels. */
  camera?: { fx: number; fy: number; cx: number; cy: number };
  /** Where the object stands in the mean, in the camera's frame. */
  centre?: ArrayLike<number>;
  /** Half-widths of the range: degrees about x, y, z; and the object's units. */
  rotation?: ArrayLike<number>;
  translation?: ArrayLike<number>;
  noisePixels?: number;
  stages?: number;
  cells?: number;
  samples?: number;
  seed?: number;
  sdm?: Sdm;
}

export interface ObjectPose {
  quaternion: { w: number; x: number; y: number; z: number };
  translation: { x: number; y: number; z: number };
  /** In pixels. */
  error: number;
  /** How many points counted. */
  used: number;
}

/** The pose of an object from its points in a picture. */
export class PoseEstimator {
  constructor(options: PoseTrainOptions | { model: Model; sdm?: Sdm });
  /** How many points it has. */
  readonly points: number;
  estimate(
    pixels: ArrayLike<number> | number[][],
    options?: { refineSteps?: number; outlierPixels?: number },
  ): ObjectPose;
  dispose(): void;
}

/** How a head is turned, seen by a camera that nobody knows; the landmark model's unless points are given. */
export class HeadPose {
  constructor(options?: { points?: ArrayLike<number> | number[][]; weights?: ArrayLike<number>; sdm?: Sdm });
  estimate(pixels: ArrayLike<number> | number[][]): Pose;
  dispose(): void;
}

/** What went wrong, in the library's own sentence. */
export class SdmError extends Error {}

/** Whether this engine has WebAssembly's vectors. */
export function hasSimd(): boolean;
