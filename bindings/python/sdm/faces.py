"""Faces: found, aligned, tracked, learned and measured."""

from __future__ import annotations

import inspect
import os
import struct
import threading
from ctypes import byref, c_float, c_int32, c_void_p, sizeof
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library as c
from . import models
from ._arrays import Float32, Float64, Picture, address, copied, image_of, images_of, numbers
from ._library import Error
from ._progress import Progress, ProgressLike
from .models import ModelFile, ModelLike, model_of


@dataclass(eq=False)
class HeadPose:
    """How a head is turned, in degrees: yaw > 0 to the right of the picture, pitch > 0 up, roll > 0 clockwise."""

    yaw: float
    pitch: float
    roll: float
    scale: float = field(repr=False)  #: pixels for one unit of the shape
    position: Tuple[float, float] = field(repr=False)  #: pixel of the shape's origin
    reprojection_error: float = field(repr=False)  #: pixels
    _rotation: List[float] = field(repr=False)

    @property
    def rotation(self) -> Float64:
        """(3, 3): x right, y down, z away from the camera; identity looks into it."""
        return np.array(self._rotation).reshape(3, 3)

    def __repr__(self) -> str:
        return f"HeadPose(yaw={self.yaw:+.1f}, pitch={self.pitch:+.1f}, roll={self.roll:+.1f})"


def head_pose_of(pose: c.HeadPose) -> HeadPose:
    return _head_pose(_POSE.unpack_from(pose))


def _head_pose(values: Tuple[Any, ...]) -> HeadPose:
    yaw, pitch, roll, *rotation, scale, x, y, error = values
    return HeadPose(yaw, pitch, roll, scale, (x, y), error, rotation)


# sdm_head_pose and sdm_face, read at once: field by field through ctypes costs as much as a call.
_POSE = struct.Struct("16d")
_FACE = struct.Struct("4f2f4i2P16d")
assert _POSE.size == sizeof(c.HeadPose) and _FACE.size == sizeof(c.Face)


@dataclass(eq=False)
class Face:
    """A face in a picture. Points are in pixels; the centre of the top-left pixel is (0, 0)."""

    box: Tuple[float, float, float, float]  #: x, y, width, height
    score: float  #: probability that the points lie on a face
    points: Float32  #: (points, 2)
    visible: Optional[Float32] = None  #: of each point the probability to be seen and right
    pose: Optional[HeadPose] = None  #: of the head, where the points tell it
    roll: float = 0  #: degrees; of a detected face
    id: int = 0  #: of a tracked face, from 1
    detected: bool = True  #: False: followed from the frame before

    def __repr__(self) -> str:
        x, y, width, height = self.box
        number = f"id={self.id}, " if self.id else ""
        turned = f", yaw={self.pose.yaw:+.0f}" if self.pose else ""
        return (
            f"Face({number}box=({x:.0f}, {y:.0f}, {width:.0f}, {height:.0f}), score={self.score:.2f}, "
            f"{len(self.points)} points{turned})"
        )


def _face_of(face: Any, offset: int = 0) -> Face:
    x, y, width, height, roll, score, number, detected, count, has_pose, xy, visible, *pose = _FACE.unpack_from(
        face, offset
    )
    return Face(
        (x, y, width, height),
        score,
        copied(xy, 2 * count).reshape(count, 2) if count else np.empty((0, 2), np.float32),
        copied(visible, count) if visible else None,
        _head_pose(tuple(pose)) if has_pose else None,
        roll,
        number,
        detected != 0,
    )


class _Idle:
    """Handles that nobody uses at the moment: threads take one each, and make one where none is left.

    `make` must not know who owns this: a circle would keep the library's memory until Python looks for circles."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._idle: List[c.Handle] = []

    def take(self) -> c.Handle:
        try:
            return self._idle.pop()
        except IndexError:
            handle: c.Handle = self._make()
            return handle

    def give(self, handle: c.Handle) -> None:
        self._idle.append(handle)


class FaceModel(ModelFile):
    """A landmark model: `train` makes one, `load` reads one. Any number of threads may share it.

    >>> import sdm
    >>> sdm.load("face68-fast").points
    68
    """

    def __init__(self, handle: c.Handle) -> None:
        super().__init__(handle)
        count = c_int32()
        c.check(c.lib.sdm_face_points(self.pointer, byref(count)))
        self.points: int = count.value
        #: What training tried and reached, in words; of a model that was trained here.
        self.report = ""
        self._aligners = _Idle(
            lambda: c.Handle("aligner", lambda out: int(c.lib.sdm_aligner_create(handle.pointer, out)))
        )

    @property
    def mean(self) -> Float32:
        """The mean shape (points, 2): its centre is 0, its unit 1."""
        shape = np.empty((self.points, 2), np.float32)
        c.check(c.lib.sdm_face_mean(self.pointer, address(shape)))
        return shape

    def align(
        self,
        image: Picture,
        box: Optional[Sequence[float]] = None,
        *,
        detector: Optional[str] = None,
        format: Optional[str] = None,
    ) -> Face:
        """The landmarks of the face in a box (x, y, width, height); None: of the one that the whole picture shows.

        >>> import numpy as np, sdm
        >>> blank = np.full((100, 100), 128, np.uint8)
        >>> sdm.load("face68-fast").align(blank, (20, 20, 60, 60)).score < 0.5
        True
        """
        picture, _keep = image_of(image, format)
        corners = c.several((0, 0, picture.width, picture.height) if box is None else box, "the box", _Box)
        name = None if detector is None else c.name_of(detector, "the detector")
        face = c.Face()
        handle = self._aligners.take()
        try:
            c.check(c.lib.sdm_aligner_align(handle.pointer, byref(picture), corners, name, byref(face)))
            return _face_of(face)
        finally:
            self._aligners.give(handle)

    def evaluate(
        self,
        images: Iterable[Picture],
        points: Any,
        boxes: Any = None,
        *,
        normaliser: Optional[str] = None,
        threshold: float = 0,
        format: Optional[str] = None,
    ) -> "Evaluation":
        """The errors on labelled faces, one in each picture: `points` (faces, points, 2), NaN where not known, `boxes`
        (faces, 4), or None for a model of whole pictures. `normaliser`: "outer_eyes" (for 68 points unless told),
        "eye_centres", "box_diagonal" (for all others) or "pixels"."""
        if normaliser is None:
            normaliser = "outer_eyes" if self.points == 68 else "box_diagonal"
        if normaliser not in _NORMALISERS:
            raise Error(f"the normaliser is {normaliser!r}, expected one of {', '.join(_NORMALISERS)}")
        block, keep = images_of(images, format)
        count = len(keep)
        threshold = c.real(threshold, "the threshold")
        truth = numbers(points, "points", np.float32, (count, self.points, 2))
        given = None if boxes is None else numbers(boxes, "boxes", np.float32, (count, 4))
        errors, by_point = np.empty(count), np.empty(self.points)
        found = np.empty((count, self.points, 2), np.float32)
        result = c.FaceEvaluation()
        c.check(
            c.lib.sdm_face_evaluate(
                self.pointer,
                count,
                block,
                address(truth),
                None if given is None else address(given),
                _NORMALISERS.index(normaliser),
                threshold,
                address(errors),
                address(by_point),
                address(found),
                byref(result),
            )
        )
        return Evaluation(
            result.mean,
            result.median,
            result.failure_rate,
            result.auc,
            result.threshold,
            normaliser,
            errors,
            by_point,
            found,
        )

    def __repr__(self) -> str:
        return super().__repr__()[:-1] + f", {self.points} points>"


_Box = c_float * 4
_NORMALISERS = ["outer_eyes", "eye_centres", "box_diagonal", "pixels"]


@dataclass(eq=False)
class Evaluation:
    """How well a model does on labelled faces. Errors are fractions of what the normaliser names."""

    mean: float
    median: float
    failure_rate: float  #: share of errors beyond the threshold
    auc: float  #: area under the cumulative error curve up to the threshold, 0 to 1
    threshold: float
    normaliser: str
    errors: Float64 = field(repr=False)  #: of each face
    point_errors: Float64 = field(repr=False)  #: of each point
    found: Float32 = field(repr=False)  #: the points, (faces, points, 2)

    def __repr__(self) -> str:
        percent, unit = (1.0, "px") if self.normaliser == "pixels" else (100.0, "%")
        return (
            f"Evaluation({len(self.errors)} faces: mean {percent * self.mean:.2f} {unit}, median "
            f"{percent * self.median:.2f} {unit}, {100 * self.failure_rate:.1f} % beyond "
            f"{percent * self.threshold:g} {unit}; by {self.normaliser})"
        )


class Detector:
    """Finds the faces of pictures; any number of threads may share one.

    `model` fits the landmarks, `windows` finds candidates and `verifier` decides. `free`: take the models whose licence
    lets everybody use and sell what is made with them. `smallest` and `largest`: sides of a face's box in pixels;
    `region`: look only there; `most`: faces; `candidates`: that are tried, which bounds the time.

    >>> import numpy as np, sdm
    >>> sdm.Detector(min_score=0.9).detect(np.zeros((80, 120), np.uint8))
    []
    """

    def __init__(
        self,
        model: Optional[ModelLike] = None,
        *,
        verifier: Optional[ModelLike] = None,
        windows: Optional[ModelLike] = None,
        smallest: Optional[float] = None,
        largest: Optional[float] = None,
        min_score: float = 0.5,
        region: Optional[Sequence[float]] = None,
        most: int = 100,
        candidates: int = 300,
        max_side: int = 2000,
        free: bool = False,
    ) -> None:
        self._models = chosen = _models_of(windows, verifier, model, free)
        options = c.options(
            c.DetectorOptions,
            "detector_options",
            smallest=smallest,
            largest=largest,
            min_score=min_score,
            region=region,
            most=most,
            candidates=candidates,
            max_side=max_side,
        )

        def make() -> c.Handle:
            pointers = [model.pointer for model in chosen]
            return c.Handle("detector", lambda out: int(c.lib.sdm_detector_create(*pointers, byref(options), out)))

        self._idle = _Idle(make)
        self._idle.give(make())  # what is wrong is told now

    def detect(self, image: Picture, *, format: Optional[str] = None) -> List[Face]:
        """The faces of a picture, the largest first."""
        picture, _keep = image_of(image, format)
        pointer, count = c_void_p(), c_int32()
        handle = self._idle.take()
        try:
            c.check(c.lib.sdm_detector_detect(handle.pointer, byref(picture), byref(pointer), byref(count)))
            return _faces_of(pointer, count.value)
        finally:
            self._idle.give(handle)


def _models_of(
    windows: Optional[ModelLike], verifier: Optional[ModelLike], landmarks: Optional[ModelLike], free: bool
) -> Tuple[ModelFile, ModelFile, ModelFile]:
    fitting = model_of(landmarks, "landmarks", free)
    # Who names a landmark model that is free gets a detector that is, where one is there.
    if not free and landmarks is not None and fitting.is_free:
        try:
            windows, verifier = windows or model_of(None, "detector", True), verifier or model_of(None, "verifier", True)
        except Error:
            pass
    return model_of(windows, "detector", free), model_of(verifier, "verifier", free), fitting


def _faces_of(pointer: c_void_p, count: int) -> List[Face]:
    if not count or pointer.value is None:
        return []
    block = (c.Face * count).from_address(pointer.value)
    return [_face_of(block, i * _FACE.size) for i in range(count)]


_DETECTOR_OPTIONS = set(inspect.signature(Detector).parameters)


@lru_cache(maxsize=8)
def _detector(options: Tuple[Tuple[str, Any], ...]) -> Detector:
    return Detector(**dict(options))


def detect(image: Picture, *, format: Optional[str] = None, **options: Any) -> List[Face]:
    """The faces of a picture with their landmarks, the largest first.

    `image`: an array of uint8, (height, width) grey or (height, width, 3 or 4) RGB or RGBA, or BGR by `format="bgr"`; a
    PIL image; or the path of a file. `options` are those of `Detector`, as `model="face68-fast"` or `free=True`: the
    default models are for research only, the free ones for everybody (`sdm.models.licences()`).

    >>> import numpy as np, sdm
    >>> sdm.detect(np.zeros((120, 160), np.uint8))
    []
    """
    unknown = set(options) - _DETECTOR_OPTIONS
    if unknown:
        raise Error(f"detect has no option {', '.join(sorted(unknown))}, expected {', '.join(sorted(_DETECTOR_OPTIONS))}")
    for name, use in (("model", "landmarks"), ("verifier", "verifier"), ("windows", "detector")):
        if options.get(name) is not None:  # by content, for a file may change
            options[name] = model_of(options[name], use)
    try:
        detector = _detector(tuple(sorted(options.items())))
    except TypeError:  # a list has no hash
        detector = Detector(**options)
    return detector.detect(image, format=format)


@dataclass(eq=False)
class Frame:
    """What a tracker saw in one frame; iterates over its faces."""

    index: int
    seconds: float
    faces: List[Face]

    def __iter__(self) -> Iterator[Face]:
        return iter(self.faces)

    def __len__(self) -> int:
        return len(self.faces)


class Tracker:
    """Follows faces through a video. One tracker serves one video; calls from several threads wait for one another.

    `faces`: followed at once, at most; a face whose score falls below `threshold` is lost and keeps its id for `memory`
    frames; `search_every`: frames between searches while fewer are there than wanted. Further options are those of
    `Detector`.

    >>> import numpy as np, sdm
    >>> frames = np.zeros((3, 90, 120), np.uint8)
    >>> [len(frame) for frame in sdm.Tracker().video(frames)]
    [0, 0, 0]
    """

    def __init__(
        self,
        model: Optional[ModelLike] = None,
        *,
        faces: int = 1,
        threshold: float = 0.5,
        search_every: int = 15,
        memory: int = 10,
        smooth: bool = True,
        verifier: Optional[ModelLike] = None,
        windows: Optional[ModelLike] = None,
        free: bool = False,
        **detection: Any,
    ) -> None:
        scanning, verifying, landmarks = _models_of(windows, verifier, model, free)
        options = c.options(
            c.TrackerOptions,
            "tracker_options",
            faces=faces,
            threshold=threshold,
            search_every=search_every,
            memory=memory,
            smooth=bool(smooth),
        )
        unknown = set(detection) - ({name for name, *_ in c.DetectorOptions._fields_} - {"size"})
        if unknown:
            raise Error(f"Tracker has no option {', '.join(sorted(unknown))}")
        searching = c.options(c.DetectorOptions, "detector_options", **detection)
        self._handle = c.Handle(
            "tracker",
            lambda out: int(
                c.lib.sdm_tracker_create(
                    landmarks.pointer, scanning.pointer, verifying.pointer, byref(searching), byref(options), out
                )
            ),
        )
        self._lock = threading.Lock()
        self._frames = 0

    def update(self, frame: Picture, seconds: Optional[float] = None, *, format: Optional[str] = None) -> List[Face]:
        """The faces of the next frame. The time is for smoothing; None: 25 frames a second."""
        picture, _keep = image_of(frame, format)
        pointer, count = c_void_p(), c_int32()
        given = None if seconds is None else c.real(seconds, "seconds")
        with self._lock:
            at = self._frames / 25 if given is None else given
            c.check(
                c.lib.sdm_tracker_update(self._handle.pointer, byref(picture), at, byref(pointer), byref(count))
            )
            self._frames += 1
            return _faces_of(pointer, count.value)

    def video(
        self, frames: "Iterable[Picture] | str | os.PathLike[str]", fps: float = 25, *, format: Optional[str] = None
    ) -> Iterator[Frame]:
        """A `Frame` for each frame of a video: of arrays or pictures, or (with OpenCV) of a file."""
        if isinstance(frames, (str, os.PathLike)):
            frames, fps = _frames_of_file(frames)
            format = "bgr"
        if not c.real(fps, "fps") > 0:
            raise Error(f"{fps} frames a second, expected more than 0")
        for index, picture in enumerate(frames):
            yield Frame(index, index / fps, self.update(picture, index / fps, format=format))

    def reset(self) -> None:
        """Forgets all faces, as at a cut; ids go on."""
        with self._lock:
            c.check(c.lib.sdm_tracker_reset(self._handle.pointer))


def _frames_of_file(path: "str | os.PathLike[str]") -> Tuple[Iterator[Any], float]:
    name = os.fsdecode(c.path_of(path))
    if not os.path.exists(name):
        raise Error(f"{name}: there is no such file")
    try:
        import cv2
    except ImportError:
        raise Error(f"{name}: reading a video needs OpenCV (Debian: python3-opencv); give its frames") from None
    video = cv2.VideoCapture(name)
    if not video.isOpened():
        raise Error(f"{name}: is no video that OpenCV can read")

    def frames() -> Iterator[Any]:
        while True:
            there, picture = video.read()
            if not there:
                return
            yield picture

    return frames(), float(video.get(cv2.CAP_PROP_FPS) or 25)


def train(
    images: Iterable[Picture],
    points: Any,
    boxes: Any = None,
    budget: float = 30,
    *,
    preset: Optional[str] = None,
    base: Optional[ModelLike] = None,
    mirror: Optional[Sequence[int]] = None,
    unit: Optional[Tuple[int, int]] = None,
    ibug: Optional[bool] = None,
    folds: int = 0,
    seed: int = 1,
    threads: int = 0,
    name: str = "face",
    provenance: str = "",
    licence: str = "as the training data's",
    format: Optional[str] = None,
    progress: ProgressLike = None,
) -> FaceModel:
    """Learns landmarks of one's own: of faces, hands, wings, cars.

    `points` is (pictures, points, 2), NaN where one is not known; `boxes` (pictures, 4) as a detector draws them, or
    None: the whole picture shows one. Settings are chosen by held-out error within about `budget` seconds, unless
    `preset` names some ("accurate", "fast", "paper"). `base`: learn other points of what this model finds, from tens of
    pictures. `mirror`: the partner of each point in a mirror. `progress`: True, False, a function of (activity, share,
    seconds left), or None: on a terminal. Ctrl-C stops it.

    >>> import numpy as np, sdm
    >>> rng = np.random.default_rng(1)
    >>> pictures, places = [], []
    >>> for _ in range(20):
    ...     x, y = rng.uniform(15, 30, 2)
    ...     rows, columns = np.mgrid[:48, :48]
    ...     square = (abs(columns - x) < 9) & (abs(rows - y) < 9)
    ...     pictures.append(np.where(square, 220, 40).astype(np.uint8))
    ...     places.append([[x - 9, y - 9], [x + 9, y - 9], [x + 9, y + 9], [x - 9, y + 9]])
    >>> model = sdm.train(pictures, places, budget=1, threads=1, progress=False)
    >>> model.points
    4
    >>> bool(model.evaluate(pictures, places, normaliser="pixels").mean < 3)
    True
    """
    block, keep = images_of(images, format)
    count = len(keep)
    truth = numbers(points, "points", np.float32, (count, None, 2))
    given = None if boxes is None else numbers(boxes, "boxes", np.float32, (count, 4))
    based = None if base is None else model_of(base, "landmarks")
    partners = None if mirror is None else numbers(mirror, "mirror", np.int32, (truth.shape[1],))
    telling = Progress(progress, "training")
    options = c.options(
        c.FaceTrainOptions,
        "face_train_options",
        preset=preset,
        budget=budget,
        folds=folds,
        seed=seed,
        threads=threads,
        base=None if based is None else based.pointer,
        mirror=None if partners is None else address(partners),
        unit=unit,
        ibug=None if ibug is None else 1 if ibug else -1,
        name=name,
        provenance=provenance,
        licence=licence,
        progress=telling.callback,
    )
    report = c_void_p()
    trained = FaceModel(
        telling.make(
            "model",
            lambda out: int(
                c.lib.sdm_face_train(
                    count,
                    block,
                    truth.shape[1],
                    address(truth),
                    None if given is None else address(given),
                    byref(options),
                    out,
                    byref(report),
                )
            ),
        )
    )
    trained.report = _text_of(report)
    return trained


def _text_of(pointer: c_void_p) -> str:
    def give(out: Any) -> int:
        out._obj.value = pointer.value
        return c.OK

    return c.text(give)


class Adapter:
    """Teaches a model one person, or one camera, from a few corrected pictures.

    `state` is what the model remembers of its training; None: that of the shipped model of the same name.

    >>> import sdm
    >>> sdm.Adapter("face68-fast").model.points
    68
    """

    def __init__(self, model: Optional[ModelLike] = None, state: Optional[ModelLike] = None) -> None:
        face = model_of(model, "landmarks")
        if state is None:
            name = models.DEFAULTS["landmarks"] if model is None else model
            if isinstance(name, ModelFile):
                raise Error("the state of this model is not known: give it, as sdm.adaptation makes it")
            state = os.path.splitext(models.find(name))[0] + ".adaptation.sdm"
            if not os.path.exists(state):
                raise Error(f"{state}, what the model remembers of its training, is not there: give it as `state`")
        remembered = model_of(state, "landmarks")
        self._handle = c.Handle(
            "adapter", lambda out: int(c.lib.sdm_adapter_create(face.pointer, remembered.pointer, out))
        )
        self._points = FaceModel(face._handle).points
        self._lock = threading.Lock()

    def update(
        self,
        image: Picture,
        points: Any,
        *,
        weight: float = 100,
        forgetting: float = 1,
        starts: int = 20,
        seed: int = 1,
        format: Optional[str] = None,
    ) -> None:
        """Learns a picture in which the points are known (NaN: this one is not)."""
        picture, _keep = image_of(image, format)
        truth = numbers(points, "points", np.float32, (self._points, 2))
        options = c.options(
            c.AdapterOptions, "adapter_options", weight=weight, forgetting=forgetting, starts=starts, seed=seed
        )
        with self._lock:
            c.check(
                c.lib.sdm_adapter_update(self._handle.pointer, byref(picture), address(truth), byref(options))
            )

    def _result(self) -> Tuple[c.Handle, c.Handle]:
        model, state = c_void_p(), c_void_p()
        with self._lock:
            c.check(c.lib.sdm_adapter_result(self._handle.pointer, byref(model), byref(state)))
        return c.Handle.of("model", model.value), c.Handle.of("model", state.value)

    @property
    def model(self) -> FaceModel:
        """The adapted model."""
        return FaceModel(self._result()[0])

    @property
    def state(self) -> ModelFile:
        """What to store with it so that it can learn further."""
        return ModelFile(self._result()[1])


def adaptation(
    model: FaceModel, images: Iterable[Picture], points: Any, *, format: Optional[str] = None
) -> ModelFile:
    """The state that an `Adapter` of a model needs, from the pictures it was trained on.

    >>> import numpy as np, sdm
    >>> rows, columns = np.mgrid[:48, :48]
    >>> pictures, places = [], []
    >>> for x, y in np.random.default_rng(1).uniform(18, 30, (20, 2)):
    ...     pictures.append((120 + 90 * np.cos(columns - x) * np.cos((rows - y) / 2)).astype(np.uint8))
    ...     places.append([[x - 9, y - 9], [x + 9, y - 9], [x, y + 9]])
    >>> model = sdm.train(pictures, places, budget=1, threads=1, progress=False)
    >>> adapter = sdm.Adapter(model, sdm.adaptation(model, pictures, places))
    >>> adapter.update(pictures[0], places[0])
    >>> adapter.model.points
    3
    """
    block, keep = images_of(images, format)
    truth = numbers(points, "points", np.float32, (len(keep), model.points, 2))
    return ModelFile(
        c.Handle(
            "model",
            lambda out: int(c.lib.sdm_face_adaptation(model.pointer, len(keep), block, address(truth), out)),
        )
    )


def load(path: "str | os.PathLike[str]") -> FaceModel:
    """A landmark model from a file, or by the name of one that comes with the package (`sdm.models.names()`). Models of
    other kinds: `sdm.models.load`.

    >>> import sdm
    >>> sdm.load("face68")
    <sdm face model face68, ... MB, 68 points>
    """
    loaded = ModelFile.load(path)
    if loaded.kind not in ("face", "face-on-base"):
        raise Error(
            f"{os.fspath(path)} is a model of kind '{loaded.kind}', expected landmarks; sdm.models.load takes any kind"
        )
    return FaceModel(loaded._handle)
