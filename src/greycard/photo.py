"""Reading a photo: linear pixels as stored, with the levels, mask and camera that give them meaning.

Files come from strangers: sizes are checked before anything is decoded, and nothing here can run code from a file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.errors import GreycardError

MOST_PIXELS = 400_000_000
"""A file that claims more pixels than this is refused before it is decoded."""
SUFFIXES = (".png", ".tif", ".tiff", ".npy")
"""Kinds of file that `read` understands."""

Pixels = NDArray[np.uint16] | NDArray[np.float32]


@dataclass(frozen=True)
class Photo:
    """Pixels in linear light, and what they mean.

    pixels: (H, W, 3) in the order red, green, blue; as stored, so neither black nor white level is applied yet.
    A pixel that is exactly 0 in all channels is a hole in the picture: no measurement, like a masked one.
    black, white: (3,) stored value of no light and of saturation.
    mask: (H, W), True where a pixel is no measurement (a colour chart, a logo); or None.
    """

    pixels: Pixels
    black: NDArray[np.float32]
    white: NDArray[np.float32]
    mask: NDArray[np.bool_] | None = None
    camera: str | None = None
    name: str = "pixels"


def from_array(
    pixels: ArrayLike,
    *,
    black: ArrayLike = 0.0,
    white: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    camera: str | None = None,
    name: str = "pixels",
) -> Photo:
    """A photo from an array (H, W, 3) that is linear in light.

    Floats are taken to saturate at 1.0 unless `white` says otherwise (`math.inf`: nothing is clipped). Integers need
    `white`, because their range is not known from their type: a uint16 array may hold 12 bits.
    """
    stored = np.asarray(pixels)
    if stored.ndim != 3 or stored.shape[2] != 3 or 0 in stored.shape:
        raise GreycardError(f"{name}: expected an array of shape (height, width, 3), got {stored.shape}")
    if not (np.issubdtype(stored.dtype, np.floating) or np.issubdtype(stored.dtype, np.integer)):
        raise GreycardError(f"{name}: expected numbers, got an array of type {stored.dtype}")
    if np.issubdtype(stored.dtype, np.integer):
        if white is None:
            raise GreycardError(
                f"{name}: holds {stored.dtype} integers, whose range is not known; give the saturation level with "
                "white= (and black=), or divide by it and pass floats from 0 to 1"
            )
        if stored.itemsize == 1:
            raise GreycardError(
                f"{name}: holds 8-bit values, which are gamma-encoded in practice; linear data is needed"
            )
    if not np.all(np.isfinite(stored)):
        raise GreycardError(f"{name}: holds values that are not finite (NaN or infinity)")
    if stored.min() < 0:
        raise GreycardError(
            f"{name}: holds negative values (down to {stored.min():.4g}); pass the data before black subtraction with "
            "its black level as black=, or clip it at 0"
        )
    black_level, white_level = _levels(black, 1.0 if white is None else white, name)
    return Photo(
        pixels=stored if stored.dtype == np.uint16 else stored.astype(np.float32),
        black=black_level,
        white=white_level,
        mask=_mask(mask, stored.shape[:2], name),
        camera=camera,
        name=name,
    )


def read(
    path: str | Path,
    *,
    black: ArrayLike = 0.0,
    white: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    camera: str | None = None,
    assume_srgb: bool = False,
) -> Photo:
    """Read a linear picture: 16-bit PNG, 16-bit or float TIFF, or NPY.

    white: saturation level; by default 65535 for 16-bit files and 1.0 for floats.
    camera: overrides what the file says of its camera.
    assume_srgb: undo the sRGB curve of a picture that is known to be encoded with it; without this, 8-bit pictures
    and those whose metadata names a gamma are refused.
    """
    path = Path(path)
    name = str(path)
    if not path.exists():
        raise GreycardError(f"{name}: there is no such file")
    if not path.is_file():
        raise GreycardError(f"{name}: is not a file")
    readers = {".png": _read_png, ".tif": _read_tiff, ".tiff": _read_tiff, ".npy": _read_npy}
    suffix = path.suffix.lower()
    if suffix == ".npz":
        raise GreycardError(
            f"{name}: is a packed data set of many pictures; `greycard estimate` reads it, or datasets.packed"
        )
    if suffix not in readers:
        raise GreycardError(
            f"{name}: cannot read {suffix or 'files without an ending'}; expected one of {', '.join(SUFFIXES)}"
        )
    try:
        found = readers[suffix](path)
    except GreycardError:
        raise
    except Exception as error:  # a decoder may fail in its own way on a broken file: one line for the user
        raise GreycardError(
            f"{name}: cannot be decoded ({_one_line(error)}); is it damaged or of another kind?"
        ) from error
    pixels = found.pixels
    if assume_srgb:
        pixels, white = _undo_srgb(found, name), 1.0 if white is None else white
    elif found.encoding is not None:
        raise GreycardError(
            f"{name}: {found.encoding}, so it is not linear in light and the colour of its light cannot be read off; "
            "use the RAW file or a linear export, or --assume-srgb (assume_srgb=True) to undo an sRGB curve knowingly"
        )
    elif white is None and pixels.dtype == np.uint16:
        white = 65535.0
    return from_array(pixels, black=black, white=white, mask=mask, camera=camera or found.camera, name=name)


@dataclass(frozen=True)
class _Found:
    """What a file holds: pixels, its camera if it names one, and why it is not linear, if it is not."""

    pixels: NDArray[Any]
    camera: str | None = None
    encoding: str | None = None


def _read_png(path: Path) -> _Found:
    import imagecodecs

    data = path.read_bytes()
    chunks = dict(_png_chunks(data, path))
    width, height, bits = struct.unpack(">IIB", chunks[b"IHDR"][:9])
    _check_size(height, width, path)
    encoding = "holds 8-bit values" if bits <= 8 else _png_encoding(chunks)
    return _Found(_three_channels(imagecodecs.png_decode(data), path), encoding=encoding)


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


def _png_encoding(chunks: dict[bytes, bytes]) -> str | None:
    """Why a 16-bit PNG is not linear, by the precedence of the PNG specification: cICP, iCCP, sRGB, gAMA."""
    if b"cICP" in chunks:
        return None if chunks[b"cICP"][1:2] == b"\x08" else "its cICP chunk names a transfer curve that is not linear"
    if b"iCCP" in chunks:
        import zlib

        packed = chunks[b"iCCP"].split(b"\0", 1)[1][1:]
        return _icc_encoding(zlib.decompressobj().decompress(packed, 10_000_000))
    if b"sRGB" in chunks:
        return "its metadata says that it is sRGB"
    if b"gAMA" in chunks:
        gamma = struct.unpack(">I", chunks[b"gAMA"][:4])[0] / 100_000
        return (
            None
            if abs(gamma - 1) < 0.01
            else f"its metadata says that it is encoded with gamma 1/{1 / max(gamma, 1e-5):.2f}"
        )
    return None


def _read_tiff(path: Path) -> _Found:
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        page = tiff.pages.first
        _check_size(page.imagelength, page.imagewidth, path)
        tags = {tag.code: tag.value for tag in page.tags}
        pixels = page.asarray()
        if page.planarconfig == 2 and pixels.ndim == 3:
            pixels = np.moveaxis(pixels, 0, -1)
    return _Found(_three_channels(pixels, path), _camera(tags.get(271), tags.get(272)), _tiff_encoding(pixels, tags))


def _tiff_encoding(pixels: NDArray[Any], tags: dict[int, Any]) -> str | None:
    if pixels.dtype.itemsize == 1:
        return "holds 8-bit values"
    if tags.get(34675):
        return _icc_encoding(bytes(tags[34675]))
    exif = tags.get(34665)
    if isinstance(exif, dict) and exif.get("ColorSpace") == 1:
        return "its metadata says that it is sRGB"
    return None


def _icc_encoding(profile: bytes) -> str | None:
    """Why pixels with this ICC profile are not linear: its red tone curve is anything but the identity."""
    not_linear = "its ICC profile has a tone curve that is not linear"
    count = struct.unpack(">I", profile[128:132])[0] if len(profile) >= 132 else 0
    for entry in range(min(count, 100)):
        signature, offset, _ = struct.unpack(">4sII", profile[132 + 12 * entry : 144 + 12 * entry])
        if signature != b"rTRC":
            continue
        curve = profile[offset:]
        if curve[:4] == b"curv":
            points = struct.unpack(">I", curve[8:12])[0]
            if points == 0 or (points == 1 and curve[12:14] == b"\x01\x00"):
                return None
        if curve[:4] == b"para" and curve[8:10] == b"\0\0" and curve[12:16] == b"\0\1\0\0":
            return None
        return not_linear
    return "its ICC profile names no tone curve"


def _read_npy(path: Path) -> _Found:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim >= 2:
        _check_size(array.shape[0], array.shape[1], path)
    encoding = "holds 8-bit values" if array.dtype.itemsize == 1 else None
    return _Found(np.array(array), encoding=encoding)


def _three_channels(pixels: NDArray[Any], path: Path) -> NDArray[Any]:
    """Drop an alpha channel; refuse greys."""
    if pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise GreycardError(f"{path}: needs three colour channels, has the shape {pixels.shape}")
    return pixels[..., :3]


def _check_size(height: int, width: int, path: Path) -> None:
    if height * width > MOST_PIXELS or height * width == 0:
        raise GreycardError(f"{path}: claims {width} x {height} pixels; up to {MOST_PIXELS:,} in all are read")


def _camera(make: Any, model: Any) -> str | None:
    """Make and model as one name, without saying the make twice ("Canon" + "Canon EOS 5D")."""
    make, model = (value.strip("\0 ") if isinstance(value, str) else "" for value in (make, model))
    if not model:
        return None
    return model if model.lower().startswith(make.lower().split(" ", 1)[0]) else f"{make} {model}"


def _undo_srgb(found: _Found, name: str) -> NDArray[np.float32]:
    """Undo the sRGB transfer curve (IEC 61966-2-1); pixels come back as floats from 0 to 1."""
    if not np.issubdtype(found.pixels.dtype, np.unsignedinteger):
        raise GreycardError(
            f"{name}: holds {found.pixels.dtype} values; --assume-srgb is for 8-bit and 16-bit pictures"
        )
    encoded = found.pixels.astype(np.float32) / np.iinfo(found.pixels.dtype).max
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _levels(black: ArrayLike, white: ArrayLike, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Black and white level for each channel."""
    levels = []
    for label, value in (("black", black), ("white", white)):
        level = np.asarray(value, dtype=np.float32)
        if level.shape not in ((), (1,), (3,)) or np.any(np.isnan(level)):
            raise GreycardError(f"{name}: {label} must be one number or three (r, g, b), got {level.tolist()}")
        levels.append(np.broadcast_to(level, 3))
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


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
