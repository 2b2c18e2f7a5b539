"""The posterior as a picture: candidates in r/g-b/g, the more probable the larger. Needs matplotlib."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from greycard.errors import GreycardError
from greycard.estimator import Estimate
from greycard.illuminant import to_chromaticity
from greycard.output import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def posterior(estimate: Estimate, truth: ArrayLike | None = None) -> Figure:
    """The candidates of an estimate with their probabilities, the estimate itself, and the truth where it is known."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise GreycardError("plots need matplotlib: pip install 'greycard[plot]'") from error
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    axes = figure.add_subplot()
    red, blue = to_chromaticity(estimate.candidates).T
    order = np.argsort(estimate.probabilities)
    shown = axes.scatter(
        red[order],
        blue[order],
        c=estimate.probabilities[order],
        s=14 + 500 * estimate.probabilities[order],
        cmap="viridis_r",
        edgecolors="0.3",
        linewidths=0.3,
    )
    figure.colorbar(shown, ax=axes, label="probability")
    red, blue = to_chromaticity(estimate.illuminant)
    axes.scatter(red, blue, marker="+", s=160, c="crimson", linewidths=2, label="estimate")
    if truth is not None:
        red, blue = to_chromaticity(truth)
        circle: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.5}
        axes.scatter(red, blue, marker="o", s=120, label="truth", **circle)
    axes.set(xlabel="r / g", ylabel="b / g", title="How probable each candidate light is")
    axes.legend(loc="best")
    axes.grid(alpha=0.25)
    return figure


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, whole or not at all."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    write_whole(path, buffer.getvalue())
