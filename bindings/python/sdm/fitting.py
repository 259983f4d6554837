"""Nonlinear least squares, min |h(x) - y|^2, by descent maps that are learned from h."""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import ExitStack, contextmanager
from ctypes import byref, c_double, c_int32, c_void_p
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _library as c
from ._arrays import Float64, address, numbers
from ._library import Error
from ._progress import Progress, ProgressLike, raise_what_was
from .models import ModelFile

TRUSTED, REFINED, OUTSIDE, FAILED = range(4)
_STATUS = ["trusted", "refined", "outside", "failed"]
_REFINE = ["never", "doubtful", "always"]
_LOSSES = ["none", "huber", "cauchy", "tukey"]
_STOPS = ["residual", "gradient", "step", "cost", "evaluations", "stuck"]

#: Most states in one call of a function of Python's.
BLOCK = 4096

Function = Callable[[Float64], Any]


@dataclass(eq=False)
class Answer:
    """The answers to one y, or to many: arrays with an answer a row."""

    x: Float64  #: (states,) or (n, states)
    status: NDArray[np.uint8]  #: 0 trusted, 1 refined, 2 outside the box, 3 failed
    residual: Float64  #: |h(x) - y|
    radius: Float64  #: with the confidence asked for, |x - truth| is less
    relative_residual: Float64 = field(repr=False)  #: 1 is usual

    @property
    def trusted(self) -> NDArray[np.bool_]:
        """Where an answer may be trusted: trusted at once, or after refining."""
        return self.status <= REFINED

    def __len__(self) -> int:
        return 1 if self.x.ndim == 1 else len(self.x)

    def __repr__(self) -> str:
        if self.x.ndim == 1:
            values = ", ".join(f"{x:.4g} ± {r:.2g}" for x, r in zip(self.x, self.radius))
            return f"Answer({values}; {_STATUS[int(self.status)]}, residual {float(self.residual):.3g})"
        counts = np.bincount(self.status, minlength=4)
        told = ", ".join(f"{count} {name}" for count, name in zip(counts, _STATUS))
        return f"Answer({len(self)} answers: {told})"


@dataclass(eq=False)
class Fit:
    """The answer of `refine`."""

    x: Float64
    covariance: Float64 = field(repr=False)
    cost: float  #: |h(x) - y|^2 / 2
    stop: str  #: why it ended
    evaluations: int


class _Calls:
    """Which call an exception belongs to that a callback raises."""

    def __init__(self) -> None:
        self.own = threading.local()  # of the thread that made a call
        self.shared: List[BaseException] = []  # of the library's threads: of one call at a time
        self.threads = threading.Lock()

    def here(self) -> List[BaseException]:
        found: List[BaseException] = getattr(self.own, "raised", self.shared)
        return found


class _Problem:
    """h as the library calls it, and what of it must live as long."""

    def __init__(
        self,
        h: Any,
        states: int,
        features: int,
        jacobian: Optional[Callable[[Float64], Any]] = None,
        start: Optional[Callable[[Float64], Any]] = None,
    ) -> None:
        self.struct = c.options(c.Problem, "problem", states=states, features=features)
        self._keep: List[Any] = [h]
        self._calls = _Calls()
        if is_c_function(h):
            self.struct.h = _pointer_of(h)
        elif not callable(h):
            raise Error(f"h is a {type(h).__name__}, expected a function")
        else:
            self.struct.block = BLOCK
            self._set("h", c.FUNCTION, self._values(h, states, features))
        if jacobian is not None:
            self._set("jacobian", c.JACOBIAN, self._derivatives(jacobian, states, features))
        if start is not None:
            self._set("start", c.START_RULE, self._starts(start, states, features))

    def _set(self, name: str, kind: Any, function: Callable[..., None]) -> None:
        calls = self._calls  # and not self, which would be a circle

        def called(*arguments: Any) -> int:
            raised = calls.here()
            try:
                if not raised:
                    function(*arguments)
            except BaseException as error:  # it must not go through C
                raised.append(error)
            return 1 if raised else 0

        callback = kind(called)
        self._keep.append(callback)
        setattr(self.struct, name, _pointer_of(callback))

    # What a function of the caller's is given is a copy: he may change it, and keep it.

    @staticmethod
    def _values(h: Function, states: int, features: int) -> Callable[..., None]:
        def values(_user: Any, count: int, x: int, x_stride: int, out: int, out_stride: int) -> None:
            found = np.asarray(h(_view(x, states, count, x_stride).copy().T))
            if found.shape != (count, features):
                raise Error(f"h gave an array of shape {found.shape} for {count} states, expected {(count, features)}")
            _view(out, features, count, out_stride)[...] = _real(found, "h").T

        return values

    @staticmethod
    def _derivatives(jacobian: Callable[[Float64], Any], states: int, features: int) -> Callable[..., None]:
        def derivatives(_user: Any, x: int, out: int) -> None:
            found = np.asarray(jacobian(_view(x, 1, states, states)[0].copy()))
            if found.shape != (features, states):
                raise Error(f"the Jacobian has the shape {found.shape}, expected {(features, states)}")
            _view(out, features, states, states)[...] = _real(found, "the Jacobian")

        return derivatives

    @staticmethod
    def _starts(start: Callable[[Float64], Any], states: int, features: int) -> Callable[..., None]:
        def starts(_user: Any, y: int, x: int) -> None:
            found = np.asarray(start(_view(y, 1, features, features)[0].copy()))
            if found.shape != (states,):
                raise Error(f"start gave an array of shape {found.shape}, expected {(states,)}")
            _view(x, 1, states, states)[0] = _real(found, "start")

        return starts

    @contextmanager
    def raising(self, raised: List[BaseException], threads: int = 1) -> Iterator[None]:
        """What callbacks raise during a call goes on this list, and not on that of a call of another thread."""
        calls = self._calls
        before = getattr(calls.own, "raised", None)
        with ExitStack() as held:
            if threads != 1:
                held.enter_context(calls.threads)
                calls.shared = raised
            calls.own.raised = raised
            try:
                yield
            finally:
                calls.shared = calls.shared if calls.shared is not raised else []
                if before is None:
                    del calls.own.raised
                else:
                    calls.own.raised = before

    def run(self, call: Callable[..., int], *arguments: Any, threads: int = 1) -> None:
        """Makes a call, raising what it, or h in it, raised."""
        raised: List[BaseException] = []
        with self.raising(raised, threads):
            raise_what_was(raised, lambda: call(*arguments))


def _real(found: NDArray[Any], whose: str) -> NDArray[Any]:
    if found.dtype.kind not in "fiub":
        raise Error(f"{whose} gave values of type {found.dtype}, expected real numbers")
    return found


_C_FUNCTION: Any = getattr(ctypes, "_CFuncPtr")  # what a library's functions and CFUNCTYPE's have in common


def _pointer_of(function: Any) -> Optional[int]:
    return c_void_p.from_buffer(function).value  # ctypes.cast makes the function keep itself


def is_c_function(h: Any) -> bool:
    """Whether h is a function in C of the type sdm_function (include/sdm/c.h), as ctypes or cffi's address gives it."""
    return isinstance(h, _C_FUNCTION)


def _view(pointer: int, rows: int, columns: int, stride: int) -> Float64:
    """Numbers of the library's, in place; the last row may end early."""
    size = (rows - 1) * stride + columns
    memory: Any = (c_double * size).from_address(pointer)
    flat = np.frombuffer(memory, np.float64)
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (8 * stride, 8))


def _features_of(h: Any, x: Float64, features: Optional[int]) -> int:
    if features is not None:
        return features
    if is_c_function(h):
        raise Error("h is a function in C: tell `features`, how many values it gives")
    if not callable(h):
        raise Error(f"h is a {type(h).__name__}, expected a function")
    found = np.asarray(h(np.repeat(x[None, :], 2, axis=0)))
    if found.ndim != 2 or len(found) != 2:
        raise Error(
            f"h gave an array of shape {found.shape} for 2 states, expected (2, features): h takes an array of shape "
            "(n, states) and gives (n, features)"
        )
    return int(found.shape[1])


class Learned:
    """A solver for one h; `learn` makes one. Any number of threads may share it where h allows it.

    >>> import numpy as np, sdm
    >>> h = lambda x: x + np.array([0.0, 1.0, 2.0]) * x**3
    >>> solver = sdm.learn(h, [-1], [1], noise=0.01, samples=1000, calibration=500, progress=False)
    >>> solver.states, solver.features
    (1, 3)
    >>> solver.solve(h(np.array([[0.5], [-0.2]])))
    Answer(2 answers: 2 trusted, 0 refined, 0 outside, 0 failed)
    """

    def __init__(self, handle: c.Handle, problem: _Problem) -> None:
        self._handle = handle
        self._problem = problem
        states, features = c_int32(), c_int32()
        c.check(c.lib.sdm_learned_size(handle.pointer, byref(states), byref(features)))
        self.states: int = states.value
        self.features: int = features.value

    def solve(
        self,
        y: Any,
        *,
        confidence: float = 0.99,
        refine: str = "doubtful",
        further_starts: int = 4,
        threads: int = 1,
    ) -> Answer:
        """The answer to one y (features,), or to many (n, features); float64 arrays are not copied if their rows are
        contiguous. `refine`: "never", "doubtful" or "always", which gives the least-squares fit. `threads`: 0 takes
        all cores; the bits do not depend on it."""
        if refine not in _REFINE:
            raise Error(f"refine is {refine!r}, expected one of {', '.join(_REFINE)}")
        measured, stride, one = self._measured(y)
        count = len(measured)
        try:
            x, radius = np.empty((count, self.states)), np.empty((count, self.states))
            status, residual, relative = np.empty(count, np.uint8), np.empty(count), np.empty(count)
        except MemoryError as error:
            raise c.OutOfMemory(str(error)) from None
        options = c.options(
            c.SolveOptions,
            "solve_options",
            confidence=confidence,
            refine=_REFINE.index(refine),
            further_starts=further_starts,
            threads=threads,
        )
        out = c.Answers(address(x), address(radius), address(status), address(residual), address(relative))
        self._problem.run(
            c.lib.sdm_learned_solve,
            self._handle.pointer,
            count,
            address(measured),
            stride,
            byref(options),
            byref(out),
            threads=threads,
        )
        answer = Answer(x, status, residual, radius, relative)
        return Answer(x[0], status[0], residual[0], radius[0], relative[0]) if one else answer

    def _measured(self, y: Any) -> Tuple[Float64, int, bool]:
        """The measurements, a row each, and how many numbers lie between the rows."""
        array: Any = y
        if not isinstance(y, np.ndarray):
            try:
                array = np.asarray(y)
            except ValueError as error:
                raise Error(f"y: {error}, expected an array of numbers") from None
        one = array.ndim == 1
        if one:
            array = array[None, :]
        if array.ndim != 2 or array.shape[1] != self.features:
            raise Error(f"y has the shape {np.shape(array)}, expected ({self.features},) or (n, {self.features})")
        plain = array.dtype == np.float64 and not isinstance(array, np.ma.MaskedArray)
        if plain and array.strides[1] == 8 and len(array) > 1:
            stride = array.strides[0]
            if stride % 8 == 0 and stride >= 8 * self.features and array.flags.aligned:
                return array, stride // 8, one
        return numbers(array, "y", np.float64, (None, self.features)), 0, one

    def save(self, path: "str | os.PathLike[str]") -> None:
        """What was learned, without h: `load_learned(path, h)` wants it again."""
        ModelFile(c.Handle("model", lambda out: int(c.lib.sdm_learned_model(self._handle.pointer, out)))).save(path)

    @property
    def report(self) -> str:
        """What learning found, with the error of each value."""
        return c.text(lambda out: int(c.lib.sdm_learned_report(self._handle.pointer, 1, out)))

    def __repr__(self) -> str:
        return f"<sdm learned solver: {c.text(lambda out: int(c.lib.sdm_learned_report(self._handle.pointer, 0, out)))}>"


def learn(
    h: Any,
    lower: Any,
    upper: Any,
    *,
    noise: Any = None,
    log: Optional[Sequence[Any]] = None,
    features: Optional[int] = None,
    jacobian: Optional[Callable[[Float64], Any]] = None,
    start: Optional[Callable[[Float64], Any]] = None,
    x0: Any = None,
    samples: int = 20000,
    calibration: int = 8000,
    evaluations: int = 0,
    seconds: float = 0,
    max_stages: int = 12,
    seed: int = 1,
    threads: int = 0,
    progress: ProgressLike = None,
) -> Learned:
    """Learns to solve min |h(x) - y|^2 for any y that a state between `lower` and `upper` gives with that noise.

    `h` takes states of shape (n, states) and gives values of shape (n, features); or it is a function in C
    (`sdm_function` of include/sdm/c.h, by ctypes; then tell `features`). `noise`: the deviation of normal noise (one, or
    one for each feature), "poisson", or None: measurements are exact. `log`: the numbers of the values that span decades,
    or True or False for each. Ctrl-C stops it.

    >>> import numpy as np, sdm
    >>> t = np.linspace(0, 4, 40)
    >>> def decay(x):                       # amplitude, rate, offset
    ...     return x[:, :1] * np.exp(-x[:, 1:2] * t) + x[:, 2:]
    >>> solver = sdm.learn(decay, [0.5, 0.3, -0.5], [2, 3, 0.5], noise=0.01, log=[1], samples=4000, calibration=2000)
    >>> answer = solver.solve(decay(np.array([[1.2, 0.8, 0.1]]))[0])
    >>> bool(np.all(np.abs(answer.x - [1.2, 0.8, 0.1]) < answer.radius)), bool(answer.trusted)
    (True, True)
    """
    low = numbers(lower, "lower", np.float64, (None,))
    high = numbers(upper, "upper", np.float64, (len(low),))
    states = len(low)
    flags = _flags_of(log, states)
    first = numbers(x0, "x0", np.float64, (states,)) if x0 is not None else None
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise Error("lower and upper must be finite")
    middle = np.where(flags, np.sign(low) * np.sqrt(np.abs(low * high)), (low + high) / 2)
    problem = _Problem(h, states, _features_of(h, middle, features), jacobian, start)
    sigma = None
    if isinstance(noise, str):
        if noise != "poisson":
            raise Error(f"the noise is {noise!r}, expected a deviation, one for each feature, 'poisson' or None")
    elif noise is not None:
        sigma = numbers(noise, "noise", np.float64, (None,))
    telling = Progress(progress, "learning")
    options = c.options(
        c.LearnOptions,
        "learn_options",
        lower=address(low),
        upper=address(high),
        log=address(flags),
        noise=0 if noise is None else 2 if sigma is None else 1,
        sigma=None if sigma is None else address(sigma),
        sigma_count=None if sigma is None else len(sigma),
        x0=None if first is None else address(first),
        samples=samples,
        calibration=calibration,
        evaluations=evaluations,
        seconds=seconds,
        max_stages=max_stages,
        seed=seed,
        threads=threads,
        progress=telling.callback,
    )
    with problem.raising(telling.raised, threads):
        handle = telling.make(
            "learned", lambda out: int(c.lib.sdm_learn(byref(problem.struct), byref(options), out))
        )
    return Learned(handle, problem)


def _flags_of(log: Optional[Sequence[Any]], states: int) -> NDArray[np.uint8]:
    flags = np.zeros(states, np.uint8)
    if log is not None and not np.iterable(log):
        raise Error(f"log is {log!r}, expected which values, or True or False for each of {states}")
    values = [] if log is None else list(log)
    if len(values) == states and all(isinstance(v, (bool, np.bool_)) for v in values):
        flags[:] = values
        return flags
    for which in values:
        if isinstance(which, (bool, np.bool_)) or not isinstance(which, (int, np.integer)) or not 0 <= which < states:
            raise Error(f"log names the value {which!r}, expected 0 to {states - 1}, or True or False for each of {states}")
        flags[which] = 1
    return flags


def load_learned(
    path: "str | os.PathLike[str]",
    h: Any,
    *,
    jacobian: Optional[Callable[[Float64], Any]] = None,
    start: Optional[Callable[[Float64], Any]] = None,
) -> Learned:
    """What `Learned.save` stored, with the same h again.

    >>> import os, tempfile, numpy as np, sdm
    >>> h = lambda x: x + np.array([0.0, 1.0, 2.0]) * x**3
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "cubic.sdm")
    ...     sdm.learn(h, [-1], [1], noise=0.01, samples=1000, calibration=500, progress=False).save(path)
    ...     solver = sdm.load_learned(path, h)
    >>> bool(abs(solver.solve(h(np.array([[0.5]]))[0]).x[0] - 0.5) < 0.05)
    True
    """
    model = ModelFile.load(path)
    if model.kind != "learned":
        raise Error(f"{os.fspath(path)} is of kind '{model.kind}', expected 'learned'")
    shapes = {tensor["name"]: tensor["shape"] for tensor in model.info["tensors"]}
    problem = _Problem(h, len(model.info["header"]["axes"]), int(shapes["weight"][0]), jacobian, start)
    return Learned(
        c.Handle("learned", lambda out: int(c.lib.sdm_learned_create(model.pointer, byref(problem.struct), out))),
        problem,
    )


def curve_fit(
    f: Callable[..., Any],
    t: Any,
    Y: Any,
    lower: Any,
    upper: Any,
    *,
    sigma: Any = None,
    log: Optional[Sequence[Any]] = None,
    refine: str = "doubtful",
    threads: int = 1,
    **options: Any,
) -> Answer:
    """Fits f(t, *parameters) to every row of Y at once: scipy's `curve_fit` in a loop, many times quicker.

    f is called with each parameter as a column, (n, 1), beside t, (m,), and gives (n, m): what is written with numpy's
    operators does so by itself; what does not is called for each state alone. `sigma`: the deviation of the noise, or
    "poisson"; None: estimated from Y by its second differences, which takes Y to be smooth. `refine="always"` gives the
    least-squares fit itself. Further options are those of `learn`.

    >>> import numpy as np, sdm
    >>> t = np.linspace(0, 4, 30)
    >>> def decay(t, a, k):
    ...     return a * np.exp(-k * t)
    >>> truth = np.random.default_rng(1).uniform([0.5, 0.5], [2, 2], (100, 2))
    >>> Y = decay(t, truth[:, :1], truth[:, 1:])
    >>> fit = sdm.curve_fit(decay, t, Y, [0.4, 0.4], [2.1, 2.1], sigma=0.01, samples=4000, calibration=2000)
    >>> bool(np.abs(fit.x - truth).max() < 0.05)
    True
    """
    if not callable(f):
        raise Error(f"f is a {type(f).__name__}, expected a function")
    low = numbers(lower, "lower", np.float64, (None,))
    high = numbers(upper, "upper", np.float64, (len(low),))
    rows = _rows_of(Y)
    h = _columns(f, np.asarray(t), low, high)
    if sigma is None:
        sigma = _noise_of(np.atleast_2d(rows))
    solver = learn(h, lower, upper, noise=sigma, log=log, threads=threads, **options)
    return solver.solve(rows, refine=refine, threads=threads)


def _rows_of(values: Any) -> Float64:
    try:
        dimensions = np.ndim(values)
    except ValueError:  # rows of different lengths, as `numbers` tells
        dimensions = 2
    return numbers(values, "Y", np.float64, (None,) if dimensions == 1 else (None, None))


def _noise_of(rows: Float64) -> float:
    if rows.shape[1] < 5 or not len(rows):
        raise Error(f"{len(rows)} rows of {rows.shape[1]} values are too few to tell the noise from: give sigma")
    if not np.isfinite(rows[:2000]).all():
        raise Error("Y has values that are not finite, which tell nothing of the noise")
    second = np.abs(np.diff(rows[:2000], 2, axis=1))
    return float(max(1.4826 * np.median(second) / np.sqrt(6), 1e-9 * (np.ptp(rows) or 1)))


def _columns(f: Callable[..., Any], t: Any, low: Float64, high: Float64) -> Function:
    def h(x: Float64) -> Any:
        return f(t, *(x[:, j : j + 1] for j in range(x.shape[1])))

    def one_by_one(x: Float64) -> Any:
        return np.stack([np.asarray(f(t, *row)) for row in x])

    probe = np.stack([0.7 * low + 0.3 * high, 0.3 * low + 0.7 * high])
    alone = one_by_one(probe)
    if alone.ndim != 2:
        raise Error(f"f gave an array of shape {alone.shape[1:]}, expected one value for each t")
    try:
        together = np.asarray(h(probe))
    except Exception:  # f takes numbers alone
        return one_by_one
    size = np.abs(alone[np.isfinite(alone)]).max(initial=0)  # f may be of any unit
    if together.shape == alone.shape and np.allclose(together, alone, rtol=1e-6, atol=1e-9 * size, equal_nan=True):
        return h
    return one_by_one


def refine(
    h: Any,
    y: Any,
    x0: Any,
    *,
    lower: Any = None,
    upper: Any = None,
    loss: str = "none",
    loss_scale: float = 1,
    jacobian: Optional[Callable[[Float64], Any]] = None,
    max_evaluations: int = 2000,
) -> Fit:
    """min |h(x) - y|^2 from a start near the answer, by Levenberg-Marquardt; h as in `learn`.

    >>> import numpy as np, sdm
    >>> t = np.linspace(0, 4, 40)
    >>> fit = sdm.refine(lambda x: x[:, :1] * np.exp(-x[:, 1:] * t), 1.2 * np.exp(-0.8 * t), [1, 1])
    >>> bool(np.allclose(fit.x, [1.2, 0.8]))
    True
    """
    x = numbers(x0, "x0", np.float64, (None,)).copy()
    measured = numbers(y, "y", np.float64, (None,))
    if loss not in _LOSSES:
        raise Error(f"the loss is {loss!r}, expected one of {', '.join(_LOSSES)}")
    problem = _Problem(h, len(x), len(measured), jacobian)
    options = c.options(
        c.RefineOptions,
        "refine_options",
        max_evaluations=max_evaluations,
        loss=_LOSSES.index(loss),
        loss_scale=loss_scale,
    )
    bounds = []
    for name, values in (("lower", lower), ("upper", upper)):
        if values is not None:
            bounds.append(numbers(values, name, np.float64, (len(x),)))
            setattr(options, name, address(bounds[-1]))
    covariance, summary = np.empty((len(x), len(x))), c.RefineSummary()
    problem.run(
        c.lib.sdm_refine,
        byref(problem.struct), address(measured), address(x), byref(options), address(covariance), byref(summary)
    )
    return Fit(x, covariance, summary.final_cost, _STOPS[summary.stop], summary.evaluations)


@dataclass(eq=False)
class Certificate:
    """Theorems 1 and 2 of the paper on samples around x*: does one step of a map bring every one closer?"""

    guaranteed: bool  #: monotone, and the map's norm below the bound
    monotone: bool
    contraction: float  #: the largest |x* - x_next| / |x* - x|
    mean_contraction: float
    bound: float
    spectral_norm: float
    map_norm: float
    lipschitz: float
    min_cosine: float
    samples: int
    worst_sample: int


def certify(h: Any, r: Any, x_star: Any, samples: Any) -> Certificate:
    """The certificate of the map `r` (states, features) for states `samples` (n, states) around `x_star`.

    >>> import numpy as np, sdm
    >>> around = np.linspace(-0.5, 0.5, 11)[:, None]
    >>> sdm.certify(lambda x: np.sin(x), [[1.0]], [0.0], around[around != 0][:, None]).guaranteed
    True
    """
    star = numbers(x_star, "x_star", np.float64, (None,))
    map_ = numbers(r, "r", np.float64, (len(star), None))
    states = numbers(samples, "samples", np.float64, (None, len(star)))
    problem = _Problem(h, len(star), map_.shape[1])
    found = c.Certificate()
    problem.run(
        c.lib.sdm_certify,
        byref(problem.struct), address(map_), address(star), len(states), address(states), byref(found)
    )
    return Certificate(
        found.guaranteed != 0,
        found.monotone != 0,
        found.contraction,
        found.mean_contraction,
        found.bound,
        found.spectral_norm,
        found.map_norm,
        found.lipschitz,
        found.min_cosine,
        found.samples,
        found.worst_sample,
    )


class Cascade:
    """A plain cascade of descent maps, x <- x + b - R (h(x) - y), that may go on learning from new samples.

    `h` takes (n, states) and gives (n, features); `targets` (n, states), `measured` (n, features) and `starts`, one state
    or one for each.

    >>> import numpy as np, sdm
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> cascade = sdm.Cascade(np.sin, [0.0], x, np.sin(x), stages=6, online=True)
    >>> bool(abs(cascade.solve(np.sin([0.4]), [0.0])[0] - 0.4) < 0.01)
    True
    >>> cascade.update(np.sin([0.4]), [0.0], [0.4], weight=100)
    """

    def __init__(
        self,
        h: Any,
        starts: Any,
        targets: Any,
        measured: Any,
        *,
        stages: int = 4,
        penalty: float = 1e-6,
        folds: int = 1,
        online: bool = False,
        seed: int = 1,
        threads: int = 0,
        progress: ProgressLike = False,
    ) -> None:
        to = numbers(targets, "targets", np.float64, (None, None))
        y = numbers(measured, "measured", np.float64, (len(to), None))
        begin = numbers(np.atleast_2d(starts), "starts", np.float64, (None, to.shape[1]))
        if len(begin) not in (1, len(to)):
            raise Error(f"{len(begin)} starts for {len(to)} targets, expected one or one for each")
        self._hold(h, to.shape[1], y.shape[1])
        telling = Progress(progress, "training")
        options = c.options(
            c.TrainOptions,
            "train_options",
            stages=stages,
            penalty=penalty,
            folds=folds,
            online=bool(online),
            seed=seed,
            threads=threads,
            progress=telling.callback,
        )
        with self._problem.raising(telling.raised, threads):
            self._handle = telling.make(
                "cascade",
                lambda out: int(
                    c.lib.sdm_cascade_train(
                        byref(self._problem.struct),
                        len(to),
                        address(begin),
                        int(len(begin) == 1),
                        address(to),
                        address(y),
                        byref(options),
                        out,
                    )
                ),
            )

    def _hold(self, h: Any, states: int, features: int) -> None:
        self.states, self.features = int(states), int(features)
        self._problem = _Problem(h, self.states, self.features)
        self._lock = threading.RLock()  # one call at a time: an update changes the maps

    @classmethod
    def load(cls, path: "str | os.PathLike[str]", h: Any) -> "Cascade":
        """What `save` stored, with the same h again."""
        model = ModelFile.load(path)
        if model.kind not in ("cascade", "online"):
            raise Error(f"{os.fspath(path)} is a model of kind '{model.kind}', expected 'cascade' or 'online'")
        cascade = cls.__new__(cls)
        shapes = {tensor["name"]: tensor["shape"] for tensor in model.info["tensors"]}
        cascade._hold(h, model.info["header"]["state_size"], shapes["stage0.right"][1])
        cascade._handle = c.Handle("cascade", lambda out: int(c.lib.sdm_cascade_create(model.pointer, out)))
        return cascade

    def save(self, path: "str | os.PathLike[str]") -> None:
        """The maps, and what further learning needs, without h: `Cascade.load(path, h)` wants it again."""
        with self._lock:
            handle = c.Handle("model", lambda out: int(c.lib.sdm_cascade_model(self._handle.pointer, out)))
        ModelFile(handle).save(path)

    def solve(self, y: Any, x0: Any) -> Float64:
        """Moves x0 by every stage."""
        x = numbers(x0, "x0", np.float64, (self.states,)).copy()
        measured = numbers(y, "y", np.float64, (self.features,))
        with self._lock:
            self._problem.run(
                c.lib.sdm_cascade_solve,
                self._handle.pointer,
                byref(self._problem.struct),
                address(measured),
                address(x),
                None,
            )
        return x

    def update(self, y: Any, x0: Any, target: Any, *, weight: float = 1, forgetting: float = 1) -> None:
        """Learns one more sample: y is measured at `target`, solving began at x0."""
        measured = numbers(y, "y", np.float64, (self.features,))
        begin = numbers(x0, "x0", np.float64, (self.states,))
        to = numbers(target, "target", np.float64, (self.states,))
        with self._lock:
            self._problem.run(
                c.lib.sdm_cascade_update,
                self._handle.pointer,
                byref(self._problem.struct),
                address(measured),
                address(begin),
                address(to),
                c.real(weight, "weight"),
                c.real(forgetting, "forgetting"),
            )

    @property
    def maps(self) -> List[Tuple[Float64, Float64]]:
        """R (states, features) and b (states,) of every stage."""
        count = c_int32()
        found = []
        with self._lock:
            c.check(c.lib.sdm_cascade_stages(self._handle.pointer, byref(count)))
            for stage in range(count.value):
                r, b = np.empty((self.states, self.features)), np.empty(self.states)
                c.check(c.lib.sdm_cascade_map(self._handle.pointer, stage, address(r), address(b)))
                found.append((r, b))
        return found
