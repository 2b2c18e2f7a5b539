"""Gray-edge: the average difference in a scene is grey; of first and second order (van de Weijer 2007)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from greycard.baselines.cells import Cells
from greycard.baselines.minkowski import MinkowskiMethod, edges


class FirstOrderGrayEdge(MinkowskiMethod):
    """The filter parameter is the scale of the derivative in cells."""

    filters = (0.5, 1.0, 2.0)
    poolings = (1.0, 2.0, 4.0, 8.0)
    usual = (1.0, 6.0)
    _order = 1

    def _filtered(self, cells: Cells, filtering: float) -> NDArray[np.float32]:
        return edges(cells, filtering, self._order)


class SecondOrderGrayEdge(FirstOrderGrayEdge):
    """The same with second derivatives."""

    _order = 2
