"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const canvas = $("canvas"), pen = canvas.getContext("2d"), loupe = $("loupe");
  const me = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");
  const finger = matchMedia("(pointer: coarse)").matches;
  const kTap = 5;  // px a pointer may move and still be a click

  let album = null, status = null;
  let at = -1, picture = null, image = null;  // the number, what the server knows, its pixels
  let objects = [], object = 0, point = 0, proposed = false;
  let undone = [], redone = [];
  let view = { zoom: 1, x: 0, y: 0 }, fitted = true;
  let boxing = false, drag = null, hover = -1;
  const touches = new Map();
  let active = 0, lastInput = 0;  // seconds of work on this picture

  // -- the server -----------------------------------------------------------------------------------

  const ask = async (path, body) => {
    const answer = await fetch(path + (path.includes("?") ? "&" : "?") + "window=" + me, body === undefined ? {} :
      { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const json = await answer.json();
    if (!answer.ok && answer.status !== 409) throw Object.assign(new Error(json.error), { status: answer.status });
    return { conflict: answer.status === 409, ...json };
  };

  let saving = null, unsaved = null, trouble = "", again = 0;
  const save = (done) => {
    unsaved = { at, picture, done, objects: structuredClone(objects), seconds: active };
    return flush();
  };
  // One request at a time; what changed meanwhile goes with the next one, and what failed is tried again. Gives whether all is
  // saved as it was meant.
  const flush = () => {
    saving ||= (async () => {
      let fine = true;
      while (unsaved) {
        const now = unsaved;
        unsaved = null;
        fine = await send(now) && fine;
        if (trouble) break;
      }
      saving = null;
      show();
      return fine;
    })();
    return saving;
  };
  const send = async (now) => {
    try {
      const answer = await ask("marks/" + now.at, { revision: now.picture.revision, done: now.done, objects: now.objects, seconds: now.seconds });
      trouble = "";
      banner();
      if (answer.conflict) {
        unsaved = null;
        take(answer, true);
        toast("Another window changed this picture: its points are shown. Undo brings yours back.");
        return false;
      }
      now.picture.revision = answer.revision;
      now.picture.done = answer.done;
      if (now.picture === picture && !unsaved && answer.done && answer.objects.length) objects = answer.objects;
      return true;
    } catch (error) {
      if (error.status === 400) {
        // Refused for good. What cannot be done is kept as a draft.
        trouble = "";
        banner();
        now.picture.done = false;
        toast(error.message);
        if (now.done) await send({ ...now, done: false });
        return false;
      }
      unsaved ||= now;
      trouble = "Not saved: " + (error.status ? error.message : "the program does not answer. Is it still running?");
      banner();
      clearTimeout(again);
      again = setTimeout(flush, 2000);
      return false;
    }
  };
  const settled = async () => {
    if (saving) await saving;
    return !unsaved || flush();
  };

  const refresh = async () => {
    try {
      status = await ask("status");
      banner();
      // A proposal has come, or another window was here.
      if (image && !objects.length && !picture.done && (status.learned_from || status.states[at] !== "o")) {
        const number = at, marks = await ask("marks/" + at);
        if (number === at && !objects.length && !saving && !unsaved) take(marks);
      }
      show();
    } catch (error) {
      banner(error.status ? error.message : "The program does not answer. Is it still running?");
    }
  };

  // -- a picture -------------------------------------------------------------------------------------

  const empty = () => ({ points: album.points.map(() => null), box: null });
  const current = () => objects[object];
  const isSet = (p) => Array.isArray(p);

  const offer = (proposal) => {
    if (!proposal || objects.length) return;
    objects = [{ points: proposal.points, box: null }];
    proposed = true;
    object = 0;
    point = -1;
  };

  const take = (marks, keepMine) => {
    if (keepMine) undone.push(snapshot());
    picture = marks;
    objects = marks.objects;
    object = Math.min(object, Math.max(0, objects.length - 1));
    proposed = false;
    offer(marks.proposal);
    choose(firstOpen());
  };

  const open = async (number) => {
    let marks;
    do {  // a point that is set while the answer is under way is the picture's before
      if (!(await settled())) return;
      marks = await ask("marks/" + number);
    } while (saving || unsaved);
    at = number;
    image = null;
    undone = [];
    redone = [];
    object = 0;
    boxing = false;
    drag = null;
    active = 0;
    lastInput = performance.now();
    history.replaceState(null, "", "#" + number);
    take(marks);
    show();
    const loading = new Image();
    loading.decoding = "async";
    loading.src = "picture/" + number;
    try {
      await loading.decode();
    } catch {
      if (at === number) toast("This picture cannot be shown.");
      return;
    }
    if (at !== number) return;
    image = loading;
    fit();
    show();
  };

  const goOn = async () => {
    const { picture: number } = await ask("next?after=" + at);
    if (number === null) toast("All pictures are done.");
    else await open(number);
  };

  let finishing = false;
  const finish = async () => {
    if (finishing) return;  // a double click
    finishing = true;
    try {
      await finishOnce();
    } finally {
      finishing = false;
    }
  };
  const finishOnce = async () => {
    if (!objects.length) {
      // Nothing here: the picture is done without an object.
      picture.done = true;
      if (await save(true)) await goOn();
      return;
    }
    const open = objects.findIndex((o) => o.points.some((p) => p === null));
    if (open >= 0) {
      object = open;
      choose(firstOpen());
      toast(`“${album.points[point]}” is not set. Press H if it cannot be seen.`);
      show();
      return;
    }
    picture.done = true;
    proposed = false;
    if (await save(true)) {
      await refresh();
      await goOn();
    }
  };

  // -- changes -----------------------------------------------------------------------------------------

  const snapshot = () => JSON.stringify({ objects, object, point, proposed });
  const restore = (text) => ({ objects, object, point, proposed } = JSON.parse(text));
  const change = (work) => {
    undone.push(snapshot());
    redone = [];
    if (!objects.length) objects = [empty()];
    work(current());
    proposed = false;
    changed();
  };
  const changed = () => {
    // A picture that was done stays so while nothing is open.
    const whole = objects.length > 0 && objects.every((o) => o.points.every((p) => p !== null) && o.points.some(isSet));
    save(picture.done && whole);
    show();
  };
  const back = (from, to) => {
    if (!from.length) return;
    to.push(snapshot());
    restore(from.pop());
    changed();
  };

  const firstOpen = () => {
    const points = current() ? current().points : [];
    const found = points.indexOf(null);
    return found < 0 ? (points.length ? -1 : 0) : found;
  };
  const nextOpen = (after) => {
    const points = current().points;
    for (let k = 1; k <= points.length; ++k) if (points[(after + k) % points.length] === null) return (after + k) % points.length;
    return -1;
  };
  const choose = (p) => { point = p; };
  const place = (x, y) => change((o) => {
    if (point < 0) return;
    o.points[point] = [round(x), round(y)];
    choose(nextOpen(point));
  });
  const round = (v) => Math.round(v * 100) / 100;
  const hide = () => point >= 0 && change((o) => {
    o.points[point] = "hidden";
    choose(nextOpen(point));
  });
  const clear = () => {
    if (point >= 0 && current() && current().points[point] !== null) change((o) => { o.points[point] = null; });
  };
  // Where the point should be by those that are set: the mean shape laid over them, or the middle of the picture.
  const guess = () => {
    const mean = status.mean, set = current() ? current().points : [];
    const known = mean ? set.map((p, i) => i).filter((i) => isSet(set[i]) && mean[i]) : [];
    if (known.length < 2 || !mean[point]) return [image.naturalWidth / 2, image.naturalHeight / 2];
    let mx = 0, my = 0, px = 0, py = 0;
    for (const i of known) { mx += mean[i][0]; my += mean[i][1]; px += set[i][0]; py += set[i][1]; }
    const n = known.length;
    mx /= n; my /= n; px /= n; py /= n;
    let a = 0, b = 0, norm = 0;
    for (const i of known) {
      const u = mean[i][0] - mx, v = mean[i][1] - my, x = set[i][0] - px, y = set[i][1] - py;
      a += u * x + v * y; b += u * y - v * x; norm += u * u + v * v;
    }
    a /= norm; b /= norm;
    const u = mean[point][0] - mx, v = mean[point][1] - my;
    return [px + a * u - b * v, py + b * u + a * v];
  };
  const nudge = (dx, dy) => {
    if (point < 0 || !image) return;
    const was = current() && isSet(current().points[point]) ? current().points[point] : null;
    change((o) => {
      const from = was || guess();
      o.points[point] = was ? [round(from[0] + dx), round(from[1] + dy)] : from.map(round);
    });
  };
  const addObject = () => {
    undone.push(snapshot());
    redone = [];
    objects.push(empty());
    object = objects.length - 1;
    choose(0);
    changed();
  };
  const removeObject = () => {
    if (!objects.length) return;
    undone.push(snapshot());
    redone = [];
    objects.splice(object, 1);
    object = Math.max(0, object - 1);
    choose(firstOpen());
    proposed = false;
    picture.done = false;
    changed();
  };
  const drawBox = async (box) => {
    change((o) => { o.box = box.map(round); });
    const o = current();
    if (o.points.some((p) => p !== null) || !status.learned_from) return;
    const { points } = await ask("proposal/" + at, { box: o.box });
    if (points && o === current() && o.points.every((p) => p === null)) change((now) => { now.points = points; choose(0); });
  };

  // -- drawing ------------------------------------------------------------------------------------------

  // The centre of the top-left pixel is (0, 0).
  const toScreen = ([x, y]) => [(x + 0.5) * view.zoom + view.x, (y + 0.5) * view.zoom + view.y];
  const toImage = (x, y) => [(x - view.x) / view.zoom - 0.5, (y - view.y) / view.zoom - 0.5];
  const fit = () => {
    if (!image) return;
    const w = canvas.clientWidth, h = canvas.clientHeight, margin = 14;
    view.zoom = Math.min((w - 2 * margin) / image.naturalWidth, (h - 2 * margin) / image.naturalHeight);
    view.x = (w - view.zoom * image.naturalWidth) / 2;
    view.y = (h - view.zoom * image.naturalHeight) / 2;
    fitted = true;
    draw();
  };
  const zoomAt = (factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    if (!image) return;
    const zoom = Math.min(64, Math.max(0.02, view.zoom * factor)), f = zoom / view.zoom;
    view = { zoom, x: x - f * (x - view.x), y: y - f * (y - view.y) };
    fitted = false;
    draw();
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  let drawing = false;
  const draw = () => {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => { drawing = false; paint(); });
  };
  const paint = () => {
    const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, w, h);
    if (!image) return;
    pen.imageSmoothingEnabled = view.zoom < 2;
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, view.x, view.y, image.naturalWidth * view.zoom, image.naturalHeight * view.zoom);
    objects.forEach((o, k) => paintObject(o, k === object));
    if (drag && drag.kind === "box") paintBox(drag.box, true);
    paintLoupe();
  };
  const paintBox = (box, chosen) => {
    const [x, y] = toScreen([box[0] - 0.5, box[1] - 0.5]);
    pen.lineWidth = 1.5;
    pen.strokeStyle = chosen ? "#ffb703" : "#ffb70388";
    pen.strokeRect(x, y, box[2] * view.zoom, box[3] * view.zoom);
  };
  const paintObject = (o, chosen) => {
    if (o.box) paintBox(o.box, chosen);
    o.points.forEach((p, i) => {
      if (!isSet(p)) return;
      const [x, y] = toScreen(p), big = chosen && i === point, near = chosen && i === hover;
      const size = big ? 7 : near ? 6.5 : 5;
      pen.globalAlpha = chosen ? 1 : 0.5;
      pen.lineWidth = 3.5;
      pen.strokeStyle = "#000a";
      cross(x, y, size);
      pen.lineWidth = 1.75;
      pen.strokeStyle = big ? "#4cc9ff" : proposed ? "#ffd166" : "#5dff8f";
      cross(x, y, size);
      if (big || near) {
        pen.font = "600 12px system-ui, sans-serif";
        pen.lineWidth = 3;
        pen.strokeStyle = "#000c";
        pen.fillStyle = "#fff";
        pen.strokeText(album.points[i], x + 10, y - 8);
        pen.fillText(album.points[i], x + 10, y - 8);
      }
      pen.globalAlpha = 1;
    });
  };
  // Open in the middle, so that the pixel is seen.
  const cross = (x, y, size) => {
    pen.beginPath();
    pen.arc(x, y, size, 0, 7);
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      pen.moveTo(x + dx * size * 0.45, y + dy * size * 0.45);
      pen.lineTo(x + dx * (size + 3), y + dy * (size + 3));
    }
    pen.stroke();
  };
  const paintLoupe = () => {
    const shown = drag && drag.kind === "point" && drag.moved;
    loupe.hidden = !shown;
    if (!shown) return;
    const [x, y] = current().points[drag.point], zoom = Math.max(4, Math.min(16, view.zoom * 4)), half = loupe.width / 2;
    loupe.classList.toggle("left", toScreen([x, y])[0] > canvas.clientWidth / 2);
    const p = loupe.getContext("2d");
    p.setTransform(1, 0, 0, 1, 0, 0);
    p.clearRect(0, 0, loupe.width, loupe.height);
    p.imageSmoothingEnabled = false;
    p.drawImage(image, half - (x + 0.5) * zoom, half - (y + 0.5) * zoom, image.naturalWidth * zoom, image.naturalHeight * zoom);
    p.strokeStyle = "#4cc9ff";
    p.lineWidth = 1.5;
    p.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      p.moveTo(half + dx * 6, half + dy * 6);
      p.lineTo(half + dx * half, half + dy * half);
    }
    p.stroke();
  };

  const svg = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text) element.textContent = text;
    return element;
  };
  const drawMean = () => {
    const box = $("mean");
    box.replaceChildren();
    const mean = status.mean || (current() && current().points.filter(isSet).length > 1 ? current().points.map((p) => (isSet(p) ? p : null)) : null);
    const known = mean ? mean.filter(Boolean) : [];
    if (known.length < 2) {
      ["The mean shape is drawn here", "after the first picture."].forEach((line, i) =>
        box.append(svg("text", { x: 80, y: 57 + 13 * i }, line)));
      return;
    }
    const low = [0, 1].map((k) => Math.min(...known.map((p) => p[k]))), high = [0, 1].map((k) => Math.max(...known.map((p) => p[k])));
    const scale = Math.min(132 / Math.max(high[0] - low[0], 1e-6), 92 / Math.max(high[1] - low[1], 1e-6));
    const put = (p) => [0, 1].map((k) => [80, 60][k] + scale * (p[k] - (low[k] + high[k]) / 2));
    const small = known.length > 30 ? 1.8 : 2.8;
    mean.forEach((p, i) => {
      if (!p) return;
      const [cx, cy] = put(p), set = current() && current().points[i] !== null;
      box.append(svg("circle", { cx, cy, r: i === point ? small + 1.2 : small, class: i === point ? "now" : set ? "set" : "" }));
    });
    if (point >= 0 && mean[point]) {
      const [cx, cy] = put(mean[point]);
      box.append(svg("circle", { cx, cy, r: 9, class: "ring" }));
    }
  };

  const duration = (seconds) => seconds < 90 ? `${Math.round(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;

  const show = () => {
    if (!album || !status || at < 0) return;
    const states = status.states, done = [...states].filter((s) => s === "d").length;
    $("name").textContent = album.pictures[at];
    $("place").textContent = `${at + 1} of ${album.pictures.length}` + (picture.done ? " · done" : "");
    const left = states.length - done;
    $("progress").textContent = `${done} of ${states.length} done` +
      (left === 0 ? "" : status.seconds ? ` · about ${duration(status.seconds * left)} left` : "");
    $("bar").style.width = `${(100 * done) / states.length}%`;
    $("bar").parentElement.setAttribute("aria-valuemax", states.length);
    $("bar").parentElement.setAttribute("aria-valuenow", done);
    const model = $("model");
    model.hidden = !status.learning && !status.learned_from && !status.message;
    model.classList.toggle("learning", status.learning);
    model.textContent = status.learning ? "learning from what you did…"
      : status.learned_from ? `proposes, ±${status.error.toFixed(1)} px` : "no proposals yet";
    model.title = status.message || (status.learned_from ? `Learned from ${status.learned_from} pictures; the least sure come first.` : "");

    const o = current(), p = o && point >= 0 ? o.points[point] : null;
    $("ask").textContent = proposed ? "Proposed" : point < 0 ? "All points are set" : p === null ? "Next point" : "Point";
    $("next").textContent = boxing ? "Draw a box" : point < 0 ? (picture.done ? "Done" : finger ? "Right? Tap Done" : "Right? Press Enter") : album.points[point] ?? "";
    $("hint").textContent = boxing ? "Drag from corner to corner." : proposed ? "Drag what is off."
      : status.from_boxes && !picture.done && !(o && (o.box || o.points.some((q) => q !== null))) ? "Draw a box: its points are proposed."
      : point < 0 ? "Drag a point to correct it." : p === "hidden" ? "Not visible. Click where it is if it can be seen."
      : p === null ? finger ? "Tap it in the picture." : "Click it in the picture." : finger ? "Drag it to correct it." : "Arrows move it by a pixel.";
    $("hidden-button").disabled = point < 0 || !image;
    $("hidden-button").setAttribute("aria-pressed", p === "hidden");
    $("clear-button").disabled = point < 0 || p === null;
    $("box-button").setAttribute("aria-pressed", boxing);
    $("undo").disabled = !undone.length;
    $("redo").disabled = !redone.length;
    $("done").textContent = objects.length ? "Done, next" : "Nothing in this picture";
    $("done").classList.toggle("empty", !objects.length);
    canvas.setAttribute("aria-busy", !image);
    $("previous").disabled = at <= 0;
    $("following").disabled = at >= album.pictures.length - 1;

    const chips = $("objects");
    chips.replaceChildren();
    (objects.length ? objects : [null]).forEach((_, k) =>
      chips.append(chip(`${k + 1}`, `Object ${k + 1}`, () => { object = k; choose(firstOpen()); show(); }, k === object)));
    chips.append(chip("+ object", "Another object in this picture (O)", addObject), chip("Remove", "Remove this object", removeObject));
    for (const button of [...chips.children].slice(-2)) button.disabled = !objects.length;

    const list = $("points");
    if (list.children.length !== album.points.length)
      list.replaceChildren(...album.points.map((name, i) => {
        const li = document.createElement("li"), b = document.createElement("b");
        b.textContent = name;
        li.append(b, document.createElement("span"));
        li.addEventListener("click", () => { choose(i); show(); });
        return li;
      }));
    [...list.children].forEach((li, i) => {
      const q = o ? o.points[i] : null;
      li.lastChild.textContent = isSet(q) ? `${q[0].toFixed(1)}, ${q[1].toFixed(1)}` : q === "hidden" ? "not visible" : "–";
      li.classList.toggle("chosen", i === point);
      if (i === point && li.offsetParent)  // scrollIntoView would move the page as well
        list.scrollTop = Math.max(Math.min(list.scrollTop, li.offsetTop), li.offsetTop + li.offsetHeight - list.clientHeight);
    });
    drawMean();
    draw();
  };
  const chip = (text, title, work, pressed) => {
    const button = document.createElement("button");
    button.textContent = text;
    button.title = title;
    if (pressed !== undefined) button.setAttribute("aria-pressed", pressed);
    button.addEventListener("click", work);
    return button;
  };

  let toasted = 0;
  const toast = (text) => {
    $("toast").textContent = text;
    $("toast").hidden = false;
    clearTimeout(toasted);
    toasted = setTimeout(() => { $("toast").hidden = true; }, 5000);
  };
  const banner = (news = "") => {
    const text = news || trouble || (status && status.failure ? "Not saved: " + status.failure : "");
    $("banner").textContent = text;
    $("banner").hidden = !text;
  };

  // -- hands ---------------------------------------------------------------------------------------------

  const worked = () => {
    const now = performance.now();
    active += Math.min(30, (now - lastInput) / 1000);  // a pause is no work
    lastInput = now;
  };
  const nearest = (x, y, reach) => {
    let best = -1, least = reach;
    (current() ? current().points : []).forEach((p, i) => {
      if (!isSet(p)) return;
      const [px, py] = toScreen(p), d = Math.hypot(px - x, py - y);
      if (d < least) { best = i; least = d; }
    });
    return [best, least];
  };
  const where = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    worked();
    if (!image) return;
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = where(event);
    touches.set(event.pointerId, [x, y]);
    if (touches.size === 2) {
      if (drag && drag.kind === "point" && drag.moved) restore(undone.pop());
      drag = { kind: "pinch" };
      return draw();
    }
    const reach = event.pointerType === "touch" ? 24 : 11;
    const [p, distance] = nearest(x, y, reach);
    if (boxing) drag = { kind: "box", from: toImage(x, y), box: [...toImage(x, y), 0, 0] };
    else if (event.button === 1 || event.button === 2) drag = { kind: "pan", x, y, moved: true };
    else if (p >= 0) drag = { kind: "point", point: p, distance, x, y, off: toScreen(current().points[p]).map((v, k) => v - [x, y][k]), moved: false };
    else drag = { kind: "pan", x, y, moved: false };
    drag.startX = x;
    drag.startY = y;
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = where(event);
    if (touches.has(event.pointerId)) {
      if (drag && drag.kind === "pinch" && touches.size === 2) {
        const other = [...touches].find(([id]) => id !== event.pointerId)[1], own = touches.get(event.pointerId);
        const before = Math.hypot(own[0] - other[0], own[1] - other[1]), now = Math.hypot(x - other[0], y - other[1]);
        view.x += (x - own[0]) / 2;
        view.y += (y - own[1]) / 2;
        if (before > 5) zoomAt(now / before, (x + other[0]) / 2, (y + other[1]) / 2);
      }
      touches.set(event.pointerId, [x, y]);
    }
    if (!drag) {
      const [p] = image ? nearest(x, y, 11) : [-1];
      if (p !== hover) {
        hover = p;
        canvas.classList.toggle("over", p >= 0);
        draw();
      }
      return;
    }
    if (drag.kind === "box") {
      const [u, v] = toImage(x, y), [fu, fv] = drag.from;
      drag.box = [Math.min(u, fu), Math.min(v, fv), Math.abs(u - fu), Math.abs(v - fv)];
      return draw();
    }
    if (drag.kind === "pinch") return;
    const far = Math.hypot(x - drag.startX, y - drag.startY) > (event.pointerType === "touch" ? 8 : kTap - 2);
    if (drag.kind === "point") {
      if (!drag.moved && !far) return;
      if (!drag.moved) {
        undone.push(snapshot());
        redone = [];
        drag.moved = true;
        choose(drag.point);
        canvas.classList.add("busy");
      }
      current().points[drag.point] = toImage(x + drag.off[0], y + drag.off[1]).map(round);
      return draw();
    }
    if (!drag.moved && !far) return;
    drag.moved = true;
    canvas.classList.add("busy");
    view.x += x - drag.x;
    view.y += y - drag.y;
    drag.x = x;
    drag.y = y;
    fitted = false;
    draw();
  });

  const release = (event) => {
    const [x, y] = where(event), was = drag;
    touches.delete(event.pointerId);
    if (was && was.kind === "pinch") {
      if (!touches.size) drag = null;
      return;
    }
    drag = null;
    canvas.classList.remove("busy");
    if (!was || event.type === "pointercancel") return draw();
    worked();
    if (was.kind === "box") {
      boxing = false;
      if (was.box[2] > 2 && was.box[3] > 2) drawBox(was.box);
      return show();
    }
    if (was.kind === "point" && was.moved) {
      proposed = false;
      const open = firstOpen();
      choose(open >= 0 ? open : was.point);
      return changed();
    }
    if (was.moved) return draw();
    // A click. Close to a point that is set it chooses that one, unless another is to be set right beside it.
    const placing = point >= 0 && (!current() || !isSet(current().points[point]));
    if (was.kind === "point" && !(placing && was.distance > 4)) {
      choose(was.point);
      return show();
    }
    const [u, v] = toImage(x, y), inside = u >= -0.5 && v >= -0.5 && u <= image.naturalWidth - 0.5 && v <= image.naturalHeight - 0.5;
    if (placing && inside) place(u, v);
    else show();
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    worked();
    const [x, y] = where(event);
    zoomAt(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : event.deltaMode ? 0.05 : 0.0015)), x, y);
  }, { passive: false });

  const step = (by) => at + by >= 0 && at + by < album.pictures.length && open(at + by);
  const toggleBox = () => { boxing = !boxing; show(); };
  const turn = (by) => {
    const n = album.points.length;
    choose(point < 0 ? (by > 0 ? 0 : n - 1) : (point + by + n) % n);
    show();
  };

  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.isComposing) return;
    const typing = event.target.closest("input, select"), control = event.ctrlKey || event.metaKey;
    if (typing) return;
    worked();
    const size = event.shiftKey ? 10 : event.altKey ? 0.1 : 1;
    const keys = {
      ArrowLeft: () => nudge(-size, 0), ArrowRight: () => nudge(size, 0), ArrowUp: () => nudge(0, -size), ArrowDown: () => nudge(0, size),
      Tab: () => turn(event.shiftKey ? -1 : 1), h: hide, v: hide, Delete: clear, Backspace: clear, b: toggleBox, o: addObject, l: showList,
      "+": () => zoomAt(1.25), "=": () => zoomAt(1.25), "-": () => zoomAt(0.8), 0: fit, "?": () => $("help").showModal(),
      PageUp: () => step(-1), PageDown: () => step(1), Enter: () => (objects.length ? finish() : toast("No point is set in this picture yet.")), 
      Escape: () => { if (!boxing) canvas.blur(); boxing = false; show(); },  // the tab key is the page's again
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (control) {
      if (key === "z") event.shiftKey ? back(redone, undone) : back(undone, redone);
      else if (key === "y") back(redone, undone);
      else return;
      return event.preventDefault();
    }
    // Keys that a focused button would take for itself.
    const button = event.target.closest("button");
    if (button && ["Enter", "Tab", " "].includes(event.key)) return;
    if (event.key === "Tab" && event.target !== canvas) return;
    if (keys[key]) {
      event.preventDefault();
      if (key !== "Enter" || !event.repeat) keys[key]();
    }
  });

  // -- the list, of which only the rows in sight exist -----------------------------------------------------

  const kRow = 40;
  let shown = [];
  const showList = () => {
    $("list").showModal();
    if (finger) $("filter").blur();  // else a keyboard covers the list
    filter();
    const place = shown.indexOf(at);
    $("rows").scrollTop = Math.max(0, place * kRow - $("rows").clientHeight / 2);
    rows();
  };
  const filter = () => {
    const words = $("filter").value.toLowerCase(), only = $("only").value;
    shown = [];
    album.pictures.forEach((name, i) => {
      if ((!words || name.toLowerCase().includes(words)) && (!only || status.states[i] === only)) shown.push(i);
    });
    $("tall").style.height = `${shown.length * kRow}px`;
    rows();
  };
  const rows = () => {
    const box = $("rows"), first = Math.max(0, Math.floor(box.scrollTop / kRow) - 2);
    const count = Math.ceil(box.clientHeight / kRow) + 4;
    $("tall").replaceChildren(...shown.slice(first, first + count).map((number, k) => {
      const button = document.createElement("button"), dot = document.createElement("i"), name = document.createElement("span");
      button.style.top = `${(first + k) * kRow}px`;
      button.classList.toggle("chosen", number === at);
      dot.className = "dot " + status.states[number];
      name.textContent = album.pictures[number];
      button.append(dot, name);
      button.addEventListener("click", () => { $("list").close(); open(number); });
      return button;
    }));
  };
  $("rows").addEventListener("scroll", rows);
  $("filter").addEventListener("input", filter);
  $("only").addEventListener("change", filter);
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }

  const on = (id, work) => $(id).addEventListener("click", () => { worked(); work(); });
  on("list-button", showList);
  on("help-button", () => $("help").showModal());
  on("zoom-in", () => zoomAt(1.25));
  on("zoom-out", () => zoomAt(0.8));
  on("fit", fit);
  on("hidden-button", hide);
  on("clear-button", clear);
  on("box-button", toggleBox);
  on("undo", () => back(undone, redone));
  on("redo", () => back(redone, undone));
  on("done", finish);
  on("previous", () => step(-1));
  on("following", () => step(1));
  new ResizeObserver(() => (fitted ? fit() : draw())).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeunload", (event) => { if (unsaved || saving) event.preventDefault(); });
  addEventListener("unhandledrejection", (event) => { event.preventDefault(); refresh(); });  // it tells who does not answer
  // Who has clicked a button goes on with keys: Enter is for the picture, not for that button again.
  addEventListener("click", (event) => { if (event.detail && event.target.closest("aside, .zoom")) canvas.focus({ preventScroll: true }); });

  const begin = async () => {
    album = await ask("album");
    status = album.status;
    $("output").textContent = album.output;
    document.title = `${album.output} – sdm annotate`;
    const asked = Number.parseInt(location.hash.slice(1), 10);
    if (asked >= 0 && asked < album.pictures.length) await open(asked);
    else {
      const { picture: number } = await ask("next");
      await open(number === null ? 0 : number);
    }
    canvas.focus({ preventScroll: true });
    setInterval(refresh, 2500);
  };
  begin().catch((error) => banner(error.message));
})();
