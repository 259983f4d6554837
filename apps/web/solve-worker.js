// Learns the function of the Solve view and answers its measurements, away from the page's thread.
import { Cascade, learn, load } from './sdm/index.js';
import { parse } from './expression.js';

const EXAMPLES = 60;
let cascade = null;
let learned = null;

function learnFrom({ expression, lower, upper, start, noise, stages }) {
  const f = parse(expression);
  const h = (x, out) => {
    out[0] = f(x[0]);
  };
  const targets = Array.from({ length: EXAMPLES }, (_, i) => [lower + ((upper - lower) * i) / (EXAMPLES - 1)]);
  const measured = targets.map(([x]) => [f(x)]);
  const bad = measured.findIndex(([y]) => !Number.isFinite(y));
  if (bad >= 0) throw new Error(`h(${targets[bad][0].toPrecision(3)}) is not a finite number; choose another range`);
  cascade?.dispose();
  learned?.dispose();
  cascade = learned = null;
  cascade = new Cascade(h, { starts: [start], targets, measured, stages });
  const from = performance.now();
  learned = learn(h, {
    lower: [lower],
    upper: [upper],
    features: 1,
    noise,
    x0: [start],
    seconds: 3,
    progress: (share) => postMessage({ progress: share }),
  });
  return { seconds: (performance.now() - from) / 1000, stages: cascade.stages };
}

function solve({ y, start }) {
  const path = cascade.path([y], [start]).map(([x]) => x);
  const { x, radius, status } = learned.solve([y]);
  return { path, x: x[0], radius: radius[0], status };
}

const calls = { load: async (given) => void (await load(given)), learn: learnFrom, solve };
onmessage = async ({ data: { id, call, given } }) => {
  try {
    postMessage({ id, value: await calls[call](given) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
