// Faces and patches in what the source shows.
import { Patch, Tracker } from './sdm/index.js';
import { faceWorker, library } from './library.js';
import { JITTER_FRAMES, drawBox, drawFaces, drawJitter, drawPatch } from './draw.js';

const find = (selector) => document.querySelector(selector);

export class Watch {
  #source;
  #stage = find('#view-watch .stage');
  #overlay = find('.overlay');
  #video = find('video');
  #mode = 'faces';
  #tracker = null;
  #ofPhotograph = false;
  #patch = null;
  #busy = false;
  #generation = 0; // results of an earlier source, tracker or patch are left out
  #lastTime = -Infinity;
  #times = [];
  #costs = [];
  #dropped = 0;
  #history = []; // points of the first face in the last frames
  #jitter = [];
  #faces = [];
  #drawing = null;
  #lastTable = 0;

  constructor(source, say) {
    this.#source = source;
    this.say = say;
    source.addEventListener('begin', () => this.#begin());
    source.addEventListener('gone', () => {
      this.#empty();
      say('The camera has gone: it was unplugged, or another program took it. Choose a source again.', true);
    });
    this.#renew();
    for (const id of ['smooth', 'most'])
      find(`#${id}`).addEventListener('change', () => {
        this.#renew();
        if (this.#source.kind === 'photograph') this.#look();
      });
    for (const id of ['show-points', 'show-axes']) find(`#${id}`).addEventListener('change', () => this.#draw());
    find('#middle').addEventListener('click', () => {
      const { width, height } = this.#source;
      if (width) this.#follow({ x: width * 0.35, y: height * 0.35, width: width * 0.3, height: height * 0.3 });
      else this.say('Choose the camera or a video first.');
    });
    this.#pointer();
    new ResizeObserver(() => this.#draw()).observe(this.#overlay);
    drawJitter(find('#jitter'), []);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawJitter(find('#jitter'), this.#jitter));
  }

  set mode(mode) {
    this.#mode = mode;
    this.#stage.parentElement.classList.toggle('faces', mode === 'faces');
    this.#stage.parentElement.classList.toggle('patch', mode === 'patch');
    this.#stage.classList.toggle('drawing', mode === 'patch');
    ++this.#generation;
    this.#faces = [];
    this.#times = [];
    this.#costs = [];
    this.#figures();
    this.#draw();
    if (mode === 'patch')
      this.say(this.#source.kind === 'photograph' ? 'A patch is followed through a video or the camera.' : '');
    else if (this.#source.kind === 'photograph') this.#look();
  }

  get #mirrored() {
    return this.#source.kind === 'camera';
  }

  // A tracker as the panel wants it; in a photograph it looks for all faces.
  #renew() {
    this.#tracker?.dispose();
    ++this.#generation;
    this.#busy = false;
    const faces = Math.min(20, Math.max(1, Math.round(Number(find('#most').value)) || 1));
    find('#most').value = faces;
    this.#ofPhotograph = this.#source.kind === 'photograph';
    this.#tracker = new Tracker({
      worker: faceWorker(),
      load: library(),
      faces: this.#ofPhotograph ? 50 : faces,
      smooth: find('#smooth').checked,
    });
  }

  #begin() {
    const { width, height } = this.#source;
    const picture = find('.picture');
    picture.hidden = false;
    find('.empty').hidden = true;
    picture.style.setProperty('--ratio', width / height);
    picture.classList.toggle('mirrored', this.#mirrored);
    this.#patch?.dispose();
    this.#patch = null;
    ++this.#generation;
    this.#times = [];
    this.#costs = [];
    this.#dropped = 0;
    this.#history = [];
    this.#jitter = [];
    this.#lastTime = -Infinity;
    find('#pause').disabled = !this.#source.moves;
    this.pause(false);
    this.say('');
    if (this.#ofPhotograph === this.#source.moves) this.#renew();
    else this.#tracker.reset().catch((error) => this.say(error.message, true));
    if (this.#source.moves) this.#next();
    else this.mode = this.#mode;
  }

  #empty() {
    ++this.#generation;
    find('.picture').hidden = true;
    find('.empty').hidden = false;
    find('#pause').disabled = true;
    this.#faces = [];
    this.#table();
  }

  pause(paused = !this.#video.paused) {
    if (!this.#source.moves) return;
    if (paused) this.#video.pause();
    else this.#video.play().catch(() => {});
    find('#pause').setAttribute('aria-pressed', paused);
    find('#pause').textContent = paused ? 'Go on' : 'Pause';
  }

  // Asks for the next frame of the video that moves now.
  #next() {
    const generation = this.#source.element;
    const source = this.#source.kind;
    const seen = (now, { mediaTime }) => {
      if (this.#source.kind !== source || this.#source.element !== generation) return;
      this.#next();
      this.#frame(source === 'camera' ? now / 1000 : mediaTime);
    };
    if (this.#video.requestVideoFrameCallback) this.#video.requestVideoFrameCallback(seen);
    else requestAnimationFrame((now) => seen(now, { mediaTime: this.#video.currentTime }));
  }

  async #frame(time) {
    if (this.#mode === 'patch' && !this.#patch) return;
    if (this.#busy) {
      ++this.#dropped;
      return;
    }
    this.#busy = true;
    const generation = this.#generation;
    const from = performance.now();
    try {
      if (this.#mode === 'patch') {
        const track = await this.#patch.update(this.#video);
        if (generation === this.#generation) this.#tracked(track);
      } else {
        if (time < this.#lastTime) await this.#tracker.reset();
        this.#lastTime = time;
        const faces = await this.#tracker.update(this.#video, time);
        if (generation === this.#generation) this.#found(faces);
      }
      if (generation === this.#generation) this.#count(performance.now() - from);
    } catch (error) {
      if (generation === this.#generation) this.say(error.message, true);
    } finally {
      this.#busy = false;
    }
  }

  // A photograph.
  async #look() {
    const generation = ++this.#generation;
    this.say('Looking …');
    try {
      await this.#tracker.reset(); // the library is loaded by then
      const from = performance.now();
      const faces = await this.#tracker.update(this.#source.element, 0);
      if (generation !== this.#generation) return;
      this.#history = [];
      this.#found(faces);
      this.#costs = [performance.now() - from];
      this.#figures();
      this.#table();
      this.say(faces.length ? '' : 'No face was found in this photograph.');
    } catch (error) {
      if (generation === this.#generation) this.say(error.message, true);
    }
  }

  #found(faces) {
    this.#faces = faces;
    if (faces.length && !performance.getEntriesByName('first-landmarks').length) performance.mark('first-landmarks');
    this.#shake(faces[0]);
    this.#draw();
  }

  // The second difference of the first face's points, in percent of its width.
  #shake(face) {
    const [before, last] = this.#history;
    if (face && before?.id === face.id && last?.id === face.id) {
      let sum = 0;
      for (let i = 0; i < face.points.length; ++i)
        sum += (face.points[i] - 2 * last.points[i] + before.points[i]) ** 2;
      this.#jitter.push((100 * Math.sqrt((2 * sum) / face.points.length)) / face.box.width);
      if (this.#jitter.length > JITTER_FRAMES) this.#jitter.shift();
    }
    this.#history = face ? [...this.#history, face].slice(-2) : [];
  }

  #draw() {
    if (!this.#source.kind) return;
    if (this.#mode === 'patch') drawPatch(this.#overlay, this.#source, this.#patch?.track, { mirrored: this.#mirrored });
    else
      drawFaces(this.#overlay, this.#source, this.#faces, {
        mirrored: this.#mirrored,
        points: find('#show-points').checked,
        axes: find('#show-axes').checked,
      });
  }

  #count(cost) {
    const now = performance.now();
    this.#times.push(now);
    this.#costs.push(cost);
    while (this.#times.length > 120) this.#times.shift();
    while (this.#costs.length > 120) this.#costs.shift();
    if (now - this.#lastTable < 200) return; // for people
    this.#lastTable = now;
    this.#figures();
    this.#table();
    if (this.#mode === 'faces') drawJitter(find('#jitter'), this.#jitter);
  }

  #figures() {
    const span = (this.#times.at(-1) - this.#times[0]) / 1000;
    find('#fps').textContent = this.#times.length > 5 ? ((this.#times.length - 1) / span).toFixed(0) : '–';
    const sorted = [...this.#costs].sort((a, b) => a - b);
    find('#ms').textContent = sorted.length ? `${sorted[sorted.length >> 1].toFixed(1)} ms` : '–';
    find('#dropped').textContent = this.#source.moves ? String(this.#dropped) : '–';
  }

  #table() {
    const rows = this.#faces.map((face) => {
      const row = document.createElement('tr');
      const angle = (value) => `${value.toFixed(0)}°`;
      const { pose } = face;
      for (const text of [face.id, face.score.toFixed(2), ...(pose ? [pose.yaw, pose.pitch, pose.roll].map(angle) : ['–', '–', '–'])])
        row.insertCell().textContent = text;
      return row;
    });
    if (!rows.length) {
      const row = document.createElement('tr');
      row.className = 'none';
      const cell = row.insertCell();
      cell.colSpan = 5;
      cell.textContent = this.#source.kind ? 'none' : 'none yet';
      rows.push(row);
    }
    find('#faces').replaceChildren(...rows);
  }

  #tracked(track) {
    this.#patch.track = track;
    find('#patch-score').textContent = Number.isFinite(track.score) ? track.score.toFixed(2) : '–';
    find('#patch-state').textContent = track.lost ? 'lost' : 'followed';
    this.#draw();
  }

  // Learns an area of the frame that is shown and follows it.
  async #follow(area) {
    if (!this.#source.moves) return this.say('A patch is followed through a video or the camera.');
    const generation = ++this.#generation;
    this.#patch?.dispose();
    this.#patch = null;
    const wasPaused = this.#video.paused;
    if (this.#source.kind === 'video') this.#video.pause();
    this.say('Learning the patch …');
    find('#patch-state').textContent = 'learning';
    const patch = new Patch({ worker: faceWorker(), load: library({ everything: true }), frame: this.#video, area });
    try {
      const uncertainty = await patch.uncertainty;
      if (generation !== this.#generation) return patch.dispose();
      this.#patch = patch;
      this.#busy = false;
      this.#dropped = 0;
      this.say(uncertainty > 1 ? 'This patch is plain: expect it to slip.' : '');
    } catch (error) {
      patch.dispose();
      if (generation === this.#generation) {
        this.say(error.message, true);
        find('#patch-state').textContent = '–';
      }
    }
    if (!wasPaused) this.#video.play().catch(() => {});
    this.#draw();
  }

  #pointer() {
    const canvas = this.#overlay;
    const where = (event) => {
      const { left, top } = canvas.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    };
    const boxTo = (to) => ({
      x: Math.min(this.#drawing.x, to.x),
      y: Math.min(this.#drawing.y, to.y),
      width: Math.abs(to.x - this.#drawing.x),
      height: Math.abs(to.y - this.#drawing.y),
    });
    canvas.addEventListener('pointerdown', (event) => {
      if (this.#mode !== 'patch' || !this.#source.moves) return;
      ++this.#generation;
      this.#patch?.dispose();
      this.#patch = null;
      this.#drawing = where(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.#drawing) drawBox(canvas, boxTo(where(event)));
    });
    canvas.addEventListener('pointercancel', () => {
      this.#drawing = null;
      this.#draw();
    });
    canvas.addEventListener('pointerup', (event) => {
      if (!this.#drawing) return;
      const box = boxTo(where(event));
      this.#drawing = null;
      if (box.width < 16 || box.height < 16) {
        this.say('Draw a larger box.');
        return this.#draw();
      }
      const scale = this.#source.width / canvas.clientWidth;
      const x = this.#mirrored ? canvas.clientWidth - box.x - box.width : box.x;
      this.#follow({ x: x * scale, y: box.y * scale, width: box.width * scale, height: box.height * scale });
    });
  }
}
