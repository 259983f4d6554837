// What was found, over the picture.
import { colour, prepared } from './canvas.js';

// The lines of iBUG's 68 points: from, to, closed.
const LINES = [
  [0, 16], [17, 21], [22, 26], [27, 30], [31, 35],
  [36, 41, true], [42, 47, true], [48, 59, true], [60, 67, true],
];
const POINT = '#7ef0e0';
const AXES = ['#ff6b6b', '#69db7c', '#74a8ff'];

/** Where a pixel of the picture is shown. */
function placed(source, width, mirrored) {
  const scale = width / source.width;
  return {
    scale,
    x: (x) => (mirrored ? width - (x + 0.5) * scale : (x + 0.5) * scale),
    y: (y) => (y + 0.5) * scale,
  };
}

function line(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
}

export function drawFaces(canvas, source, faces, { mirrored, points, axes }) {
  const { context, width } = prepared(canvas);
  const at = placed(source, width, mirrored);
  for (const face of faces) {
    const shown = [];
    for (let i = 0; i < face.points.length; i += 2) shown.push([at.x(face.points[i]), at.y(face.points[i + 1])]);
    const across = face.box.width * at.scale;
    if (points) {
      context.lineWidth = 1;
      context.strokeStyle = 'rgba(126, 240, 224, 0.45)';
      if (shown.length === 68)
        for (const [from, to, closed] of LINES) {
          line(context, shown.slice(from, to + 1));
          if (closed) context.closePath();
          context.stroke();
        }
      const radius = Math.max(1.4, Math.min(3, across / 90));
      for (const [i, [x, y]] of shown.entries()) {
        context.fillStyle = face.visible && face.visible[i] < 0.5 ? '#ffb454' : POINT;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.fill();
      }
    }
    if (axes && face.pose) {
      const { rotation: r, position } = face.pose;
      const from = [at.x(position.x), at.y(position.y)];
      const length = across * 0.45;
      const flip = mirrored ? -1 : 1;
      // To the face's side, down, and where the nose points: -z, since z leads away from the camera.
      [[r[0], r[3]], [r[1], r[4]], [-r[2], -r[5]]].forEach(([x, y], i) => {
        context.strokeStyle = AXES[i];
        context.lineWidth = i === 2 ? 3 : 2;
        line(context, [from, [from[0] + flip * x * length, from[1] + y * length]]);
        context.stroke();
      });
    }
    const [x, y] = [at.x(face.box.x + face.box.width / 2), at.y(face.box.y)];
    const words = face.id ? `${face.id}  ${face.score.toFixed(2)}` : face.score.toFixed(2);
    context.font = '600 13px system-ui, sans-serif';
    context.textAlign = 'center';
    const room = context.measureText(words).width / 2 + 7;
    const top = Math.max(y - 26, 2);
    context.fillStyle = 'rgba(8, 20, 18, 0.72)';
    context.beginPath();
    context.roundRect(x - room, top, 2 * room, 20, 10);
    context.fill();
    context.fillStyle = '#eafffb';
    context.fillText(words, x, top + 14.5);
  }
}

export function drawPatch(canvas, source, track, { mirrored }) {
  const { context, width } = prepared(canvas);
  if (!track) return;
  const at = placed(source, width, mirrored);
  context.lineWidth = 3;
  context.setLineDash(track.lost ? [6, 6] : []);
  context.strokeStyle = track.lost ? '#ff9d5c' : POINT;
  line(context, track.corners.map(({ x, y }) => [at.x(x), at.y(y)]));
  context.closePath();
  context.stroke();
  context.setLineDash([]);
}

/** The box that is being drawn, in CSS pixels. */
export function drawBox(canvas, { x, y, width, height }) {
  const { context } = prepared(canvas);
  context.strokeStyle = '#ffd166';
  context.lineWidth = 2;
  context.setLineDash([6, 4]);
  context.strokeRect(x, y, width, height);
  context.setLineDash([]);
}

export function drawJitter(canvas, values) {
  const { context, width, height } = prepared(canvas);
  const most = Math.max(0.5, ...values) * 1.1;
  const floor = height - 4;
  context.font = '11px system-ui, sans-serif';
  context.fillStyle = context.strokeStyle = colour('soft');
  context.globalAlpha = 0.35;
  for (const share of [0, 0.5, 1]) {
    line(context, [[34, floor - share * (floor - 8)], [width, floor - share * (floor - 8)]]);
    context.stroke();
  }
  context.globalAlpha = 1;
  for (const share of [0, 0.5, 1]) context.fillText(`${(most * share).toFixed(1)} %`, 0, floor - share * (floor - 8) + 3);
  if (values.length < 2) return;
  context.strokeStyle = colour('accent');
  context.lineWidth = 1.6;
  const room = (width - 36) / (JITTER_FRAMES - 1);
  line(context, values.map((value, i) => [36 + i * room, floor - (value / most) * (floor - 8)]));
  context.stroke();
}
export const JITTER_FRAMES = 180;
