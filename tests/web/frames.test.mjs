// The package in a page: everything that can be looked at, here and in a worker.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import test, { after, before } from 'node:test';
import { browser, missing, serve } from './browser.mjs';
import { packageFolder, photographs, video } from './setup.mjs';

const skip = missing || (photographs.length === 0 && 'the photographs could not be had from npm');
const portrait = photographs.find((path) => path.includes('grace_hopper')) ?? photographs[0];

let server, chrome, page, temporary;
before(async () => {
  if (skip) return;
  temporary = mkdtempSync(join(tmpdir(), 'sdm-frames-'));
  writeFileSync(join(temporary, 'index.html'), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">');
  server = await serve({ '/': `${temporary}/`, '/sdm/': packageFolder, '/pictures/': `${dirname(portrait)}/` });
  chrome = await browser();
  page = await chrome.newPage();
  await page.goto(server.address);
  await page.evaluate(async (address) => {
    window.api = await import('/sdm/index.js');
    window.sdm = await window.api.load();
    window.picture = new Image();
    picture.src = address;
    await picture.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.drawImage(picture, 0, 0);
    // A new frame of every kind, all of the same picture.
    window.kinds = {
      image: () => picture,
      canvas: () => canvas,
      imageData: () => context.getImageData(0, 0, canvas.width, canvas.height),
      bitmap: () => createImageBitmap(canvas),
      videoFrame: () => new VideoFrame(canvas, { timestamp: 0 }),
      offscreen: () => {
        const other = new OffscreenCanvas(canvas.width, canvas.height);
        other.getContext('2d').drawImage(canvas, 0, 0);
        return other;
      },
    };
  }, `/pictures/${basename(portrait)}`);
});
after(async () => {
  if (skip) return;
  await chrome.close();
  server.close();
  rmSync(temporary, { recursive: true });
});

test('every kind of frame gives the same points, detected, tracked and tracked in a worker', { skip }, async () => {
  const found = await page.evaluate(async () => {
    const all = {};
    for (const [kind, make] of Object.entries(kinds)) {
      all[`${kind}, detected`] = sdm.detect(await make())[0].points;
      for (const worker of [false, true]) {
        const tracker = new api.Tracker({ worker });
        const [face] = await tracker.update(await make(), 0);
        all[`${kind}, ${worker ? 'in a worker' : 'tracked'}`] = face.points;
        tracker.dispose();
      }
    }
    return Object.entries(all).map(([name, points]) => [name, Array.from(points)]);
  });
  assert.equal(found.length, 18);
  const [, expected] = found[0];
  for (const [name, points] of found)
    points.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 0.5, `${name}: point ${i >> 1}`));
});

test('frames are handed to the worker: what is given away is gone, what is not stays', { skip }, async () => {
  const told = await page.evaluate(async () => {
    const tracker = new api.Tracker({ worker: true });
    const said = {};
    for (const kind of ['imageData', 'bitmap', 'videoFrame'])
      for (const transfer of [true, false]) {
        const frame = await kinds[kind]();
        const [face] = await tracker.update(frame, 0, { transfer });
        const left = frame.data ? frame.data.byteLength : (frame.displayWidth ?? frame.width);
        said[`${kind} ${transfer}`] = [face !== undefined, left > 0];
        frame.close?.();
      }
    tracker.dispose();
    return said;
  });
  for (const [name, [found, left]] of Object.entries(told)) assert.deepEqual([found, left], [true, name.endsWith('false')], name);
});

test('a tracker runs in a worker of the caller’s, and what it loads may come later', { skip }, async () => {
  const faces = await page.evaluate(async () => {
    const worker = new Worker('/sdm/worker.js', { type: 'module' });
    const load = fetch('/sdm/faces-plain.wasm').then(async (answer) => ({ wasm: await answer.arrayBuffer(), simd: false }));
    const tracker = new api.Tracker({ worker, load });
    const { length } = await tracker.update(picture, 0);
    tracker.dispose();
    return length;
  });
  assert.ok(faces > 0);
});

test('frames without a picture and broken models are told in words, here and by a worker', { skip }, async () => {
  const told = await page.evaluate(async () => {
    const said = [];
    const attempt = async (body) => said.push(await Promise.resolve().then(body).then(() => 'nothing', (error) => `${error.name}: ${error.message}`));
    const none = Object.assign(document.createElement('canvas'), { width: 0, height: 0 });
    for (const frame of [document.createElement('video'), new Image(), none]) {
      await attempt(() => sdm.detect(frame));
      const tracker = new api.Tracker({ worker: true });
      await attempt(() => tracker.update(frame, 0));
      tracker.dispose();
    }
    for (const load of [{ landmarks: new Uint8Array(100) }, { detector: '/nowhere.sdm' }, Promise.reject(new Error('no library'))]) {
      const tracker = new api.Tracker({ worker: true, load });
      await attempt(() => tracker.update(picture, 0));
      tracker.dispose();
    }
    await attempt(() => new api.Tracker({ worker: 'yes' }));
    const ended = new api.Tracker({ worker: true });
    ended.dispose();
    await attempt(() => ended.update(picture, 0));
    return said;
  });
  const words = [...Array(6).fill(/^SdmError: .*0 x 0/), /^SdmError: the landmark model/, /^SdmError: .*404/, /no library/, /'worker' is yes/, /ended/];
  assert.equal(told.length, words.length);
  told.forEach((text, i) => assert.match(text, words[i]));
});

test('a frame of 8K is looked at in a worker', { skip }, async () => {
  const points = await page.evaluate(async () => {
    const large = new OffscreenCanvas(7680, 4320);
    large.getContext('2d').drawImage(picture, 0, 0, (4320 * picture.naturalWidth) / picture.naturalHeight, 4320);
    const tracker = new api.Tracker({ worker: true });
    const faces = await tracker.update(large, 0);
    tracker.dispose();
    return faces[0]?.points.length;
  });
  assert.equal(points, 136);
});

test('a video gives its frames to a worker', { skip: skip || (!video && 'the video could not be had from npm') }, async () => {
  const told = await page.evaluate(async (address) => {
    const element = document.createElement('video');
    Object.assign(element, { muted: true, src: address });
    await element.play();
    const here = new api.Tracker({ smooth: false });
    const away = new api.Tracker({ worker: true, smooth: false });
    await away.update(element, 0); // loaded by then
    element.currentTime = 2;
    element.pause();
    await new Promise((resolve) => (element.onseeked = resolve));
    await away.reset();
    const [a] = here.update(element, 0);
    const [b] = await away.update(element, 0);
    away.dispose();
    return Math.max(...a.points.map((value, i) => Math.abs(value - b.points[i]))) / a.box.width;
  }, `/pictures/${basename(video ?? '')}`);
  assert.ok(told < 0.02, `${told} of the face's width`);
});
