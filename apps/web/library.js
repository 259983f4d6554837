// The library for the page's workers. It comes as scripts: so the page's policy can forbid every connection.
import { hasSimd } from './sdm/index.js';

const kind = hasSimd() ? 'simd' : 'plain';

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

const read = async (name) => bytesOf((await import(`./bytes/${name}.js`)).default);
const parts = new Map();
// Each once, however many workers want it.
function part(name, make) {
  if (!parts.has(name)) parts.set(name, make());
  return parts.get(name);
}

/** What `load` in a worker is given. */
export async function library({ everything = false } = {}) {
  const name = `${everything ? 'everything' : 'faces'}-${kind}`;
  const [wasm, landmarks, detector] = await Promise.all([
    part(name, async () => WebAssembly.compile(await read(name))),
    part('landmarks', () => read('landmarks')),
    part('detector', () => read('detector')),
  ]);
  return { everything, simd: kind === 'simd', wasm, landmarks, detector };
}

/** A worker that runs a module of the page. One from a blob is bound by the page's policy, as no other is. */
export function worker(module) {
  const start = new Blob([`import ${JSON.stringify(new URL(module, import.meta.url).href)};`], { type: 'text/javascript' });
  const address = URL.createObjectURL(start);
  const started = new Worker(address, { type: 'module' });
  started.addEventListener('message', () => URL.revokeObjectURL(address), { once: true }); // it is read later
  return started;
}
export const faceWorker = () => worker('./sdm/worker.js');
