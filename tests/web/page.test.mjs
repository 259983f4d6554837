// The page in Chromium, with a camera made from a photograph.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { browser, missing, serve } from './browser.mjs';
import { page as folder, photographs, video } from './setup.mjs';

const skip = missing || (photographs.length === 0 && 'the photographs could not be had from npm');
const noVideo = skip || (!video && 'the video could not be had from npm');
const portrait = photographs.find((path) => path.includes('grace_hopper')) ?? photographs[0];

let server, chrome, temporary;
before(async () => {
  if (skip) return;
  temporary = mkdtempSync(join(tmpdir(), 'sdm-page-'));
  const frame = readFileSync(portrait);
  writeFileSync(join(temporary, 'camera.mjpeg'), Buffer.concat([frame, frame, frame]));
  server = await serve({ '/': folder });
  chrome = await browser([
    '--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream',
    `--use-file-for-fake-video-capture=${join(temporary, 'camera.mjpeg')}`,
  ]);
});
after(async () => {
  if (skip) return;
  await chrome.close();
  server.close();
  rmSync(temporary, { recursive: true });
});

// Opens the page, and fails on anything in the console and on any request that leaves the server.
async function open(t, { hash = '', ...options } = {}) {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(error.message));
  const asked = [];
  context.on('request', (request) => asked.push(request));
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
    // A blob is of this page. Everything else is one of its files, and nothing is said when it is asked for.
    for (const request of asked.filter((one) => !one.url().startsWith('blob:'))) {
      const { href, pathname, search } = new URL(request.url());
      assert.ok(href.startsWith(server.address) && existsSync(join(folder, pathname)), href);
      assert.deepEqual([request.method(), search, request.postData()], ['GET', '', null], href);
      assert.ok(['document', 'stylesheet', 'script', 'image', 'other'].includes(request.resourceType()), request.resourceType());
    }
  });
  await page.goto(server.address + hash);
  return { page, asked };
}
// Asked again and again from here: the page's policy forbids what Playwright's own waiting does in it.
async function until(page, condition, given, seconds = 90) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await page.waitForTimeout(20))
    if (await page.evaluate(condition, given)) return;
  assert.fail(`it did not happen: ${condition}; the page says: ${await page.locator('.status:visible').textContent()}`);
}
const picked = (page, path) => page.setInputFiles('#file', path);
const aFace = (page) => until(page, () => document.querySelector('#faces tr:not(.none)') !== null);
const status = (page, words) =>
  until(page, (text) => new RegExp(text).test(document.querySelector('#view-watch .status').textContent), words);

test('the camera shows landmarks, and nothing is sent', { skip }, async (t) => {
  const { page, asked } = await open(t, { hash: '#camera', permissions: ['camera'] });
  await aFace(page);
  const before = asked.length;
  await page.waitForTimeout(500);
  assert.equal(asked.length, before);
  assert.match(await page.locator('#faces td').first().textContent(), /^1$/);
  const drawn = await page.evaluate(() => {
    const canvas = document.querySelector('.overlay');
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value);
  });
  assert.ok(drawn);
});

test('the policy forbids every connection, even to the page’s own server, in its workers too', { skip }, async (t) => {
  const context = await chrome.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(server.address);
  await picked(page, portrait);
  await aFace(page);
  assert.ok(page.workers().length > 0);
  const before = server.asked.length;
  for (const place of [page, ...page.workers()]) {
    const directive = await place.evaluate(
      (address) => new Promise((resolve) => {
        const target = globalThis.document ?? globalThis;
        target.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
        fetch(address).then(() => resolve('it was allowed'), () => {});
      }),
      server.address,
    );
    assert.equal(directive, 'connect-src');
    for (const address of [server.address, 'https://example.com/'])
      assert.ok(await place.evaluate((to) => fetch(to).then(() => false, () => true), address));
    const socket = server.address.replace('http', 'ws');
    assert.ok(await place.evaluate((to) => {
      try {
        return new Promise((resolve) => Object.assign(new WebSocket(to), { onopen: () => resolve(false), onerror: () => resolve(true) }));
      } catch {
        return true;
      }
    }, socket));
  }
  assert.deepEqual(server.asked.slice(before), []);
});

test('a photograph is picked, its faces are found and a picture without any says so', { skip }, async (t) => {
  const { page } = await open(t);
  await picked(page, photographs.at(-1));
  await aFace(page);
  assert.equal(await page.locator('.still').isVisible(), true);
  const empty = { name: 'empty.png', mimeType: 'image/png', buffer: PIXEL };
  await picked(page, empty);
  await status(page, 'No face');
});
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==', 'base64');

test('a file that is no picture and a broken one are told in words', { skip }, async (t) => {
  const { page } = await open(t);
  await picked(page, { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
  await status(page, 'neither a video nor a photograph');
  await picked(page, { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('hello') });
  await status(page, 'broken.png is no picture');
});

test('a dropped photograph is looked at', { skip }, async (t) => {
  const { page } = await open(t);
  const bytes = readFileSync(portrait).toString('base64');
  const data = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([raw], 'dropped.jpg', { type: 'image/jpeg' }));
    return transfer;
  }, bytes);
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
  await aFace(page);
});

test('a video is followed, paused and gone on with', { skip: noVideo }, async (t) => {
  const { page } = await open(t);
  await picked(page, video);
  await aFace(page);
  await until(page, () => Number(document.querySelector('#fps').textContent) > 0);
  await page.keyboard.press('Space');
  assert.equal(await page.locator('video').evaluate((element) => element.paused), true);
  assert.equal(await page.locator('#pause').textContent(), 'Go on');
  await page.locator('#pause').click();
  assert.equal(await page.locator('video').evaluate((element) => element.paused), false);
});

test('a refused camera is told in words', { skip }, async (t) => {
  const { page } = await open(t);
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
  });
  await page.locator('#camera').click();
  await status(page, 'The camera was refused');
});

test('a camera that is unplugged is told in words', { skip }, async (t) => {
  const { page } = await open(t, { hash: '#camera', permissions: ['camera'] });
  await aFace(page);
  await page.evaluate(() => {
    const [track] = document.querySelector('video').srcObject.getVideoTracks();
    track.stop();
    track.dispatchEvent(new Event('ended'));
  });
  await status(page, 'The camera has gone');
  await page.locator('#camera').click();
  await aFace(page);
});

test('a refusal of the browser itself is told in words', { skip }, async (t) => {
  const strict = await browser(['--use-fake-device-for-media-stream', '--deny-permission-prompts']);
  t.after(() => strict.close());
  const page = await strict.newPage();
  await page.goto(server.address + '#camera');
  await status(page, 'The camera was refused');
});

test('a photograph of 8K is looked at', { skip }, async (t) => {
  const { page } = await open(t);
  const bytes = readFileSync(portrait).toString('base64');
  const data = await page.evaluateHandle(async (text) => {
    const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const small = await createImageBitmap(new Blob([raw]));
    const canvas = new OffscreenCanvas(7680, 4320);
    canvas.getContext('2d').drawImage(small, 0, 0, (4320 * small.width) / small.height, 4320);
    const transfer = new DataTransfer();
    transfer.items.add(new File([await canvas.convertToBlob({ type: 'image/jpeg' })], 'large.jpg', { type: 'image/jpeg' }));
    return transfer;
  }, bytes);
  await page.dispatchEvent('body', 'drop', { dataTransfer: data });
  await aFace(page);
  assert.equal(await page.locator('.still').evaluate((element) => element.naturalWidth), 7680);
});

test('a hidden tab rests, and goes on when it is shown', { skip }, async (t) => {
  const { page } = await open(t, { hash: '#camera', permissions: ['camera'] });
  await aFace(page);
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await page.bringToFront();
  const times = () => page.evaluate(() => performance.getEntriesByName('first-landmarks').length && document.querySelector('video').currentTime);
  const from = await times();
  await until(page, (before) => document.querySelector('video').currentTime > before + 0.5, from);
  await aFace(page);
});

test('a box drawn in the video is followed', { skip: noVideo }, async (t) => {
  const { page } = await open(t);
  await picked(page, video);
  await aFace(page);
  await page.keyboard.press('2');
  const box = await page.locator('.overlay').boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.3);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.6, { steps: 4 });
  await page.mouse.up();
  await until(page, () => /followed|lost/.test(document.querySelector('#patch-state').textContent), null, 180);
  assert.equal(await page.locator('#patch-state').textContent(), 'followed');
});

test('a function of one’s own is learned and solved, and nonsense is told in words', { skip }, async (t) => {
  const { page } = await open(t, { hash: '#solve' });
  const answer = page.locator('#answer');
  await until(page, () => /x = /.test(document.querySelector('#answer').textContent), null, 180);
  const y = Number(await page.locator('#y').inputValue());
  const x = Number(/x = (-?[\d.]+)/.exec(await answer.textContent())[1]);
  assert.ok(Math.abs(Math.sin(x) - y) < 0.02, `sin(${x}) and ${y}`);
  assert.equal(await page.locator('#steps tr').count(), 11);
  for (const [text, words] of [['sin(', 'the end'], ['x + foo', 'foo'], ['1/x/0', 'not a finite'], ['alert(1)', 'alert']]) {
    await page.fill('#expression', text);
    await page.keyboard.press('Enter');
    await until(page, (said) => document.querySelector('#solve-status').textContent.includes(said), words);
  }
});

test('the tabs are reached and changed by the keyboard', { skip }, async (t) => {
  const { page } = await open(t);
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-patch');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'camera');
});

for (const [width, height, colorScheme] of [[1280, 860, 'light'], [390, 844, 'dark']])
  test(`nothing is wider than a screen of ${width} pixels, ${colorScheme}`, { skip }, async (t) => {
    const { page } = await open(t, { viewport: { width, height }, colorScheme });
    await picked(page, portrait);
    await aFace(page);
    for (const key of ['1', '2', '3']) {
      await page.keyboard.press(key);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} px too wide`);
    }
  });
