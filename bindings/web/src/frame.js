// Pixels of whatever can be looked at, put into the library's memory.
import { SdmError } from './wasm.js';

export const GREY = 0;
const FORMATS = { 1: GREY, 3: 1, 4: 3 }; // by channels: SDM_GREY, SDM_RGB, SDM_RGBA
// The first plane of these is the brightness of every pixel.
const WITH_BRIGHTNESS = /^(I420|I422|I444|NV12)A?$/;

const isVideoFrame = (frame) => typeof VideoFrame !== 'undefined' && frame instanceof VideoFrame;

/** Width and height as they are shown. */
export function sizeOf(frame) {
  const width = frame.videoWidth ?? frame.displayWidth ?? frame.naturalWidth ?? frame.width;
  const height = frame.videoHeight ?? frame.displayHeight ?? frame.naturalHeight ?? frame.height;
  return { width, height };
}

function checkSize({ width, height }) {
  if (!(width > 0 && height > 0))
    throw new SdmError(`the frame is ${width} x ${height} pixels; is the picture or video loaded?`);
  if (!Number.isInteger(width) || !Number.isInteger(height) || width * height > 1 << 27)
    throw new SdmError(`the frame is ${width} x ${height} pixels, at most ${1 << 27} pixels are possible`);
}

let canvas, context;

function drawn(frame, { width, height }) {
  if (!canvas) {
    if (typeof OffscreenCanvas !== 'undefined') canvas = new OffscreenCanvas(width, height);
    else if (typeof document !== 'undefined') canvas = document.createElement('canvas');
    else throw new SdmError('a frame here must be { data, width, height } with 1, 3 or 4 bytes a pixel');
    context = canvas.getContext('2d', { willReadFrequently: true });
  }
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context.drawImage(frame, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

// { data, width, height } of anything, read at once.
function pixelsOf(frame) {
  if (frame === null || typeof frame !== 'object')
    throw new SdmError(`a frame is a picture, a video, a canvas or { data, width, height }, not ${frame}`);
  const size = sizeOf(frame);
  checkSize(size);
  if (frame.data === undefined) return { data: drawn(frame, size), ...size };
  const { data } = frame;
  if (!ArrayBuffer.isView(data) || data.BYTES_PER_ELEMENT !== 1)
    throw new SdmError('the data of a frame must be bytes: a Uint8Array or a Uint8ClampedArray');
  return { data, ...size };
}

/**
 * The brightness plane of a VideoFrame, if it has one that can be taken as it is: no conversion is
 * done. Else null.
 */
export async function brightnessOf(frame, staging) {
  if (!isVideoFrame(frame) || !WITH_BRIGHTNESS.test(frame.format ?? '')) return null;
  const { width, height } = frame.visibleRect;
  if (frame.rotation || frame.flip || width !== frame.displayWidth || height !== frame.displayHeight) return null;
  const size = frame.allocationSize();
  if (!(staging.bytes?.length >= size)) staging.bytes = new Uint8Array(size);
  const [{ offset, stride }] = await frame.copyTo(staging.bytes);
  return { data: staging.bytes.subarray(offset, offset + stride * height), width, height, stride };
}

/** Writes an sdm_image for a frame and gives its address. */
export function imageIn(arena, frame) {
  const { wasm } = arena;
  const { data, width, height, stride } = pixelsOf(frame);
  const channels = stride ? 1 : data.length / (width * height);
  const format = FORMATS[channels];
  if (format === undefined)
    throw new SdmError(`${data.length} bytes for ${width} x ${height} pixels, expected 1, 3 or 4 a pixel`);
  const at = wasm.scratch(data.length);
  wasm.bytes.set(data, at);
  const image = arena.bytes(20);
  const view = wasm.view;
  view.setUint32(image, at, true);
  view.setInt32(image + 4, width, true);
  view.setInt32(image + 8, height, true);
  view.setInt32(image + 12, stride ?? width * channels, true);
  view.setInt32(image + 16, format, true);
  return image;
}

/**
 * A frame as it can be handed to a worker: what it is, and what is given away with it. Pictures of
 * the page become a VideoFrame or an ImageBitmap, which need no copy; plain pixels are copied
 * unless `transfer` allows to give them away.
 */
export async function portable(frame, transfer) {
  if (frame === null || typeof frame !== 'object') pixelsOf(frame);
  if (frame.data !== undefined) {
    const { data, width, height } = pixelsOf(frame);
    return { frame: { data, width, height }, transfer: transfer ? [data.buffer] : [] };
  }
  const size = sizeOf(frame);
  checkSize(size);
  if (isVideoFrame(frame) || (typeof ImageBitmap !== 'undefined' && frame instanceof ImageBitmap)) {
    if (transfer) return { frame, transfer: [frame] };
    const copy = isVideoFrame(frame) ? frame.clone() : await createImageBitmap(frame);
    return { frame: copy, transfer: [copy] };
  }
  if (typeof VideoFrame !== 'undefined' && frame.videoWidth !== undefined) {
    const made = new VideoFrame(frame);
    if (!made.rotation && made.displayWidth === size.width && made.displayHeight === size.height)
      return { frame: made, transfer: [made] };
    made.close();
  }
  const bitmap = await createImageBitmap(frame);
  return { frame: bitmap, transfer: [bitmap] };
}
