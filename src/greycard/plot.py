"""Pictures of results: the posterior in r/g-b/g, the more probable the larger; galleries. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from greycard.candidates import CandidateSet
from greycard.errors import GreycardError
from greycard.estimator import Estimate
from greycard.illuminant import Array, to_chromaticity
from greycard.output import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Example:
    """A picture in a gallery: renderings (H, W, 3) by title, its estimate, and the true light (3,)."""

    name: str
    pictures: Mapping[str, NDArray[np.uint8]]
    estimate: Estimate
    truth: ArrayLike


def posterior(estimate: Estimate, truth: ArrayLike | None = None) -> Figure:
    """The candidates of an estimate with their probabilities, the estimate itself, and the truth where it is known."""
    figure = _figure(6.4, 5.2)
    axes = figure.add_subplot()
    shown = _draw_posterior(axes, estimate, truth)
    figure.colorbar(shown, ax=axes, label="probability")
    axes.set(title="How probable each candidate light is")
    axes.legend(loc="best")
    return figure


def candidates(chosen: CandidateSet, title: str) -> Figure:
    """The candidates of a camera in r/g-b/g, coloured by how often their light is expected."""
    figure = _figure(6.4, 5.2)
    axes = figure.add_subplot()
    red, blue = to_chromaticity(chosen.illuminants).T
    share = np.ones(len(red)) if chosen.bias is None else np.exp(chosen.bias)
    share = share / share.sum()
    shown = axes.scatter(red, blue, c=share, s=36, cmap="viridis_r", edgecolors="0.3", linewidths=0.3)
    figure.colorbar(shown, ax=axes, label="share of the prior")
    axes.set(title=title, xlabel="r / g", ylabel="b / g")
    axes.grid(alpha=0.25)
    return figure


def gallery(examples: Sequence[Example]) -> Figure:
    """One row for each example: its pictures, then its posterior."""
    columns = len(examples[0].pictures) + 1
    figure = _figure(2.6 * columns, 2.5 * len(examples))
    grid = figure.subplots(len(examples), columns, squeeze=False)
    for row, example in zip(grid, examples, strict=True):
        for axes, (title, picture) in zip(row, example.pictures.items(), strict=False):
            axes.imshow(picture, interpolation="nearest")
            axes.set_title(title, fontsize=9)
            axes.axis("off")
        _draw_posterior(row[-1], example.estimate, example.truth)
        row[-1].set_title(example.name, fontsize=9)
        row[-1].tick_params(labelsize=7)
    return figure


def accuracy_against_latency(panels: Mapping[str, Mapping[str, tuple[float, float]]]) -> Figure:
    """For each panel, methods by the milliseconds of an estimate and their mean angular error in degrees.

    Their names stand beside the panel, in the order of the errors, each with a line to its point.
    """
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = _figure(6.4 * columns, 3.8 * rows)
    for number, (title, points) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(rows, columns, number)
        names = sorted(points, key=lambda name: points[name][1])
        milliseconds, errors = np.array([points[name] for name in names]).T
        axes.scatter(milliseconds, errors, c=["C1" if name == "greycard" else "C0" for name in names])
        axes.set(title=title, xscale="log", xlabel="milliseconds for a thumbnail", ylabel="mean error in degrees")
        axes.set(xlim=(0.2, 100), xticks=[0.3, 1, 3, 10, 30, 100], ylim=(0, 1.05 * errors.max()))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
        axes.grid(alpha=0.25)
        for name, x, y, height in zip(names, milliseconds, errors, _apart(errors / axes.get_ylim()[1]), strict=True):
            axes.annotate(
                name,
                (x, y),
                xytext=(1.05, height),
                textcoords="axes fraction",
                fontsize=8,
                va="center",
                arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "relpos": (0, 0.5)},
            )
    return figure


def _apart(heights: Array, gap: float = 0.06) -> Array:
    """Rising heights (n,), moved apart so that there is a gap between any two; from 0 to 1."""
    steps = gap * np.arange(len(heights))
    lifted = np.maximum.accumulate(heights - steps)
    lowered = np.minimum.accumulate((heights - steps)[::-1])[::-1]
    return np.asarray(np.clip((lifted + lowered) / 2, 0, 1 - steps[-1]) + steps)


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise GreycardError("plots need matplotlib: pip install 'greycard[plot]'") from error
    return Figure(figsize=(width, height), layout="constrained")


def _draw_posterior(axes: Any, estimate: Estimate, truth: ArrayLike | None) -> Any:
    """Candidates, estimate and truth in r/g-b/g; returns the candidates' drawing for a colour bar."""
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
    red, blue = to_chromaticity(estimate.illuminant)
    axes.scatter(red, blue, marker="+", s=160, c="crimson", linewidths=2, label="estimate")
    if truth is not None:
        red, blue = to_chromaticity(truth)
        circle: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.5}
        axes.scatter(red, blue, marker="o", s=120, label="truth", **circle)
    axes.set(xlabel="r / g", ylabel="b / g")
    axes.grid(alpha=0.25)
    return shown


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, whole or not at all."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    write_whole(path, buffer.getvalue())
