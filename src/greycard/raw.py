"""RAW files: the sensor's own pixels with their levels, the camera and what is known of its colours.

DNG files tell more than LibRaw passes on; that is read from their tags (`dng.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard import dng, raw_header
from greycard.camera import ColourMatrices, is_usable
from greycard.errors import GreycardError
from greycard.illuminant import Array, unit
from greycard.mosaic import Mosaic
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


def about(path: Path) -> dng.Tags:
    """Camera, colour matrices and as-shot white of a RAW file, without decoding its pixels."""
    if path.suffix.lower() in (".dng", ".gpr"):
        return dng.tags(path)
    with _opened(path) as raw:
        return dng.Tags(camera=raw_header.camera(path), matrices=_table_matrix(raw), as_shot=_as_shot(raw))


def read(path: Path) -> Photo:
    """A RAW file with the sensor's own pixels.

    They are not copied: LibRaw keeps them, and the file open, until the photo is gone.
    """
    return from_rawpy(_opened(path, unpack=True), path)


def from_rawpy(raw: rawpy.RawPy, path: Path) -> Photo:
    """`read` for a file that rawpy has opened already, and that must not be closed while the photo is in use."""
    is_dng = path.suffix.lower() in (".dng", ".gpr")
    tags = dng.tags(path) if is_dng else dng.Tags()
    stored, white = _pixels(raw, path)
    return Photo(
        stored,
        black=np.zeros(3, np.float32),
        white=white,
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


def _opened(path: Path, *, unpack: bool = False) -> rawpy.RawPy:
    """A RAW file in LibRaw, to be closed by `with`; or one clear line that says why it cannot be had.

    unpack: with its pixels.
    """
    import rawpy

    raw = rawpy.RawPy()
    try:
        raw.open_file(str(path))
        _check_size(raw, path)
        if unpack:
            raw.unpack()
    except rawpy.LibRawError as error:
        raw.close()
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise GreycardError(
            f"{path}: LibRaw cannot read it ({reason}); is it damaged, or of another kind than its name says?"
        ) from error
    except GreycardError:
        raw.close()
        raise
    return raw


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
        pixels = np.fromfile(path, kind, width * height).reshape(height, width)
    except OSError as error:
        raise GreycardError(f"{path}: cannot be read ({error.strerror or error})") from error
    colours = np.array([_CHANNELS[letter] for letter in pattern.upper()]).reshape(2, 2)
    levels = np.broadcast_to(np.asarray(black, dtype=np.float32), 3)
    highest = float(2**bits - 1) if white is None else float(white)
    if not np.isfinite(highest) or not np.all(levels < highest):
        raise GreycardError(f"{path}: white must be a number above black, got {highest:g} and {levels.tolist()}")
    stored, span = with_levels(pixels, colours, levels[colours], highest)
    return Photo(stored, np.zeros(3, np.float32), span, name=str(path))


def with_levels(
    pixels: NDArray[Any], colours: NDArray[np.intp], black: NDArray[np.float32], white: float
) -> tuple[Mosaic, NDArray[np.float32]]:
    """A sensor's pixels (rows, columns) with what they mean, and the white level (3,) of its planes.

    colours, black: (p, q) as in `Mosaic`; white: stored value of saturation. Periods that are not whole are left out.
    """
    down, across = colours.shape
    height, width = pixels.shape[0] // down * down, pixels.shape[1] // across * across
    limits = np.where(colours < 0, np.float32(np.inf), np.ceil(black + SATURATION * (white - black)))
    span = np.array([white - black[colours == channel].mean() for channel in range(3)], np.float32)
    return Mosaic(pixels[:height, :width], colours, black, limits), span


def _check_size(raw: rawpy.RawPy, path: Path) -> None:
    sizes = raw.sizes
    if not 0 < sizes.raw_height * sizes.raw_width <= MOST_PIXELS:
        raise GreycardError(
            f"{path}: claims {sizes.raw_width} x {sizes.raw_height} pixels; up to {MOST_PIXELS:,} in all are read"
        )


def _pixels(raw: rawpy.RawPy, path: Path) -> tuple[Mosaic, NDArray[np.float32]]:
    """The visible pixels, and the white level (3,) of their planes."""
    visible = raw.raw_image_visible
    black = np.asarray(raw.black_level_per_channel, dtype=np.float32)
    letters = raw.color_desc.decode()
    channels = np.array([_CHANNELS.get(letter, -1) for letter in letters])
    if visible.ndim == 3:  # demosaiced already: every pixel is a period, with its numbers side by side
        pattern = np.arange(visible.shape[2])[None]
        channels[3:] = -1  # a second green that is there for nothing
        visible = visible.reshape(len(visible), -1)
    else:
        pattern = _pattern(raw)
    if len(np.unique(pattern)) < 3:
        raise GreycardError(f"{path}: is monochrome: a sensor without colours cannot tell that of the light")
    if not {0, 1, 2} <= set(channels[pattern].ravel().tolist()):
        raise GreycardError(f"{path}: its sensor has the colours {letters}, not red, green and blue")
    return with_levels(visible, channels[pattern], black[pattern], float(raw.white_level))


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
