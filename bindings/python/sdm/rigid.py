"""A flat patch, followed from frame to frame."""

from __future__ import annotations

import threading
from ctypes import byref, c_double, c_void_p
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Optional, Sequence

import numpy as np

from . import _library as c
from ._arrays import Float64, Picture, address, image_of, numbers
from ._library import Error
from .models import ModelFile, ModelLike, model_of

_MOTIONS = ["translation", "similarity", "affine", "homography"]


@dataclass(eq=False)
class Track:
    """Where the patch is in a frame."""

    corners: Float64  #: (4, 2): top left, top right, bottom right, bottom left of the patch
    score: float  #: probability that the corners are right
    lost: bool
    difference: float = field(repr=False)  #: of what is seen from the template
    correlation: float = field(repr=False)
    warp: Float64 = field(repr=False)  #: (3, 3): template coordinates to pixels

    def __repr__(self) -> str:
        x, y = self.corners.mean(axis=0)
        return f"Track({'lost' if self.lost else f'at ({x:.1f}, {y:.1f})'}, score={self.score:.2f})"


def _corners_of(region: Any) -> Float64:
    try:
        values = np.asarray(region) if not np.isscalar(region) else np.empty(0)
    except ValueError:
        raise Error("the region is of rows of different lengths, expected (x, y, width, height) or four corners") from None
    if values.shape == (4,):
        x, y, width, height = (float(v) for v in numbers(values, "the region", np.float64, (4,)))
        if not (width > 0 and height > 0):
            raise Error(f"the box is {width:g} x {height:g} pixels, expected more than 0")
        # Pixel centres have whole coordinates: the corners lie half a pixel outside them.
        left, top, right, bottom = x - 0.5, y - 0.5, x + width - 0.5, y + height - 0.5
        values = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    if values.size != 8:
        raise Error(f"the region is {region!r}, expected x, y, width, height, or four corners")
    corners: Float64 = numbers(values.reshape(4, 2), "the region", np.float64, (4, 2))
    return corners


class Tracker:
    """Learns what a frame shows in a box and follows it: in about half a second, then a tenth of a millisecond a frame.

    `region`: x, y, width, height, or four corners (4, 2). `motion`: "translation", "similarity", "affine" or
    "homography". Calls from several threads wait for one another.

    >>> import numpy as np, sdm
    >>> texture = np.random.default_rng(1).integers(0, 255, (18, 24), dtype=np.uint8).repeat(8, 0).repeat(8, 1)
    >>> tracker = sdm.rigid.Tracker(texture, (50, 40, 80, 60), threads=1)
    >>> moved = np.roll(texture, (3, 5), axis=(0, 1))
    >>> track = tracker.update(moved)
    >>> bool(np.abs(track.corners[0] - (54.5, 42.5)).max() < 1)
    True
    """

    def __init__(
        self,
        frame: Optional[Picture] = None,
        region: Any = None,
        *,
        motion: str = "affine",
        samples: int = 2000,
        stages: int = 4,
        search: float = 30,
        scan: bool = True,
        seed: int = 1,
        threads: int = 0,
        provenance: str = "",
        format: Optional[str] = None,
        model: Optional[ModelLike] = None,
    ) -> None:
        #: Above 1 px the patch is too plain to be followed well; NaN of a model that was loaded.
        self.uncertainty = float("nan")
        if model is not None:
            self.model = model_of(model, "landmarks")
        else:
            if frame is None or region is None:
                raise Error("a tracker needs a frame and a region, or a model")
            if motion not in _MOTIONS:
                raise Error(f"the motion is {motion!r}, expected one of {', '.join(_MOTIONS)}")
            picture, _keep = image_of(frame, format)
            corners = _corners_of(region)
            options = c.options(
                c.RigidTrainOptions,
                "rigid_train_options",
                motion=_MOTIONS.index(motion),
                samples=samples,
                stages=stages,
                search=search,
                scan=bool(scan),
                seed=seed,
                threads=threads,
                provenance=provenance,
            )
            uncertainty = c_double()
            self.model = ModelFile(
                c.Handle(
                    "model",
                    lambda out: int(
                        c.lib.sdm_rigid_train(
                            byref(picture), address(corners), byref(options), out, byref(uncertainty)
                        )
                    ),
                )
            )
            self.uncertainty = uncertainty.value
        self._handle = c.Handle("rigid", lambda out: int(c.lib.sdm_rigid_create(self.model.pointer, out)))
        self._lock = threading.Lock()

    def update(self, frame: Picture, *, format: Optional[str] = None) -> Track:
        """Finds the patch in the next frame."""
        picture, _keep = image_of(frame, format)
        track = c.Track()
        with self._lock:
            c.check(c.lib.sdm_rigid_update(self._handle.pointer, byref(picture), byref(track)))
        return Track(
            np.array(track.corners).reshape(4, 2),
            track.score,
            track.lost != 0,
            track.difference,
            track.correlation,
            np.array(track.warp).reshape(3, 3),
        )

    def video(self, frames: Iterable[Picture], *, format: Optional[str] = None) -> Iterator[Track]:
        """A `Track` for each frame."""
        for frame in frames:
            yield self.update(frame, format=format)

    def restart(self, region: Any) -> None:
        """Goes on from another place: x, y, width, height, or four corners."""
        corners = _corners_of(region)
        with self._lock:
            c.check(c.lib.sdm_rigid_restart(self._handle.pointer, address(corners)))

    def adapt(self, on: bool = True) -> None:
        """Whether the template follows slow changes of appearance."""
        with self._lock:
            c.check(c.lib.sdm_rigid_adapt(self._handle.pointer, int(on)))

    def save(self, path: Any) -> None:
        """What was learned, for `Tracker(model=path)`."""
        self.model.save(path)
