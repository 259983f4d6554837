// A function of x from a text, without eval: the page's policy forbids that, and rightly.

function erf(x) {
  // The series near 0, the continued fraction of erfc elsewhere.
  const a = Math.abs(x);
  if (a > 6) return Math.sign(x);
  if (a < 2.5) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); ++n) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = a;
  for (let n = 60; n > 0; --n) fraction = a + n / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-a * a) / fraction / Math.sqrt(Math.PI));
}

const { sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, exp, log, sqrt, abs, floor } = Math;
const FUNCTIONS = { sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, exp, log, sqrt, abs, floor, erf };
const CONSTANTS = { pi: Math.PI, e: Math.E };

/** Throws an Error that says where the text makes no sense. */
export function parse(text) {
  let at = 0;
  let depth = 0;
  const skip = () => {
    while (/\s/.test(text[at] ?? '')) ++at;
    return text[at];
  };
  const taken = (...wanted) => {
    const found = wanted.includes(skip()) ? text[at] : null;
    if (found) ++at;
    return found;
  };
  const wrong = (expected) => {
    const rest = text.slice(at, at + 12).trim();
    throw new Error(`${rest ? `'${rest}' at character ${at + 1}` : 'the end'}: expected ${expected}`);
  };

  function sum() {
    let left = product();
    for (let sign = taken('+', '-', '−'); sign; sign = taken('+', '-', '−')) {
      const [a, b] = [left, product()];
      left = sign === '+' ? (x) => a(x) + b(x) : (x) => a(x) - b(x);
    }
    return left;
  }
  function product() {
    let left = signed();
    for (let sign = taken('*', '/', '·'); sign; sign = taken('*', '/', '·')) {
      const [a, b] = [left, signed()];
      left = sign === '/' ? (x) => a(x) / b(x) : (x) => a(x) * b(x);
    }
    return left;
  }
  function signed() {
    if (++depth > 200) throw new Error('that is nested too deeply');
    const sign = taken('+', '-', '−');
    const value = sign ? signed() : power();
    --depth;
    return sign && sign !== '+' ? (x) => -value(x) : value;
  }
  function power() {
    const base = single();
    if (!taken('^')) return base;
    const exponent = signed();
    return (x) => base(x) ** exponent(x);
  }
  function single() {
    if (taken('(')) {
      const inner = sum();
      if (!taken(')')) wrong("')'");
      return inner;
    }
    skip();
    const number = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(text.slice(at));
    if (number) {
      at += number[0].length;
      const value = Number(number[0]);
      return () => value;
    }
    const name = /^[a-z]+/i.exec(text.slice(at))?.[0];
    if (!name) wrong('a number, x or a function');
    if (name === 'x') {
      ++at;
      return (x) => x;
    }
    if (Object.hasOwn(CONSTANTS, name)) {
      at += name.length;
      return () => CONSTANTS[name];
    }
    if (!Object.hasOwn(FUNCTIONS, name)) wrong(`x, pi, e or one of ${Object.keys(FUNCTIONS).join(', ')}`);
    at += name.length;
    if (!taken('(')) wrong(`'(' after ${name}`);
    const inner = sum();
    if (!taken(')')) wrong("')'");
    const f = FUNCTIONS[name];
    return (x) => f(inner(x));
  }

  const whole = sum();
  if (skip() !== undefined) wrong('an operator');
  return whole;
}
