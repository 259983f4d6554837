// Chromium with the page or another folder from a static server of our own.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { built, chromium } from './setup.mjs';

const tool = `${built}tools/playwright-core`;
export const missing = (!chromium && 'Chromium is not installed') || (!existsSync(tool) && 'playwright-core could not be had from npm');

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.wasm': 'application/wasm' };

/** Serves folders: { '/': path, ... }, the longest prefix first. */
export async function serve(folders) {
  const asked = [];
  const sent = { bytes: 0 };
  const prefixes = Object.keys(folders).sort((a, b) => b.length - a.length);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    asked.push(pathname);
    const prefix = prefixes.find((start) => pathname.startsWith(start));
    let path = join(folders[prefix], normalize(decodeURIComponent(pathname.slice(prefix.length))));
    if (existsSync(path) && statSync(path).isDirectory()) path = join(path, 'index.html');
    if (!existsSync(path)) return response.writeHead(404).end();
    sent.bytes += statSync(path).size;
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream', 'cache-control': 'no-store' });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://localhost:${server.address().port}/`, asked, sent, close: () => server.close() };
}

/** A browser without a window; `flags` on top. */
export function browser(flags = []) {
  const { chromium: driver } = createRequire(import.meta.url)(tool);
  return driver.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required', ...flags],
  });
}
