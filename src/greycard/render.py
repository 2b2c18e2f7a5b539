"""Pictures for people: white balance, the camera's colours, sRGB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard import raw
from greycard.camera import ColourMatrices, colour_matrices
from greycard.errors import GreycardError
from greycard.illuminant import Array, gains, unit
from greycard.output import write_whole
from greycard.photo import Photo, bilinear

XYZ_TO_SRGB = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])
_D65 = np.array([0.9505, 1.0, 1.0888])
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
_FULL = 65535
_ROWS = 4
"""Rows of pixels that are worked at together: few enough to stay in a core's cache, in buffers that are used again."""


def camera_to_srgb(xyz_to_camera: ArrayLike) -> Array:
    """(3, 3) matrix from white-balanced camera RGB to linear sRGB; white stays white (Coffin's dcraw, 1997)."""
    camera = np.asarray(xyz_to_camera, dtype=np.float64) @ np.linalg.inv(XYZ_TO_SRGB)
    return np.linalg.inv(camera / camera.sum(axis=1, keepdims=True))


def colours(matrices: ColourMatrices, illuminant: ArrayLike) -> Array:
    """(3, 3) from camera RGB that is balanced for an illuminant (3,) to linear sRGB.

    Where a file has matrices for two lights, that for this light is used, and what it sees is adapted to sRGB's white
    (Bradford). A single matrix is one for D65.
    """
    if not matrices.has_two:
        return camera_to_srgb(matrices.matrices[0])
    (light,) = matrices.temperatures([unit(illuminant)])
    matrix = matrices.at(light.cct if light else 5000.0)
    white = np.linalg.solve(matrix, unit(illuminant))
    if np.any(_BRADFORD @ white <= 0):
        return camera_to_srgb(matrix)
    cone_gains = (_BRADFORD @ white) / (_BRADFORD @ _D65)
    return camera_to_srgb(matrix @ np.linalg.inv(_BRADFORD) @ (cone_gains[:, None] * _BRADFORD))


@dataclass(frozen=True, eq=False)
class Scene:
    """What it takes to render a picture: its light (3,), and what is known of the camera's colours.

    daylight: (3,) what the camera sees of D65; to_srgb: (3, 3) from balanced camera RGB to linear sRGB; both None where
    the camera's colour matrix is not known. before: (3,) what the picture was balanced for, or would have been.
    """

    light: Array
    daylight: Array | None
    to_srgb: Array | None
    before: Array

    @classmethod
    def of(cls, picture: Photo, camera: str | None, light: Array) -> Scene:
        """The scene of a photo under a light. camera: its name, where the photo does not know it."""
        named = camera or picture.camera
        matrices = picture.matrices or (colour_matrices(named) if named else None)
        if matrices is None:
            return cls(light, None, None, unit(np.ones(3)) if picture.as_shot is None else picture.as_shot)
        daylight = unit(matrices.at(6504.0) @ _D65)
        before = daylight if picture.as_shot is None else picture.as_shot
        return cls(light, daylight, colours(matrices, light), before)

    def kept_warm(self, warmth: float) -> Array:
        """(3,) the light to balance for where some of its colour is to stay in the picture.

        warmth: 0 balances for the light itself, 1 for daylight (D65), so that a lamp looks as orange as it is; in
        between, the eye has adapted to the light in part.
        """
        if not 0 <= warmth <= 1:
            raise GreycardError(f"warmth: expected a number from 0 to 1, got {warmth}")
        if warmth == 0:
            return unit(self.light)
        if self.daylight is None:
            raise GreycardError("warmth: the camera's colour matrix is not known, so neither is its daylight; use 0")
        return unit(unit(self.light) ** (1 - warmth) * self.daylight**warmth)


def full_size(path: Path, picture: Photo, light: ArrayLike, to_srgb: Array | None, *, bits: int = 8) -> NDArray[Any]:
    """A file in all its pixels: (H, W, 3) sRGB of 8 or 16 bits in which a light (3,) is white; not turned yet.

    LibRaw interpolates the colours of a RAW file. picture: the same file as `photo.read` gives it.
    """
    if path.suffix.lower() not in raw.SUFFIXES:
        return from_photo(picture, light, to_srgb, bits=bits)
    return _finished(raw.demosaiced(path, gains(light)), np.ones(3), 0.0, _FULL, to_srgb, picture.shading, bits)


def from_photo(picture: Photo, light: ArrayLike, to_srgb: Array | None, *, bits: int = 8) -> NDArray[Any]:
    """The pixels of a photo as sRGB of 8 or 16 bits in which a light (3,) is white: (H, W, 3)."""
    white = picture.white
    if not np.all(np.isfinite(white)):
        white = np.full(3, picture.pixels.max(), np.float32)
    return _finished(picture.pixels, gains(light), picture.black, white, to_srgb, picture.shading, bits)


def srgb(pixels: NDArray[np.floating], illuminant: ArrayLike, to_srgb: ArrayLike | None = None) -> NDArray[np.uint8]:
    """(H, W, 3) linear pixels from 0 to 1 -> 8-bit sRGB in which the illuminant is white.

    to_srgb: (3, 3) from white-balanced camera RGB to linear sRGB; without it the camera's own primaries are shown.
    """
    matrix = None if to_srgb is None else np.asarray(to_srgb, dtype=np.float64)
    return _finished(np.asarray(pixels), gains(illuminant), 0.0, 1.0, matrix, None, 8)


def turned(picture: NDArray[Any], flip: int) -> NDArray[Any]:
    """A picture (H, W, 3) the right way up. flip: as in `metadata.Metadata`."""
    if flip & 2:
        picture = picture[::-1]
    if flip & 1:
        picture = picture[:, ::-1]
    return picture.swapaxes(0, 1) if flip & 4 else picture


def side_by_side(before: NDArray[np.uint8], after: NDArray[np.uint8], longest: int = 1200) -> NDArray[np.uint8]:
    """Two pictures (H, W, 3) of one size on a sheet, with a grey line between; each at most `longest` a side."""
    step = -(-max(before.shape) // longest)
    small = [picture[::step, ::step] for picture in (before, after)]
    line = np.full((small[0].shape[0], max(4, small[0].shape[1] // 100), 3), 119, np.uint8)
    return np.concatenate([small[0], line, small[1]], axis=1)


def write_png(path: str | Path, picture: NDArray[np.uint8]) -> None:
    """Write an 8-bit picture (H, W, 3), whole or not at all."""
    import imagecodecs

    write_whole(path, bytes(imagecodecs.png_encode(picture)))


def _finished(
    pixels: NDArray[Any],
    multipliers: Array,
    black: ArrayLike,
    white: ArrayLike,
    to_srgb: Array | None,
    shading: NDArray[np.float32] | None,
    bits: int,
) -> NDArray[Any]:
    """White balance, shading, highlights, colours, exposure and sRGB's curve, row by row: a row stays in the cache.

    The least multiplier is scaled to 1, so that a pixel that is clipped in all channels is at least 1 in all of them;
    what is above 1 is cut off before the colours are mixed. So clipped highlights are white, and stay it.
    """
    height, width = pixels.shape[:2]
    matrix = np.eye(3) if to_srgb is None else to_srgb
    scale = multipliers / multipliers.min() / (np.asarray(white, np.float64) - np.asarray(black))
    gain = _gains(scale, shading, height, width)
    dark = np.tile(np.broadcast_to(np.asarray(black, np.float32), 3), width)
    step = max(1, round((height * width / 250_000) ** 0.5))
    values, mixed = np.empty((2, _ROWS, width * 3), np.float32)
    sample = [
        _linear(pixels[row : row + 1], dark, gain(row, row + 1), values).reshape(-1, 3)[::step].copy()
        for row in range(0, height, step)
    ]
    exposed = matrix.astype(np.float32).T * np.float32(_exposure(np.stack(sample) @ matrix.T) * _FULL)
    curve = _curve(bits)
    finished = np.empty((height, width, 3), curve.dtype)
    index = np.empty((_ROWS * width, 3), np.uint16)
    for top in range(0, height, _ROWS):
        bottom = min(top + _ROWS, height)
        count = (bottom - top) * width
        colours = mixed.reshape(-1, 3)[:count]
        balanced = _linear(pixels[top:bottom], dark, gain(top, bottom), values)
        np.matmul(balanced.reshape(-1, 3), exposed, out=colours)
        np.clip(colours, 0, _FULL, out=colours)
        np.copyto(index[:count], colours, casting="unsafe")
        np.take(curve, index[:count], out=finished[top:bottom].reshape(-1, 3), mode="clip")
    return finished


def _linear(
    rows: NDArray[Any], dark: NDArray[np.float32], gain: NDArray[np.float32], values: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Rows of pixels (n, W, 3), balanced, from 0 to 1: (n, 3 W), written over `values`. dark, gain: (3 W,).

    Flat, because NumPy is slow along an axis of three.
    """
    found = values[: len(rows)]
    np.subtract(rows.reshape(len(rows), -1), dark, out=found, casting="unsafe")
    found *= gain
    np.clip(found, 0, 1, out=found)
    return found


def _gains(
    scale: Array, shading: NDArray[np.float32] | None, height: int, width: int
) -> Callable[[int, int], NDArray[np.float32]]:
    """What the values of rows from one to before another are multiplied by: the white balance, and the lens's shading.

    The answer is (3 W,) where it is the same for all rows, else (rows, 3 W).
    """
    flat = np.tile(scale.astype(np.float32), width)
    if shading is None:
        return lambda top, bottom: flat
    cells = len(shading)
    down, across = (np.clip((np.arange(size) + 0.5) / size * cells - 0.5, 0, cells - 1) for size in (height, width))
    wide = bilinear(shading, np.arange(cells, dtype=np.float64), across).reshape(cells, -1) * flat
    rise = np.diff(wide, axis=0, append=wide[-1:])
    cell, share = down.astype(int), (down % 1).astype(np.float32)[:, None]
    return lambda top, bottom: wide[cell[top:bottom]] + share[top:bottom] * rise[cell[top:bottom]]


def _exposure(sample: NDArray[np.floating]) -> float:
    """What makes one value in a hundred white or brighter; never darker, because clipped highlights stay white."""
    return 1 / min(1.0, max(float(np.percentile(sample, 99)), 1e-6))


def _curve(bits: int) -> NDArray[Any]:
    """(65536,) sRGB's transfer curve (IEC 61966-2-1) for linear values of 16 bits."""
    linear = np.arange(_FULL + 1) / _FULL
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.round(encoded * (2**bits - 1)), np.uint8 if bits == 8 else np.uint16)
