"""Reading a photo: linear pixels as stored, with the levels, mask and camera that give them meaning.

Files come from strangers: sizes are checked before anything is decoded, and nothing here can run code from a file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard import encoding
from greycard.camera import ColourMatrices, full_name
from greycard.errors import GreycardError
from greycard.illuminant import Array
from greycard.mosaic import Mosaic

MOST_PIXELS = 400_000_000
"""A file that claims more pixels than this is refused before it is decoded."""
SUFFIXES = (".png", ".tif", ".tiff", ".npy")
"""Kinds of file that `read` understands, beside RAW files."""

_NOT_LINEAR = (
    "so it is not linear in light and the colour of its light cannot be read off; use the RAW file or a linear export, "
    "or --assume-srgb (assume_srgb=True) to undo an sRGB curve knowingly"
)

Pixels = NDArray[np.uint16] | NDArray[np.float32]
_Content = TypeVar("_Content")


@dataclass(frozen=True)
class Photo:
    """Pixels in linear light, and what they mean.

    stored: (H, W, 3) in the order red, green, blue; as stored, so neither black nor white level is applied yet. Or the
    mosaic of a sensor, of which `pixels` are averages above black.
    A pixel that is exactly 0 in all channels is a hole in the picture: no measurement, like a masked one.
    black, white: (3,) value of `pixels` for no light and for saturation; a mosaic is masked by levels of its own.
    mask: (H, W), True where a pixel is no measurement (a colour chart, a logo); or None. What is clipped is not in it.
    camera: make and model as the file gives them; or None. name: the file, or what to call the array.
    matrices: what the file says of the camera's colours; or None. as_shot: (3,) the camera's own white; or None.
    shading: (64, 64, 3) gains that undo the lens's shading, on the thumbnail's grid; or None.
    balanced: the file's values went through a white balance before they were stored, so that lights measured with other
    files of the camera do not fit them; its matrices do. notes: what a user should know of the file.
    """

    stored: Pixels | Mosaic
    black: NDArray[np.float32]
    white: NDArray[np.float32]
    mask: NDArray[np.bool_] | None = None
    camera: str | None = None
    name: str = "pixels"
    matrices: ColourMatrices | None = None
    as_shot: Array | None = None
    shading: NDArray[np.float32] | None = None
    balanced: bool = False
    notes: tuple[str, ...] = ()

    @property
    def pixels(self) -> Pixels:
        """(H, W, 3) red, green, blue; those of a mosaic are made when they are first asked for."""
        return self.stored.planes if isinstance(self.stored, Mosaic) else self.stored

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.stored.shape[:2]
        return height, width


def from_array(
    pixels: ArrayLike,
    *,
    black: ArrayLike = 0.0,
    white: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    assume_srgb: bool = False,
    name: str = "pixels",
) -> Photo:
    """A photo from an array (H, W, 3) that is linear in light.

    Floats are taken to saturate at 1.0 unless `white` says otherwise (`math.inf`: nothing is clipped). Integers need
    `white`, because their range is not known from their type: a uint16 array may hold 12 bits.
    assume_srgb: the values are encoded with the sRGB curve, over the full range of their type; undo it first.
    """
    stored = _numbers(pixels, name)
    if assume_srgb:
        if white is not None or np.any(np.asarray(black) != 0):
            raise GreycardError(f"{name}: sRGB has no black and white level; leave them out with assume_srgb")
        if stored.dtype not in (np.uint8, np.uint16) and stored.dtype.kind != "f":
            raise GreycardError(f"{name}: holds {stored.dtype} values; an sRGB picture has 8 or 16 bits, or floats")
        stored = encoding.undo_srgb(stored)
    if stored.dtype.kind in "ui":
        if stored.itemsize == 1:
            raise GreycardError(f"{name}: holds 8-bit values, {_NOT_LINEAR}")
        if white is None:
            raise GreycardError(
                f"{name}: holds {stored.dtype} integers, whose range is not known; give the saturation level with "
                "white= (and black=), or divide by it and pass floats from 0 to 1"
            )
    black_level, white_level = _levels(black, 1.0 if white is None else white, name)
    if np.mean(np.any(stored[::8, ::8] > white_level, axis=-1)) > 0.5:
        raise GreycardError(
            f"{name}: most pixels are above the white level of {white_level.max():g}, values reach {stored.max():g}; "
            "give the level of saturation with white= (--white), or inf if it is not known"
        )
    return Photo(
        stored if stored.dtype == np.uint16 else stored.astype(np.float32),
        black=black_level,
        white=white_level,
        mask=_mask(mask, stored.shape[:2], name),
        name=name,
    )


def read(
    path: str | Path,
    *,
    black: ArrayLike = 0.0,
    white: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    assume_srgb: bool = False,
    known_linear: bool = False,
) -> Photo:
    """Read a linear picture: a RAW file, 16-bit PNG, 16-bit or float TIFF, or NPY.

    A RAW file brings its own levels, and stays open as long as the photo is in use.
    white: saturation level; by default the largest number that the file's bits can hold, and 1.0 for floats.
    assume_srgb: undo the sRGB curve of a picture that is known to be encoded with it; without this, 8-bit pictures
    and those whose metadata names a gamma are refused.
    known_linear: the pixels are known to be linear, whatever the file's metadata says.
    """
    from greycard import raw

    path = Path(path)
    name = str(path)
    if path.suffix.lower() in raw.SUFFIXES:
        if np.any(np.asarray(black) != 0) or white is not None or mask is not None or assume_srgb:
            raise GreycardError(f"{name}: a RAW file brings its own levels; leave out black, white, mask and sRGB")
        return _guarded(raw.read, path)
    found = _decode(path)
    if found.not_linear and not (assume_srgb or known_linear):
        raise GreycardError(f"{name}: {found.not_linear}, {_NOT_LINEAR}")
    if white is None and found.pixels.dtype.kind == "u" and not assume_srgb:
        white = float(2 ** (found.bits or 8 * found.pixels.itemsize) - 1)
    photo = from_array(found.pixels, black=black, white=white, mask=mask, assume_srgb=assume_srgb, name=name)
    return replace(photo, camera=found.camera)


def crop(picture: Photo, region: tuple[float, float, float, float]) -> Photo:
    """A part of a photo. region: left, top, right, bottom as fractions of its width and height."""
    left, top, right, bottom = region
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise GreycardError(f"region: expected left,top,right,bottom as fractions from 0 to 1, got {region}")
    height, width = picture.shape
    rows, columns = _pixels_of(top, bottom, height), _pixels_of(left, right, width)
    whole = picture.stored
    return replace(
        picture,
        stored=whole.part(rows, columns) if isinstance(whole, Mosaic) else whole[rows, columns],
        mask=None if picture.mask is None else picture.mask[rows, columns],
        shading=None if picture.shading is None else _shading_of(picture.shading, region),
    )


def _pixels_of(low: float, high: float, size: int) -> slice:
    """The pixels between two fractions of a side, at least one."""
    start = min(round(low * size), size - 1)
    return slice(start, max(round(high * size), start + 1))


def _shading_of(shading: NDArray[np.float32], region: tuple[float, float, float, float]) -> NDArray[np.float32]:
    """Gains (n, n, 3) over a whole frame -> the same number over a part of it."""
    cells = len(shading)
    centres = (np.arange(cells) + 0.5) / cells
    left, top, right, bottom = region
    down, across = ((low + centres * (high - low)) * cells - 0.5 for low, high in ((top, bottom), (left, right)))
    return bilinear(shading, np.clip(down, 0, cells - 1), np.clip(across, 0, cells - 1))


def bilinear(points: NDArray[np.float32], down: Array, across: Array) -> NDArray[np.float32]:
    """Values of a grid (rows, columns, k) at fractional rows and columns: (len(down), len(across), k)."""
    top, left = np.floor(down).astype(int), np.floor(across).astype(int)
    bottom, right = np.minimum(top + 1, points.shape[0] - 1), np.minimum(left + 1, points.shape[1] - 1)
    y, x = (down - top)[:, None, None], (across - left)[None, :, None]
    rows = points[top] * (1 - y) + points[bottom] * y
    return np.asarray(rows[:, left] * (1 - x) + rows[:, right] * x, dtype=np.float32)


@dataclass(frozen=True)
class _Found:
    """What a file holds: pixels, its camera if it names one, and why it is not linear, if it is not.

    bits: those of a stored value, where they may be fewer than the type of the pixels has.
    """

    pixels: NDArray[Any]
    camera: str | None = None
    not_linear: str | None = None
    bits: int | None = None


def _decode(path: Path) -> _Found:
    """The content of a file of any kind, or one clear line that says why it cannot be had."""
    readers = {".png": _read_png, ".tif": _read_tiff, ".tiff": _read_tiff, ".npy": _read_npy}
    suffix = path.suffix.lower()
    if suffix == ".npz":
        raise GreycardError(
            f"{path}: is a packed data set of many pictures; `greycard estimate` or datasets.packed reads it"
        )
    if suffix not in readers:
        kind = suffix or "a file without an ending"
        raise GreycardError(f"{path}: cannot read {kind}; expected a RAW file or one of {', '.join(SUFFIXES)}")
    return _guarded(readers[suffix], path)


def _guarded(reader: Callable[[Path], _Content], path: Path) -> _Content:
    """What a reader makes of a file, or one clear line that says why that cannot be had."""
    try:
        if path.stat().st_size == 0:
            raise GreycardError(f"{path}: is empty")  # noqa: TRY301
        return reader(path)
    except GreycardError:
        raise
    except FileNotFoundError as error:
        raise GreycardError(f"{path}: there is no such file") from error
    except OSError as error:
        raise GreycardError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # a decoder may fail in its own way on a broken file: one line for the user
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise GreycardError(f"{path}: cannot be decoded ({reason}); is it damaged or of another kind?") from error


def _read_png(path: Path) -> _Found:
    import imagecodecs

    data = path.read_bytes()
    chunks = dict(_png_chunks(data, path))
    width, height, bits = struct.unpack(">IIB", chunks[b"IHDR"][:9])
    _check_size(height, width, path)
    not_linear = "holds 8-bit values" if bits <= 8 else encoding.of_png(chunks)
    return _Found(_three_channels(imagecodecs.png_decode(data), path), not_linear=not_linear)


def _png_chunks(data: bytes, path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG up to its pixels, as (type, content)."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        raise GreycardError(f"{path}: is not a PNG file, whatever its name says")
    at = 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IDAT":
            return
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length


def _read_tiff(path: Path) -> _Found:
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        page = tiff.pages.first
        _check_size(page.imagelength, page.imagewidth, path)
        # RGB, or three planes of plain numbers; CMYK, Lab and YCbCr would be read as colours that they are not.
        if page.samplesperpixel not in (3, 4) or page.photometric not in (1, 2, 34892):
            raise GreycardError(
                f"{path}: needs three channels of linear RGB, it has {page.samplesperpixel} ({page.photometric!r})"
            )
        tags = {tag.code: tag.value for tag in page.tags}
        pixels = page.asarray()
        if page.planarconfig == 2:
            pixels = np.moveaxis(pixels, 0, -1)
    not_linear = "holds 8-bit values" if pixels.dtype.itemsize == 1 else encoding.of_tiff(tags)
    camera = full_name(tags.get(271), tags.get(272))
    return _Found(_three_channels(pixels, path), camera, not_linear, int(page.bitspersample))


def _read_npy(path: Path) -> _Found:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim != 3 or array.shape[2] != 3:
        raise GreycardError(f"{path}: expected an array of shape (height, width, 3), got {array.shape}")
    _check_size(array.shape[0], array.shape[1], path)
    not_linear = "holds 8-bit values" if array.dtype.itemsize == 1 else None
    return _Found(np.array(array), not_linear=not_linear)


def _three_channels(pixels: NDArray[Any], path: Path) -> NDArray[Any]:
    """Drop an alpha channel; refuse greys."""
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise GreycardError(f"{path}: needs three colour channels, has the shape {pixels.shape}")
    return pixels[..., :3]


def _check_size(height: int, width: int, path: Path) -> None:
    if height * width > MOST_PIXELS or height * width == 0:
        raise GreycardError(f"{path}: claims {width} x {height} pixels; up to {MOST_PIXELS:,} in all are read")


def _numbers(pixels: ArrayLike, name: str) -> NDArray[Any]:
    """Pixels as an array of finite, non-negative numbers in the machine's byte order."""
    try:
        stored = np.asarray(pixels)
    except ValueError as error:
        raise GreycardError(f"{name}: is not an array of numbers ({error})") from error
    if stored.ndim != 3 or stored.shape[2] != 3 or 0 in stored.shape:
        raise GreycardError(f"{name}: expected an array of shape (height, width, 3), got {stored.shape}")
    if stored.dtype.kind not in "fui":
        raise GreycardError(f"{name}: expected numbers, got an array of type {stored.dtype}")
    stored = stored.astype(stored.dtype.newbyteorder("="), copy=False)
    if not np.all(np.isfinite(stored)):
        raise GreycardError(f"{name}: holds values that are not finite (NaN or infinity)")
    if stored.min() < 0:
        raise GreycardError(
            f"{name}: holds negative values (down to {stored.min():.4g}); pass the data before black subtraction with "
            "its black level as black=, or clip it at 0"
        )
    return stored


def _levels(black: ArrayLike, white: ArrayLike, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Black and white level for each channel."""
    levels = []
    for label, value in (("black", black), ("white", white)):
        try:
            level = np.broadcast_to(np.asarray(value, dtype=np.float32), 3)
        except (TypeError, ValueError) as error:
            raise GreycardError(f"{name}: {label} must be one number or three (r, g, b), got {value!r}") from error
        if np.any(np.isnan(level)) or len(np.unique(np.isinf(level))) > 1:
            raise GreycardError(f"{name}: {label} must be numbers, or inf for all channels, got {level.tolist()}")
        levels.append(level)
    if not np.all(levels[1] > levels[0]):
        raise GreycardError(
            f"{name}: white {levels[1].tolist()} must be above black {levels[0].tolist()} in every channel"
        )
    return levels[0], levels[1]


def _mask(mask: ArrayLike | None, shape: tuple[int, ...], name: str) -> NDArray[np.bool_] | None:
    if mask is None:
        return None
    array = np.asarray(mask)
    if array.shape != shape or array.dtype != np.bool_:
        raise GreycardError(f"{name}: mask must be a boolean array of shape {shape}, got {array.dtype} {array.shape}")
    return array
