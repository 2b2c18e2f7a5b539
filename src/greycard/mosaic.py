"""The mosaic of a sensor, each of whose pixels sees one colour: averaged into planes, or straight into a thumbnail.

Nothing is demosaiced: a pixel of the photo stands for one period of the sensor's pattern (2x2 for Bayer, 6x6 for
X-Trans), in which the pixels of a colour are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BAND = 16
"""Periods of the pattern averaged at a time, over the whole width: they stay in a core's cache."""

Band = tuple[slice, NDArray[np.float32]]
"""Rows of a photo that lie together, and the weight of each of them."""


@dataclass(frozen=True, eq=False)
class Mosaic:
    """The pixels of a sensor as stored: (H p, W q) for a photo of H x W pixels.

    colours: (p, q) channel of each place in the pattern's period, -1 for one that is not used. black: (p, q) stored
    value of no light. limits: (p, q) stored value from which on a pixel counts as clipped.
    """

    stored: NDArray[Any]
    colours: NDArray[np.intp]
    black: NDArray[np.float32]
    limits: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the photo."""
        down, across = self.colours.shape
        return self.stored.shape[0] // down, self.stored.shape[1] // across

    def part(self, rows: slice, columns: slice) -> Mosaic:
        """What makes up some rows and columns of the photo."""
        down, across = self.colours.shape
        stored = self.stored[rows.start * down : rows.stop * down, columns.start * across : columns.stop * across]
        return replace(self, stored=stored)

    @cached_property
    def places(self) -> list[list[tuple[int, int]]]:
        """Row and column of each place in the period that is red, green, and blue."""
        return [[(int(row), int(column)) for row, column in np.argwhere(self.colours == one)] for one in range(3)]

    @cached_property
    def planes(self) -> NDArray[np.float32]:
        """(H, W, 3) red, green and blue above black, averaged over each period."""
        down, across = self.colours.shape
        planes = np.zeros((3, *self.shape), np.float32)
        for start in range(0, self.shape[0], _BAND):
            rows = self.stored[start * down : (start + _BAND) * down]
            for plane, places in zip(planes[:, start : start + _BAND], self.places, strict=True):
                for row, column in places:
                    plane += rows[row::down, column::across]
                plane /= len(places)
                plane -= np.mean([self.black[place] for place in places], dtype=np.float32)
        return np.moveaxis(planes, 0, -1)

    @cached_property
    def clipped(self) -> NDArray[np.bool_]:
        """(H, W) True where the planes are no measurement, because a pixel of the period is clipped."""
        down, across = self.colours.shape
        clipped = np.zeros(self.shape, dtype=bool)
        for row, column in chain(*self.places):
            clipped |= self.stored[row::down, column::across] >= self.limits[row, column]
        return clipped

    def column_sums(self, bands: Sequence[Band], mask: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """(bands, 4, W): weighted sums over rows: red, green, blue above black, and what of the area is usable.

        mask: (H, W) True for what else is no measurement. The same as sums of `planes`, in a fraction of the time:
        pixels are added to those a period below as they lie in memory, and only the one period of rows that is left is
        taken apart by colour.
        """
        width, (down, across) = self.shape[1], self.colours.shape
        reader = _Reader(self)
        # One piece of memory serves all bands: a new one for each would be slower to come by than to fill.
        values = np.empty((max(len(weights) for _, weights in bands), down, width * across), np.float32)
        totals = np.empty((len(bands), down, width * across), np.float32)
        sums = np.empty((len(bands), 4, width), np.float32)
        for number, (band, weights) in enumerate(bands):
            inside = values[: len(weights)]
            left_out = reader.fill(inside, band)
            if mask is not None:
                left_out = _either(left_out, mask[band])
            if left_out is None:
                sums[number, 3] = weights.sum()
            else:
                sums[number, 3] = weights @ (~left_out).astype(np.float32)
                _clear(inside, left_out)
            np.matmul(weights, inside.reshape(len(weights), -1), out=totals[number].reshape(-1))
        for channel, places in enumerate(self.places):
            sums[:, channel] = sum(totals[:, row, column::across] for row, column in places) / np.float32(len(places))
        return sums


class _Reader:
    """Takes bands of a mosaic as they are asked for. What it compares them with is worked out once."""

    def __init__(self, mosaic: Mosaic) -> None:
        self.mosaic = mosaic
        self.black, self.limits = (np.tile(levels, mosaic.shape[1]) for levels in (mosaic.black, mosaic.limits))
        self.has_black, self.highest_black = bool(mosaic.black.any()), float(mosaic.black.max())
        self.lowest_limit = float(mosaic.limits.min())

    def fill(self, values: NDArray[np.float32], band: slice) -> NDArray[np.bool_] | None:
        """Write a band above black into values (h, p, W q); (h, W) what of it is no measurement, None for nothing."""
        down = values.shape[1]
        stored = self.mosaic.stored[band.start * down : band.stop * down]
        values[...] = stored.reshape(values.shape)
        clipped = self._clipped(values) if stored.max() >= self.lowest_limit else None
        if self.has_black:
            values -= self.black
        return _either(clipped, self._holes(values) if stored.min() <= self.highest_black else None)

    def _clipped(self, values: NDArray[np.float32]) -> NDArray[np.bool_]:
        """(h, W) True where a pixel of the period is clipped, of values as stored."""
        across = self.mosaic.colours.shape[1]
        rows: NDArray[np.bool_] = reduce(np.logical_or, np.moveaxis(values >= self.limits, 1, 0))
        if across in (2, 4):  # what was found in a period is one whole number
            return np.asarray(rows.view(f"u{across}") != 0)
        return reduce(np.logical_or, (rows[:, column::across] for column in range(across)))

    def _holes(self, values: NDArray[np.float32]) -> NDArray[np.bool_] | None:
        """(h, W) True where every channel is exactly 0, which is no measurement (`photo.Photo`); None if none is."""
        across = self.mosaic.colours.shape[1]
        red, green, blue = self.mosaic.places
        holes = None
        for places in (red, blue, green):  # the fewest pixels first: they leave hardly anything to look at
            dark = reduce(np.add, (values[:, row, column::across] for row, column in places)) == 0
            holes = dark if holes is None else holes & dark
            if not holes.any():
                return None
        return holes


def _either(first: NDArray[np.bool_] | None, second: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Where one of two masks is True; None is one that is True nowhere."""
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _clear(values: NDArray[np.float32], left_out: NDArray[np.bool_]) -> None:
    """Make values (h, p, W q) zero in the periods that are left out (h, W)."""
    height, width = left_out.shape
    # Two neighbours at a time where that is possible: their bits, as one whole number, times 0 or 1.
    kind = np.uint64 if values.shape[2] // width % 2 == 0 else np.uint32
    kept = (~left_out).astype(kind)[:, None]
    pixels = values.view(kind).reshape(height, values.shape[1], width, -1)
    for place in range(pixels.shape[3]):
        np.multiply(pixels[..., place], kept, out=pixels[..., place])
