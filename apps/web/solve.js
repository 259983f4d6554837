// The Solve view: descent on a function of one's own, beside Newton's method.
import { colour, prepared } from './canvas.js';
import { parse } from './expression.js';
import { library, worker } from './library.js';

const find = (selector) => document.querySelector(selector);
const number = (id) => Number(find(`#${id}`).value);
const STAGES = 10;
const SAID = {
  trusted: 'can be trusted',
  refined: 'was doubtful and has been refined',
  outside: 'lies outside what was learned',
  failed: 'could not be found',
};

function newton(f, y, start) {
  const path = [start];
  for (let i = 0; i < STAGES; ++i) {
    const x = path[i];
    const step = 1e-6 * Math.max(1, Math.abs(x));
    const slope = (f(x + step) - f(x - step)) / (2 * step);
    path.push(x - (f(x) - y) / slope);
  }
  return path;
}

export class Solve {
  #worker = worker('./solve-worker.js');
  #loaded = library({ everything: true }).then((given) => this.#ask('load', given));
  #waiting = new Map();
  #next = 1;
  #problem = null;
  #answer = null;
  #asking = false;

  constructor() {
    this.#worker.onmessage = ({ data }) => {
      if (data.progress !== undefined) return this.#say(`Learning … ${Math.round(100 * data.progress)} %`);
      const { resolve, reject } = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.error === undefined) resolve(data.value);
      else reject(new Error(data.error));
    };
    find('#function').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#learn();
    });
    for (const button of document.querySelectorAll('.presets button'))
      button.addEventListener('click', () => {
        find('#expression').value = button.dataset.h;
        find('#lower').value = button.dataset.lower;
        find('#upper').value = button.dataset.upper;
        find('#start').value = 0;
        this.#learn();
      });
    find('#y').addEventListener('input', () => this.#solve());
    new ResizeObserver(() => this.draw()).observe(find('#curve'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
    this.#learn();
  }

  #say(words, wrong = false) {
    find('#solve-status').textContent = words;
    find('#solve-status').classList.toggle('wrong', wrong);
  }
  #ask(call, given) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, call, given });
    });
  }

  async #learn() {
    const given = {
      expression: find('#expression').value,
      lower: number('lower'),
      upper: number('upper'),
      start: number('start'),
      noise: number('noise'),
      stages: STAGES,
    };
    this.#problem = this.#answer = null;
    try {
      if (!(given.lower < given.upper)) throw new Error('The range of x is empty.');
      const f = parse(given.expression);
      this.#say('Learning …');
      await this.#loaded;
      const { seconds } = await this.#ask('learn', given);
      const values = Array.from({ length: 200 }, (_, i) => f(given.lower + ((given.upper - given.lower) * i) / 199));
      const [least, most] = [Math.min(...values), Math.max(...values)];
      this.#problem = { ...given, f, least, most };
      Object.assign(find('#y'), { min: least - 0.2 * (most - least), max: most + 0.2 * (most - least) });
      find('#y').value = least + 0.8 * (most - least);
      this.#say(`Learned in ${seconds.toFixed(1)} s. Move y.`);
      await this.#solve();
    } catch (error) {
      this.#say(error.message, true);
      find('#answer').textContent = '–';
      find('#steps').replaceChildren();
      this.draw();
    }
  }

  // The slider may move faster than answers come; the last place counts.
  async #solve() {
    if (this.#asking || !this.#problem) return;
    this.#asking = true;
    const problem = this.#problem;
    const y = number('y');
    try {
      const answer = await this.#ask('solve', { y, start: problem.start });
      if (problem !== this.#problem) return;
      this.#answer = { y, ...answer, newton: newton(problem.f, y, problem.start) };
      this.#tell();
      this.draw();
    } catch (error) {
      this.#say(error.message, true);
    } finally {
      this.#asking = false;
    }
    if (number('y') !== y) this.#solve();
  }

  #tell() {
    const { x, radius, status, path, newton: other, y } = this.#answer;
    const { f } = this.#problem;
    find('#y-value').textContent = y.toPrecision(3);
    find('#answer').textContent = Number.isFinite(x)
      ? `x = ${x.toPrecision(4)} ± ${radius.toPrecision(2)}: ${SAID[status]}`
      : SAID[status];
    const residual = (at) => {
      const value = Math.abs(f(at) - y);
      return Number.isFinite(value) ? value.toExponential(1) : 'away';
    };
    find('#steps').replaceChildren(
      ...path.map((at, step) => {
        const row = document.createElement('tr');
        for (const text of [step, at.toPrecision(4), residual(at), residual(other[step])]) row.insertCell().textContent = text;
        return row;
      }),
    );
  }

  draw() {
    const { context, width, height } = prepared(find('#curve'));
    if (!this.#problem || !width) return;
    const { f, lower, upper, least, most, start } = this.#problem;
    const [left, right, top, bottom] = [44, width - 12, 12, height - 26];
    const margin = 0.08 * (upper - lower);
    const [x0, x1] = [Math.min(lower, start) - margin, Math.max(upper, start) + margin];
    const room = 0.25 * (most - least || 1);
    const [y0, y1] = [least - room, most + room];
    const px = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
    const py = (y) => bottom - ((y - y0) / (y1 - y0)) * (bottom - top);

    context.font = '12px system-ui, sans-serif';
    context.fillStyle = colour('soft');
    context.strokeStyle = colour('line');
    context.textAlign = 'center';
    for (const x of ticks(x0, x1)) {
      stroke(context, [[px(x), top], [px(x), bottom]]);
      context.fillText(label(x), px(x), height - 8);
    }
    context.textAlign = 'right';
    for (const y of ticks(y0, y1)) {
      stroke(context, [[left, py(y)], [right, py(y)]]);
      context.fillText(label(y), left - 6, py(y) + 4);
    }
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    context.fillStyle = colour('accent');
    context.globalAlpha = 0.07;
    context.fillRect(px(lower), top, px(upper) - px(lower), bottom - top);
    context.globalAlpha = 1;
    context.lineWidth = 2.5;
    context.strokeStyle = colour('ink');
    stroke(context, Array.from({ length: 401 }, (_, i) => x0 + ((x1 - x0) * i) / 400)
      .map((x) => [px(x), py(f(x))]).filter(([, y]) => Number.isFinite(y)));
    if (this.#answer) {
      const { y, path, newton: other } = this.#answer;
      context.lineWidth = 1.5;
      context.setLineDash([5, 4]);
      context.strokeStyle = colour('soft');
      stroke(context, [[left, py(y)], [right, py(y)]]);
      context.setLineDash([]);
      for (const [states, name, size] of [[other, 'second', 3.5], [path, 'accent', 4.5]]) {
        const places = states.filter(Number.isFinite).map((x) => [px(x), py(f(x))]);
        context.strokeStyle = context.fillStyle = colour(name);
        context.lineWidth = 1.5;
        context.globalAlpha = 0.7;
        stroke(context, places);
        context.globalAlpha = 1;
        for (const [x, at] of places) dot(context, x, at, size);
        const last = places.at(-1);
        if (last) dot(context, ...last, size + 2.5);
      }
      context.strokeStyle = colour('soft');
      context.lineWidth = 2;
      context.beginPath();
      context.arc(px(start), py(f(start)), 8, 0, 2 * Math.PI);
      context.stroke();
    }
    context.restore();
  }
}

function stroke(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.stroke();
}
function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}
function ticks(from, to) {
  const rough = (to - from) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const all = [];
  for (let at = Math.ceil(from / step); at * step <= to; ++at) all.push(at * step);
  return all;
}
const label = (value) => String(Number(value.toPrecision(6)));
