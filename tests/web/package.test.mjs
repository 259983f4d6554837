// The package in Node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { built, cropped, framed, native, packageFolder, pgm, pictures, sdmFace, tree } from './setup.mjs';

const { Cascade, HeadPose, Patch, PoseEstimator, SdmError, Tracker, hasSimd, learn, load } = await sdmFace();
const builds = [true, false];
const name = (simd) => (simd ? 'with vectors' : 'without vectors');
const noPictures = pictures.length === 0 && 'the photographs could not be had from npm';
const portrait = () => pgm(pictures[0]);
const fails = (body, words) => assert.throws(body, (error) => error instanceof SdmError && words.test(error.message));

function temporary(body) {
  const folder = mkdtempSync(join(tmpdir(), 'sdm-web-'));
  try {
    return body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('this engine gets the build with vectors by itself', async () => {
  assert.equal(hasSimd(), true);
  assert.equal((await load()).simd, true);
});

for (const simd of builds)
  test(`a hundred faces have the native library's points, ${name(simd)}`, {
    skip: noPictures || (!existsSync(native) && 'the native program is not built'),
  }, async () => {
    const sdm = await load({ simd });
    temporary((folder) => {
      const shown = [];
      for (const path of pictures)
        for (let shift = 0; shift < 60; shift += 10) shown.push(cropped(framed(pgm(path)), shift, (shift * 3) / 5));
      const files = shown.map(({ data, width, height }, i) => {
        const path = join(folder, `${i}.pgm`);
        writeFileSync(path, Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), data]));
        return path;
      });
      const models = ['landmarks', 'detector'].map((model) => `${packageFolder}models/${model}.sdm`);
      const lines = execFileSync(native, [...models, '0', ...files], { encoding: 'utf8', maxBuffer: 1 << 28 });
      const expected = lines.trim().split('\n').map((line) => JSON.parse(line).faces);
      const distances = [];
      shown.forEach((picture, i) => {
        const found = sdm.detect(picture);
        assert.equal(found.length, expected[i].length, files[i]);
        found.forEach(({ points, score }, f) => {
          assert.ok(Math.abs(score - expected[i][f].score) < 0.01, `a score of ${score}, natively ${expected[i][f].score}`);
          distances.push(Math.max(...points.map((value, p) => Math.abs(value - expected[i][f].points[p]))));
        });
      });
      const near = distances.filter((distance) => distance < 0.01).length;
      const worst = Math.max(...distances);
      assert.ok(near >= 100 && near > 0.95 * distances.length, `only ${near} of ${distances.length} faces within 0.01 px`);
      assert.ok(worst < 0.03, `${worst} px`);
      console.log(`${near} of ${distances.length} faces, ${name(simd)}, within 0.01 px of the native library, all within ${worst.toFixed(4)} px`);
    });
  });

test('grey, RGB and RGBA pixels of one picture give one answer', { skip: noPictures }, async () => {
  const sdm = await load();
  const grey = portrait();
  const [expected] = sdm.detect(grey);
  for (const channels of [3, 4]) {
    const data = new Uint8Array(grey.data.length * channels).fill(255);
    grey.data.forEach((value, i) => data.fill(value, i * channels, i * channels + 3));
    const [face] = sdm.detect({ data, width: grey.width, height: grey.height });
    face.points.forEach((value, i) => assert.ok(Math.abs(value - expected.points[i]) < 0.5));
  }
});

test('a tracker keeps the id of a face that moves, and tells where it looks', { skip: noPictures }, async () => {
  await load();
  const picture = portrait();
  const tracker = new Tracker({ faces: 1, smooth: false });
  const [first] = tracker.update(cropped(picture, 0, 0), 0);
  for (let i = 1; i <= 10; ++i) {
    const [face] = tracker.update(cropped(picture, 2 * i, i), i / 30);
    assert.equal(face.id, first.id);
    assert.equal(face.detected, false);
    assert.ok(Math.abs(face.points[60] + 2 * i - first.points[60]) < 3);
    assert.ok(Math.abs(face.pose.yaw - first.pose.yaw) < 5);
    assert.equal(face.visible.length, face.points.length / 2);
  }
  tracker.reset();
  assert.equal(tracker.update(picture, 1)[0].detected, true);
  tracker.dispose();
  fails(() => tracker.update(picture, 2), /disposed/);
});

test('landmarks are found from a box, and the head pose of landmarks is the one told', { skip: noPictures }, async () => {
  const sdm = await load();
  const picture = portrait();
  const [face] = sdm.detect(picture);
  const { points } = sdm.align(picture, face.box);
  fails(() => sdm.align(picture, face.box, { detector: 'nobody' }), /'nobody', expected one of/);
  points.forEach((value, i) => assert.ok(Math.abs(value - face.points[i]) < 0.1 * face.box.width));
  const head = new HeadPose();
  assert.ok(Math.abs(head.estimate(face.points).yaw - face.pose.yaw) < 5);
});

test('memory does not grow with frames and trackers', { skip: noPictures }, async () => {
  const sdm = await load();
  const picture = portrait();
  const round = () => {
    sdm.detect(picture);
    const tracker = new Tracker({ faces: 2 });
    for (let i = 0; i < 10; ++i) tracker.update(picture, i / 30);
    tracker.dispose();
  };
  for (let i = 0; i < 3; ++i) round();
  const { memory } = sdm;
  for (let i = 0; i < 40; ++i) round();
  assert.equal(sdm.memory, memory);
});

test('frames without pixels, of wrong sizes and of 8K give an answer or a clear error', async () => {
  const sdm = await load();
  const tracker = new Tracker();
  for (const look of [(frame) => sdm.detect(frame), (frame) => tracker.update(frame, 0)]) {
    fails(() => look({ data: new Uint8Array(0), width: 0, height: 0 }), /0 x 0/);
    fails(() => look({ data: new Uint8Array(10), width: 4, height: 4 }), /10 bytes for 4 x 4/);
    fails(() => look({ data: new Float32Array(16), width: 4, height: 4 }), /bytes/);
    fails(() => look({ data: new Uint8Array(16), width: 1e6, height: 1e6 }), /at most/);
    fails(() => look(null), /frame/);
    fails(() => look('picture.jpg'), /frame/);
    fails(() => look({ data: new Uint8Array(16), width: NaN, height: 4 }), /NaN/);
    assert.deepEqual(look({ data: new Uint8Array(1), width: 1, height: 1 }), []);
  }
  assert.deepEqual(sdm.detect({ data: new Uint8Array(7680 * 4320 * 4), width: 7680, height: 4320 }), []);
  fails(() => tracker.update({ data: new Uint8Array(16), width: 4, height: 4 }, NaN), /time/);
});

test('broken models and unknown options are refused in words', async () => {
  const good = readFileSync(`${packageFolder}models/landmarks.sdm`);
  for (const [bytes, words] of [
    [new Uint8Array(0), /empty/],
    [new Uint8Array(1000), /./],
    [good.subarray(0, 5000), /./],
    [Buffer.concat([good.subarray(0, 70000), Buffer.from([good[70000] ^ 1]), good.subarray(70001)]), /checksum/],
  ])
    await assert.rejects(load({ landmarks: bytes }), (error) => error instanceof SdmError && words.test(error.message));
  await assert.rejects(load({ wasm: new Uint8Array(8) }), /cannot be compiled/);
  await assert.rejects(load({ landmark: good }), /there is no option 'landmark'/);
  await assert.rejects(load({ landmarks: 5 }), /expected bytes/);
  await load();
  fails(() => new Tracker({ face: 3 }), /there is no option 'face'/);
  fails(() => new Tracker({ faces: -1 }), /faces/);
  fails(() => new Tracker({ faces: 'three' }), /expected a number/);
  fails(() => learn(() => {}, { lower: [0], upper: [1], features: 1 }), /everything/);
});

test('a wrong kind of model is told when it is used', async () => {
  const sdm = await load({ detector: readFileSync(`${packageFolder}models/landmarks.sdm`) });
  fails(() => sdm.detect({ data: new Uint8Array(10000), width: 100, height: 100 }), /detector|face/);
});

for (const simd of builds)
  test(`what was learned finds the parameters of a decay, ${name(simd)}`, async () => {
    await load({ everything: true, simd });
    const h = (x, out) => {
      for (let i = 0; i < 20; ++i) out[i] = x[0] * Math.exp(-x[1] * 0.2 * i);
    };
    const told = [];
    const learned = learn(h, {
      lower: [0.5, 0.3], upper: [2, 3], log: [0, 1], features: 20, noise: 0.01, samples: 4000, calibration: 2000,
      progress: (share) => void told.push(share),
    });
    assert.ok(told.length > 0 && told.every((share) => share >= 0 && share <= 1));
    const truth = [1.3, 0.9];
    const y = new Float64Array(20);
    h(truth, y);
    const [answer, far] = learned.solveAll([y, y.map(() => 50)]);
    assert.equal(answer.status, 'trusted');
    answer.x.forEach((value, i) => assert.ok(Math.abs(value - truth[i]) < answer.radius[i]));
    assert.notEqual(far.status, 'trusted');
    const refined = learned.solve(y, { refine: 'always' });
    refined.x.forEach((value, i) => assert.ok(Math.abs(value - truth[i]) < 1e-5));
    assert.ok(learned.bytes.length > 100 && learned.report.includes('2 states'));
    learned.dispose();
  });

test('what h throws comes back to the caller, and the library goes on', async () => {
  const sdm = await load({ everything: true });
  const angry = () => {
    throw new RangeError('no');
  };
  assert.throws(() => learn(angry, { lower: [0], upper: [1], features: 1 }), RangeError);
  assert.throws(() => learn((x, out) => (out[0] = x[0]), { lower: [1], upper: [0], features: 1 }), SdmError);
  const options = { lower: [0], upper: [1], features: 1, progress: () => false };
  assert.throws(() => learn((x, out) => (out[0] = x[0]), options), SdmError);
  assert.equal(sdm.detect({ data: new Uint8Array(10000), width: 100, height: 100 }).length, 0);
});

test('a cascade walks down to the inverse of a function', async () => {
  await load({ everything: true });
  const targets = Array.from({ length: 30 }, (_, i) => [-1.4 + (2.8 * i) / 29]);
  const cascade = new Cascade((x, out) => (out[0] = Math.sin(x[0])), {
    starts: [0], targets, measured: targets.map(([x]) => [Math.sin(x)]), stages: 10,
  });
  const path = cascade.path([0.8], [0]);
  assert.equal(path.length, cascade.stages + 1);
  assert.ok(Math.abs(path.at(-1)[0] - Math.asin(0.8)) < 1e-3);
});

test('a patch is followed where it moved', { skip: noPictures }, async () => {
  await load({ everything: true });
  const picture = portrait();
  const area = { x: Math.round(picture.width * 0.3), y: Math.round(picture.height * 0.15), width: 120, height: 120 };
  const patch = new Patch({ frame: picture, area, samples: 300 });
  assert.ok(patch.uncertainty > 0 && patch.uncertainty < 1);
  for (let i = 1; i <= 5; ++i) {
    const { corners, lost } = patch.update(cropped(picture, 3 * i, 2 * i));
    assert.equal(lost, false);
    assert.ok(Math.abs(corners[0].x - (area.x - 3 * i)) < 0.5 && Math.abs(corners[0].y - (area.y - 2 * i)) < 0.5);
  }
  assert.equal(patch.update({ data: new Uint8Array(250000).fill(90), width: 500, height: 500 }).lost, true);
  fails(() => new Patch({ frame: picture, area, motion: 'sideways' }), /sideways/);
});

test('the pose of a cube comes back from its own pixels', async () => {
  await load({ everything: true });
  const cube = [-100, 100].flatMap((x) => [-100, 100].flatMap((y) => [-100, 100].map((z) => [x, y, z])));
  const camera = { fx: 1000, fy: 1000, cx: 320, cy: 240 };
  const estimator = new PoseEstimator({ points: cube, camera, centre: [0, 0, 2000], rotation: [30, 30, 30], samples: 3000 });
  const angle = 0.3; // about y
  const pixels = cube.map(([x, y, z]) => {
    const [u, w] = [Math.cos(angle) * x + Math.sin(angle) * z, -Math.sin(angle) * x + Math.cos(angle) * z + 2000];
    return [(camera.fx * u) / w + camera.cx, (camera.fy * y) / w + camera.cy];
  });
  const { quaternion, translation, used } = estimator.estimate(pixels, { refineSteps: 5 });
  assert.equal(used, 8);
  assert.ok(Math.abs(Math.abs(quaternion.y) - Math.sin(angle / 2)) < 1e-3);
  assert.ok(Math.abs(translation.z - 2000) < 2);
  fails(() => estimator.estimate([[1, 2]]), /2 numbers, expected 16/);
});

test('the package installs into an empty project and runs there', () =>
  temporary((folder) => {
    const packed = readdirSync(`${tree}dist`).find((file) => /^sdm-face-.*\.tgz$/.test(file));
    writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
    execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', `${tree}dist/${packed}`], { cwd: folder });
    const program = `import { load } from 'sdm-face';
      const sdm = await load();
      console.log(sdm.detect({ data: new Uint8Array(10000), width: 100, height: 100 }).length, sdm.simd);`;
    assert.equal(execFileSync('node', ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' }), '0 true\n');
  }));

test('the module of faces and its models are small, and the package needs nobody', () => {
  const compressed = (file) => brotliCompressSync(readFileSync(packageFolder + file)).length;
  for (const file of ['faces-simd.wasm', 'faces-plain.wasm']) assert.ok(compressed(file) <= 200e3, `${file}: ${compressed(file)}`);
  const models = ['models/landmarks.sdm', 'models/detector.sdm'].map(compressed);
  assert.ok(models[0] + models[1] <= 750e3, `${models} bytes`);
  const { dependencies, peerDependencies, scripts } = JSON.parse(readFileSync(`${packageFolder}package.json`, 'utf8'));
  assert.deepEqual([dependencies, peerDependencies, scripts], [undefined, undefined, undefined]);
  for (const file of readdirSync(packageFolder).filter((name) => name.endsWith('.js')))
    assert.doesNotMatch(readFileSync(packageFolder + file, 'utf8'), /importScripts|XMLHttpRequest|https?:\/\/|sendBeacon/, file);
});

const tsc = `${built}tools/typescript/lib/tsc.js`;
test('the declarations are strict TypeScript and say what the modules have', {
  skip: !existsSync(tsc) && 'TypeScript could not be had from npm',
}, async () => {
  const declared = readFileSync(`${packageFolder}index.d.ts`, 'utf8');
  for (const exported of Object.keys(await sdmFace()))
    assert.match(declared, new RegExp(`export (class|function) ${exported}\\b`));
  temporary((folder) => {
    mkdirSync(join(folder, 'node_modules'));
    execFileSync('cp', ['-r', packageFolder, join(folder, 'node_modules/sdm-face')]);
    writeFileSync(join(folder, 'use.mts'), readFileSync(new URL('./use.mts', import.meta.url)));
    const flags = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', 'use.mts'];
    const { stdout } = (() => {
      try {
        return { stdout: execFileSync('node', [tsc, ...flags], { cwd: folder, encoding: 'utf8' }) };
      } catch (error) {
        return error;
      }
    })();
    assert.equal(stdout, '');
  });
});
