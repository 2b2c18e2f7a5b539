"""From pixels to what the network reads: a 64x64 masked linear thumbnail, then its log image.

This is the only preprocessing there is. Training, every data set and every estimate go through these functions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.errors import GreycardError
from greycard.mosaic import Band, Mosaic
from greycard.photo import Photo, Pixels, bilinear, crop

SIZE = 64
"""Cells along each side of a thumbnail."""
SATURATION = 0.95
"""A pixel with a channel at or above this share of the range from black to white is no measurement."""
FLOOR = 1e-4
"""Smallest value, relative to the mean of the thumbnail, that goes into the logarithm."""
FEWEST_CELLS = 64
"""An image with fewer usable pixels, or fewer valid cells, than this is refused."""

Thumbnail = NDArray[np.float32]
"""(64, 64, 3) linear, black removed, on any scale; a masked cell is 0 in all channels."""


@dataclass(frozen=True)
class LogImage:
    """What the network reads: log values (64, 64, 3) and which cells count in the pooled mean (64, 64)."""

    values: NDArray[np.float32]
    counted: NDArray[np.bool_]


def from_photo(photo: Photo) -> Thumbnail:
    """Average the unmasked pixels of each cell; a cell is kept if more than half of its area is unmasked.

    Works through the photo one row of cells at a time, so that it never holds a second copy of the pixels.
    """
    height, width = photo.shape
    bands = _bands(height)
    if isinstance(photo.stored, Mosaic):
        in_rows = photo.stored.column_sums(bands, photo.mask)
    else:
        in_rows = np.stack([_column_sums(photo, photo.stored, *band) for band in bands])
    columns = _cell_weights(width).astype(np.float32)
    sums = np.moveaxis((in_rows.reshape(-1, width) @ columns.T).reshape(SIZE, 4, SIZE), 1, 2)
    area = sums[..., 3]
    usable = round(float(area.mean(dtype=np.float64)) * height * width)
    if usable < FEWEST_CELLS:
        raise GreycardError(
            f"{photo.name}: only {usable} of {height * width} pixels can be used (at least {FEWEST_CELLS} are needed); "
            "the rest is black, clipped or masked"
        )
    kept = area > 0.5 + 1e-6
    span = photo.white - photo.black
    thumbnail = np.zeros((SIZE, SIZE, 3), dtype=np.float32)
    thumbnail[kept] = sums[kept, :3] / area[kept, None] / np.where(np.isfinite(span), span, np.float32(1))
    if photo.shading is not None:
        thumbnail *= photo.shading
    return thumbnail


def from_part(
    photo: Photo, region: tuple[float, float, float, float] | None = None, shading: ArrayLike | None = None
) -> Thumbnail:
    """The thumbnail of a part of a photo (as in `photo.crop`), with gains against shading in place of its own."""
    if shading is not None:
        photo = replace(photo, shading=gain_map(shading))
    return from_photo(photo if region is None else crop(photo, region))


def gain_map(gains: ArrayLike) -> NDArray[np.float32]:
    """(64, 64, 3) gains at the centres of the cells, from gains (h, w) or (h, w, 3) that reach the frame's edges."""
    points = np.asarray(gains, dtype=np.float32)
    points = points[..., None] if points.ndim == 2 else points
    if points.ndim != 3 or points.shape[2] not in (1, 3) or min(points.shape[:2]) < 2:
        raise GreycardError(f"gain map: expected an array of shape (h, w) or (h, w, 3), got {np.shape(gains)}")
    if not np.all(np.isfinite(points)) or not np.all(points > 0):
        raise GreycardError("gain map: every gain must be a positive number")
    centres = (np.arange(SIZE) + 0.5) / SIZE
    found = bilinear(points, centres * (points.shape[0] - 1), centres * (points.shape[1] - 1))
    return np.broadcast_to(found, (SIZE, SIZE, 3))


def log_image(
    thumbnail: NDArray[np.generic], name: str = "thumbnail", grid: tuple[int, int] = (SIZE, SIZE)
) -> LogImage:
    """Remove the exposure, take the logarithm, and find the cells that count.

    thumbnail: (64, 64, 3) linear; name: what to call it when it is refused. grid: (rows, columns) where not 64 each.
    """
    cells = np.asarray(thumbnail, dtype=np.float32)
    if cells.shape != (*grid, 3):
        raise GreycardError(f"{name}: a thumbnail has the shape {(*grid, 3)}, this one has {cells.shape}")
    if not np.isfinite(cells.sum(dtype=np.float64)):  # one that is not finite makes the sum so
        raise GreycardError(f"{name}: holds values that are not finite")
    valid = valid_cells(cells)
    total = (valid.reshape(-1) @ cells.reshape(-1, 3).astype(np.float64)).sum()
    usable = int(valid.sum())
    if usable < FEWEST_CELLS:
        raise GreycardError(
            f"{name}: only {usable} of {valid.size} cells can be used (at least {FEWEST_CELLS} are needed); "
            "the rest is black, clipped or masked"
        )
    relative = cells / np.float32(total / (3 * usable))
    np.maximum(relative, np.float32(FLOOR), out=relative)
    return LogImage(np.log(relative, out=relative), _counted(valid))


def valid_cells(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Where all three channels (..., 3) are positive."""
    positive = cells > 0
    return np.asarray(positive[..., 0] & positive[..., 1] & positive[..., 2])


def _counted(valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Cells whose 3x3 neighbourhood inside the frame is valid; the valid cells where fewer than 64 are such."""
    if valid.all():
        return valid
    padded = np.ones((valid.shape[0] + 2, valid.shape[1] + 2), dtype=bool)
    padded[1:-1, 1:-1] = valid
    across = padded[:, :-2] & padded[:, 1:-1] & padded[:, 2:]
    surrounded = across[:-2] & across[1:-1] & across[2:]
    return surrounded if surrounded.sum() >= FEWEST_CELLS else valid


@lru_cache(maxsize=4)
def _bands(height: int) -> tuple[Band, ...]:
    """The rows of a photo that each row of cells covers, and their shares of it."""
    bands = []
    for weights in _cell_weights(height):
        covered = np.flatnonzero(weights)
        band = slice(int(covered[0]), int(covered[-1]) + 1)
        bands.append((band, weights[band].astype(np.float32)))
    return tuple(bands)


def _column_sums(photo: Photo, pixels: Pixels, band: slice, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """(4, W): weighted sums over rows of pixels: red, green, blue above black, and what of the area is usable.

    weights: (rows of the band,). One channel at a time: loops over three numbers would take several times as long.
    """
    stored = [pixels[band, :, channel] for channel in range(3)]
    above_black = [plane.astype(np.float32) - black for plane, black in zip(stored, photo.black, strict=True)]
    usable = (stored[0] != 0) | (stored[1] != 0) | (stored[2] != 0)
    for plane, highest in zip(above_black, SATURATION * (photo.white - photo.black), strict=True):
        usable &= plane < highest
    if photo.mask is not None:
        usable &= ~photo.mask[band]
    counted = usable * weights[:, None]
    sums = [np.einsum("hw,hw->w", counted, plane) for plane in above_black]
    return np.array([*sums, counted.sum(axis=0)], dtype=np.float32)


def coarser(thumbnail: NDArray[np.generic], rows: int, columns: int) -> Thumbnail:
    """(rows, columns, 3) a thumbnail in fewer cells: averages of valid ones; masked unless over half of it is valid."""
    cells = np.asarray(thumbnail, dtype=np.float32)
    valid = valid_cells(cells)
    down, across = _cell_weights(cells.shape[0], rows), _cell_weights(cells.shape[1], columns)
    area = down @ valid @ across.T
    in_rows = (down @ (cells * valid[..., None]).reshape(len(cells), -1)).reshape(rows, -1, 3)
    sums = across @ in_rows
    kept = area > 0.5 + 1e-6
    return np.where(kept[..., None], sums / np.maximum(area, 1e-9)[..., None], 0).astype(np.float32)


@lru_cache(maxsize=4)
def _cell_weights(pixels: int, cells: int = SIZE) -> NDArray[np.float64]:
    """(cells, pixels): the share of each cell, along one axis, that each pixel covers. Rows sum to one."""
    edges = np.linspace(0, pixels, cells + 1)
    starts, ends = edges[:-1, None], edges[1:, None]
    left = np.arange(pixels)
    overlap = np.clip(np.minimum(ends, left + 1) - np.maximum(starts, left), 0, None)
    return np.asarray(overlap / (pixels / cells))
