"""Shades-of-gray: some Minkowski mean of a scene is grey (Finlayson & Trezzi 2004)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells
from greycard.baselines.minkowski import MinkowskiMethod


class ShadesOfGray(MinkowskiMethod):
    """Between gray-world (power 1) and white-patch (infinite power)."""

    poolings = (1.0, 2.0, 4.0, 8.0, 16.0)
    usual = (0.0, 6.0)

    def _filtered(self, cells: Cells, filtering: float) -> NDArray[np.float32]:
        return cells.values
