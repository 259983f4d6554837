// The page with a looping video for so many minutes: its memory must stay flat.
//
//   node bench/web/soak.mjs [MINUTES]
import { readFileSync, readdirSync } from 'node:fs';
import { browser, serve } from '../../tests/web/browser.mjs';
import { page as folder, video } from '../../tests/web/setup.mjs';

const minutes = Number(process.argv[2] ?? 30);
const server = await serve({ '/': folder });
const chrome = await browser(['--js-flags=--expose-gc']);
const page = await (await chrome.newContext()).newPage();
await page.goto(server.address);
await page.setInputFiles('#file', video);

// The largest process that runs a page of this browser: the video, the worker and the library are in it.
function resident() {
  let most = 0;
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${id}/cmdline`, 'latin1').includes('--js-flags=--expose-gc')) continue;
      if (!readFileSync(`/proc/${id}/cmdline`, 'latin1').includes('--type=renderer')) continue;
      most = Math.max(most, Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'latin1'))[1]) / 1024);
    } catch {
      // it has ended meanwhile
    }
  }
  return most;
}

const samples = [];
const end = Date.now() + 60000 * minutes;
while (Date.now() < end) {
  await page.waitForTimeout(10000);
  const heap = await page.evaluate(() => {
    gc();
    return performance.memory.usedJSHeapSize / 1e6;
  });
  const { fps, loops } = await page.evaluate(() => ({ fps: document.querySelector('#fps').textContent, loops: document.querySelector('video').currentTime }));
  samples.push({ resident: resident(), heap });
  console.log(`${(samples.length / 6).toFixed(1)} min: ${samples.at(-1).resident.toFixed(0)} MB resident, ${heap.toFixed(2)} MB of JavaScript, ${fps} frames a second, at ${loops.toFixed(0)} s`);
}
await chrome.close();
server.close();
const mean = (part, what) => part.reduce((sum, one) => sum + one[what], 0) / part.length;
const third = Math.floor(samples.length / 3);
for (const what of ['resident', 'heap']) {
  const [middle, last] = [mean(samples.slice(third, 2 * third), what), mean(samples.slice(2 * third), what)];
  console.log(`${what}: the last third has ${(last / middle).toFixed(3)} times the middle third's`);
  if (last > 1.1 * middle) process.exitCode = 1;
}
