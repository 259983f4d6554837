// What the tests share: the package as built, and pictures with faces in them.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const tree = fileURLToPath(new URL('../../', import.meta.url));
export const built = `${tree}build/web/`;
export const packageFolder = `${built}package/`;
export const page = `${tree}dist/web/`;
export const native = `${tree}build/release/tests/web/web_native`;
export const chromium = ['/usr/bin/chromium'].find(existsSync);

export const sdmFace = () => import(`${packageFolder}index.js`);

export function pgm(path) {
  const bytes = readFileSync(path);
  const [head, width, height] = /^P5\s(\d+)\s(\d+)\s255\s/.exec(bytes.toString('latin1', 0, 64));
  return { data: new Uint8Array(bytes.subarray(head.length)), width: Number(width), height: Number(height) };
}

const folder = `${built}pictures/`;
const named = (ending) =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(ending)).sort().map((name) => folder + name) : [];
export const pictures = named('.pgm');
export const photographs = named('.jpg');
export const video = named('.mp4')[0];

/** The picture without its first columns and rows. */
export function cropped({ data, width, height }, left, top) {
  const smaller = { width: width - left, height: height - top };
  smaller.data = new Uint8Array(smaller.width * smaller.height);
  for (let y = 0; y < smaller.height; ++y)
    smaller.data.set(data.subarray((y + top) * width + left, (y + top + 1) * width), y * smaller.width);
  return smaller;
}

/** The middle of a picture in a frame of 640 x 480, scaled to its height (by lines between pixels), on grey. */
export function framed({ data: from, width, height }) {
  const frame = { data: new Uint8Array(640 * 480).fill(128), width: 640, height: 480 };
  const scale = height / 480;
  for (let v = 0; v < 480; ++v)
    for (let u = 0; u < 640; ++u) {
      const x = (u - 320 + 0.5) * scale + width / 2 - 0.5;
      const y = Math.min((v + 0.5) * scale - 0.5, height - 1.001);
      if (x < 0 || y < 0 || x >= width - 1) continue;
      const at = Math.floor(y) * width + Math.floor(x);
      const [s, t] = [x % 1, y % 1];
      const row = (i) => from[i] + s * (from[i + 1] - from[i]);
      frame.data[v * 640 + u] = row(at) + t * (row(at + width) - row(at));
    }
  return frame;
}
