// The other side of worker.js: an object that lives in a worker.
import { portable } from './frame.js';
import { moved, place } from './place.js';
import { SdmError } from './wasm.js';

const WORKER = 'worker.js';

// Written out, so that bundlers find the file.
const ownWorker = () =>
  moved
    ? new Worker(place(new URL(WORKER, import.meta.url)), { type: 'module' })
    : new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });

export class Remote {
  #worker;
  #waiting = new Map();
  #next = 1;
  #made;

  constructor(kind, worker, wanted, load) {
    if (typeof Worker === 'undefined') throw new SdmError('there are no workers here: leave the option out');
    if (worker !== true && !(worker instanceof Worker))
      throw new SdmError(`the option 'worker' is ${worker}, expected true or a Worker`);
    this.#worker = worker === true ? ownWorker() : worker;
    this.#worker.onmessage = ({ data }) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.error === undefined) waiting?.resolve(data.value);
      else waiting?.reject(new SdmError(data.error));
    };
    this.#worker.onerror = (event) => {
      event.preventDefault?.();
      this.#end(event.message || 'the worker could not be started');
    };
    this.#made = this.#make(kind, wanted, load);
    this.#made.catch(() => {}); // told by the first update
  }

  async #make(kind, wanted, load) {
    // The frame first: a video's next one is another.
    const handed = wanted.frame && (await portable(wanted.frame, false));
    const given = handed ? { ...wanted, frame: handed.frame } : wanted;
    return this.#ask('make', [kind, given, await load], handed?.transfer ?? []);
  }

  #ask(call, given, transfer) {
    if (!this.#worker) return Promise.reject(new SdmError('the worker has ended'));
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      try {
        this.#worker.postMessage({ id, call, given }, transfer);
      } catch (error) {
        this.#waiting.delete(id);
        reject(error);
      }
    });
  }

  #end(reason) {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(new SdmError(reason));
    this.#waiting.clear();
  }

  get uncertainty() {
    return this.#made.then(({ uncertainty }) => uncertainty);
  }
  async update(frame, time = performance.now() / 1000, { transfer = false } = {}) {
    await this.#made;
    const handed = await portable(frame, transfer);
    return this.#ask('update', [handed.frame, time], handed.transfer);
  }
  async reset() {
    await this.#made;
    return this.#ask('reset', [], []);
  }
  async restart(area) {
    await this.#made;
    return this.#ask('restart', [area], []);
  }
  dispose() {
    this.#end('the worker was ended by dispose()');
  }
}
