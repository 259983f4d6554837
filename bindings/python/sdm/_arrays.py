"""Arrays and pictures of the caller's as the library takes them: without a copy where they fit."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _library as c
from ._library import Error, OutOfMemory

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Picture = Union[Bytes, str, "os.PathLike[str]", Any]

_FORMATS = {"grey": c.GREY, "gray": c.GREY, "rgb": c.RGB, "bgr": c.BGR, "rgba": c.RGBA, "bgra": c.BGRA}
_CHANNELS = {c.GREY: 1, c.RGB: 3, c.BGR: 3, c.RGBA: 4, c.BGRA: 4}
_BY_NUMBER = {1: c.GREY, 3: c.RGB, 4: c.RGBA}



#: A longer side is refused: beyond it a coordinate is not exact in single precision.
LONGEST = 1 << 20


def address(array: NDArray[Any]) -> int:
    """Where the numbers are."""
    found: int = array.__array_interface__["data"][0]
    return found


def contiguous(array: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """The array without gaps, itself if it has none."""
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused where it matters
            return np.ascontiguousarray(array, dtype=dtype)
    except MemoryError as error:
        raise OutOfMemory(str(error)) from None


def read_picture(path: "str | os.PathLike[str]") -> Bytes:
    """A picture file, by Pillow or else by OpenCV."""
    name = os.fsdecode(c.path_of(path))
    if not os.path.exists(name):
        raise Error(f"{name}: there is no such file")
    try:
        from PIL import Image
    except ImportError:
        Image = None
    if Image is not None:
        try:
            with Image.open(name) as opened:
                return _of_pil(opened)
        except Error as error:
            raise Error(f"{name}: {error}") from None
        except Exception as error:  # a broken file makes its readers raise anything
            raise Error(f"{name}: {error}") from error
    try:
        import cv2
    except ImportError:
        raise Error(
            f"{name}: reading pictures needs Pillow or OpenCV, and neither is installed "
            "(Debian: python3-pil; or pip install pillow)"
        ) from None
    pixels = cv2.imread(name)
    if pixels is None:
        raise Error(f"{name}: is no picture that OpenCV can read")
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _of_pil(picture: Any) -> Bytes:
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(picture)
    # Pillow's older versions make 32 bits of a PNG's 16. convert() would cut off what is brighter than 255.
    if upright.mode.startswith("I;16") or (upright.mode == "I" and picture.format in ("PNG", "PPM")):
        return (np.asarray(upright) >> 8).astype(np.uint8)
    if upright.mode in ("I", "F"):
        raise Error(f"the picture has pixels of mode {upright.mode!r}, expected 8 or 16 bits")
    if upright.mode not in ("L", "RGB", "RGBA"):
        upright = upright.convert("RGB")
    return np.asarray(upright)


def pixels_of(picture: Picture) -> Bytes:
    """The picture as an array of bytes, grey or with three or four channels."""
    if isinstance(picture, (str, os.PathLike)):
        return read_picture(picture)
    if not isinstance(picture, np.ndarray):
        if hasattr(picture, "getexif") and hasattr(picture, "mode"):
            return _of_pil(picture)
        try:
            picture = np.asarray(picture)
        except Exception as error:
            raise Error(f"the picture is a {type(picture).__name__}, which is no array: {error}") from error
    array: NDArray[Any] = picture
    if array.dtype != np.uint8:
        raise Error(
            f"the picture has numbers of type {array.dtype}, expected uint8"
            + (" (0 to 255): multiply by 255 and convert" if array.dtype.kind == "f" else "")
        )
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
        raise Error(f"the picture has the shape {array.shape}, expected (height, width) or (height, width, 3 or 4)")
    if array.size == 0:
        raise Error(f"the picture has the shape {array.shape}: there are no pixels")
    return array


def format_of(array: Bytes, format: Optional[str]) -> int:
    """How the channels lie: as they are named, or by their number."""
    channels = 1 if array.ndim == 2 else array.shape[2]
    if format is None:
        return _BY_NUMBER[channels]
    code = _FORMATS.get(format.lower()) if isinstance(format, str) else None
    if code is None:
        raise Error(f"the format is {format!r}, expected one of grey, rgb, bgr, rgba, bgra")
    if _CHANNELS[code] != channels:
        raise Error(f"the picture has {channels} channels, which is not {format.lower()}")
    return code


def image_of(picture: Picture, format: Optional[str] = None) -> Tuple[c.Image, Bytes]:
    """What the library is told of a picture, and the array that must live as long."""
    array = pixels_of(picture)
    code = format_of(array, format)
    channels = _CHANNELS[code]
    strides = array.strides
    height, width = array.shape[0], array.shape[1]
    if height > LONGEST or width > LONGEST:
        raise Error(f"the picture is {width} x {height} pixels, expected sides of at most {LONGEST}")
    in_rows = (strides[1] == channels or width == 1) and (array.ndim == 2 or strides[2] == 1)
    if not in_rows or (height > 1 and abs(strides[0]) < width * channels):
        array = contiguous(array)
        strides = array.strides
    stride = strides[0] if height > 1 else width * channels
    return c.Image(address(array), width, height, stride, code), array


def images_of(pictures: Iterable[Picture], format: Optional[str]) -> Tuple[Any, List[Bytes]]:
    """The same for many, in one block of memory."""
    if isinstance(pictures, (str, bytes, os.PathLike)):
        raise Error("expected several pictures, not one path")
    try:
        given = list(pictures)
    except TypeError:
        raise Error(f"the pictures are a {type(pictures).__name__}, expected a list of them") from None
    block = (c.Image * len(given))()
    keep: List[Bytes] = []
    for number, picture in enumerate(given):
        try:
            image, array = image_of(picture, format)
        except Error as error:
            raise Error(f"picture {number}: {error}") from None
        block[number] = image
        keep.append(array)
    return block, keep


def numbers(values: Any, what: str, dtype: Any, shape: Sequence[Optional[int]]) -> NDArray[Any]:
    """The values as a contiguous array of this type and shape (None: any size): itself if it fits. A single number will do for
    a row of one."""
    whole = np.dtype(dtype).kind == "i"
    try:
        if isinstance(values, np.ma.MaskedArray):  # what is masked is not known
            values = np.where(values.mask, np.nan, values.data)
        array = np.asarray(values)
        if array.ndim == 0 and len(shape) == 1:
            array = array.reshape(1)
        if array.dtype.kind not in ("iu" if whole and array.size else "fiub"):
            raise TypeError(f"numbers of type {array.dtype}")
        if whole and array.size and not (np.iinfo(dtype).min <= array.min() and array.max() <= np.iinfo(dtype).max):
            raise ValueError(f"numbers from {array.min()} to {array.max()}")
    except (TypeError, ValueError) as error:
        raise Error(f"{what}: {error}, expected an array of {'whole ' if whole else ''}numbers") from None
    expected = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"
    if array.ndim != len(shape) or any(s is not None and s != n for s, n in zip(shape, array.shape)):
        raise Error(f"{what} has the shape {array.shape}, expected {expected}")
    return contiguous(array, dtype)


def copied(pointer: int, count: int) -> Float32:
    """Numbers of the library's, which will be overwritten."""
    return np.frombuffer(bytearray(ctypes.string_at(pointer, 4 * count)), np.float32)
