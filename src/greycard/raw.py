"""RAW files: the sensor's own planes with their levels, the camera and what is known of its colours.

Nothing is demosaiced: the pixels of a colour inside one period of the sensor's pattern are averaged (2x2 for Bayer, 6x6
for X-Trans). DNG files tell more than LibRaw passes on; that is read from their tags (`dng.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard import dng, raw_header
from greycard.camera import ColourMatrices, is_usable
from greycard.errors import GreycardError
from greycard.illuminant import Array, unit
from greycard.photo import MOST_PIXELS, Photo
from greycard.thumbnail import SATURATION

if TYPE_CHECKING:
    import rawpy

SUFFIXES = frozenset(
    """
    .3fr .arw .bay .cap .cr2 .cr3 .crw .dcr .dng .erf .fff .gpr .iiq .k25 .kdc .mdc .mef .mos .mrw .nef .nrw .orf .ori
    .pef .raf .rw2 .rwl .sr2 .srf .srw .x3f
    """.split()  # noqa: SIM905
)
"""Endings of the files that LibRaw reads. Not .raw: it would guess by its size what a headerless dump holds."""
_CHANNELS = {"R": 0, "G": 1, "B": 2}
_BAND = 16
"""Periods of the pattern averaged at a time, over the whole width: they stay in a core's cache."""


def about(path: Path) -> dng.Tags:
    """Camera, colour matrices and as-shot white of a RAW file, without decoding its pixels."""
    if path.suffix.lower() in (".dng", ".gpr"):
        return dng.tags(path)
    with _opened(path) as raw:
        return dng.Tags(camera=raw_header.camera(path), matrices=_table_matrix(raw), as_shot=_as_shot(raw))


def read(path: Path) -> Photo:
    """A RAW file as linear planes (H, W, 3) above black, averaged over each period of the sensor's pattern."""
    with _opened(path, unpack=True) as raw:
        is_dng = path.suffix.lower() in (".dng", ".gpr")
        tags = dng.tags(path) if is_dng else dng.Tags()
        pixels, white, clipped = _planes(raw, path)
        return Photo(
            pixels,
            black=np.zeros(3, np.float32),
            white=white,
            mask=clipped,
            camera=tags.camera or raw_header.camera(path),
            name=str(path),
            matrices=tags.matrices or _table_matrix(raw),
            as_shot=tags.as_shot if is_dng else _as_shot(raw),
            shading=tags.shading,
            balanced=tags.balanced,
            notes=tags.notes,
        )


def demosaiced(path: Path, multipliers: ArrayLike) -> NDArray[np.uint16]:
    """All pixels of a RAW file in the camera's own colours, balanced and linear: (H, W, 3), 65535 is white.

    multipliers: (3,) for red, green and blue; the least of them counts as 1, and what is clipped is white. Colours are
    interpolated by pattern grouping (PPG): as good as LibRaw's default in `benchmarks/balance.py`, in less time.
    """
    import rawpy

    red, green, blue = np.asarray(multipliers, dtype=np.float64).tolist()
    with _opened(path, unpack=True) as raw:
        pixels: NDArray[Any] = raw.postprocess(
            user_wb=[red, green, blue, green],
            output_color=rawpy.ColorSpace.raw,
            demosaic_algorithm=rawpy.DemosaicAlgorithm.PPG,
            output_bps=16,
            gamma=(1, 1),
            no_auto_bright=True,
            user_flip=0,
        )
    return pixels


@contextmanager
def _opened(path: Path, *, unpack: bool = False) -> Iterator[rawpy.RawPy]:
    """A RAW file in LibRaw, closed afterwards; or one clear line that says why it cannot be had.

    unpack: with its pixels.
    """
    import rawpy

    raw = rawpy.RawPy()
    try:
        try:
            raw.open_file(str(path))
            _check_size(raw, path)
            if unpack:
                raw.unpack()
        except rawpy.LibRawError as error:
            reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
            raise GreycardError(
                f"{path}: LibRaw cannot read it ({reason}); is it damaged, or of another kind than its name says?"
            ) from error
        yield raw
    finally:
        raw.close()


def from_dump(
    path: Path, *, width: int, height: int, pattern: str, bits: int, black: ArrayLike = 0.0, white: float | None = None
) -> Photo:
    """A headerless dump of a sensor: rows of 8-bit, or of little-endian 16-bit numbers of which `bits` are used.

    pattern: the colours of the first period, row by row, such as "RGGB". white: by default the largest number.
    """
    if not 8 <= bits <= 16 or width * height > MOST_PIXELS or min(width, height) < 2:
        raise GreycardError(f"{path}: a dump has 8 to 16 bits and up to {MOST_PIXELS:,} pixels")
    if len(pattern) != 4 or sorted(pattern.upper()) != ["B", "G", "G", "R"]:
        raise GreycardError(f"pattern: expected four letters such as RGGB, got {pattern!r}")
    kind = np.dtype("<u2" if bits > 8 else "u1")
    try:
        size = path.stat().st_size
        if size < width * height * kind.itemsize:
            raise GreycardError(
                f"{path}: has {size:,} bytes, {width} x {height} pixels of {bits} bits need "
                f"{width * height * kind.itemsize:,}"
            )
        mosaic = np.fromfile(path, kind, width * height).reshape(height, width)
    except OSError as error:
        raise GreycardError(f"{path}: cannot be read ({error.strerror or error})") from error
    colours = np.array([_CHANNELS[letter] for letter in pattern.upper()]).reshape(2, 2)
    levels = np.broadcast_to(np.asarray(black, dtype=np.float32), 3)
    highest = float(2**bits - 1) if white is None else float(white)
    if not np.isfinite(highest) or not np.all(levels < highest):
        raise GreycardError(f"{path}: white must be a number above black, got {highest:g} and {levels.tolist()}")
    pixels, clipped = averaged(mosaic, colours, levels[colours], highest)
    return Photo(pixels, np.zeros(3, np.float32), (highest - levels).astype(np.float32), clipped, name=str(path))


def averaged(
    mosaic: NDArray[Any], colours: NDArray[np.intp], black: NDArray[np.floating], white: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Planes (H, W, 3) above black, and where they are no measurement because one of their pixels is clipped (H, W).

    mosaic: the sensor's pixels; colours: (p, q) channel of each place in the pattern's period, -1 for one that is not
    used; black: (p, q) black level of each place.
    """
    down, across = colours.shape
    height, width = mosaic.shape[0] // down, mosaic.shape[1] // across
    planes = np.empty((3, height, width), np.float32)
    clipped = np.empty((height, width), dtype=bool)
    for start in range(0, height, _BAND):
        band = slice(start, min(start + _BAND, height))
        rows = mosaic[start * down : band.stop * down, : width * across]
        _average_band(rows, colours, black, white, planes[:, band], clipped[band])
    return np.moveaxis(planes, 0, -1), clipped


def _average_band(
    rows: NDArray[Any],
    colours: NDArray[np.intp],
    black: NDArray[np.floating],
    white: float,
    planes: NDArray[np.float32],
    clipped: NDArray[np.bool_],
) -> None:
    """`averaged` for some periods of rows, into planes (3, h, W) and clipped (h, W)."""
    planes[...], clipped[...] = 0, False
    down, across = colours.shape
    for row, column in np.argwhere(colours >= 0):
        pixels = rows[row::down, column::across]
        planes[colours[row, column]] += pixels
        level = float(black[row, column] + SATURATION * (white - black[row, column]))
        # Whole numbers compare faster with a whole number.
        clipped |= pixels >= (math.ceil(level) if pixels.dtype.kind in "ui" else level)
    for channel in range(3):
        places = colours == channel
        planes[channel] /= places.sum()
        planes[channel] -= black[places].mean()


def _check_size(raw: rawpy.RawPy, path: Path) -> None:
    sizes = raw.sizes
    if not 0 < sizes.raw_height * sizes.raw_width <= MOST_PIXELS:
        raise GreycardError(
            f"{path}: claims {sizes.raw_width} x {sizes.raw_height} pixels; up to {MOST_PIXELS:,} in all are read"
        )


def _planes(raw: rawpy.RawPy, path: Path) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_] | None]:
    """Planes above black, their white level (3,) above black, and where they are clipped."""
    visible = raw.raw_image_visible
    black = np.asarray(raw.black_level_per_channel, dtype=np.float32)
    white = float(raw.white_level)
    letters = raw.color_desc.decode()
    if visible.ndim == 3:
        channels = np.array([letters.index(letter) for letter in "RGB"])
        return visible[..., :3].astype(np.float32) - black[channels], white - black[channels], None
    pattern = _pattern(raw)
    if len(np.unique(pattern)) < 3:
        raise GreycardError(f"{path}: is monochrome: a sensor without colours cannot tell that of the light")
    if not {"R", "G", "B"} <= set(letters):
        raise GreycardError(f"{path}: its sensor has the colours {letters}, not red, green and blue")
    colours = np.array([_CHANNELS.get(letter, -1) for letter in letters])[pattern]
    pixels, clipped = averaged(visible, colours, black[pattern], white)
    span = np.array([white - black[pattern][colours == channel].mean() for channel in range(3)], np.float32)
    return pixels, span, clipped


def _pattern(raw: rawpy.RawPy) -> NDArray[np.intp]:
    """(p, q) colour numbers of one period, from the corner of the visible pixels.

    raw_pattern counts from the corner of the whole sensor and may hold nonsense where X-Trans has margins.
    """
    period = (1, 1) if raw.raw_pattern is None else raw.raw_pattern.shape
    top, left = raw.sizes.top_margin, raw.sizes.left_margin
    colours = [raw.raw_color(top + row, left + column) for row, column in np.ndindex(*period)]
    return np.array(colours, dtype=np.intp).reshape(period)


def _as_shot(raw: rawpy.RawPy) -> Array | None:
    """(3,) what the camera took for white, unit length; None where the file does not say."""
    multipliers = np.asarray(raw.camera_whitebalance[:3], dtype=np.float64)
    return unit(1 / multipliers) if np.all(np.isfinite(multipliers)) and np.all(multipliers > 0) else None


def _table_matrix(raw: rawpy.RawPy) -> ColourMatrices | None:
    """The matrix for D65 that LibRaw has in its table for the maker's own formats; zeros where it has none."""
    matrix = np.asarray(raw.rgb_xyz_matrix, dtype=np.float64)[:3]
    return ColourMatrices((matrix,)) if is_usable(matrix) else None
