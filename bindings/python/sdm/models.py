"""Model files: those that come with the package by name, and one's own by path."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import byref, c_size_t, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _library as c
from ._library import Error

#: Which models a call takes that is told none. Everything that has a default finds its name here.
DEFAULTS: Dict[str, str] = {"landmarks": "face68", "verifier": "face68-fast", "detector": "face-detector"}

#: Those that `free=True` takes: of each use the first that is there under a licence that lets everybody use and sell it.
FREE: Dict[str, Tuple[str, ...]] = {
    "landmarks": ("face68", "face68-free", "face68-free-fast"),
    "verifier": ("face68-fast", "face68-free-fast"),
    "detector": ("face-detector", "face-detector-free"),
}
_FREE_LICENCES = ("Apache-2.0", "MIT", "BSD", "CC0")


def folders() -> List[Path]:
    """Where models are looked for by name, the first place first: $SDM_MODELS, the package, the system, and the sources
    that the package lies in."""
    here = Path(__file__).resolve()
    named = os.environ.get("SDM_MODELS")
    found = [Path(named)] if named else []
    found += [here.parent / "models", Path("/usr/share/sdm")]
    if len(here.parents) > 3:
        found.append(here.parents[3] / "models")
    return found


def names() -> List[str]:
    """The names of the models that come with the package.

    >>> import sdm
    >>> "face68" in sdm.models.names()
    True
    """
    stems = {p.stem for folder in folders() if folder.is_dir() for p in folder.glob("*.sdm")}
    return sorted(stem for stem in stems if "." not in stem)


def find(name: "str | os.PathLike[str]") -> str:
    """The file of a model: a path, or the name of one that comes with the package."""
    path = os.fsdecode(c.path_of(name))
    if os.sep in path or path.endswith(".sdm") or os.path.isfile(path):
        return path
    for folder in folders():
        if (folder / f"{path}.sdm").is_file():
            return str(folder / f"{path}.sdm")
    raise Error(f"there is no model {path!r}, expected a file or one of {', '.join(names()) or 'none that is there'}")


def load(path: "str | os.PathLike[str]") -> "ModelFile":
    """A model of any kind from a file, or by the name of one that comes with the package.

    >>> import sdm
    >>> sdm.models.load("face-detector").kind
    'detector'
    """
    return ModelFile.load(path)


def licences() -> Dict[str, str]:
    """What each model that comes with the package may be used for.

    >>> import sdm
    >>> sdm.models.licences()["face-detector-free"]
    'Apache-2.0'
    """
    return {name: _loaded(name).licence for name in names()}


class ModelFile:
    """A model of any kind, as a file holds it. Any number of threads may share it.

    >>> import sdm
    >>> sdm.models.ModelFile.load("face-detector").kind
    'detector'
    """

    def __init__(self, handle: c.Handle) -> None:
        self._handle = handle
        self._info: Optional[Dict[str, Any]] = None

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "ModelFile":
        """From a file, or by the name of one that comes with the package."""
        name = c.path_of(find(path))
        return cls(c.Handle("model", lambda out: int(c.lib.sdm_model_load(name, out))))

    @classmethod
    def from_bytes(cls, data: bytes) -> "ModelFile":
        """From the bytes of a file."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise Error(f"the model is a {type(data).__name__}, expected the bytes of a file")
        held = bytes(data)
        return cls(c.Handle("model", lambda out: int(c.lib.sdm_model_read(held, len(held), out))))

    def to_bytes(self) -> bytes:
        """The bytes of a file."""
        pointer, size = c_void_p(), c_size_t()
        c.check(c.lib.sdm_model_bytes(self.pointer, byref(pointer), byref(size)))
        try:
            return ctypes.string_at(pointer.value or 0, size.value)
        finally:
            c.lib.sdm_free(pointer)

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the file, so that at every moment the old one or the whole new one is there."""
        c.check(c.lib.sdm_model_save(self.pointer, c.path_of(path)))

    @property
    def pointer(self) -> Optional[int]:
        return self._handle.pointer

    @property
    def kind(self) -> str:
        """What it is: "face", "detector", "rigid", "pose", "learned", "cascade", "online", ..."""
        name: bytes = c.lib.sdm_model_kind(self.pointer)
        return name.decode()

    @property
    def info(self) -> Dict[str, Any]:
        """Kind, header and tensors."""
        if self._info is None:
            self._info = json.loads(c.text(lambda out: int(c.lib.sdm_model_info(self.pointer, out))))
        return self._info

    @property
    def licence(self) -> str:
        """What it may be used for, as those who trained it say."""
        return str(self.info["header"].get("licence", ""))

    @property
    def is_free(self) -> bool:
        """Whether its licence lets everybody use and sell what is under it."""
        return all(part.startswith(_FREE_LICENCES) for part in self.licence.split("; of the base: "))

    def __repr__(self) -> str:
        header = self.info["header"]
        size = sum(tensor["bytes"] for tensor in self.info["tensors"])
        name = header.get("name") or ""
        return f"<sdm {self.kind} model{' ' + name if name else ''}, {size / 1e6:.2f} MB>"

    def __reduce__(self) -> Any:
        return (type(self).from_bytes, (self.to_bytes(),))


ModelLike = Union[ModelFile, str, "os.PathLike[str]"]


@lru_cache(maxsize=16)
def _read(path: str, _stamp: object) -> ModelFile:
    return ModelFile.load(path)


def _loaded(name: "str | os.PathLike[str]") -> ModelFile:
    """The model of a file, read once for as long as the file stays the same."""
    path = os.path.abspath(find(name))
    try:
        at = os.stat(path)
    except (OSError, ValueError):
        return ModelFile.load(path)  # which says what is wrong
    return _read(path, (at.st_mtime_ns, at.st_size, at.st_ino))


def _free(use: str) -> ModelFile:
    refused = ""
    for name in FREE[use]:
        try:
            model = _loaded(name)
        except Error:
            continue
        if model.is_free:
            return model
        refused = f"; that of {name}: {model.licence}"
    raise Error(f"no model that comes with the package has a free licence and is for {use}{refused}")


def model_of(model: Optional[ModelLike], use: str, free: bool = False) -> ModelFile:
    """A model, the one of a name or path, or the default of what it is for. Free: and nothing but a free one."""
    if model is None:
        return _free(use) if free else _loaded(DEFAULTS[use])
    given = model if isinstance(model, ModelFile) else _loaded(model)
    if free and not given.is_free:
        raise Error(f"the licence of the model for {use} is not free: {given.licence or 'it tells none'}")
    return given
