"""libsdm.so, called through ctypes: the C interface as include/sdm/c.h declares it.

A call through ctypes.CDLL lets other Python threads run until it comes back.
"""

from __future__ import annotations

import ctypes
import operator
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_ssize_t,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any, Callable, List, Optional

C_VERSION = 1
OK, ERROR, OUT_OF_MEMORY, CANCELLED, INTERNAL = range(5)
GREY, RGB, BGR, RGBA, BGRA = range(5)


class Error(ValueError):
    """What is wrong with what was given, in a sentence that names it, its value and what was expected.

    >>> import sdm
    >>> try:
    ...     sdm.load("no-such-model")
    ... except sdm.Error as error:
    ...     print(str(error).split(",")[0])
    there is no model 'no-such-model'
    """


class OutOfMemory(Error, MemoryError):
    """What was asked for does not fit into memory."""


class Image(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("width", c_int32),
        ("height", c_int32),
        ("stride", c_ssize_t),
        ("format", c_int32),
    ]


class HeadPose(Structure):
    _fields_ = [
        ("yaw", c_double),
        ("pitch", c_double),
        ("roll", c_double),
        ("rotation", c_double * 9),
        ("scale", c_double),
        ("position", c_double * 2),
        ("reprojection_error", c_double),
    ]


class Face(Structure):
    _fields_ = [
        ("box", c_float * 4),
        ("roll", c_float),
        ("score", c_float),
        ("id", c_int32),
        ("detected", c_int32),
        ("points", c_int32),
        ("has_pose", c_int32),
        ("xy", c_void_p),
        ("visible", c_void_p),
        ("pose", HeadPose),
    ]


class DetectorOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("smallest", c_float),
        ("largest", c_float),
        ("min_score", c_float),
        ("threshold", c_float),
        ("region", c_float * 4),
        ("most", c_int32),
        ("candidates", c_int32),
        ("max_side", c_int32),
        ("doubled", c_int32),
    ]


class TrackerOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("faces", c_int32),
        ("threshold", c_float),
        ("search_every", c_int32),
        ("memory", c_int32),
        ("smooth", c_int32),
    ]


class AdapterOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("weight", c_double),
        ("forgetting", c_double),
        ("starts", c_int32),
        ("seed", c_uint64),
    ]


class Track(Structure):
    _fields_ = [
        ("corners", c_double * 8),
        ("warp", c_double * 9),
        ("difference", c_double),
        ("correlation", c_double),
        ("score", c_double),
        ("lost", c_int32),
    ]


class PoseOptions(Structure):
    _fields_ = [("size", c_size_t), ("refine_steps", c_int32), ("outlier_pixels", c_double)]


FUNCTION = CFUNCTYPE(c_int32, c_void_p, c_int64, c_void_p, c_ssize_t, c_void_p, c_ssize_t)
JACOBIAN = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
START_RULE = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
PROGRESS = CFUNCTYPE(c_int32, c_void_p, c_char_p, c_double, c_double)


class Problem(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("states", c_int32),
        ("features", c_int32),
        ("h", c_void_p),
        ("jacobian", c_void_p),
        ("start", c_void_p),
        ("user", c_void_p),
        ("block", c_int32),
    ]


class SolveOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("confidence", c_double),
        ("refine", c_int32),
        ("further_starts", c_int32),
        ("threads", c_int32),
    ]


class Answers(Structure):
    _fields_ = [
        ("x", c_void_p),
        ("radius", c_void_p),
        ("status", c_void_p),
        ("residual", c_void_p),
        ("relative_residual", c_void_p),
    ]


class RefineOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("max_evaluations", c_int32),
        ("residual_tolerance", c_double),
        ("gradient_tolerance", c_double),
        ("step_tolerance", c_double),
        ("cost_tolerance", c_double),
        ("lower", c_void_p),
        ("upper", c_void_p),
        ("loss", c_int32),
        ("loss_scale", c_double),
    ]


class RefineSummary(Structure):
    _fields_ = [
        ("stop", c_int32),
        ("iterations", c_int32),
        ("evaluations", c_int32),
        ("initial_cost", c_double),
        ("final_cost", c_double),
    ]


class Certificate(Structure):
    _fields_ = [
        ("samples", c_int64),
        ("worst_sample", c_int64),
        ("lipschitz", c_double),
        ("min_cosine", c_double),
        ("bound", c_double),
        ("map_norm", c_double),
        ("spectral_norm", c_double),
        ("contraction", c_double),
        ("mean_contraction", c_double),
        ("monotone", c_int32),
        ("guaranteed", c_int32),
    ]


class LearnOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("lower", c_void_p),
        ("upper", c_void_p),
        ("log", c_void_p),
        ("noise", c_int32),
        ("sigma", c_void_p),
        ("sigma_count", c_int32),
        ("x0", c_void_p),
        ("samples", c_int64),
        ("calibration", c_int64),
        ("evaluations", c_int64),
        ("seconds", c_double),
        ("max_stages", c_int32),
        ("max_order", c_int32),
        ("max_bits", c_int32),
        ("max_components", c_int32),
        ("seed", c_uint64),
        ("threads", c_int32),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class TrainOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("stages", c_int32),
        ("penalty", c_double),
        ("folds", c_int32),
        ("online", c_int32),
        ("seed", c_uint64),
        ("threads", c_int32),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class RigidTrainOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("motion", c_int32),
        ("samples", c_int64),
        ("stages", c_int32),
        ("search", c_double),
        ("scan", c_int32),
        ("seed", c_uint64),
        ("threads", c_int32),
        ("provenance", c_char_p),
    ]


class PoseTrainOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("fx", c_double),
        ("fy", c_double),
        ("cx", c_double),
        ("cy", c_double),
        ("centre", c_double * 3),
        ("rotation", c_double * 3),
        ("translation", c_double * 3),
        ("noise_pixels", c_double),
        ("stages", c_int32),
        ("cells", c_int32),
        ("samples", c_int64),
        ("seed", c_uint64),
        ("threads", c_int32),
        ("provenance", c_char_p),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class FaceTrainOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("preset", c_char_p),
        ("budget", c_double),
        ("base", c_void_p),
        ("mirror", c_void_p),
        ("unit", c_int32 * 2),
        ("folds", c_int32),
        ("ibug", c_int32),
        ("seed", c_uint64),
        ("threads", c_int32),
        ("name", c_char_p),
        ("provenance", c_char_p),
        ("licence", c_char_p),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
    ]


class FaceEvaluation(Structure):
    _fields_ = [
        ("mean", c_double),
        ("median", c_double),
        ("failure_rate", c_double),
        ("auc", c_double),
        ("threshold", c_double),
        ("faces", c_int32),
    ]


_P = c_void_p
# Of each call that gives a status, what it takes.
_CALLS: "dict[str, List[Any]]" = {
    "sdm_model_read": [_P, c_size_t, _P],
    "sdm_model_bytes": [_P, _P, _P],
    "sdm_model_info": [_P, _P],
    "sdm_model_load": [c_char_p, _P],
    "sdm_model_save": [_P, c_char_p],
    "sdm_face_points": [_P, _P],
    "sdm_face_mean": [_P, _P],
    "sdm_aligner_create": [_P, _P],
    "sdm_aligner_align": [_P, _P, _P, c_char_p, _P],
    "sdm_detector_create": [_P, _P, _P, _P, _P],
    "sdm_detector_detect": [_P, _P, _P, _P],
    "sdm_tracker_create": [_P, _P, _P, _P, _P, _P],
    "sdm_tracker_update": [_P, _P, c_double, _P, _P],
    "sdm_tracker_reset": [_P],
    "sdm_adapter_create": [_P, _P, _P],
    "sdm_adapter_update": [_P, _P, _P, _P],
    "sdm_adapter_result": [_P, _P, _P],
    "sdm_rigid_create": [_P, _P],
    "sdm_rigid_update": [_P, _P, _P],
    "sdm_rigid_restart": [_P, _P],
    "sdm_rigid_adapt": [_P, c_int32],
    "sdm_pose_create": [_P, _P],
    "sdm_pose_points": [_P, _P],
    "sdm_pose_estimate": [_P, _P, _P, _P, _P, _P],
    "sdm_pose_estimate_batch": [_P, c_int64, _P, c_ssize_t, c_int32, _P, _P],
    "sdm_head_create": [c_int32, _P, _P, _P],
    "sdm_head_of": [_P, _P],
    "sdm_head_estimate": [_P, c_int32, _P, _P],
    "sdm_learned_create": [_P, _P, _P],
    "sdm_learned_model": [_P, _P],
    "sdm_learned_size": [_P, _P, _P],
    "sdm_learned_report": [_P, c_int32, _P],
    "sdm_learned_solve": [_P, c_int64, _P, c_ssize_t, _P, _P],
    "sdm_refine": [_P, _P, _P, _P, _P, _P],
    "sdm_cascade_create": [_P, _P],
    "sdm_cascade_model": [_P, _P],
    "sdm_cascade_stages": [_P, _P],
    "sdm_cascade_map": [_P, c_int32, _P, _P],
    "sdm_cascade_solve": [_P, _P, _P, _P, _P],
    "sdm_cascade_update": [_P, _P, _P, _P, _P, c_double, c_double],
    "sdm_certify": [_P, _P, _P, c_int64, _P, _P],
    "sdm_conformal_quantile": [c_int64, _P, c_double, _P],
    "sdm_learn": [_P, _P, _P],
    "sdm_cascade_train": [_P, c_int64, _P, c_int32, _P, _P, _P, _P],
    "sdm_rigid_train": [_P, _P, _P, _P, _P],
    "sdm_pose_train": [c_int32, _P, _P, _P],
    "sdm_face_train": [c_int32, _P, c_int32, _P, _P, _P, _P, _P],
    "sdm_face_adaptation": [_P, c_int32, _P, _P, _P],
    "sdm_face_evaluate": [_P, c_int32, _P, _P, _P, c_int32, c_double, _P, _P, _P, _P],
}
_HANDLES = "model aligner detector tracker adapter rigid pose head learned cascade".split()
_OPTIONS = (
    "detector_options tracker_options adapter_options pose_options problem solve_options refine_options "
    "learn_options train_options rigid_train_options pose_train_options face_train_options"
).split()


def _open() -> ctypes.CDLL:
    own = Path(__file__).parent / "_lib" / "libsdm.so"
    named = os.environ.get("SDM_LIBRARY")
    if named and not os.path.exists(named):
        raise ImportError(f"sdm: $SDM_LIBRARY names {named}, which is not there")
    for candidate in [named] if named else [str(own), "libsdm.so.1"]:
        if candidate == str(own) and not own.exists():
            continue
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            raise ImportError(f"sdm: {candidate} cannot be loaded: {error}") from error
    raise AssertionError  # the last candidate gave a library or an error


def _declare(library: ctypes.CDLL) -> None:
    library.sdm_c_version.restype = c_int32
    if library.sdm_c_version() != C_VERSION:
        raise ImportError(
            f"sdm: the library has version {library.sdm_c_version()} of the C interface, expected {C_VERSION}"
        )
    for name, arguments in _CALLS.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = c_int32
    for name in _HANDLES:
        function = getattr(library, f"sdm_{name}_free")
        function.argtypes = [c_void_p]
        function.restype = None
    for name in _OPTIONS:
        function = getattr(library, f"sdm_{name}_init")
        function.argtypes = [c_void_p]
        function.restype = None
    library.sdm_last_error.restype = c_char_p
    library.sdm_version.restype = c_char_p
    library.sdm_model_kind.argtypes = [c_void_p]
    library.sdm_model_kind.restype = c_char_p
    library.sdm_free.argtypes = [c_void_p]
    library.sdm_free.restype = None


lib = _open()
_declare(lib)


def last_error() -> str:
    sentence: bytes = lib.sdm_last_error()
    return sentence.decode("utf-8", "replace")


class Cancelled(Exception):
    """A callback ended the call; what the callback raised is raised in its place."""


def check(status: int) -> None:
    """Raises what a status says."""
    if status == OK:
        return
    if status == ERROR:
        raise Error(last_error())
    if status == OUT_OF_MEMORY:
        raise OutOfMemory(last_error())
    if status == CANCELLED:
        raise Cancelled()
    raise RuntimeError(f"sdm: {last_error()}")


class Handle:
    """Owns what a create call gave."""

    __slots__ = ("pointer", "_free")

    def __init__(self, kind: str, make: Callable[[Any], int]) -> None:
        self.pointer: Optional[int] = None
        self._free = getattr(lib, f"sdm_{kind}_free")
        pointer = c_void_p()
        check(make(byref(pointer)))
        self.pointer = pointer.value

    @classmethod
    def of(cls, kind: str, pointer: Optional[int]) -> "Handle":
        """Takes over a handle that a call gave."""
        handle = cls.__new__(cls)
        handle.pointer = pointer
        handle._free = getattr(lib, f"sdm_{kind}_free")
        return handle

    def __del__(self) -> None:
        if self.pointer:
            self._free(self.pointer)
            self.pointer = None

    def __reduce__(self) -> Any:
        # Two owners would free it twice.
        raise TypeError("what the library made cannot be copied or pickled: save its model, and load that")


def options(kind: Any, name: str, /, **values: Any) -> Any:
    """Options with the library's defaults, and these values where they are not None."""
    made = kind()
    getattr(lib, f"sdm_{name}_init")(byref(made))
    for key, value in values.items():
        if value is not None:
            _set(made, key, value)
    return made


# Whole numbers as ctypes takes them: what does not fit would lose its upper bits without a word.
_WHOLE = {c_int32: (-(2**31), 2**31), c_int64: (-(2**63), 2**63), c_uint64: (0, 2**64)}


def _set(made: Any, key: str, value: Any) -> None:
    kind = next(field[1] for field in made._fields_ if field[0] == key)
    if kind in _WHOLE:
        low, high = _WHOLE[kind]
        try:
            whole = operator.index(value)
        except TypeError:
            whole = high
        if not low <= whole < high:
            raise Error(f"{key} is {value!r}, expected a whole number{'' if low else ' of 0 or more'}")
        setattr(made, key, whole)
    elif kind in (c_double, c_float):
        setattr(made, key, real(value, key))
    elif isinstance(kind, type) and issubclass(kind, ctypes.Array):
        setattr(made, key, several(value, key, kind))
    elif kind is c_char_p:
        setattr(made, key, name_of(value, key))
    else:
        setattr(made, key, value)


def real(value: Any, what: str) -> float:
    """A number of the caller's."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{what} is {value!r}, expected a number") from None


def several(values: Any, what: str, kind: Any) -> Any:
    """So many numbers as an array of ctypes has."""
    try:
        given = [*values]
        if len(given) == kind._length_:
            return kind(*given)
    except (TypeError, ValueError, OverflowError):
        pass
    raise Error(f"{what} is {values!r}, expected {kind._length_} numbers")


def name_of(value: Any, what: str) -> bytes:
    """A text of the caller's, which C ends at the first zero."""
    if not isinstance(value, str) or "\0" in value:
        raise Error(f"{what} is {value!r}, expected a text")
    return value.encode("utf-8", "replace")


def path_of(path: Any) -> bytes:
    """A path of the caller's, as the file system has it."""
    try:
        name = os.fsencode(path)
    except (TypeError, UnicodeError) as error:
        raise Error(f"{path!r} is no path: {error}") from None
    if b"\0" in name:
        raise Error(f"{path!r} is no path: it has a zero in it")
    return name


def text(give: Callable[[Any], int]) -> str:
    """A text that a call allocates."""
    pointer = c_void_p()
    check(give(byref(pointer)))
    try:
        return ctypes.string_at(pointer.value or 0).decode("utf-8", "replace")
    finally:
        lib.sdm_free(pointer)
