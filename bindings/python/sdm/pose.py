"""The 3D pose of an object from the pixels of its points; the pose of a head."""

from __future__ import annotations

import os
from ctypes import byref, c_double, c_int32
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from . import _library as c
from ._arrays import Float32, Float64, address, numbers
from ._library import Error
from ._progress import Progress, ProgressLike
from .faces import HeadPose, head_pose_of
from .models import ModelFile, ModelLike, model_of


@dataclass(eq=False)
class Pose:
    """Where an object stands: a point X of it is at `rotation @ X + translation` in the camera's frame."""

    rotation: Float64  #: (3, 3)
    translation: Float64  #: (3,), in the object's units
    error: float  #: root mean square distance of seen and projected points, pixels
    points: int = field(repr=False)  #: that were used
    quaternion: Float64 = field(repr=False)  #: w, x, y, z

    def __repr__(self) -> str:
        x, y, z = self.translation
        return f"Pose(translation=({x:.1f}, {y:.1f}, {z:.1f}), error={self.error:.2f} px)"


def _matrices_of(q: Any) -> Any:
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


@dataclass(eq=False)
class Poses:
    """Many poses, in single precision; `error` is NaN where there is none."""

    quaternion: Float32  #: (n, 4): w, x, y, z
    translation: Float32  #: (n, 3)
    error: Float32  #: (n,)

    @property
    def rotation(self) -> Float32:
        """(n, 3, 3)"""
        matrices: Float32 = _matrices_of(self.quaternion)
        return matrices

    def __len__(self) -> int:
        return len(self.error)

    def __repr__(self) -> str:
        found = np.isfinite(self.error)
        middle = f", median error {np.median(self.error[found]):.2f} px" if found.any() else ""
        return f"Poses({found.sum()} of {len(self)}{middle})"


class Estimator:
    """Learns the poses of an object of known points; then an estimate takes about a microsecond, in a batch a tenth.

    `points3d` is (points, 3), in any unit; the camera `fx, fy, cx, cy` in pixels; the object stands about `centre` in the
    camera's frame, turned by up to `rotation` degrees about each axis and moved by up to `translation`. Any number of
    threads may share an estimator.

    >>> import numpy as np, sdm
    >>> cube = 100 * np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
    >>> estimator = sdm.pose.Estimator(cube, samples=2000, threads=1)
    >>> seen = cube + (30, -20, 2000)
    >>> pose = estimator.estimate(1000 * seen[:, :2] / seen[:, 2:] + 500)
    >>> bool(np.linalg.norm(pose.translation - (30, -20, 2000)) < 20)
    True
    """

    def __init__(
        self,
        points3d: Any = None,
        *,
        camera: Tuple[float, float, float, float] = (1000, 1000, 500, 500),
        centre: Sequence[float] = (0, 0, 2000),
        rotation: Sequence[float] = (30, 30, 30),
        translation: Sequence[float] = (400, 400, 400),
        noise: float = 2,
        stages: int = 10,
        cells: int = 0,
        samples: int = 8000,
        seed: int = 1,
        threads: int = 0,
        provenance: str = "",
        progress: ProgressLike = False,
        model: Optional[ModelLike] = None,
    ) -> None:
        if model is not None:
            self.model = model_of(model, "landmarks")
        else:
            if points3d is None:
                raise Error("an estimator needs the points of the object, or a model")
            points = numbers(points3d, "the points", np.float64, (None, 3))
            telling = Progress(progress, "learning poses")
            fx, fy, cx, cy = c.several(camera, "camera", c_double * 4)
            options = c.options(
                c.PoseTrainOptions,
                "pose_train_options",
                fx=fx,
                fy=fy,
                cx=cx,
                cy=cy,
                centre=centre,
                rotation=rotation,
                translation=translation,
                noise_pixels=noise,
                stages=stages,
                cells=cells,
                samples=samples,
                seed=seed,
                threads=threads,
                provenance=provenance,
                progress=telling.callback,
            )
            self.model = ModelFile(
                telling.make(
                    "model", lambda out: int(c.lib.sdm_pose_train(len(points), address(points), byref(options), out))
                )
            )
        self._handle = c.Handle("pose", lambda out: int(c.lib.sdm_pose_create(self.model.pointer, out)))
        count = c_int32()
        c.check(c.lib.sdm_pose_points(self._handle.pointer, byref(count)))
        self.points: int = count.value

    def estimate(self, points2d: Any, *, refine: int = 0, outlier_pixels: float = 0) -> Pose:
        """The pose from the pixels of all points, (points, 2); NaN: not seen. `refine`: Gauss-Newton steps after it;
        `outlier_pixels`: points farther off lose their say."""
        pixels = numbers(points2d, "the pixels", np.float64, (self.points, 2))
        options = c.options(c.PoseOptions, "pose_options", refine_steps=refine, outlier_pixels=outlier_pixels)
        result, error, used = np.empty(7), c_double(), c_int32()
        c.check(
            c.lib.sdm_pose_estimate(
                self._handle.pointer, address(pixels), byref(options), address(result), byref(error), byref(used)
            )
        )
        return Pose(_matrices_of(result[:4]), result[4:], error.value, used.value, result[:4])

    def estimate_batch(self, points2d: Any, *, refine: int = 0) -> Poses:
        """Many at once: (n, points, 2), best as float32, which is not copied."""
        pixels = numbers(points2d, "the pixels", np.float32, (None, self.points, 2))
        count = len(pixels)
        steps = c.options(c.PoseOptions, "pose_options", refine_steps=refine).refine_steps
        results, errors = np.empty((count, 7), np.float32), np.empty(count, np.float32)
        c.check(
            c.lib.sdm_pose_estimate_batch(
                self._handle.pointer, count, address(pixels), 0, steps, address(results), address(errors)
            )
        )
        return Poses(results[:, :4], results[:, 4:], errors)

    def save(self, path: "str | os.PathLike[str]") -> None:
        """What was learned, for `Estimator(model=path)`."""
        self.model.save(path)


class Head:
    """How a head, or anything else of a known shape, is turned, seen by a camera that nobody knows.

    `shape`: points in space, (points, 3), or a landmark model that knows its own (None: the default).

    >>> import sdm
    >>> head = sdm.pose.Head()
    >>> model = sdm.load("face68")
    >>> abs(head.estimate(100 * model.mean + 200).yaw) < 3
    True
    """

    def __init__(self, shape: Any = None, weights: Any = None) -> None:
        if shape is None or isinstance(shape, (ModelFile, str, os.PathLike)):
            model = model_of(shape, "landmarks")
            self._handle = c.Handle("head", lambda out: int(c.lib.sdm_head_of(model.pointer, out)))
            count = c_int32()
            c.check(c.lib.sdm_face_points(model.pointer, byref(count)))
            self.points: int = count.value
        else:
            points = numbers(shape, "the shape", np.float64, (None, 3))
            says = None if weights is None else numbers(weights, "the weights", np.float64, (len(points),))
            self.points = len(points)
            self._handle = c.Handle(
                "head",
                lambda out: int(
                    c.lib.sdm_head_create(len(points), address(points), None if says is None else address(says), out)
                ),
            )

    def estimate(self, points2d: Any) -> HeadPose:
        """From landmarks, (points, 2); NaN: not seen."""
        pixels = numbers(points2d, "the pixels", np.float64, (self.points, 2))
        found = c.HeadPose()
        c.check(c.lib.sdm_head_estimate(self._handle.pointer, self.points, address(pixels), byref(found)))
        return head_pose_of(found)
