"""Nonlinear least squares by learned descent: fits at scale, facial landmarks, 3D pose, rigid tracking.

    faces = sdm.detect("photo.jpg")                       # landmarks, scores, head poses
    for frame in sdm.Tracker().video(frames): ...         # faces through a video
    model = sdm.train(images, points)                     # landmarks of your own
    tracker = sdm.rigid.Tracker(frame, (80, 60, 100, 100))
    pose = sdm.pose.Estimator(points3d).estimate(points2d)
    answer = sdm.learn(h, lower, upper, noise=0.01).solve(Y)
    answer = sdm.curve_fit(f, t, Y, lower, upper)
"""

try:
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError(
        f"sdm needs numpy, which this Python cannot import ({_error}): pip install numpy, or Debian's python3-numpy"
    ) from None

from . import models, pose, rigid
from ._library import Error
from ._library import lib as _lib
from .drawing import Drawing, draw
from .faces import (
    Adapter,
    Detector,
    Evaluation,
    Face,
    FaceModel,
    Frame,
    HeadPose,
    Tracker,
    adaptation,
    detect,
    load,
    train,
)
from .fitting import (
    Answer,
    Cascade,
    Certificate,
    Fit,
    Learned,
    certify,
    curve_fit,
    learn,
    load_learned,
    refine,
)

__version__: str = _lib.sdm_version().decode()

__all__ = [
    "Adapter",
    "Answer",
    "Cascade",
    "Certificate",
    "Detector",
    "Drawing",
    "Error",
    "Evaluation",
    "Face",
    "FaceModel",
    "Fit",
    "Frame",
    "HeadPose",
    "Learned",
    "Tracker",
    "adaptation",
    "certify",
    "curve_fit",
    "detect",
    "draw",
    "learn",
    "load",
    "load_learned",
    "models",
    "pose",
    "refine",
    "rigid",
    "train",
]
