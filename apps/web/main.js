import { hasSimd } from './sdm/index.js';
import { Solve } from './solve.js';
import { Source } from './source.js';
import { Watch } from './watch.js';

const find = (selector) => document.querySelector(selector);

function say(words, wrong = false) {
  const status = find('#view-watch .status');
  status.textContent = words;
  status.classList.toggle('wrong', wrong);
}

const source = new Source(find('video'), find('.still'));
const watch = new Watch(source, say);
let solve = null;

const views = ['faces', 'patch', 'solve'];
function show(view, focus = false) {
  for (const name of views) {
    const tab = find(`#tab-${name}`);
    tab.setAttribute('aria-selected', name === view);
    tab.tabIndex = name === view ? 0 : -1;
    if (focus && name === view) tab.focus();
  }
  find('#view-watch').hidden = view === 'solve';
  find('#view-watch').setAttribute('aria-labelledby', `tab-${view === 'patch' ? 'patch' : 'faces'}`);
  find('#view-solve').hidden = view !== 'solve';
  if (view === 'solve') {
    watch.pause(true);
    solve ??= new Solve();
    solve.draw();
  } else watch.mode = view;
}
for (const name of views) find(`#tab-${name}`).addEventListener('click', () => show(name));
find('nav').addEventListener('keydown', (event) => {
  const now = views.findIndex((name) => find(`#tab-${name}`).ariaSelected === 'true');
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) show(views[(now + step + views.length) % views.length], true);
});

const attempt = (work) => work.catch((error) => say(error.message, true));
const camera = () => {
  say('Asking for the camera …');
  return attempt(source.camera());
};
const open = (file) => {
  if (!/^(image|video)\//.test(file.type)) return say(`${file.name} is neither a video nor a photograph.`, true);
  say('Opening …');
  return attempt(source.file(file));
};

find('#camera').addEventListener('click', camera);
find('#open').addEventListener('click', () => find('#file').click());
find('#file').addEventListener('change', ({ target }) => {
  if (target.files[0]) open(target.files[0]);
  target.value = '';
});
find('#pause').addEventListener('click', () => watch.pause());

const stage = find('#view-watch');
for (const type of ['dragenter', 'dragover'])
  document.addEventListener(type, (event) => {
    event.preventDefault();
    stage.classList.add('dropping');
  });
document.addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) stage.classList.remove('dropping');
});
document.addEventListener('drop', (event) => {
  event.preventDefault();
  stage.classList.remove('dropping');
  const file = event.dataTransfer.files[0];
  if (!file) return;
  if (!find('#view-solve').hidden) show('faces');
  open(file);
});

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches('input')) return;
  const act = {
    1: () => show('faces'),
    2: () => show('patch'),
    3: () => show('solve'),
    c: camera,
    o: () => find('#file').click(),
    ' ': event.target.matches('button') ? undefined : () => watch.pause(),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

find('#build').textContent = `WebAssembly ${hasSimd() ? 'with' : 'without'} vectors, in a worker.`;
show('faces');
const wanted = location.hash.slice(1);
if (wanted === 'camera') camera();
else if (views.includes(wanted)) show(wanted);
