// A project of Vite's defaults that uses the package, built and opened.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { browser, missing, serve } from './browser.mjs';
import { built, tree } from './setup.mjs';

const vite = `${built}tools/vite/node_modules/vite`;
const skip = missing || (!existsSync(vite) && 'Vite could not be had from npm');

// A project with the package in it and a page whose title becomes what the package said.
function project(t) {
  const folder = mkdtempSync(join(tmpdir(), 'sdm-vite-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const packed = readdirSync(`${tree}dist`).find((file) => /^sdm-face-.*\.tgz$/.test(file));
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  writeFileSync(join(folder, 'index.html'), '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/main.js"></script>');
  writeFileSync(join(folder, 'main.js'), `
    import { load, Tracker } from 'sdm-face';
    const frame = () => new ImageData(100, 100);
    async function told() {
      const sdm = await load();
      const tracker = new Tracker({ worker: true });
      return [sdm.simd, sdm.detect(frame()).length, (await tracker.update(frame())).length].join(' ');
    }
    told().catch((error) => error.message).then((text) => (document.title = text));`);
  execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', `${tree}dist/${packed}`], { cwd: folder });
  symlinkSync(vite, join(folder, 'node_modules/vite'));
  return folder;
}

async function titleOf(address) {
  const chrome = await browser();
  try {
    const page = await chrome.newPage();
    await page.goto(address);
    for (let i = 0; i < 1000 && (await page.title()) === ''; ++i) await page.waitForTimeout(20);
    return await page.title();
  } finally {
    await chrome.close();
  }
}

test('Vite builds a page with the package by its defaults, which runs, and in a worker', { skip }, async (t) => {
  const folder = project(t);
  execFileSync('node', [join(vite, 'bin/vite.js'), 'build', '--logLevel', 'error'], { cwd: folder });
  const server = await serve({ '/': join(folder, 'dist/') });
  t.after(() => server.close());
  assert.equal(await titleOf(server.address), 'true 0 0');
});

test('its development server runs the same page', { skip }, async (t) => {
  const folder = project(t);
  const server = spawn('node', [join(vite, 'bin/vite.js'), '--port', '0', '--clearScreen', 'false'], {
    cwd: folder, env: { ...process.env, NO_COLOR: '1' },
  });
  t.after(() => server.kill());
  const address = await new Promise((resolve, reject) => {
    let said = '';
    server.stdout.on('data', (bytes) => {
      said += bytes;
      const found = /http:\/\/localhost:\d+\//.exec(said);
      if (found) resolve(found[0]);
    });
    server.on('exit', () => reject(new Error(said)));
  });
  assert.equal(await titleOf(address), 'true 0 0');
});
