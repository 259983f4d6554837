"""Faces drawn on pictures, with nothing but numpy."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Iterable, Optional, Tuple, Union

import numpy as np

from . import _library as c
from ._arrays import Bytes, Picture, format_of, pixels_of
from ._library import Error
from .faces import Face, Frame


class Drawing(np.ndarray):  # type: ignore[type-arg]
    """A picture (height, width, 3) that a notebook shows."""

    def _repr_png_(self) -> Optional[bytes]:
        # What was cut or computed from it need not be a picture any more.
        is_picture = self.dtype == np.uint8 and self.ndim == 3 and self.shape[2] == 3 and self.size > 0
        return png(np.asarray(self)) if is_picture else None


def png(pixels: Bytes) -> bytes:
    """An RGB picture as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


def _disc(canvas: Bytes, x: float, y: float, radius: float, colour: Tuple[int, int, int], hollow: bool) -> None:
    height, width = canvas.shape[:2]
    left, right = max(0, int(x - radius - 1)), min(width, int(x + radius + 3))
    top, bottom = max(0, int(y - radius - 1)), min(height, int(y + radius + 3))
    if left >= right or top >= bottom:
        return
    rows, columns = np.mgrid[top:bottom, left:right]
    distance = np.hypot(columns - x, rows - y)
    cover = np.clip(radius + 0.5 - distance, 0, 1)
    if hollow:
        cover *= np.clip(distance - radius + 1.5, 0, 1)
    part = canvas[top:bottom, left:right]
    part[...] = np.round(part + cover[..., None] * (np.array(colour) - part.astype(float)))


def _frame(canvas: Bytes, box: Tuple[float, float, float, float], thick: int, colour: Tuple[int, int, int]) -> None:
    height, width = canvas.shape[:2]
    x0, y0 = int(round(box[0])), int(round(box[1]))
    x1, y1 = int(round(box[0] + box[2])), int(round(box[1] + box[3]))
    for top, bottom, left, right in (
        (y0, y0 + thick, x0, x1),
        (y1 - thick, y1, x0, x1),
        (y0, y1, x0, x0 + thick),
        (y0, y1, x1 - thick, x1),
    ):
        canvas[max(0, top) : max(0, min(bottom, height)), max(0, left) : max(0, min(right, width))] = colour


def draw(
    image: Picture,
    faces: "Union[Face, Frame, Iterable[Face]]",
    *,
    format: Optional[str] = None,
    colour: Tuple[int, int, int] = (60, 255, 60),
    boxes: bool = True,
) -> Drawing:
    """A copy of the picture in RGB with the faces on it; points that are likelier hidden than not are hollow. A notebook
    shows it.

    >>> import numpy as np, sdm
    >>> sdm.draw(np.zeros((40, 60), np.uint8), []).shape
    (40, 60, 3)
    """
    pixels = pixels_of(image)
    code = format_of(pixels, format)
    if code == c.GREY:
        canvas = np.repeat(pixels.reshape(*pixels.shape[:2], 1), 3, axis=2)
    else:
        order = [2, 1, 0] if code in (c.BGR, c.BGRA) else [0, 1, 2]
        canvas = np.ascontiguousarray(pixels[:, :, order])
    if not isinstance(faces, (Face, Iterable)):
        raise Error(f"the faces are a {type(faces).__name__}, expected what detect gives")
    for face in [faces] if isinstance(faces, Face) else faces:
        if not isinstance(face, Face):
            raise Error(f"there is a {type(face).__name__} among the faces")
        size = max(float(face.box[2]), 1.0)
        if boxes:
            _frame(canvas, face.box, max(1, round(size / 110)), (0, 160, 255))
        for index, (x, y) in enumerate(face.points):
            if np.isfinite(x) and np.isfinite(y):
                hidden = face.visible is not None and face.visible[index] < 0.5
                _disc(canvas, float(x), float(y), max(1.0, size / 80), colour, hidden)
    return canvas.view(Drawing)


def _face_html(face: Face) -> str:
    """An outline of the points, for notebooks."""
    points = face.points[np.isfinite(face.points).all(axis=1)]
    if not len(points):
        return f"<code>{face!r}</code>"
    low, high = points.min(axis=0), points.max(axis=0)
    scale = 120 / max(float((high - low).max()), 1e-6)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6"/>' for x, y in (points - low) * scale + 6)
    return f'<svg width="132" height="132" fill="#2a7">{dots}</svg><br><code>{face!r}</code>'


def _show(face: Face) -> Any:
    return _face_html(face)


Face._repr_html_ = _show  # type: ignore[attr-defined]
