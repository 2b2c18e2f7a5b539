"""What the baselines read: the valid cells of thumbnails, checked as the estimator checks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.errors import GreycardError
from greycard.illuminant import Array, unit
from greycard.thumbnail import FEWEST_CELLS, SIZE


@dataclass(frozen=True, eq=False)
class Cells:
    """values: (N, 64, 64, 3) linear, the mean of the valid ones 1, 0 where not valid; valid: (N, 64, 64)."""

    values: NDArray[np.float32]
    valid: NDArray[np.bool_]

    def __len__(self) -> int:
        """How many pictures they are of."""
        return len(self.valid)

    def __getitem__(self, pictures: slice | NDArray[np.intp]) -> Cells:
        """Those of some of the pictures."""
        return Cells(self.values[pictures], self.valid[pictures])


def read(thumbnails: NDArray[Any]) -> Cells:
    """The cells of thumbnails (N, 64, 64, 3); a cell is valid where all its channels are positive."""
    values = np.asarray(thumbnails, dtype=np.float32)
    if values.ndim != 4 or values.shape[1:] != (SIZE, SIZE, 3) or len(values) == 0:
        raise GreycardError(
            f"thumbnails: expected one or more, of the shape (N, {SIZE}, {SIZE}, 3), got {values.shape}"
        )
    if not np.all(np.isfinite(values)):
        raise GreycardError("thumbnails: hold values that are not finite")
    valid = np.all(values > 0, axis=-1)
    count = valid.sum(axis=(1, 2))
    if np.any(count < FEWEST_CELLS):
        bad = int(np.argmin(count))
        raise GreycardError(
            f"thumbnails: only {count[bad]} of {SIZE * SIZE} cells of number {bad} can be used (at least "
            f"{FEWEST_CELLS} are needed); the rest is black, clipped or masked"
        )
    values = np.where(valid[..., None], values, np.float32(0))
    means = values.sum(axis=(1, 2, 3), dtype=np.float64) / (3 * count)
    return Cells(values / means[:, None, None, None].astype(np.float32), valid)


def labelled(thumbnails: NDArray[Any], illuminants: ArrayLike) -> tuple[Cells, Array]:
    """The cells of thumbnails to learn from, and their illuminants (N, 3) of unit length."""
    cells, lights = read(thumbnails), np.atleast_2d(np.asarray(illuminants, dtype=np.float64))
    if len(lights) != len(cells):
        raise GreycardError(f"illuminants: {len(lights)} were given for {len(cells)} thumbnails")
    return cells, unit(lights)


def surrounded(valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(N, 64, 64) cells whose neighbours inside the frame are all valid; the valid cells where these are too few."""
    padded = np.pad(valid, ((0, 0), (1, 1), (1, 1)), constant_values=True)
    inner = np.logical_and.reduce([padded[:, y : y + SIZE, x : x + SIZE] for y in range(3) for x in range(3)])
    enough = inner.sum(axis=(1, 2)) >= FEWEST_CELLS
    return np.where(enough[:, None, None], inner, valid)


def filled(cells: Cells) -> NDArray[np.float32]:
    """(N, 64, 64, 3) the cells, with the mean of the picture where a cell is not valid.

    Answers of a filter at and beside such cells are to be left out all the same (`surrounded`).
    """
    means = cells.values.sum(axis=(1, 2)) / cells.valid.sum(axis=(1, 2), dtype=np.float32)[:, None]
    return np.where(cells.valid[..., None], cells.values, means[:, None, None, :])
