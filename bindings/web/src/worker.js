// Runs in a module worker: one Tracker or Patch, asked by remote.js.
import { brightnessOf } from './frame.js';
import { Patch } from './patch.js';
import { Tracker } from './tracker.js';
import { load } from './sdm.js';

const kinds = { Tracker, Patch };
const staging = {};
let object = null;

// A frame that was handed over is closed once it has been read.
async function seen(frame, use) {
  try {
    return use((await brightnessOf(frame, staging)) ?? frame);
  } finally {
    frame.close?.();
  }
}

const calls = {
  async make(kind, wanted, loading) {
    await load(loading);
    const make = (frame) => new kinds[kind](frame ? { ...wanted, frame } : wanted);
    object = wanted.frame ? await seen(wanted.frame, make) : make();
    return { uncertainty: object.uncertainty };
  },
  update: (frame, time) => seen(frame, (pixels) => object.update(pixels, time)),
  reset: () => object.reset(),
  restart: (area) => object.restart(area),
};

// One after the other: a frame is never looked at before the one that came earlier.
let last = Promise.resolve();
onmessage = ({ data: { id, call, given } }) => {
  last = last.then(async () => {
    try {
      postMessage({ id, value: await calls[call](...given) });
    } catch (error) {
      postMessage({ id, error: error.message });
    }
  });
};
