"""General gray-world: shades-of-gray of a smoothed picture (van de Weijer 2007)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells
from greycard.baselines.minkowski import MinkowskiMethod, smoothed


class GeneralGrayWorld(MinkowskiMethod):
    """The filter parameter is the width of the blur in cells."""

    filters = (0.0, 0.5, 1.0, 2.0)
    poolings = (1.0, 2.0, 4.0, 8.0)
    usual = (1.0, 9.0)

    def _filtered(self, cells: Cells, filtering: float) -> NDArray[np.float32]:
        return smoothed(cells, filtering)
